"""Finding memories by meaning: vectors that are in the index, and those that have still to reach it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from memagent.errors import EmbedderError
from memagent.memory.embed import EmbeddingService
from stores.base import MemoryTable
from stores.errors import StoreCorruptError, StoreError
from stores.indexes import Outbox, VectorIndex
from stores.records import IndexTask, MemoryKind, Scope

EMBED_AT_ONCE = 16
REOPEN_AFTER = 500
"""Scoring more outbox rows than this one by one costs more than opening the index again."""
SAME = 0.95
"""Of the way from unrelated texts to equal ones: from here on two facts may say the same in other words."""


class Near(NamedTuple):
    """Similarities by memory id, and the first vectors of those that are not in the index yet."""

    similar: dict[str, float]
    vectors: dict[str, bytes]


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

    async def nearest(self, scope: Scope, query: str, *, limit: int, deadline_seconds: float) -> Near:
        """At least ``limit`` memories if there are so many. None past the deadline, and where there is no embedder
        or the index cannot be read."""
        try:
            async with asyncio.timeout(deadline_seconds):
                return await self._nearest(scope, query, limit)
        except StoreCorruptError:
            self._on_damage()
        except (TimeoutError, StoreError, EmbedderError):
            pass  # the words still answer
        return Near({}, {})

    async def same(self, scope: Scope, ids: Sequence[str], known: Mapping[str, bytes]) -> set[tuple[str, str]]:
        """Pairs of memories (each id smaller than its partner's place in ``ids``) so near to each other that they
        could say the same. ``known``: vectors that need not be looked up."""
        generation, scale = self._embedding.generation, self._embedding.scale
        missing = [memory_id for memory_id in ids if memory_id not in known]
        try:
            found = dict(known) | (await self._vectors.first(scope, generation, missing) if generation else {})
        except StoreCorruptError:
            self._on_damage()
            return set()
        order = [memory_id for memory_id in ids if memory_id in found]
        if len(order) < 2:
            return set()
        rows = np.stack([np.frombuffer(found[memory_id], dtype=np.float32) for memory_id in order])
        enough = scale.unrelated + SAME * (1 - scale.unrelated)
        pairs = np.argwhere(np.triu(rows @ rows.T >= enough, k=1))
        return {(order[int(a)], order[int(b)]) for a, b in pairs}

    async def _nearest(self, scope: Scope, query: str, limit: int) -> Near:
        generation = self._embedding.generation
        # looked at before the index is: what reaches it in between is scored twice at worst
        vector, unseen = await asyncio.gather(self._embedding.query(query), self._unseen(scope))
        if vector is None or generation is None:
            return Near({}, {})
        hits = {
            hit.memory_id: hit.similarity for hit in await self._vectors.query(scope, generation, vector, limit=limit)
        }
        wanted = np.frombuffer(vector, dtype=np.float32)
        embedded = {task.memory_id: task.vectors for task in unseen if task.generation == generation and task.vectors}
        embedded |= await self._embed_facts(scope, [task.memory_id for task in unseen if task.vectors is None])
        for memory_id, vectors in embedded.items():
            rows = np.stack([np.frombuffer(row, dtype=np.float32) for row in vectors])
            hits[memory_id] = float((rows @ wanted).max())
        return Near(hits, {memory_id: vectors[0] for memory_id, vectors in embedded.items()})

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
            self._handle_epoch = None  # once the lock is another's, this handle is to be opened anew
            return await self._outbox.newer(scope) or []
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
