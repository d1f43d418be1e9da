"""What others write into a session's journal: transcripts from elsewhere, a host's notes. No model has a part in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from memagent.agent.opened import Opened
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import SessionView
from memagent.agent.transcripts import transcript_entries
from memagent.context.directives.discretion import discretion
from memagent.errors import MemagentError
from memagent.sanitize import clean_text
from stores.records import Mark, MarkKind, Message, MessageRole

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
    entries = transcript_entries(
        messages,
        session_id=view.session_id,
        zone=rooms.zone,
        now=rooms.clock(),
        new_id=rooms.new_id,
        open_exchange_id=view.unanswered_exchange_id,
    )
    last = view.window.exchanges[-1].exchange.messages if view.window.exchanges else []
    taken_back = _taken_back(entries, last) if last else []
    entries = await opened.overflowing.keep_imported(discreet(entries, private=private, last=last))
    # what takes back the exchange before and its first message are one write: a crash must not part them
    for start in range(0, len(entries), INGEST_BATCH):
        batch = [*entries[start : start + INGEST_BATCH], *(taken_back if not start else [])]
        await view.take_in(await rooms.stores.journal.append(rooms.scope, batch))
    await opened.compactor.without_model(view)
    return len(entries)


def discreet(entries: Sequence[Message], *, private: bool, last: Sequence[Message] = ()) -> list[Message]:
    """The entries, those marked that are not to be remembered: in a private session all, else the exchanges in
    which the person asked for it, and those before them where they said so. ``last`` is the exchange that the
    session ends with so far, which the entries may go on with."""
    order = list(dict.fromkeys(entry.exchange_id for entry in entries))
    hidden = set(order) if private else {message.exchange_id for message in last if not message.remember}
    for entry in entries:
        if entry.role is MessageRole.USER and (asked := discretion(entry.content)) != "none":
            hidden.add(entry.exchange_id)
            if asked == "previous" and (place := order.index(entry.exchange_id)):
                hidden.add(order[place - 1])
    return [e.model_copy(update={"remember": False}) if e.exchange_id in hidden else e for e in entries]


def _taken_back(entries: Sequence[Message], last: Sequence[Message]) -> list[Mark]:
    """The mark that takes back the exchange which the session ends with so far, if the first message asks for it."""
    first = next((entry for entry in entries if entry.role is not MessageRole.NOTE), None)
    if first is None or first.role is not MessageRole.USER or discretion(first.content) != "previous":
        return []
    ids: list[JsonValue] = [message.id for message in last]
    return [
        Mark(
            id=f"{first.id}:takes-back",
            session_id=first.session_id,
            exchange_id=first.exchange_id,
            at=first.at,
            zone=first.zone,
            what=MarkKind.NOT_REMEMBERED,
            data={"entry_ids": ids},
        )
    ]
