"""A user's sessions: listing, finding, reading them."""

from __future__ import annotations

from memagent.agent.rooms import Rooms
from memagent.errors import NotFoundError
from memagent.sanitize import clean_text
from stores.records import Message, Session

LAST = "last"
"""Stands for the session used last wherever a session is named."""


class Sessions:
    """The sessions of the rooms' scope."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def list(self) -> list[Session]:
        """Those in which something was said, last used first."""
        found = await self._rooms.stores.journal.sessions(self._rooms.scope)
        return [session for session in found if session.message_count]

    async def find(self, wanted: str) -> str:
        """The id meant by an id, the beginning of one, or "last". Raises NotFoundError."""
        wanted = clean_text(wanted)
        sessions = await self.list()
        if wanted == LAST:
            if not sessions:
                raise NotFoundError("there is no session yet")
            return sessions[0].id
        if any(session.id == wanted for session in sessions):
            return wanted
        matches = [session.id for session in sessions if wanted and session.id.startswith(wanted)]
        if len(matches) != 1:
            what = "no session begins" if not matches else f"{len(matches)} sessions begin"
            raise NotFoundError(f"{what} with {wanted!r}; `memagent sessions` shows them")
        return matches[0]

    async def history(self, session_id: str) -> list[Message]:
        """Everything that was said in a session, oldest first; [] if nothing was."""
        entries = await self._rooms.stores.journal.read(self._rooms.scope, session_id)
        return [entry for entry in entries if isinstance(entry, Message)]
