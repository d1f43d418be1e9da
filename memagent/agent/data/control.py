"""What a person may do with all that is kept: erase, export, import, look it over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from memagent.agent.data.erase_planning import Target
from memagent.agent.data.erasing import Erasing
from memagent.agent.data.exporting import Exported, Exporter
from memagent.agent.data.importing import Taker
from memagent.agent.data.restoring import Imported
from memagent.agent.data.upkeep import Checkup, check
from memagent.agent.rooms import Rooms
from memagent.memory.erase import Receipt

LOOK_SECONDS = 30.0
"""How long what is written just now is waited for before indexes are compared."""


class DataControl:
    """All that is kept of the rooms' scope. ``begin`` raises AgentClosedError; inside ``quiet()`` nothing is
    answered, summarised or indexed by this agent, and afterwards it shows what is kept then; ``settle`` waits for
    the indexes."""

    def __init__(
        self,
        rooms: Rooms,
        *,
        begin: Callable[[], None],
        quiet: Callable[[], AbstractAsyncContextManager[None]],
        settle: Callable[[float | None], Awaitable[object]],
    ) -> None:
        self._rooms = rooms
        self._begin = begin
        self._quiet = quiet
        self._settle = settle
        self._erasing = Erasing(rooms)
        self._exporter = Exporter(rooms)
        self._taker = Taker(rooms)

    async def erase(self, target: Target, dry_run: bool) -> Receipt:
        """See `Erasing.erase`."""
        self._begin()
        if dry_run:
            return await self._erasing.erase(target, dry_run=True)
        async with self._quiet():
            return await self._erasing.erase(target, dry_run=False)

    async def receipts(self) -> list[Receipt]:
        """Of all erasures, newest first."""
        self._begin()
        return await self._erasing.receipts()

    async def export(self, path: Path, session: str | None, with_secrets: bool) -> Exported:
        """See `Exporter.export`."""
        self._begin()
        return await self._exporter.export(path, session, with_secrets=with_secrets)

    async def take(self, path: Path) -> Imported:
        """See `Taker.take`."""
        self._begin()
        async with self._quiet():
            return await self._taker.take(path)

    async def resume(self) -> None:
        """Finishes erasures that broke off."""
        await self._erasing.resume()

    async def checkup(self, collect: bool, repair: bool) -> Checkup:
        """What is kept where, the stored outputs that nothing refers to any more, removed if asked to, and how the
        views of the journal stand, made anew if asked to."""
        self._begin()
        await self._erasing.resume()
        await self._settle(LOOK_SECONDS)
        found = await check(self._rooms, collect=collect, repair=repair)
        if repair:
            await self._settle(None)
        return found
