"""`memagent export` and `memagent import`: all of a person's data, out and in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memagent.cli import options as opt

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memagent.agent.data.exporting import Exported
    from memagent.agent.data.restoring import Imported

_IMPORTED = "An export of memagent, ChatGPT or Claude, or JSON lines of messages."


def export(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A new folder, or a new file that ends in .zip.")],
    session: opt.SessionId = None,
    with_secrets: Annotated[
        bool, typer.Option("--with-secrets", help="Also keys, tokens and passwords that were said.")
    ] = False,
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """Write sessions, memories with their history, stored outputs and the ledger, to be imported elsewhere."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        done = agent.export(path, session=session, with_secrets=with_secrets)
    if as_json:
        typer.echo(done.model_dump_json(indent=2))
    else:
        render.console(sys.stdout).print(_exported(done))


def import_(
    path: Annotated[Path, typer.Argument(metavar="PATH", help=_IMPORTED)],
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """Take in an export of memagent, or transcripts from elsewhere. What is there already stays as it is."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        done = agent.import_file(path)
    if as_json:
        typer.echo(done.model_dump_json(indent=2))
    else:
        render.console(sys.stdout).print(_imported(done))
    if done.conflicts:
        raise typer.Exit(1)


def _exported(done: Exported) -> RenderableType:
    from rich.text import Text

    lines = [f"exported to {done.path}: {_counts(done.counts)}"]
    if done.redacted:
        lines.append(f"not lossless: secrets were taken out of {done.redacted:,} texts (--with-secrets leaves them in)")
    if done.missing:
        lines.append(f"not lossless: {len(done.missing):,} stored outputs were not there any more")
    return Text("\n".join(lines))


def _imported(done: Imported) -> RenderableType:
    from rich.text import Text

    lines = [f"imported ({done.format}), {len(done.sessions):,} sessions: {_counts(done.added) or 'nothing new'}"]
    if done.skipped:
        lines.append(f"there already: {_counts(done.skipped)}")
    lines += [f"left as it is: {conflict}" for conflict in done.conflicts]
    lines += done.notes
    return Text("\n".join(lines))


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
