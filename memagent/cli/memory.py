"""`memagent memory …`: what is remembered, seen and changed from the shell."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memagent.cli import options as opt

if TYPE_CHECKING:
    from memagent import Memory

app = typer.Typer(help="What is remembered.", no_args_is_help=True)

MemoryId = Annotated[str, typer.Argument(metavar="ID", help="A memory's id, or the beginning of it.")]


@app.callback()
def _memory() -> None:
    """What is remembered."""


@app.command("list")
def list_(
    episodes: Annotated[bool, typer.Option("--episodes", help="Messages of past talk instead.")] = False,
    forgotten: Annotated[bool, typer.Option("--forgotten", help="Those that were forgotten instead.")] = False,
    waiting: Annotated[bool, typer.Option("--waiting", help="Those that wait for your word instead.")] = False,
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """List memories, newest first: the statements that were kept."""
    from memagent.cli import render
    from stores.records import MemoryKind, MemoryState

    with opt.look_up(data_dir, user) as agent:
        found = agent.memories(
            MemoryState.FORGOTTEN if forgotten else MemoryState.QUARANTINED if waiting else MemoryState.ACTIVE,
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

    if not text.strip():
        raise typer.BadParameter("there is nothing to remember: the text is empty")
    with opt.look_up(data_dir, user) as agent:
        _print(agent.remember(text), as_json=as_json)


@app.command()
def forget(
    memory_id: MemoryId, as_json: opt.AsJson = False, data_dir: opt.DataDir = None, user: opt.User = None
) -> None:
    """Stop recalling a memory; it is kept and can be restored."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        _print(agent.forget(render.memory_of(agent, memory_id).id), as_json=as_json)


@app.command()
def restore(
    memory_id: MemoryId, as_json: opt.AsJson = False, data_dir: opt.DataDir = None, user: opt.User = None
) -> None:
    """Recall a forgotten memory again."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        _print(agent.restore(render.memory_of(agent, memory_id).id), as_json=as_json)


@app.command()
def edit(
    memory_id: MemoryId,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What it is to say.")],
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """Reword a memory; what it said before is kept in its history."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        agent.edit(found := render.memory_of(agent, memory_id).id, text)
        _print(agent.show(found).memory, as_json=as_json)


@app.command()
def pin(memory_id: MemoryId, as_json: opt.AsJson = False, data_dir: opt.DataDir = None, user: opt.User = None) -> None:
    """Put a fact into the profile, which stands in every prompt."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        _print(agent.pin(render.memory_of(agent, memory_id).id), as_json=as_json)


@app.command()
def unpin(
    memory_id: MemoryId, as_json: opt.AsJson = False, data_dir: opt.DataDir = None, user: opt.User = None
) -> None:
    """Take a fact out of the profile, or decline a proposal."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        _print(agent.unpin(render.memory_of(agent, memory_id).id), as_json=as_json)


@app.command()
def approve(
    memory_id: MemoryId, as_json: opt.AsJson = False, data_dir: opt.DataDir = None, user: opt.User = None
) -> None:
    """Make a memory of what waits for your word, or part of the profile of what is proposed for it."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        _print(agent.approve(render.memory_of(agent, memory_id).id), as_json=as_json)


@app.command()
def profile(as_json: opt.AsJson = False, data_dir: opt.DataDir = None, user: opt.User = None) -> None:
    """Show what stands in every prompt, and what is proposed for it."""
    from memagent.cli import memory_views, render
    from stores.records import MemoryState, Pin

    with opt.look_up(data_dir, user) as agent:
        found = [memory for memory in agent.memories(MemoryState.ACTIVE) if memory.pin is not Pin.NONE]
    render.show(found, as_json=as_json, view=memory_views.profile_view)


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
    from memagent.cli import never_views, render

    if (pattern is None) != list_them or (remove and pattern is None):
        raise typer.BadParameter("give a PATTERN, or --list")
    with opt.look_up(data_dir, user) as agent:
        if pattern is None:
            render.show(agent.never_list(), as_json=as_json, view=never_views.patterns_view)
        elif remove:
            agent.allow(pattern)
            render.show(agent.never_list(), as_json=as_json, view=never_views.patterns_view)
        else:
            found = agent.never(pattern)
            render.show(found, as_json=as_json, view=lambda memories: never_views.never_view(pattern, memories))


@app.command()
def show(memory_id: MemoryId, as_json: opt.AsJson = False, data_dir: opt.DataDir = None, user: opt.User = None) -> None:
    """Show one memory with where it comes from and what it was before."""
    from memagent.cli import memory_views, render

    with opt.look_up(data_dir, user) as agent:
        story = agent.show(render.memory_of(agent, memory_id).id)
    if as_json:
        typer.echo(memory_views.story_json(story))
    else:
        render.console(sys.stdout).print(memory_views.story_view(story))


def _print(memory: Memory, *, as_json: bool) -> None:
    from memagent.cli import render

    render.show_one(memory, as_json=as_json, view=lambda one: render.memories_table([one]))
