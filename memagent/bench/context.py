"""`bench context`: does every prompt fit, how full is it, how much of it could a server reuse?"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from memagent.bench.conversation import conversation
from memagent.bench.harness import BenchModel, Progress, Sitting, no_progress, sitting
from memagent.bench.meter import Scale, Turn
from memagent.bench.report import Assembly, ContextReport, Window
from memagent.events import Compacting
from memagent.llm.client import ChatModel
from memagent.memory.embed import Embedder
from stores.records import Mark, MarkKind

WINDOWS = (8_192, 32_768, 131_072)
EXCHANGES = 1_000
LENGTHS = (100, 1_000, 10_000)
ROUNDS = 300
SEED = 3


async def bench_context(
    *,
    windows: Sequence[int] = WINDOWS,
    exchanges: int = EXCHANGES,
    lengths: Sequence[int] = LENGTHS,
    rounds: int = ROUNDS,
    seed: int = SEED,
    embedder: Embedder | None = None,
    helper: ChatModel | None = None,
    progress: Progress = no_progress,
) -> ContextReport:
    """The same conversation in each window, then the time that assembling takes in sessions of these lengths."""
    found = [
        await run_window(window, exchanges, seed=seed, embedder=embedder, helper=helper, progress=progress)
        for window in windows
    ]
    timed = [await time_assembly(window, lengths, rounds, progress=progress) for window in windows if lengths]
    return ContextReport(seed=seed, windows=tuple(found), assembly=tuple(timed))


async def run_window(
    window_tokens: int,
    exchanges: int,
    *,
    seed: int = SEED,
    embedder: Embedder | None = None,
    helper: ChatModel | None = None,
    progress: Progress = no_progress,
) -> Window:
    """Plays the conversation in one window."""
    start = time.monotonic()
    model, waited = BenchModel(window_tokens, Scale(), helper), 0
    with tempfile.TemporaryDirectory() as folder:
        async with sitting(Path(folder), model, embedder) as talk:
            for number, script in enumerate(conversation(seed, exchanges)):
                reply = await talk.play(number, script)
                waited += any(isinstance(event, Compacting) for event in reply.events)
                progress(f"window {window_tokens:,}", number + 1, exchanges)
            marks = [entry for entry in await talk.journal() if isinstance(entry, Mark)]
    return _figures(model, exchanges, marks, waited, time.monotonic() - start)


def _figures(model: BenchModel, exchanges: int, marks: Sequence[Mark], waited: int, seconds: float) -> Window:
    turns = model.meter.turns
    second_half = [turn for turn in turns if turn.exchange >= exchanges // 2]
    kept = [turn for turn in second_half if not turn.broken]
    recalled = {turn.exchange: turn.recalled_tokens for turn in second_half}
    return Window(
        window_tokens=model.meter.window_tokens,
        exchanges=exchanges,
        prompts=len(turns),
        over=sum(turn.over for turn in turns),
        largest_tokens=max(turn.tokens for turn in turns),
        fill=statistics.fmean(turn.tokens for turn in second_half) / model.meter.window_tokens,
        reuse=statistics.fmean(_reuse(turn) for turn in second_half),
        lost_to_breaks=sum(1 - _reuse(turn) for turn in second_half if turn.broken) / len(second_half),
        new_tokens=statistics.fmean(turn.tokens - turn.common_tokens for turn in kept) if kept else 0.0,
        recalled_tokens=statistics.fmean(recalled.values()),
        broken=dict(model.break_causes),
        cuts=dict(Counter(str(mark.data.get("cause")) for mark in marks if mark.what is MarkKind.CUT)),
        waited=waited,
        summaries=sum(mark.what is MarkKind.SUMMARY for mark in marks),
        summary_tokens=model.meter.helper_tokens,
        answer_tokens=sum(turn.tokens for turn in turns),
        seconds=seconds,
    )


def _reuse(turn: Turn) -> float:
    return turn.common_tokens / turn.tokens


async def time_assembly(
    window_tokens: int, lengths: Sequence[int] = LENGTHS, rounds: int = ROUNDS, *, progress: Progress = no_progress
) -> Assembly:
    """The median time of a preview without recall, in sessions of so many exchanges."""
    medians: dict[int, float] = {}
    for length in lengths:
        progress(f"assembly in {window_tokens:,} after {length:,} exchanges", 0, 1)
        with tempfile.TemporaryDirectory() as folder:
            async with sitting(Path(folder), BenchModel(window_tokens, Scale())) as talk:
                medians[length] = await _median_ms(talk, length, rounds)
        progress(f"assembly in {window_tokens:,} after {length:,} exchanges", 1, 1)
    return Assembly(window_tokens=window_tokens, median_ms=medians)


async def _median_ms(talk: Sitting, exchanges: int, rounds: int) -> float:
    lines: list[dict[str, str]] = []
    for number in range(exchanges):
        lines.append({"role": "user", "content": f"question {number} about rivers and bridges"})
        lines.append({"role": "assistant", "content": f"answer {number}: there are many bridges over that river"})
    await talk.assistant.ingest(lines, None)
    await talk.assistant.settle(None)
    await talk.assistant.preview("hello there", (), recall=False)
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        await talk.assistant.preview("hello there", (), recall=False)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1_000
