"""`memagent memory erase`: for good, after the person has seen what."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from memagent.cli import options as opt

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memagent import Agent, Receipt

TEXT_CHARS = 100


def erase(
    memory_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A memory's id, or the beginning of it.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="All that holds this text.")] = None,
    entry: Annotated[str | None, typer.Option("--entry", metavar="ID", help="A message, by its whole id.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="A whole session; with --entry: where that is.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """Erase for good: everywhere in what memagent keeps, with all that was made of it. Nothing brings it back."""
    from memagent.cli import render

    if (memory_id, text, entry, session) == (None, None, None, None):
        raise typer.BadParameter("say what to erase: an ID, --text, --entry or --session")
    with opt.look_up(data_dir, user) as agent:
        wanted = render.memory_of(agent, memory_id).id if memory_id else None
        run = partial(agent.erase, text=text, memory_id=wanted, entry_id=entry, session=session)
        shown = run(dry_run=True)
        if dry_run or not shown.matches:
            _print(shown, as_json=as_json)
            return
        if not yes:
            _confirm(shown)
        done = run()
    _print(done, as_json=as_json)
    if done.found or not done.finished:
        raise typer.Exit(1)


def _confirm(shown: Receipt) -> None:
    from memagent.cli import render

    render.console(sys.stderr).print(matches_view(shown))
    if not sys.stdin.isatty():
        raise typer.BadParameter("nothing was erased: say --yes to erase what is listed")
    typer.confirm("Erase this for good?", abort=True, err=True)


def _print(receipt: Receipt, *, as_json: bool) -> None:
    from memagent.cli import render

    if as_json:
        typer.echo(receipt.model_dump_json(indent=2))
        return
    view = receipt_view(receipt) if receipt.finished or receipt.notes else matches_view(receipt)
    render.console(sys.stdout).print(view)


def matches_view(receipt: Receipt) -> RenderableType:
    """What would go."""
    from rich.table import Table
    from rich.text import Text

    from memagent.cli import render

    if not receipt.matches:
        return Text("there is nothing of it")
    table = Table(box=None, pad_edge=False)
    for column in ("what", "id", "session", "text", "why"):
        table.add_column(column, overflow="fold")
    for match in receipt.matches:
        words = render.printable(" ".join(match.text.split()))
        short = words if len(words) <= TEXT_CHARS else f"{words[: TEXT_CHARS - 1]}…"
        table.add_row(match.what, match.id, match.session_id or "", Text(short), match.why)
    return table


def receipt_view(receipt: Receipt) -> RenderableType:
    """What is gone, what was searched, and what memagent cannot reach."""
    from rich.text import Text

    lines = [f"receipt {receipt.id}: {receipt.asked}"]
    gone = ", ".join(f"{count:,} {name}" for name, count in receipt.counts.items())
    lines.append(f"{'erased' if receipt.finished else 'not finished'}: {gone}")
    if receipt.finished:
        lines.append(
            f"searched {receipt.searched_files:,} files ({receipt.searched_bytes:,} bytes) "
            f"for {receipt.searched_for:,} pieces of it"
        )
        lines += [f"FOUND in {one.file}: {one.what}" for one in receipt.found] or ["nothing of it was found"]
    if receipt.also_in:
        lines.append(f"said again, and left, in: {', '.join(receipt.also_in)}")
    lines += [*receipt.notes, *(f"out of reach: {one}" for one in receipt.out_of_reach)]
    return Text("\n".join(lines))


def run_slash(agent: Agent, argument: str) -> RenderableType:
    """`/erase TEXT` shows what would go, `/erase yes TEXT` erases."""
    from rich.console import Group
    from rich.text import Text

    sure, _, text = argument.partition(" ")
    if sure == "yes" and text.strip():
        return receipt_view(agent.erase(text=text.strip()))
    shown = agent.erase(text=argument, dry_run=True)
    if not shown.matches:
        return matches_view(shown)
    return Group(matches_view(shown), Text("this erases it for good: /erase yes TEXT"))
