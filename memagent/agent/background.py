"""Work that nobody waits for: it is told of if it fails, and indexing waits for a quiet moment."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from stores.errors import StoreError

QUIET_SECONDS = 0.2
"""What was written is indexed once nothing more was for so long: who writes line after line does not wait for
the index of the line before …"""
AT_LATEST_SECONDS = 2.0
MANY = 100
"""… and at the latest after so long, or once so many messages wait: an import is indexed while it goes on."""


class Background:
    """Tasks of one agent. ``notify`` hears of what could not be indexed; ``index`` indexes what was written."""

    def __init__(self, *, notify: Callable[[str], None], index: Callable[[], Awaitable[object]]) -> None:
        self._notify = notify
        self._index = index
        self._tasks: set[asyncio.Task[None]] = set()
        self._hurry = asyncio.Event()
        self._waiting: asyncio.Task[None] | None = None
        self._written_at = 0.0
        self._written = 0

    def start(self, work: Awaitable[object]) -> None:
        """Begins work that nobody waits for."""
        task = asyncio.create_task(self._told(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def index_soon(self, written: int = 1) -> None:
        """So many messages were written: they can be recalled and searched soon, without anybody waiting for it."""
        self._written_at = asyncio.get_running_loop().time()
        if self._waiting is None or self._waiting.done():
            self._written = 0
            self._hurry.clear()
            self._waiting = asyncio.create_task(self._when_quiet())
        self._written += written
        if self._written >= MANY:
            self._hurry.set()

    async def finished(self) -> None:
        """All that was asked for is done, at once where it would wait."""
        self._hurry.set()
        while working := [*self._tasks, *([self._waiting] if self._waiting and not self._waiting.done() else [])]:
            await asyncio.wait(working)  # not gather: a caller that runs out of time must not stop them

    async def _when_quiet(self) -> None:
        loop = asyncio.get_running_loop()
        latest = loop.time() + AT_LATEST_SECONDS
        while not self._hurry.is_set():
            left = min(self._written_at + QUIET_SECONDS, latest) - loop.time()
            if left <= 0:
                break
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._hurry.wait()
        self.start(self._index())

    async def _told(self, work: Awaitable[object]) -> None:
        try:
            await work
        except StoreError as error:
            self._notify(f"what was said could not be indexed yet: {error}")
        except Exception as error:  # noqa: BLE001  nobody waits for it: untold, it would be lost with its task
            self._notify(f"work in the background failed ({type(error).__name__}: {error}); please report it")
