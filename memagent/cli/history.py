"""`memagent history …`: what was said and what tools returned, found from the shell."""

from __future__ import annotations

from typing import Annotated

import typer

from memagent.cli import options as opt

app = typer.Typer(help="What was said.", no_args_is_help=True)


@app.callback()
def _history() -> None:
    """What was said."""


@app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words of what to look for.")],
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="In this session (the last used one by default).")
    ] = None,
    everywhere: Annotated[bool, typer.Option("--all", help="In all sessions.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most this many.")] = 8,
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """Find places in what was said or returned by tools, word for word, best first."""
    from memagent.cli import render

    if session and everywhere:
        raise typer.BadParameter("--session names one session, --all means all: give one of them")
    with opt.look_up(data_dir, user) as agent:
        opt.await_recall(agent)
        found = agent.search_history(query, session="all" if everywhere else session or "last", limit=limit)
    render.show(found, as_json=as_json, view=render.history_table)
