"""`memagent memory …`: what is remembered, seen and changed from the shell."""

from __future__ import annotations

from typing import Annotated

import typer

from memagent.cli import options as opt

app = typer.Typer(help="What is remembered.", no_args_is_help=True)

MemoryId = Annotated[str, typer.Argument(metavar="ID", help="A memory's id, or the beginning of it.")]


@app.callback()
def _memory() -> None:
    """What is remembered."""


@app.command("list")
def list_(
    episodes: Annotated[bool, typer.Option("--episodes", help="Messages of past talk instead.")] = False,
    forgotten: Annotated[bool, typer.Option("--forgotten", help="Those that were forgotten instead.")] = False,
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """List memories, newest first: the statements that were kept."""
    from memagent.cli import render
    from stores.records import MemoryKind, MemoryState

    with opt.look_up(data_dir, user) as agent:
        found = agent.memories(
            MemoryState.FORGOTTEN if forgotten else MemoryState.ACTIVE,
            kind=MemoryKind.EPISODE if episodes else MemoryKind.FACT,
        )
    render.show(found, as_json=as_json, view=render.memories_table)


@app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most this many.")] = 8,
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """Find memories by meaning and by words, best first."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        opt.await_recall(agent)
        found = agent.recall(query, limit=limit)
    render.show(found, as_json=as_json, view=render.recalled_table)


@app.command()
def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember, as one statement.")],
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """Remember a statement."""
    from memagent.cli import render

    if not text.strip():
        raise typer.BadParameter("there is nothing to remember: the text is empty")
    with opt.look_up(data_dir, user) as agent:
        render.show_memory(agent.remember(text), as_json=as_json)


@app.command()
def forget(
    memory_id: MemoryId, as_json: opt.AsJson = False, data_dir: opt.DataDir = None, user: opt.User = None
) -> None:
    """Stop recalling a memory; it is kept and can be restored."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        render.show_memory(agent.forget(render.memory_of(agent, memory_id).id), as_json=as_json)


@app.command()
def restore(
    memory_id: MemoryId, as_json: opt.AsJson = False, data_dir: opt.DataDir = None, user: opt.User = None
) -> None:
    """Recall a forgotten memory again."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        render.show_memory(agent.restore(render.memory_of(agent, memory_id).id), as_json=as_json)


@app.command()
def never(
    pattern: Annotated[
        str | None, typer.Argument(metavar="[PATTERN]", help='Words; * for any letters or words: "salar*".')
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the patterns.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take the pattern off the list.")] = False,
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """Never remember what holds these words; shows what is remembered of it already."""
    from memagent.cli import consent, render

    if (pattern is None) != list_them or (remove and pattern is None):
        raise typer.BadParameter("give a PATTERN, or --list")
    with opt.look_up(data_dir, user) as agent:
        if pattern is None:
            render.show(agent.never_list(), as_json=as_json, view=consent.patterns_view)
        elif remove:
            agent.allow(pattern)
            render.show(agent.never_list(), as_json=as_json, view=consent.patterns_view)
        else:
            found = agent.never(pattern)
            render.show(found, as_json=as_json, view=lambda memories: consent.never_view(pattern, memories))


@app.command()
def show(memory_id: MemoryId, as_json: opt.AsJson = False, data_dir: opt.DataDir = None, user: opt.User = None) -> None:
    """Show one memory with where it comes from."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        render.show_memory(render.memory_of(agent, memory_id), as_json=as_json)
