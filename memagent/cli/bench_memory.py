"""`memagent bench memory`: how long adding and recalling take as memories grow."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from memagent.cli import bench
from memagent.cli import options as opt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from memagent.bench.memory import MemoryReport

QUICK_SIZES = (1_000, 10_000)

Quick = Annotated[bool, typer.Option("--quick", help="Only 1,000 and 10,000 memories.")]
Million = Annotated[bool, typer.Option("--million", help="Also 1,000,000 memories: takes long.")]


def memory(quick: Quick = False, million: Million = False, as_json: opt.AsJson = False) -> None:
    """Add and recall in growing stores of synthetic talk, without embedding: latency, building time, memory."""
    from memagent.bench import memory as measured

    sizes = (*(QUICK_SIZES if quick else measured.SIZES), *((measured.MILLION,) if million else ()))
    report = asyncio.run(measured.bench_memory(sizes, progress=bench.progress()))
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        bench.show(memory_tables(report))
    bench.judge(report.missed())


def memory_tables(report: MemoryReport) -> Sequence[RenderableType]:
    """A row a size; then the adds."""
    table = bench.table("memories", "built, s", "memory, MB", "recall p50, ms", "p95, ms")
    for size in report.sizes:
        figures = (size.built_seconds, size.memory_mb, size.p50_ms, size.p95_ms)
        table.add_row(f"{size.memories:,}", *(f"{figure:,.1f}" for figure in figures))
    return [
        table,
        "",
        f"a single add: a fact {report.remember_ms:.1f} ms, a message {report.ingest_ms:.1f} ms (median)",
    ]
