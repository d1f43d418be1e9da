"""`bench memory`: how long a single add and a recall take as memories grow, without embedding. Synthetic talk:
sessions of 40 messages in words that are drawn as words are in a language, each with a vector near its session's."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from memagent.bench.harness import Progress, no_progress
from memagent.bench.report import Figures
from memagent.build import build_assistant, recaller_over
from memagent.memory.embed import EmbeddingService, Vectors
from memagent.memory.recall import Recaller
from memagent.settings import load_settings
from memagent.testing import ScriptedModel, WordEmbedder
from stores.chroma import ChromaVectorIndex
from stores.records import Memory, MemoryKind, Scope, Source, Trust
from stores.sql import SqlStores, open_sql

SIZES = (1_000, 10_000, 100_000)
MILLION = 1_000_000
FLOORS_MS: Mapping[int, float] = {10_000: 10.0, 100_000: 25.0, MILLION: 100.0}
ADD_FLOOR_MS = 5.0
SCOPE = Scope("bench")
DIMENSIONS = 384
SESSION = 40
WORDS = 40_000
BATCH = 2_000
ASKED = 200
WARM = 5
ADDS = 100
START = datetime(2020, 1, 1, tzinfo=UTC)


class Size(Figures):
    """Recall in a scope of so many memories: median and 95th percentile in milliseconds, with how long it took to
    build and the most memory that the process has used until then, in MB."""

    memories: int
    built_seconds: float
    memory_mb: float
    p50_ms: float
    p95_ms: float


class MemoryReport(Figures):
    """What `bench memory` found. ``remember_ms`` and ``ingest_ms`` are medians of adds one after the other, of a fact
    and of a message, through the agent."""

    remember_ms: float
    ingest_ms: float
    sizes: list[Size]

    def missed(self) -> list[str]:
        """What is slower than its floor, in words; [] if nothing."""
        adds = {"remember": self.remember_ms, "ingest": self.ingest_ms}
        slow = [
            f"recall in {size.memories:,} memories {size.p50_ms:.1f} ms, floor {FLOORS_MS[size.memories]:.0f}"
            for size in self.sizes
            if size.p50_ms > FLOORS_MS.get(size.memories, float("inf"))
        ]
        return slow + [f"{n} {ms:.1f} ms, floor {ADD_FLOOR_MS:.0f}" for n, ms in adds.items() if ms >= ADD_FLOOR_MS]


class TopicEmbedder:
    """Vectors as fast as they can be drawn: near each other where texts begin with the same topic."""

    generation = "synthetic/1"

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)
        self.topics = _unit(self._random.standard_normal((1_000, DIMENSIONS)))

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        noise = self._random.standard_normal((len(texts), DIMENSIONS))
        topics = self.topics[[int(text.split()[0][1:]) % len(self.topics) for text in texts]]
        return _unit(topics + 0.05 * noise)

    def embed_query(self, text: str) -> Vectors:
        return self.embed_passages([text])[0]


class Talk:
    """Messages in words that follow Zipf's law; the first word names the topic."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(11)

    def text(self, topic: int, words: int) -> str:
        drawn = self._random.zipf(1.15, size=words * 2)
        return " ".join([f"t{topic}", *(f"word{number}" for number in drawn[drawn < WORDS][:words])])

    def memory(self, number: int) -> Memory:
        session, at = number // SESSION, START + timedelta(minutes=number)
        return Memory(
            id=f"e-{number}",
            kind=MemoryKind.EPISODE,
            text=self.text(session, 20),
            trust=Trust.USER,
            said_at=at,
            recorded_at=at,
            session_id=f"s{session}",
            speaker=("Ana", "Bo")[number % 2],
            sources=(Source(session_id=f"s{session}", entry_id=f"m{number}"),),
        )


async def bench_memory(sizes: Sequence[int] = SIZES, *, progress: Progress = no_progress) -> MemoryReport:
    """Single adds, then recall at each size; sizes in ascending order, in one growing store."""
    remember_ms, ingest_ms = await _adds()
    embedder, talk, rows = TopicEmbedder(), Talk(), list[Size]()
    with tempfile.TemporaryDirectory() as folder:
        stores, vectors = open_sql(Path(folder) / "memagent.db"), ChromaVectorIndex(Path(folder) / "vectors")
        embedding = EmbeddingService(lambda: embedder)
        await embedding.wait()
        count, built = 0, 0.0
        for size in sizes:
            start = time.perf_counter()
            while count < size:
                upto = min(size, count + BATCH)
                await _build(stores, vectors, embedder, [talk.memory(number) for number in range(count, upto)], upto)
                count = upto
                progress("memories", count, sizes[-1])
            built += time.perf_counter() - start
            recaller = recaller_over(stores, vectors, embedding, clock=lambda: datetime.now(UTC), zone="UTC")
            taken = await _ask(recaller, talk, size)
            rows.append(
                Size(
                    memories=size,
                    built_seconds=built,
                    memory_mb=_peak_mb(),
                    p50_ms=taken[len(taken) // 2],
                    p95_ms=taken[int(len(taken) * 0.95)],
                )
            )
        embedding.close()
        await vectors.close()
        await stores.close()
    return MemoryReport(remember_ms=remember_ms, ingest_ms=ingest_ms, sizes=rows)


async def _adds() -> tuple[float, float]:
    """Medians, in milliseconds, of keeping a fact and of importing a message."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(data_dir=Path(folder), user="bench", zone="UTC")
        assistant = await build_assistant(settings=settings, embedder=WordEmbedder(), model=ScriptedModel())
        try:
            await assistant.ingest([{"role": "user", "content": "hello"}], None)  # what is opened once is open
            await assistant.settle(None)
            kept = await _median_ms(lambda n: assistant.memory.remember(f"the boat number {n} is called Heron {n}"))
            said = await _median_ms(lambda n: assistant.ingest([{"role": "user", "content": f"line {n}, heron"}], None))
        finally:
            await assistant.close()
    return kept, said


async def _median_ms(add: Callable[[int], Awaitable[object]]) -> float:
    taken: list[float] = []
    for number in range(ADDS):
        start = time.perf_counter()
        await add(number)
        taken.append(1_000 * (time.perf_counter() - start))
    return sorted(taken)[ADDS // 2]


async def _build(
    stores: SqlStores, vectors: ChromaVectorIndex, embedder: TopicEmbedder, memories: Sequence[Memory], cursor: int
) -> None:
    await stores.memories.put_episodes(SCOPE, memories, cursor=cursor)
    rows = embedder.embed_passages([memory.text for memory in memories])
    await vectors.put(SCOPE, embedder.generation, {m.id: [r.tobytes()] for m, r in zip(memories, rows, strict=True)})
    while tasks := await stores.outbox.pending(limit=BATCH):
        await stores.outbox.done([task.number for task in tasks])


async def _ask(recaller: Recaller, talk: Talk, size: int) -> list[float]:
    """Milliseconds, sorted. Questions are worded as the messages are. Raises RuntimeError if one finds too little."""
    taken: list[float] = []
    for number in range(WARM + ASKED):
        question = talk.text(number * 7 % max(1, size // SESSION), 8)
        start = time.perf_counter()
        found = await recaller.recall(SCOPE, question, limit=8, deadline_seconds=3.0, gated=False)
        taken.append(1_000 * (time.perf_counter() - start))
        if len(found) < 8:
            raise RuntimeError(f"a question found only {len(found)} memories: this measures nothing")
    return sorted(taken[WARM:])


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1_024 * 1_024 if sys.platform == "darwin" else 1_024)


def _unit(rows: np.ndarray) -> Vectors:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
