"""What a person or a host may do with the context of a session: compact it, undo that, see and reword its summaries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from memagent.agent.compacting import FAILED
from memagent.agent.helper_calls import HelperFailedError
from memagent.agent.looking_back import Ready
from memagent.context.view import Summary
from memagent.errors import AgentClosedError, ContextError
from memagent.events import Compacted, Event


class ContextControl:
    """The current session's context. Changes wait for the answer that is being given."""

    def __init__(self, ready: Ready, one_at_a_time: asyncio.Lock, tell: Callable[[Event], None]) -> None:
        self._ready = ready
        self._one_at_a_time = one_at_a_time
        self._tell = tell
        self._compacting: asyncio.Task[Compacted | None] | None = None

    async def compact(self, keep: str) -> Compacted | None:
        """Summarises all but the newest exchange; None if there is nothing to do. Raises ContextError when
        the summariser fails, and nothing is changed; AgentClosedError when the agent is closed meanwhile."""
        async with self._one_at_a_time:
            opened, view = await self._ready()
            self._compacting = asyncio.create_task(opened.compactor.asked(view, keep, self._tell))
            try:
                await asyncio.wait([self._compacting])
            finally:
                self._compacting.cancel()
            if self._compacting.cancelled():
                raise AgentClosedError("the agent was closed while it summarised; nothing was changed")
            try:
                return self._compacting.result()
            except HelperFailedError as error:
                raise ContextError(f"{FAILED}: {error}. Nothing was changed; try again later") from error

    async def stop(self) -> None:
        """Breaks off a compaction that was asked for."""
        if self._compacting is not None and not self._compacting.done():
            self._compacting.cancel()
            await asyncio.wait([self._compacting])

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

    async def summaries(self) -> list[Summary]:
        """Those that are shown, oldest first."""
        _, view = await self._ready()
        await view.refresh()
        return list(view.summaries)
