"""How long an exchange may take; it stands while a person is waited for."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self


class Stopwatch:
    """A context manager that raises TimeoutError once ``seconds`` (None: never) have passed, `pause`s left out."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._limit: asyncio.Timeout | None = None
        self._left = 0.0
        self._paused = 0

    @property
    def expired(self) -> bool:
        return self._limit is not None and self._limit.expired()

    async def __aenter__(self) -> Self:
        self._limit = asyncio.timeout(self._seconds)
        await self._limit.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._limit.__aexit__(kind, error, trace) if self._limit is not None else None

    def pause(self) -> None:
        """Time stands until as many `resume`s."""
        self._paused += 1
        if self._paused == 1 and self._limit is not None and not self.expired and (when := self._limit.when()):
            self._left = when - asyncio.get_running_loop().time()
            self._limit.reschedule(None)

    def resume(self) -> None:
        """Time goes on."""
        self._paused -= 1
        if not self._paused and self._seconds and self._limit is not None and not self.expired:
            self._limit.reschedule(asyncio.get_running_loop().time() + self._left)
