"""What others write into a session's journal: transcripts from elsewhere, a host's notes. No model has a part in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memagent.agent.discreet import batches, discreet, said_before
from memagent.agent.opened import Opened
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import SessionView
from memagent.agent.transcripts import entries_of
from memagent.errors import MemagentError
from memagent.sanitize import clean_text
from stores.records import Message, MessageRole

INGEST_BATCH = 500


def host_note(rooms: Rooms, session_id: str, text: str) -> Message:
    """A note of the host, not journalled yet. Raises MemagentError for a blank text."""
    words = clean_text(text).strip()
    if not words:
        raise MemagentError("there is nothing to note: the text is empty")
    note_id = rooms.new_id()
    return Message(
        id=note_id,
        session_id=session_id,
        exchange_id=note_id,
        at=rooms.clock(),
        zone=rooms.zone,
        role=MessageRole.NOTE,
        content=words,
    )


async def ingested(
    rooms: Rooms, opened: Opened, view: SessionView, messages: Sequence[Mapping[str, Any]], *, private: bool
) -> int:
    """Journals a transcript at the end of the view's session and says how many messages it holds. Raises
    MemagentError naming the message that cannot be read; then nothing is stored."""
    await view.refresh()
    found = entries_of(
        messages,
        session_id=view.session_id,
        zone=rooms.zone,
        now=rooms.clock(),
        new_id=rooms.new_id,
        open_exchange_id=view.unanswered_exchange_id,
    )
    entries = list(found)  # all of them are read before any is kept
    kept = await _journalled(rooms, view, entries)
    known = {message.id for message in kept}
    fresh = await opened.overflowing.keep_imported([entry for entry in entries if entry.id not in known])
    for together in batches(discreet(fresh, private=private, kept=kept), INGEST_BATCH):
        await view.take_in(await rooms.stores.journal.append(rooms.scope, together))
    await opened.compactor.without_model(view)
    return len(entries)


async def _journalled(rooms: Rooms, view: SessionView, entries: Sequence[Message]) -> list[Message]:
    """What the session holds already of a transcript, and its newest exchange, oldest first. Raises MemagentError
    where an id stands for other words than before."""
    found = await rooms.stores.journal.get(rooms.scope, [entry.id for entry in entries])
    known = {e.id: e for e in found if isinstance(e, Message) and e.session_id == view.session_id}
    said = known.copy()
    for number, entry in enumerate(entries, start=1):
        before = said.setdefault(entry.id, entry)
        if not (before.erased or before.overflow) and (before.role, before.content) != (entry.role, entry.content):
            raise MemagentError(
                f"message {number} of the transcript has the id {entry.id!r}, which the session has for another "
                "message; give it an id of its own, or none. Nothing was stored."
            )
    newest = {message.id: message for message in await said_before(rooms, view)}
    return sorted((newest | known).values(), key=lambda message: message.sequence)
