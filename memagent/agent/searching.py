"""Searching the history, for the person, for a host, and for the model."""

from __future__ import annotations

from collections.abc import Callable, Collection

from memagent.agent.rooms import Rooms
from memagent.agent.sessions import Sessions
from memagent.memory.hits import HistoryHit, render_hits
from memagent.sanitize import clean_text

ALL = "all"
"""Stands for all sessions of the user."""
MODEL_HITS = 24
MODEL_LIMIT_RAW = 1_000
"""What one search of the model may return, in raw tokens."""


class Searching:
    """Searches in the rooms' scope."""

    def __init__(self, rooms: Rooms, sessions: Sessions) -> None:
        self._rooms = rooms
        self._sessions = sessions

    async def search(self, query: str, wanted: str | None, session_id: str, limit: int) -> list[HistoryHit]:
        """Best first. ``wanted``: None for the session ``session_id``, "all", or another's id (the beginning
        will do), which raises NotFoundError if there is none."""
        if wanted not in (None, ALL, session_id):
            session_id = await self._sessions.find(wanted)
        return await self._rooms.history.search(
            self._rooms.scope, clean_text(query), session_id=None if wanted == ALL else session_id, limit=limit
        )

    async def for_model(
        self,
        query: str,
        everywhere: bool,
        session_id: str,
        asking: Collection[str],
        *,
        cap_raw: int,
        count: Callable[[str], int],
    ) -> str:
        """Lines for a model that talks in ``session_id``, at most MODEL_LIMIT_RAW tokens and no more than
        ``cap_raw``; "" when nothing was found. ``asking`` are the entries that ask."""
        hits = await self._rooms.history.search(
            self._rooms.scope,
            clean_text(query),
            session_id=None if everywhere else session_id,
            limit=MODEL_HITS,
            exclude_ids=asking,
            shown_in=session_id,
        )
        return render_hits(hits, session_id=session_id, limit_raw=min(MODEL_LIMIT_RAW, cap_raw), count=count)
