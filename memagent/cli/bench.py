"""`memagent bench …`: the product measured on this machine, as tables or JSON."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memagent.cli import options as opt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from memagent.bench.harness import Progress
    from memagent.bench.report import ContextReport, Window
    from memagent.llm.client import ChatModel
    from memagent.memory.embed import Embedder

app = typer.Typer(
    help="Measure the context: budget, fill, prefix, summaries, what is still known.", no_args_is_help=True
)

QUICK_EXCHANGES = 120
QUICK_LENGTHS = (50, 500)

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
    """Measure the context: budget, fill, prefix, summaries, what is still known."""


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
        return await bench.bench_context(
            windows=sizes,
            exchanges=length,
            lengths=QUICK_LENGTHS if quick else bench.LENGTHS,
            seed=seed,
            embedder=_embedder(embedder),
            helper=await _helper(model, base_url),
            progress=progress,
        )

    report = asyncio.run(run(_progress()))
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        _print(context_tables(report))
    _judge(report.missed())


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
    from memagent.memory.embed import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(opt.settings_of().embedder) if true_one else None


async def _helper(model: str | None, base_url: str | None) -> ChatModel | None:
    if model is None and base_url is None:
        return None
    from memagent.llm.opening import open_model

    return await open_model(opt.settings_of(model=model, base_url=base_url))


def _progress() -> Progress:
    """A line on a terminal that says how far it is; nothing for a pipe."""

    def tell(label: str, done: int, total: int) -> None:
        if sys.stderr.isatty():
            typer.echo(f"\r\x1b[K{label}: {done:,} of {total:,}", err=True, nl=False)
            if done == total:
                typer.echo("\r\x1b[K", err=True, nl=False)

    return tell


def _judge(missed: Sequence[str]) -> None:
    """Exit code 1, with one line, when something is below its floor."""
    if missed:
        typer.echo("below the floor: " + "; ".join(missed), err=True)
        raise typer.Exit(1)


def _print(parts: Sequence[RenderableType]) -> None:
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
    table = _table("window", *names, "floor", "aim")

    def row(name: str, cells: Sequence[str], floor: str = "", aim: str = "") -> None:
        table.add_row(name, *cells, floor, aim)

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
    row("summaries", [str(w.summaries) for w in windows])
    row("summarising ÷ answers' prompts", [f"{w.summary_share:.3f}" for w in windows])
    for one in report.assembly[:1]:
        for length in one.median_ms:
            cells = [f"{each.median_ms[length]:.2f}" for each in report.assembly]
            row(f"assembly, ms, at {length:,}", cells, f"< {ASSEMBLY_FLOOR_MS:.0f}")
        row("assembly grows by", [f"{each.growth:.2f}" for each in report.assembly], f"≤ {ASSEMBLY_GROWTH}")
    row("took, seconds", [f"{w.seconds:.0f}" for w in windows])
    return [table, "", MEASURED_ELSEWHERE]


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def _each(limits: Mapping[int, float], windows: Sequence[Window]) -> str:
    return " / ".join(f"{limits[w.window_tokens]:.2f}" if w.window_tokens in limits else "-" for w in windows)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {cause}" for cause, count in counts.items()) or "none"
