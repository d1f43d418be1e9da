"""Private sessions: nothing said in one may become a memory, or come up in another."""

from __future__ import annotations

from memagent.agent.marks import new_mark
from memagent.agent.rooms import Rooms
from stores.records import MarkKind


class Privacy:
    """Whether sessions are private. ``begin_private``: those that this agent is in are, until the person says
    otherwise. The journal holds what was said about it, so that it holds in every process."""

    def __init__(self, rooms: Rooms, *, begin_private: bool) -> None:
        self._rooms = rooms
        self._begin_private = begin_private
        self._known: dict[str, bool] = {}

    async def holds(self, session_id: str) -> bool:
        """Whether the session is private now. Another process may have said so: the journal is asked each time."""
        mark = await self._rooms.stores.journal.last_mark(self._rooms.scope, session_id, MarkKind.PRIVATE)
        if self._begin_private and session_id not in self._known:
            return True
        return mark is not None and bool(mark.data.get("on"))

    async def ensure(self, session_id: str) -> bool:
        """The same, and written down before the first message of a session that begins private."""
        private = await self.holds(session_id)
        if private and self._begin_private and session_id not in self._known:
            await self.set(session_id, on=True)
        return private

    async def set(self, session_id: str, *, on: bool) -> None:
        """From the next message on."""
        self._known[session_id] = on
        mark = new_mark(self._rooms, session_id, MarkKind.PRIVATE, {"on": on})
        await self._rooms.stores.journal.append(self._rooms.scope, [mark])
