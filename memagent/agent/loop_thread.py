"""The library's own event loop, in a thread of its own.

All work runs there, so the same agent serves plain scripts, running event loops, Jupyter and many
threads alike, and nothing belongs to a loop that the host closes.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterator
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from memagent.errors import MemagentError

T = TypeVar("T")


class LoopThread:
    """A running event loop in a daemon thread. One serves the whole process: see `shared_loop`."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="memagent-loop", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        while True:
            try:
                self._loop.run_forever()
            except (SystemExit, KeyboardInterrupt):  # of a host's code in some task; its caller gets it too
                continue
            return

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Starts work there and returns its future; cancelling the future cancels the work."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs work there and waits. An interrupt cancels the work, waits while it cleans up, and goes on."""
        self._check_process(work)
        if threading.current_thread() is self._thread:
            work.close()
            raise MemagentError(
                "a synchronous call from inside the agent's own loop would wait for itself; use AsyncAgent"
            )
        over = _signal()
        future = self.submit(_announced(work, over))
        try:
            return future.result()
        except (KeyboardInterrupt, SystemExit):
            future.cancel()
            wait([over], CLEAN_UP_SECONDS)
            raise

    async def await_(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs work there and awaits it from any other loop. Cancellation is passed on, and goes on here
        when the work has cleaned up."""
        self._check_process(work)
        over = _signal()
        try:
            return await asyncio.wrap_future(self.submit(_announced(work, over)))
        except asyncio.CancelledError:
            await asyncio.wait([asyncio.wrap_future(over)], timeout=CLEAN_UP_SECONDS)
            raise

    def _check_process(self, work: Coroutine[Any, Any, Any]) -> None:
        if os.getpid() != self._pid:  # a fork copies no threads: nothing would ever answer
            work.close()
            raise MemagentError("this agent was made before the process forked; make a new one in the new process")

    def iterate(self, items: AsyncGenerator[T]) -> Iterator[T]:
        """The items, pulled one by one from a thread. Leaving early, or an interrupt, closes the source."""
        try:
            while (item := self.call(_next(items))) is not _END:
                yield item  # pyright: ignore[reportReturnType]
        finally:
            self.call(items.aclose())

    async def aiterate(self, items: AsyncGenerator[T]) -> AsyncIterator[T]:
        """The items, pulled one by one from another loop."""
        try:
            while (item := await self.await_(_next(items))) is not _END:
                yield item  # pyright: ignore[reportReturnType]
        finally:
            await self.await_(items.aclose())


CLEAN_UP_SECONDS = 10.0
_END = object()


async def _next(items: AsyncGenerator[T]) -> T | object:
    return await anext(items, _END)


def _signal() -> Future[None]:
    """A future that stands for the end of work; nobody can cancel it."""
    over: Future[None] = Future()
    over.set_running_or_notify_cancel()
    return over


async def _announced(work: Coroutine[Any, Any, T], over: Future[None]) -> T:
    try:
        return await work
    finally:
        over.set_result(None)


_lock = threading.Lock()
_shared: LoopThread | None = None


def _after_fork() -> None:
    """A child has no copy of the thread, and the lock may have been held."""
    global _lock, _shared
    _lock, _shared = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def shared_loop() -> LoopThread:
    """The process's loop thread, started on first use."""
    global _shared
    with _lock:
        if _shared is None:
            _shared = LoopThread()
        return _shared


def _forget() -> None:
    """A forked child has no threads: its agents get a loop of their own."""
    global _lock, _shared
    _lock, _shared = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
