"""What others write into a session's journal: transcripts from elsewhere, a host's notes. No model has a part in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memagent.agent.opened import Opened
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import SessionView
from memagent.agent.transcripts import transcript_entries
from memagent.context.directives.discretion import discretion
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
    entries = transcript_entries(
        messages,
        session_id=view.session_id,
        zone=rooms.zone,
        now=rooms.clock(),
        new_id=rooms.new_id,
        open_exchange_id=view.unanswered_exchange_id,
    )
    entries = await opened.overflowing.keep_imported(discreet(entries, private=private))
    for start in range(0, len(entries), INGEST_BATCH):
        written = await rooms.stores.journal.append(rooms.scope, entries[start : start + INGEST_BATCH])
        await view.take_in(written)
    await opened.compactor.without_model(view)
    return len(entries)


def discreet(entries: Sequence[Message], *, private: bool) -> list[Message]:
    """The entries, those marked that are not to be remembered: in a private session all, else the exchanges in
    which the person asked for it, and those before them where they said so."""
    order = list(dict.fromkeys(entry.exchange_id for entry in entries))
    hidden = set(order) if private else set[str]()
    for entry in entries:
        if entry.role is MessageRole.USER and (asked := discretion(entry.content)) != "none":
            hidden.add(entry.exchange_id)
            if asked == "previous" and (place := order.index(entry.exchange_id)):
                hidden.add(order[place - 1])
    return [e.model_copy(update={"remember": False}) if e.exchange_id in hidden else e for e in entries]
