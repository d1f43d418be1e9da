"""`memagent bench …`: the product measured on this machine, as tables or JSON."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memagent.cli import options as opt

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from memagent.bench.harness import Progress
    from memagent.bench.report import ContextReport, Exam, ExamReport, Window
    from memagent.llm.client import ChatModel
    from memagent.memory.embed import Embedder

app = typer.Typer(help="Measure the product: the context, what is still known, what is recalled.", no_args_is_help=True)

QUICK_EXCHANGES = 120
QUICK_LENGTHS = (50, 500)
SHOWN_MISSES = 5

Quick = Annotated[bool, typer.Option("--quick", help="Fewer exchanges: a minute instead of many.")]
Windows = Annotated[
    str | None, typer.Option("--windows", metavar="N,N,…", help="Context windows in tokens, separated by commas.")
]
Exchanges = Annotated[int | None, typer.Option("--exchanges", min=20, metavar="N", help="How long the talk is.")]
Seed = Annotated[int, typer.Option("--seed", help="Another seed makes another conversation.")]
TrueEmbedder = Annotated[
    bool, typer.Option("--embedder", help="Use the configured embedder; else a deterministic one by words.")
]
Helper = Annotated[str | None, typer.Option("--model", metavar="NAME", help="A real model for the summaries.")]


@app.callback()
def _bench() -> None:
    """Measure the product: the context, what is still known, what is recalled."""


@app.command()
def context(
    windows: Windows = None,
    exchanges: Exchanges = None,
    quick: Quick = False,
    seed: Seed = 3,
    embedder: TrueEmbedder = False,
    model: Helper = None,
    base_url: opt.BaseUrl = None,
    as_json: opt.AsJson = False,
) -> None:
    """Play one long conversation in several windows: over budget, fill, prefix reuse, assembly time."""
    from memagent.bench import context as bench

    sizes = _windows(windows) or bench.WINDOWS
    length = exchanges or (QUICK_EXCHANGES if quick else bench.EXCHANGES)

    async def run(progress: Progress) -> ContextReport:
        async with _helper(model, base_url) as helper:
            return await bench.bench_context(
                windows=sizes,
                exchanges=length,
                lengths=QUICK_LENGTHS if quick else bench.LENGTHS,
                seed=seed,
                embedder=_embedder(embedder),
                helper=helper,
                progress=progress,
            )

    report = asyncio.run(run(progress()))
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        show(context_tables(report))
    judge(report.missed())


@app.command()
def exam(
    windows: Windows = None,
    exchanges: Exchanges = None,
    quick: Quick = False,
    seed: Seed = 11,
    embedder: TrueEmbedder = False,
    model: Helper = None,
    base_url: opt.BaseUrl = None,
    as_json: opt.AsJson = False,
) -> None:
    """Plant facts and instructions in a long talk, then ask: what is in the prompt, or one call away?"""
    from memagent.bench import exam as bench

    sizes = _windows(windows) or bench.WINDOWS
    amount = bench.QUICK if quick else bench.FULL
    if exchanges:
        amount = amount._replace(exchanges=exchanges)

    async def run(progress: Progress) -> ExamReport:
        async with _helper(model, base_url) as helper:
            return await bench.bench_exam(
                windows=sizes,
                amount=amount,
                seed=seed,
                embedder=_embedder(embedder),
                helper=helper,
                progress=progress,
            )

    report = asyncio.run(run(progress()))
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        show(exam_tables(report))
    judge(report.missed())


def _windows(text: str | None) -> Sequence[int]:
    from memagent.settings import MIN_WINDOW_TOKENS

    try:
        sizes = [int(part) for part in text.split(",")] if text else []
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no list of numbers; write for example 8192,32768") from None
    if any(size < MIN_WINDOW_TOKENS for size in sizes):
        raise typer.BadParameter(f"a window has at least {MIN_WINDOW_TOKENS} tokens")
    return sizes


def _embedder(true_one: bool) -> Embedder | None:
    from memagent.memory.embedders import open_embedder

    return open_embedder(opt.settings_of().embedder) if true_one else None


@contextlib.asynccontextmanager
async def _helper(model: str | None, base_url: str | None) -> AsyncGenerator[ChatModel | None]:
    """The real model that writes the summaries, if one is named."""
    if model is None and base_url is None:
        yield None
        return
    from memagent.llm.opening import open_model

    opened = await open_model(opt.settings_of(model=model, base_url=base_url))
    try:
        yield opened
    finally:
        await opened.close()


def progress() -> Progress:
    """A line on a terminal that says how far it is; nothing for a pipe."""

    def tell(label: str, done: int, total: int) -> None:
        if sys.stderr.isatty():
            typer.echo(f"\r\x1b[K{label}: {done:,} of {total:,}", err=True, nl=False)
            if done == total:
                typer.echo("\r\x1b[K", err=True, nl=False)

    return tell


def judge(missed: Sequence[str]) -> None:
    """Exit code 1, with one line, when something is below its floor."""
    if missed:
        more = f"; and {len(missed) - SHOWN_MISSES} more" if len(missed) > SHOWN_MISSES else ""
        typer.echo("below the floor: " + "; ".join(missed[:SHOWN_MISSES]) + more, err=True)
        raise typer.Exit(1)


def show(parts: Sequence[RenderableType]) -> None:
    """Prints them to standard output, as wide as the terminal."""
    from memagent.cli import render

    console = render.console(sys.stdout)
    for part in parts:
        console.print(part)


def context_tables(report: ContextReport) -> list[RenderableType]:
    """The figures of `bench context`: a row a figure, a column a window."""
    from memagent.bench.report import (
        ASSEMBLY_FLOOR_MS,
        ASSEMBLY_GROWTH,
        FILL_FLOOR,
        MEASURED_ELSEWHERE,
        REUSE_AIMS,
        REUSE_FLOORS,
    )

    windows = report.windows
    names = [f"{window.window_tokens:,}" for window in windows]
    rows = table("window", *names, "floor", "aim")

    def row(name: str, cells: Sequence[str], floor: str = "", aim: str = "") -> None:
        rows.add_row(name, *cells, floor, aim)

    row("exchanges, prompts", [f"{w.exchanges:,}, {w.prompts:,}" for w in windows])
    row("prompts over budget", [str(w.over) for w in windows], "0")
    row("largest prompt ÷ window", [f"{w.largest_tokens / w.window_tokens:.2f}" for w in windows])
    row("fill (mean prompt ÷ window)", [f"{w.fill:.2f}" for w in windows], f"{FILL_FLOOR:.2f}")
    row("prefix reuse", [f"{w.reuse:.3f}" for w in windows], _each(REUSE_FLOORS, windows), _each(REUSE_AIMS, windows))
    row("… lost to broken prompts", [f"{w.lost_to_breaks:.3f}" for w in windows])
    row("… new tokens a prompt otherwise", [f"{w.new_tokens:,.0f}" for w in windows])
    row("recalled tokens an exchange", [f"{w.recalled_tokens:,.1f}" for w in windows])
    row("broken prompts", [_counted(w.broken) for w in windows])
    row("changes of the view", [_counted(w.cuts) for w in windows])
    row("answers that waited for one", [str(w.waited) for w in windows])
    row("summaries", [str(w.summaries) for w in windows])
    row("summarising ÷ answers' prompts", [f"{w.summary_share:.3f}" for w in windows])
    for one in report.assembly[:1]:
        for length in one.median_ms:
            cells = [f"{each.median_ms[length]:.2f}" for each in report.assembly]
            row(f"assembly, ms, at {length:,}", cells, f"< {ASSEMBLY_FLOOR_MS:.0f}")
        row("assembly grows by", [f"{each.growth:.2f}" for each in report.assembly], f"≤ {ASSEMBLY_GROWTH}")
    row("took, seconds", [f"{w.seconds:.0f}" for w in windows])
    return [rows, "", MEASURED_ELSEWHERE]


def exam_tables(report: ExamReport) -> list[RenderableType]:
    """The score of `bench exam`, a row a way of keeping history, and what else was looked at."""
    rows = table(
        *("way of keeping history", "window", "tokens of history", "of the prompt", "in the prompt"),
        *("+ search_history", "+ recall", "+ read_output", "+ any one call", "tokens a call", "standing kept"),
    )
    for exam in report.exams:
        for row in exam.rows:
            counts = (row.in_prompt, row.with_search, row.with_recall, row.with_read_output, row.any_call)
            rows.add_row(
                row.strategy,
                f"{row.window_tokens:,}",
                f"{row.history_tokens:,.0f}",
                f"{row.prompt_tokens:,.0f}",
                *(f"{count} of {row.asked}" for count in counts),
                f"{row.read_back_tokens:,.0f}",
                f"{row.standing} of {exam.standing}",
            )
    return [rows, *(part for exam in report.exams for part in ("", *_exam_lines(exam)))]


def _exam_lines(exam: Exam) -> list[str]:
    sums = exam.summaries
    lines = [
        f"window {exam.window_tokens:,}, {exam.exchanges} exchanges, {exam.seconds:.0f} s",
        f"found in the prompt: {_counted(exam.sections)}; found at all, by where it was said: "
        + ", ".join(f"{place} {count}" for place, count in exam.by_place.items()),
        f"standing instructions verbatim: {exam.standing - len(exam.lost_standing)} of {exam.standing}; revoked and "
        f"gone: {exam.revoked - len(exam.kept_revoked)} of {exam.revoked}; look-alikes taken for instructions: "
        f"{len(exam.mistaken)} of {exam.look_alikes}",
        f"summaries: {sums.leaves} leaves, {sums.condensed} condensed; at most {sums.of_window:.0%} of the window, "
        f"{sums.leaf_of_source:.0%} of a leaf's source, {sums.condensed_of_source:.0%} of a condensed one's",
        f"prompts over budget: {exam.over}; broken without a cause: {exam.unexplained_breaks}",
    ]
    return lines + [f"not found ({miss.place}, exchange {miss.exchange}): {miss.question}" for miss in exam.misses]


def table(*columns: str) -> Table:
    """An empty table without lines."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def _each(limits: Mapping[int, float], windows: Sequence[Window]) -> str:
    return " / ".join(f"{limits[w.window_tokens]:.2f}" if w.window_tokens in limits else "-" for w in windows)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {cause}" for cause, count in counts.items()) or "none"
