"""`memagent doctor`: what is kept where, what nothing refers to any more, and whether the indexes are whole."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memagent.cli import options as opt

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memagent.agent.data.upkeep import Checkup


def doctor(
    collect: Annotated[
        bool, typer.Option("--collect", help="Remove the stored outputs that nothing refers to any more.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Make anew what is not as the journal says: memories, words, vectors.")
    ] = False,
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """Show what is kept where, which stored outputs could go and why, and what of the indexes differs."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        found = agent.checkup(collect=collect, repair=repair)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        render.console(sys.stdout).print(_view(found))


def _view(found: Checkup) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    places = Table(box=None, pad_edge=False)
    for column in ("kept", "where", "size"):
        places.add_column(column, overflow="fold")
    for place in found.places:
        places.add_row(place.what, place.where, _bytes(place.size_bytes))
    parts: list[RenderableType] = [places, Text()]
    parts.append(Text(f"stored outputs of this user: {found.outputs:,}, {_bytes(found.outputs_bytes)}"))
    if found.missing:
        parts.append(Text(f"missing, though entries refer to them: {', '.join(found.missing)}"))
    parts += [_indexes(found), Text()]
    if not found.strays:
        parts.append(Text("every one of them is referred to, or younger than an hour"))
        return Group(*parts)
    strays = Table(box=None, pad_edge=False)
    for column in ("output", "written", "size", "why"):
        strays.add_column(column, overflow="fold")
    for stray in found.strays:
        when = f"{stray.modified_at:%Y-%m-%d %H:%M} UTC"
        strays.add_row(stray.digest, when, _bytes(stray.size_bytes), stray.why)
    size = _bytes(sum(stray.size_bytes for stray in found.strays))
    said = "removed" if found.collected else "could go (memagent doctor --collect)"
    parts += [Text(f"{len(found.strays):,} {said}, {size}:"), strays]
    return Group(*parts)


def _indexes(found: Checkup) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("made of the journal", "must have", "lacks", "too many", ""):
        table.add_column(column, overflow="fold")
    for one in found.indexes:
        verdict = "whole" if one.is_whole else "repaired" if found.repaired else "memagent doctor --repair"
        table.add_row(one.what, f"{one.wanted:,}", f"{one.missing:,}", f"{one.extra:,}", one.why or verdict)
    return table


def _bytes(size: int | None) -> str:
    if size is None:
        return "-"
    return f"{size:,} B" if size < 10_000 else f"{size / 1_000_000:,.2f} MB"
