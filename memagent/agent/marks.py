"""Journal marks about the session itself: summaries, views, failures."""

from __future__ import annotations

import hashlib
from typing import Any

from memagent.agent.rooms import Rooms
from memagent.context.view import Summary, View
from stores.records import Mark, MarkKind


def text_hash(text: str) -> str:
    """As the manifests keep texts by; "" for none."""
    return hashlib.sha256(text.encode()).hexdigest() if text else ""


def new_mark(rooms: Rooms, session_id: str, what: MarkKind, data: dict[str, Any], mark_id: str | None = None) -> Mark:
    """A mark that belongs to no exchange."""
    entry_id = mark_id or rooms.new_id()
    return Mark(
        id=entry_id,
        session_id=session_id,
        exchange_id=entry_id,
        at=rooms.clock(),
        zone=rooms.zone,
        what=what,
        data=data,
    )


async def find_mark(rooms: Rooms, session_id: str, mark_id: str | None) -> Mark | None:
    """A session's mark by its id; None for no id, or if there is none."""
    found = await rooms.stores.journal.get(rooms.scope, [mark_id]) if mark_id else []
    return next((e for e in found if isinstance(e, Mark) and e.session_id == session_id), None)


def view_mark(rooms: Rooms, session_id: str, view: View) -> Mark:
    """The session is shown like that from now on."""
    return new_mark(rooms, session_id, MarkKind.CUT, view.model_dump(mode="json"))


def summary_mark(rooms: Rooms, session_id: str, summary: Summary) -> Mark:
    """A summary, under its own id."""
    return new_mark(rooms, session_id, MarkKind.SUMMARY, summary.model_dump(mode="json", exclude={"id"}), summary.id)
