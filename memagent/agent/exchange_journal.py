"""What one exchange writes into the journal, and what it has written."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from memagent.agent.rooms import Rooms
from stores.records import Mark, MarkKind, Message, MessageRole

PAGE = 200


async def exchange_entries(rooms: Rooms, session_id: str, exchange_id: str) -> list[Message | Mark]:
    """All entries of an exchange, oldest first; [] if there is none. Walks the session from its beginning on."""
    journal, scope = rooms.stores.journal, rooms.scope
    heads = [entry for entry in await journal.get(scope, [exchange_id]) if entry.session_id == session_id]
    if not heads:
        return []
    after, mine = heads[0].sequence - 1, list[Message | Mark]()
    while page := await journal.read(scope, session_id, after_sequence=after, limit=PAGE):
        mine += [entry for entry in page if entry.exchange_id == exchange_id]
        after = page[-1].sequence
    return mine


class ExchangeJournal:
    """The entries of one exchange, oldest first in ``entries``; it begins with those that are there already.
    ``remember`` False: nothing of it may become a memory."""

    def __init__(
        self,
        rooms: Rooms,
        session_id: str,
        exchange_id: str,
        *,
        remember: bool,
        entries: Sequence[Message | Mark] = (),
    ) -> None:
        self._rooms = rooms
        self.session_id = session_id
        self.exchange_id = exchange_id
        self.entries = list(entries)
        self._remember = remember

    def go_on_with(self, entries: Sequence[Message | Mark]) -> None:
        """The exchange was begun before: these are its entries."""
        self.entries = list(entries)
        self._remember = all(entry.remember for entry in entries if isinstance(entry, Message))

    def message(self, role: MessageRole, content: str, **more: Any) -> Message:
        """A message that is not written yet."""
        return Message(role=role, content=content, remember=self._remember, **{**self._envelope(), **more})

    def mark(self, what: MarkKind, mark_id: str | None = None, **data: Any) -> Mark:
        """A mark that is not written yet."""
        envelope = self._envelope()
        if mark_id is not None:
            envelope["id"] = mark_id
        return Mark(what=what, data=data, **envelope)

    async def write(self, *entries: Message | Mark) -> list[Message | Mark]:
        """Appends them together and returns them as they are kept: an id that was there already gives what stands
        under it. A cancellation does not stop what has been asked of the journal, so that nothing is written
        twice. Raises StoreError."""
        kept = await asyncio.shield(self._rooms.stores.journal.append(self._rooms.scope, entries))
        known = {entry.id for entry in self.entries}
        self.entries += [entry for entry in kept if entry.id not in known]
        return kept

    def _envelope(self) -> dict[str, Any]:
        return {
            "id": self._rooms.new_id(),
            "session_id": self.session_id,
            "exchange_id": self.exchange_id,
            "at": self._rooms.clock(),
            "zone": self._rooms.zone,
        }
