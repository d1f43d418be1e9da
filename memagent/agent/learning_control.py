"""What a person or a host may decide about learning: private sessions, and reading a session for its facts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from memagent.agent.learning import Learner
from memagent.agent.opened import Opened
from memagent.agent.privacy import Privacy
from memagent.agent.sessions import Sessions
from memagent.errors import MemagentError
from stores.records import MessageRole


class LearningControl:
    """In the session that the assistant is in, or another of the user's. ``opened`` opens the model and raises a
    ModelError, AgentClosedError."""

    def __init__(
        self,
        privacy: Privacy,
        learner: Learner,
        sessions: Sessions,
        *,
        session_id: Callable[[], str],
        check_open: Callable[[], None],
        opened: Callable[[], Awaitable[Opened]],
    ) -> None:
        self._privacy = privacy
        self._learner = learner
        self._sessions = sessions
        self._session_id = session_id
        self._check_open = check_open
        self._opened = opened

    async def private(self, on: bool | None) -> bool:
        """Makes this session private or not, from the next message on; None changes nothing. Says whether it is."""
        self._check_open()
        if on is not None:
            await self._privacy.set(self._session_id(), on=on)
        return await self._privacy.holds(self._session_id())

    async def extract(self, session_id: str | None) -> int:
        """Queues a session's exchanges to be learned from, and says how many are new to the queue. Raises
        NotFoundError, MemagentError where the model or the settings forbid it."""
        self._check_open()
        target = await self._sessions.find(session_id) if session_id else self._session_id()
        await self._opened()
        if not self._learner.active:
            raise MemagentError("nothing is extracted with this model; MEMAGENT_EXTRACT=on demands it all the same")
        said = await self._sessions.history(target)
        asked = dict.fromkeys(m.exchange_id for m in said if m.role is MessageRole.USER and m.remember)
        added = await self._learner.queue(target, list(asked))
        self._learner.hurry()
        return added
