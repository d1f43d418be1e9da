"""What a person or a host may decide about learning: private sessions, and reading a session for its facts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from memagent import prompts
from memagent.agent.learning import TOGETHER, Learner
from memagent.agent.opened import Opened
from memagent.agent.privacy import Privacy
from memagent.agent.sessions import Sessions
from memagent.errors import MemagentError
from memagent.memory.extract import shown_of
from stores.records import MessageRole


@dataclass(frozen=True, slots=True)
class Extraction:
    """What reading a session for its facts takes: ``exchanges`` to read, in about ``requests`` requests of together
    ``prompt_tokens`` tokens, as far as can be told before (small talk is not read at all)."""

    exchanges: int
    requests: int
    prompt_tokens: int


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

    async def extract(self, session_id: str | None, *, dry_run: bool) -> Extraction:
        """Queues a session's exchanges to be learned from. Raises NotFoundError, MemagentError where the model or
        the settings forbid it."""
        self._check_open()
        target = await self._sessions.find(session_id) if session_id else self._session_id()
        opened = await self._opened()
        if not self._learner.active:
            raise MemagentError("nothing is extracted with this model; MEMAGENT_EXTRACT=on demands it all the same")
        said = await self._sessions.history(target)
        asked = list(dict.fromkeys(m.exchange_id for m in said if m.role is MessageRole.USER and m.remember))
        requests = -(-len(asked) // TOGETHER)
        frame = opened.counter.text(prompts.text("extract_facts"))
        wanted = set(asked)
        texts = sum(opened.counter.text(shown_of(m.role, m.content)) for m in said if m.exchange_id in wanted)
        if not dry_run:
            await self._learner.queue(target, asked)
            self._learner.hurry()
        return Extraction(len(asked), requests, opened.composer.budget.estimated(requests * frame + texts))
