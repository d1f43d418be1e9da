"""Recall's latency without embedding, as a curve: python tests/bench/recall_scale.py [--million]

Synthetic talk and vectors on SQLite and embedded Chroma in a temporary folder: sessions of 40 messages in words
that are drawn as words are in a language, each message with a vector near its session's. Prints a row for each
size: how long it took to build, the process's memory, and the median and 95th percentile of a recall.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from memagent.memory.embed import EmbeddingService, Vectors
from memagent.memory.recall import Recaller
from stores.chroma import ChromaVectorIndex
from stores.records import Memory, MemoryKind, Scope, Source, Trust
from stores.sql import SqlStores, open_sql

SCOPE = Scope("bench")
DIMENSIONS = 384
SESSION = 40
WORDS = 40_000
BATCH = 2_000
ASKED = 200
START = datetime(2020, 1, 1, tzinfo=UTC)


class NoEmbedder:
    """Vectors as fast as they can be drawn."""

    generation = "synthetic/1"

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)
        self.topics = unit(self._random.standard_normal((1_000, DIMENSIONS)))

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        noise = self._random.standard_normal((len(texts), DIMENSIONS))
        topics = self.topics[[int(text.split()[0][1:]) % len(self.topics) for text in texts]]
        return unit(topics + 0.05 * noise)

    def embed_query(self, text: str) -> Vectors:
        return self.embed_passages([text])[0]


def unit(rows: np.ndarray) -> Vectors:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


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


async def measure(sizes: Sequence[int]) -> None:
    print(f"{'memories':>10} {'built, s':>10} {'memory, MB':>11} {'p50, ms':>9} {'p95, ms':>9}")
    embedder, talk, built = NoEmbedder(), Talk(), 0.0
    with tempfile.TemporaryDirectory() as folder:
        stores, vectors = open_sql(Path(folder) / "memagent.db"), ChromaVectorIndex(Path(folder) / "vectors")
        embedding = EmbeddingService(lambda: embedder)
        await embedding.wait()
        count = 0
        for size in sizes:
            start = time.perf_counter()
            while count < size:
                await add(stores, vectors, embedder, [talk.memory(n) for n in range(count, min(size, count + BATCH))])
                count = min(size, count + BATCH)
            built += time.perf_counter() - start
            taken = await ask(recaller(stores, vectors, embedding), talk, size)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
            print(
                f"{size:>10,} {built:>10.1f} {memory:>11,.0f} {taken[len(taken) // 2]:>9.1f} "
                f"{taken[int(len(taken) * 0.95)]:>9.1f}",
                flush=True,
            )
        embedding.close()
        await vectors.close()
        await stores.close()


async def add(stores: SqlStores, vectors: ChromaVectorIndex, embedder: NoEmbedder, memories: list[Memory]) -> None:
    await stores.memories.put(SCOPE, memories)
    rows = embedder.embed_passages([memory.text for memory in memories])
    await vectors.put(SCOPE, embedder.generation, {m.id: [r.tobytes()] for m, r in zip(memories, rows, strict=True)})
    while tasks := await stores.outbox.pending(limit=BATCH):
        await stores.outbox.done([task.number for task in tasks])


def recaller(stores: SqlStores, vectors: ChromaVectorIndex, embedding: EmbeddingService) -> Recaller:
    return Recaller(
        memories=stores.memories,
        talk=stores.talk,
        lexical=stores.lexical,
        vectors=vectors,
        outbox=stores.outbox,
        embedding=embedding,
        holds_lock=lambda: True,
        on_damage=lambda: None,
        clock=lambda: datetime.now(UTC),
        zone="UTC",
    )


async def ask(searcher: Recaller, talk: Talk, size: int) -> list[float]:
    """Milliseconds, sorted. Questions are worded as the messages are."""
    taken: list[float] = []
    for number in range(ASKED + 5):
        question = talk.text(number * 7 % (size // SESSION), 8)
        start = time.perf_counter()
        found = await searcher.recall(SCOPE, question, limit=8, deadline_seconds=3.0, gated=False)
        taken.append(1_000 * (time.perf_counter() - start))
        assert len(found) == 8
    return sorted(taken[5:])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="Also with 1,000,000 memories: takes long.")
    given = parser.parse_args()
    asyncio.run(measure((1_000, 10_000, 100_000, *((1_000_000,) if given.million else ()))))
