"""Finding memories by meaning: vectors that are in the index, and those that have still to reach it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from memagent.errors import EmbedderError
from memagent.memory.embed import EmbeddingService
from stores.base import MemoryTable, Outbox, VectorIndex
from stores.errors import StoreCorruptError, StoreError
from stores.records import IndexTask, MemoryKind, Scope

EMBED_AT_ONCE = 16
REOPEN_AFTER = 500
"""Scoring more outbox rows than this one by one costs more than opening the index again."""


class Meaning:
    """Nearest neighbours in one store. ``holds_lock`` says whether this process's vector handle sees all writes;
    ``on_damage`` hears of a vector index that cannot be read."""

    def __init__(
        self,
        *,
        memories: MemoryTable,
        vectors: VectorIndex,
        outbox: Outbox,
        embedding: EmbeddingService,
        holds_lock: Callable[[], bool],
        on_damage: Callable[[], None],
    ) -> None:
        self._memories = memories
        self._vectors = vectors
        self._outbox = outbox
        self._embedding = embedding
        self._holds_lock = holds_lock
        self._on_damage = on_damage
        self._handle_epoch: int | None = None

    async def nearest(self, scope: Scope, query: str, *, limit: int, deadline_seconds: float) -> dict[str, float]:
        """Similarities by memory id, of at least ``limit`` memories if there are so many. {} past the deadline, and
        where there is no embedder or the index cannot be read."""
        try:
            async with asyncio.timeout(deadline_seconds):
                return await self._nearest(scope, query, limit)
        except StoreCorruptError:
            self._on_damage()
        except (TimeoutError, StoreError, EmbedderError):
            pass  # the words still answer
        return {}

    async def _nearest(self, scope: Scope, query: str, limit: int) -> dict[str, float]:
        vector, generation = await self._embedding.query(query), self._embedding.generation
        if vector is None or generation is None:
            return {}
        unseen = await self._unseen(scope)
        hits = {
            hit.memory_id: hit.similarity for hit in await self._vectors.query(scope, generation, vector, limit=limit)
        }
        wanted = np.frombuffer(vector, dtype=np.float32)
        embedded = {task.memory_id: task.vectors for task in unseen if task.generation == generation and task.vectors}
        embedded |= await self._embed_facts(scope, [task.memory_id for task in unseen if task.vectors is None])
        for memory_id, vectors in embedded.items():
            rows = np.stack([np.frombuffer(row, dtype=np.float32) for row in vectors])
            hits[memory_id] = float((rows @ wanted).max())
        return hits

    async def _embed_facts(self, scope: Scope, memory_ids: Sequence[str]) -> dict[str, Sequence[bytes]]:
        """Vectors of facts that were kept a moment ago: they must not rank behind older ones only because
        nobody has embedded them yet. What was merely said is found by its words until then."""
        newest = await self._memories.get(scope, list(memory_ids)[-EMBED_AT_ONCE:])
        facts = [memory for memory in newest if memory.kind is MemoryKind.FACT]
        rows = await self._embedding.passages([memory.text for memory in facts]) if facts else []
        return {memory.id: row for memory, row in zip(facts, rows, strict=True) if row}

    async def _unseen(self, scope: Scope) -> list[IndexTask]:
        """What this process's vector handle cannot show yet."""
        if self._holds_lock():
            self._handle_epoch = await self._outbox.epoch()
            return await self._outbox.newer(scope, self._handle_epoch) or []
        if self._handle_epoch is None:
            await self._reopen()
        tasks = await self._outbox.newer(scope, self._handle_epoch or 0)
        if tasks is None or len(tasks) > REOPEN_AFTER:
            await self._reopen()
            tasks = await self._outbox.newer(scope, self._handle_epoch or 0)
        return tasks or []

    async def _reopen(self) -> None:
        epoch = await self._outbox.epoch()  # read first: what is done later is scored twice at worst
        await self._vectors.reopen()
        self._handle_epoch = epoch
