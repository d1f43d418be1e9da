"""A vector index that is opened by the first call that needs it, in a thread: opening Chroma takes
more than a second, and a person should not wait for it to see a prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence

from stores.errors import StoreClosedError
from stores.indexes import VectorHit, VectorIndex
from stores.records import Scope


class DeferredVectorIndex:
    """A `VectorIndex` made by ``make`` when it is first used."""

    def __init__(self, make: Callable[[], VectorIndex]) -> None:
        self._make = make
        self._opening: asyncio.Task[VectorIndex] | None = None
        self._closed = False

    async def put(self, scope: Scope, generation: str, vectors: Mapping[str, Sequence[bytes]]) -> None:
        await (await self._index()).put(scope, generation, vectors)

    async def query(self, scope: Scope, generation: str, vector: bytes, *, limit: int) -> list[VectorHit]:
        return await (await self._index()).query(scope, generation, vector, limit=limit)

    async def first(self, scope: Scope, generation: str, ids: Sequence[str]) -> dict[str, bytes]:
        return await (await self._index()).first(scope, generation, ids)

    async def count(self, scope: Scope, generation: str) -> int:
        return await (await self._index()).count(scope, generation)

    async def ids(self, scope: Scope, generation: str) -> set[str]:
        return await (await self._index()).ids(scope, generation)

    async def drop(self, scope: Scope, generation: str) -> None:
        await (await self._index()).drop(scope, generation)

    async def clear(self) -> None:
        await (await self._index()).clear()

    async def rewrite(self, without: Collection[str]) -> None:
        await (await self._index()).rewrite(without)

    async def reopen(self) -> None:
        if self._opening is not None:  # what is not open yet will see everything
            await (await self._index()).reopen()

    async def close(self) -> None:
        self._closed = True
        if self._opening is not None:
            index = await self._opening
            await index.close()

    async def _index(self) -> VectorIndex:
        if self._closed:
            raise StoreClosedError("the vector index is closed")
        if self._opening is None or (self._opening.done() and self._opening.exception() is not None):
            self._opening = asyncio.create_task(asyncio.to_thread(self._make))
        return await asyncio.shield(self._opening)
