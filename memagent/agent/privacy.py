"""Private sessions: nothing said in one may become a memory, or come up in another."""

from __future__ import annotations

from memagent.agent.marks import new_mark
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import SessionView
from stores.records import MarkKind


class Privacy:
    """Whether sessions are private. ``begin_private``: those that this agent is in are, until the person says
    otherwise. The journal holds what was said about it, so that it holds in every process."""

    def __init__(self, rooms: Rooms, *, begin_private: bool) -> None:
        self._rooms = rooms
        self._begin_private = begin_private
        self._known: dict[str, bool] = {}

    async def holds(self, session_id: str) -> bool:
        """Whether the session is private, as far as this process knows: what another says is seen when the next
        message is answered."""
        if session_id not in self._known:
            if self._begin_private:
                return True  # written down with the first message
            mark = await self._rooms.stores.journal.last_mark(self._rooms.scope, session_id, MarkKind.PRIVATE)
            self._known[session_id] = mark is not None and bool(mark.data.get("on"))
        return self._known[session_id]

    async def begins_exchange(self, view: SessionView) -> bool:
        """Whether the message that is to be answered is private."""
        session_id = view.session_id
        if self._begin_private and session_id not in self._known:
            await self.set(session_id, on=True)
        await view.refresh()
        if view.private is not None:
            self._known[session_id] = view.private
        return await self.holds(session_id)

    async def set(self, session_id: str, *, on: bool) -> None:
        """From the next message on."""
        self._known[session_id] = on
        mark = new_mark(self._rooms, session_id, MarkKind.PRIVATE, {"on": on})
        await self._rooms.stores.journal.append(self._rooms.scope, [mark])
