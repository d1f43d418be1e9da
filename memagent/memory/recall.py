"""Recall: finding memories by meaning and by words, fused. Automatic recall prefers silence to noise."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memagent.errors import EmbedderError
from memagent.memory.embed import EmbeddingService
from stores.base import LexicalIndex, MemoryTable, Outbox, VectorIndex
from stores.errors import StoreCorruptError, StoreError
from stores.records import IndexTask, Memory, MemoryKind, MemoryState, Scope, Trust
from stores.sameness import normalised

FUSION_K = 20
"""Reciprocal-rank fusion: a hit at rank r counts 1 / (FUSION_K + r)."""
OVERFETCH = 5
LEAST_FETCH = 30
SURE_SIMILARITY = 0.30
"""With all-MiniLM-L6-v2, unrelated English sentences rarely come closer than this."""
WORDS_SHARE = 0.35
"""Of the best word score: below it only common words were shared."""
EMBED_AT_ONCE = 16
REOPEN_AFTER = 500
"""Scoring more outbox rows than this one by one costs more than opening the index again."""
EPISODE_WEIGHT = 0.9
"""Of equals, what the person asked to keep comes before what was merely said."""
ASSISTANT_WEIGHT = 0.8
"""What the assistant said about the person is at best an echo of what the person said."""
QUESTION_WEIGHT = 0.6
"""A question has the words of its answer and states nothing."""
_QUESTION_ENDS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that was found. ``score`` larger is better, comparable within one answer only;
    ``source_ids`` are the journal entries that state it; ``context_ids`` will be their neighbours and is
    () as long as episodes are indexed without them."""

    memory: Memory
    score: float
    why: str
    source_ids: tuple[str, ...]
    context_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Legs:
    """What each leg found: scores by memory id, best first."""

    lexical: dict[str, float]
    similar: dict[str, float]

    def likely(self, found: Mapping[str, Memory]) -> set[str]:
        """The memories that are likely to matter: near in meaning, or sharing words of weight with the
        query (not just an "I" or a "to"). What counts as much is measured by statements: the same
        question, asked before, would outdo every answer to it."""
        statements = [score for memory_id, score in self.lexical.items() if not _asks(found.get(memory_id))]
        enough = WORDS_SHARE * max(statements, default=0.0)
        by_words = {memory_id for memory_id, score in self.lexical.items() if score >= enough}
        return by_words | {memory_id for memory_id, near in self.similar.items() if near >= SURE_SIMILARITY}


class Recaller:
    """Searches one store. ``holds_lock`` says whether this process's vector handle sees all writes;
    ``on_damage`` hears of a vector index that cannot be read."""

    def __init__(
        self,
        *,
        memories: MemoryTable,
        lexical: LexicalIndex,
        vectors: VectorIndex,
        outbox: Outbox,
        embedding: EmbeddingService,
        holds_lock: Callable[[], bool],
        on_damage: Callable[[], None],
    ) -> None:
        self._memories = memories
        self._lexical = lexical
        self._vectors = vectors
        self._outbox = outbox
        self._embedding = embedding
        self._holds_lock = holds_lock
        self._on_damage = on_damage
        self._handle_epoch: int | None = None

    async def recall(
        self, scope: Scope, query: str, *, limit: int, deadline_seconds: float, gated: bool
    ) -> list[Recalled]:
        """The best memories, best first, at most ``limit``. ``gated``: only those that are likely to
        matter. Past the deadline the vector leg is left out. A blank query or limit 0 gives []."""
        if limit < 1 or not query.strip():
            return []
        fetch = max(limit * OVERFETCH, LEAST_FETCH)
        lexical = {hit.memory_id: hit.score for hit in await self._lexical.search(scope, query, limit=fetch)}
        legs = _Legs(lexical, await self._similar_within(scope, query, fetch, deadline_seconds))
        scores = _fused(legs)
        found = {memory.id: memory for memory in await self._memories.get(scope, list(scores))}
        return _chosen(scores, found, legs, limit, gated)

    async def _similar_within(self, scope: Scope, query: str, fetch: int, deadline_seconds: float) -> dict[str, float]:
        try:
            async with asyncio.timeout(deadline_seconds):
                return await self._similar(scope, query, fetch)
        except StoreCorruptError:
            self._on_damage()
        except (TimeoutError, StoreError, EmbedderError):
            pass  # the words still answer
        return {}

    async def _similar(self, scope: Scope, query: str, fetch: int) -> dict[str, float]:
        vector, generation = await self._embedding.query(query), self._embedding.generation
        if vector is None or generation is None:
            return {}
        unseen = await self._unseen(scope)
        hits = {
            hit.memory_id: hit.similarity for hit in await self._vectors.query(scope, generation, vector, limit=fetch)
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


def _fused(legs: _Legs) -> dict[str, float]:
    by_similarity = sorted(legs.similar, key=lambda memory_id: -legs.similar[memory_id])
    scores: dict[str, float] = {}
    for ranked in (list(legs.lexical), by_similarity):
        for rank, memory_id in enumerate(ranked):
            scores[memory_id] = scores.get(memory_id, 0.0) + 1 / (FUSION_K + rank + 1)
    return scores


def _chosen(scores: dict[str, float], found: dict[str, Memory], legs: _Legs, limit: int, gated: bool) -> list[Recalled]:
    weighted = {
        memory_id: score * _weight(found[memory_id])
        for memory_id, score in scores.items()
        if memory_id in found and found[memory_id].state is MemoryState.ACTIVE
    }
    chosen: list[Recalled] = []
    told: set[str] = set()
    wanted = legs.likely(found) if gated else set(weighted)
    for memory_id in sorted(weighted, key=lambda memory_id: (-weighted[memory_id], memory_id)):
        memory = found[memory_id]
        words = normalised(memory.text)
        if words in told or memory_id not in wanted:
            continue
        told.add(words)
        chosen.append(Recalled(memory, weighted[memory_id], _why(memory_id, legs), memory.source_ids))
        if len(chosen) == limit:
            break
    return chosen


def _weight(memory: Memory) -> float:
    if memory.kind is MemoryKind.FACT:
        return 1.0
    weight = EPISODE_WEIGHT * (ASSISTANT_WEIGHT if memory.trust is Trust.ASSISTANT else 1.0)
    return weight * (QUESTION_WEIGHT if _asks(memory) else 1.0)


def _asks(memory: Memory | None) -> bool:
    return memory is not None and memory.text.rstrip().endswith(_QUESTION_ENDS)


def _why(memory_id: str, legs: _Legs) -> str:
    reasons: list[str] = []
    if memory_id in legs.lexical:
        reasons.append(f"words (rank {list(legs.lexical).index(memory_id) + 1})")
    if memory_id in legs.similar:
        reasons.append(f"meaning ({legs.similar[memory_id]:.2f})")
    return ", ".join(reasons)
