"""What a person or a host may do with the context of a session: compact it, undo that, look inside, reword."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from memagent.agent.compacting import FAILED, Compactor
from memagent.agent.helper_calls import HelperFailedError
from memagent.agent.revising import Reviser
from memagent.agent.session_view import SessionView
from memagent.context.view import Summary
from memagent.errors import ContextError
from memagent.events import Compacted, Event
from stores.records import Message


class OpenContext(Protocol):
    """What exists once the model is open."""

    @property
    def compactor(self) -> Compactor: ...

    @property
    def reviser(self) -> Reviser: ...


Ready = Callable[[], Awaitable[tuple[OpenContext, SessionView]]]


class ContextControl:
    """The current session's context. Changes wait for the answer that is being given."""

    def __init__(self, ready: Ready, one_at_a_time: asyncio.Lock, tell: Callable[[Event], None]) -> None:
        self._ready = ready
        self._one_at_a_time = one_at_a_time
        self._tell = tell

    async def compact(self, keep: str) -> Compacted | None:
        """Summarises all but the newest exchange; None if there is nothing to do. Raises ContextError when
        the summariser fails, and nothing is changed."""
        async with self._one_at_a_time:
            opened, view = await self._ready()
            try:
                return await opened.compactor.asked(view, keep, self._tell)
            except HelperFailedError as error:
                raise ContextError(f"{FAILED}: {error}. Nothing was changed; try again later") from error

    async def undo(self) -> Compacted:
        """See `Reviser.undo`."""
        async with self._one_at_a_time:
            opened, view = await self._ready()
            return await opened.reviser.undo(view)

    async def edit(self, summary_id: str, text: str) -> Summary:
        """See `Reviser.edit`."""
        async with self._one_at_a_time:
            opened, view = await self._ready()
            return await opened.reviser.edit(view, summary_id, text)

    async def expand(self, summary_id: str) -> list[Message]:
        """See `Reviser.expand`."""
        opened, view = await self._ready()
        return await opened.reviser.expand(view, summary_id)

    async def summaries(self) -> list[Summary]:
        """Those that are shown, oldest first."""
        _, view = await self._ready()
        await view.refresh()
        return list(view.summaries)
