"""`bench recall`: are the turns that answer a question among what is recalled for it? No language model."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from memagent.agent.assistant import Assistant
from memagent.bench.dialogues import CATEGORIES, Dialogue, Question
from memagent.bench.harness import Progress, no_progress
from memagent.bench.report import Figures
from memagent.build import build_assistant
from memagent.llm.tokens import TokenCounter
from memagent.memory.embed import CHUNK_TOKENS, Embedder, Scale, Vectors
from memagent.memory.recall import Recalled
from memagent.settings import load_settings
from memagent.testing import ScriptedModel

DEPTHS = (5, 10, 20)
BUDGETS_TOKENS = (1_000, 2_000, 4_000)
DEEP = 160
"""So many memories are asked for where a budget of tokens is to be filled."""
WARM = 3
FLOORS: Mapping[int, float] = {10: 0.74, 20: 0.82}
JUDGED_FROM_QUESTIONS = 100
"""Fewer say little."""


class Quality(Figures):
    """Means over questions: the share of evidence among the first so many, its nDCG, and the share of it within
    so many tokens of recalled text."""

    questions: int
    recall: dict[int, float]
    ndcg_10: float
    within_tokens: dict[int, float]


class RecallReport(Figures):
    """What `bench recall` found. Latencies are of one question in milliseconds, embedding the question
    (``embed_query_ms``) included; ``adds_per_second`` counts from the first `ingest` until everything is
    indexed, ``embedded_per_second`` is the embedder's own rate on the same texts."""

    embedder: str
    dialogues: int
    turns: int
    total: Quality
    by_category: dict[str, Quality]
    p50_ms: float
    p95_ms: float
    embed_query_ms: float
    adds_per_second: float
    embedded_per_second: float

    def missed(self) -> list[str]:
        """What is below its floor, in words; [] if nothing."""
        if self.total.questions < JUDGED_FROM_QUESTIONS:
            return []
        return [
            f"recall@{depth} {self.total.recall[depth]:.3f}, floor {floor:.2f}"
            for depth, floor in FLOORS.items()
            if self.total.recall[depth] < floor
        ]


class TimedEmbedder:
    """An embedder that says how long it took."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.chunk_tokens: int = getattr(embedder, "chunk_tokens", CHUNK_TOKENS)
        self.scale: Scale = getattr(embedder, "scale", Scale())
        self.query_seconds: list[float] = []

    @property
    def generation(self) -> str:
        return self._embedder.generation

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        start = time.perf_counter()
        vector = self._embedder.embed_query(text)
        self.query_seconds.append(time.perf_counter() - start)
        return vector


class _Asked:
    """One question and what was recalled for it."""

    def __init__(self, question: Question, found: Sequence[Recalled], deep: Sequence[Recalled], seconds: float) -> None:
        self.question = question
        self.seconds = seconds
        hits = [bool(question.evidence.intersection(item.source_ids)) for item in found]
        self.recall = {depth: sum(hits[:depth]) / len(question.evidence) for depth in DEPTHS}
        gain = sum(1 / math.log2(rank + 2) for rank, hit in enumerate(hits[:10]) if hit)
        self.ndcg = gain / sum(1 / math.log2(rank + 2) for rank in range(min(10, len(question.evidence))))
        self.within = dict.fromkeys(BUDGETS_TOKENS, 0.0)
        counter, used = TokenCounter(), 0
        for item in deep:
            used += counter.text(item.memory.text)
            if question.evidence.intersection(item.source_ids):
                for budget in BUDGETS_TOKENS:
                    self.within[budget] += (used <= budget) / len(question.evidence)


async def bench_recall(
    dialogues: Sequence[Dialogue], embedder: Embedder, *, progress: Progress = no_progress
) -> RecallReport:
    """Each dialogue is imported by a user of its own, then each of its questions is asked."""
    timed = TimedEmbedder(embedder)
    asked: list[_Asked] = []
    adding = 0.0
    for number, dialogue in enumerate(dialogues, start=1):
        with tempfile.TemporaryDirectory() as folder:
            settings = load_settings(data_dir=Path(folder), user=f"bench {number}", zone="UTC")
            assistant = await build_assistant(settings=settings, embedder=timed, model=ScriptedModel())
            try:
                adding += await _add(assistant, dialogue)
                label = f"dialogue {number}"
                for done, question in enumerate(dialogue.questions, start=1):
                    asked.append(await _ask(assistant, question))
                    progress(label, done, len(dialogue.questions))
            finally:
                await assistant.close()
    return _report(dialogues, asked, timed, adding)


async def _add(assistant: Assistant, dialogue: Dialogue) -> float:
    """Returns the seconds it took until everything was indexed."""
    await assistant.settle(None)  # the embedder is loaded and the index open
    start = time.perf_counter()
    for session_id, turns in dialogue.sessions.items():
        await assistant.ingest(turns, session_id)
    await assistant.settle(None)
    seconds = time.perf_counter() - start
    for question in dialogue.questions[:WARM]:
        await assistant.memory.recall(question.text, max(DEPTHS))
    return seconds


async def _ask(assistant: Assistant, question: Question) -> _Asked:
    start = time.perf_counter()
    found = await assistant.memory.recall(question.text, max(DEPTHS))
    seconds = time.perf_counter() - start
    return _Asked(question, found, await assistant.memory.recall(question.text, DEEP), seconds)


def _report(
    dialogues: Sequence[Dialogue], asked: Sequence[_Asked], timed: TimedEmbedder, adding: float
) -> RecallReport:
    texts = [turn["content"] for dialogue in dialogues for turns in dialogue.sessions.values() for turn in turns]
    texts.sort(key=len)
    start = time.perf_counter()
    for first in range(0, len(texts), 256):
        timed.embed_passages(texts[first : first + 256])
    embedding = time.perf_counter() - start
    taken = sorted(item.seconds for item in asked) or [0.0]
    query_seconds = sorted(timed.query_seconds) or [0.0]
    return RecallReport(
        embedder=timed.generation,
        dialogues=len(dialogues),
        turns=len(texts),
        total=_quality(asked),
        by_category={
            name: _quality(some)
            for number, name in CATEGORIES.items()
            if (some := [item for item in asked if item.question.category == number])
        },
        p50_ms=1_000 * taken[len(taken) // 2],
        p95_ms=1_000 * taken[int(len(taken) * 0.95)],
        embed_query_ms=1_000 * query_seconds[len(query_seconds) // 2],
        adds_per_second=len(texts) / adding if adding else 0.0,
        embedded_per_second=len(texts) / embedding if embedding else 0.0,
    )


def _quality(asked: Sequence[_Asked]) -> Quality:
    count = max(1, len(asked))
    return Quality(
        questions=len(asked),
        recall={depth: sum(item.recall[depth] for item in asked) / count for depth in DEPTHS},
        ndcg_10=sum(item.ndcg for item in asked) / count,
        within_tokens={budget: sum(item.within[budget] for item in asked) / count for budget in BUDGETS_TOKENS},
    )
