"""The commands around conversations: chat, ask, sessions, context.

Each imports what it shows with when it runs, so that `memagent --help` stays quick.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from memagent.cli import options as opt

context = typer.Typer(help="What is sent to the model.", no_args_is_help=True)


@context.callback()
def _context() -> None:
    """What is sent to the model."""


def chat(
    session: opt.SessionId = None,
    resume_last: opt.Continue = False,
    model: opt.Model = None,
    base_url: opt.BaseUrl = None,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
    window_tokens: opt.WindowTokens = None,
    private: Annotated[bool, typer.Option("--private", help="Nothing said becomes a memory.")] = False,
) -> None:
    """Talk. From a pipe: a message a line, plain answers."""
    from memagent.cli import chat as rooms
    from memagent.cli.fetch import fetch_if_needed

    chosen = opt.session_of(session, resume_last)
    settings = opt.settings_of(
        model=model, base_url=base_url, data_dir=data_dir, user=user, window_tokens=window_tokens
    )
    fetch_if_needed(settings)
    raise typer.Exit(rooms.chat(settings, chosen, private=private))


def ask(
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help='The question; "-" or none: read it.')] = None,
    as_json: opt.AsJson = False,
    session: opt.SessionId = None,
    resume_last: opt.Continue = False,
    model: opt.Model = None,
    base_url: opt.BaseUrl = None,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
    window_tokens: opt.WindowTokens = None,
) -> None:
    """Ask once, in a session of its own unless one is named."""
    from memagent.cli.ask import ask_once
    from memagent.cli.fetch import fetch_if_needed
    from memagent.cli.telling import opened_agent

    if text is None and sys.stdin.isatty():
        raise typer.BadParameter("give a TEXT, or pipe one in")
    question = sys.stdin.read() if text in (None, "-") else text
    if question is None or not question.strip():
        raise typer.BadParameter("there is nothing to ask: the text is empty")
    chosen = opt.session_of(session, resume_last)
    settings = opt.settings_of(
        model=model, base_url=base_url, data_dir=data_dir, user=user, window_tokens=window_tokens
    )
    fetch_if_needed(settings)
    with opened_agent(settings, chosen) as agent:
        if settings.recall_tokens != 0:
            opt.await_recall(agent)
        raise typer.Exit(ask_once(agent, question, as_json=as_json))


def sessions(as_json: opt.AsJson = False, data_dir: opt.DataDir = None, user: opt.User = None) -> None:
    """List the sessions, last used first."""
    from memagent.cli import render

    with opt.look_up(data_dir, user) as agent:
        found = agent.sessions()
    render.show(found, as_json=as_json, view=render.sessions_table)


@context.command("show")
def show_context(
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="Show what asking this would send.")] = None,
    session: opt.SessionId = None,
    as_json: opt.AsJson = False,
    model: opt.Model = None,
    base_url: opt.BaseUrl = None,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
    window_tokens: opt.WindowTokens = None,
) -> None:
    """Show the last prompt of a session (the last used one by default), or the one a TEXT would make."""
    from memagent.cli import render

    settings = opt.settings_of(
        model=model, base_url=base_url, data_dir=data_dir, user=user, window_tokens=window_tokens
    )
    with opt.open_agent(settings, session or "last") as agent:
        if text is not None:
            opt.await_recall(agent)
        manifest = render.manifest_of(agent, text)
    if as_json:
        typer.echo(manifest.model_dump_json(indent=2))
    else:
        console = render.console(sys.stdout)
        console.print(render.manifest_view(manifest, console))


_NUMBERS = {"ignore_unknown_options": True}
"""So that -2 is a number and not an option."""


@context.command("diff", context_settings=_NUMBERS)
def diff_context(
    first: Annotated[int, typer.Argument(metavar="[A]", help="A prompt's number; negative: from the end.")] = -2,
    second: Annotated[int, typer.Argument(metavar="[B]", help="Another one's.")] = -1,
    session: opt.SessionId = None,
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """Show what changed between two prompts of a session, by default the last two."""
    from memagent.cli import explained, render

    with opt.look_up(data_dir, user) as agent:
        found = agent.diff(first, second, session=session or "last")
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        render.console(sys.stdout).print(explained.diff_view(found))


@context.command("why")
def why_context(
    wanted: Annotated[str, typer.Argument(metavar="ID", help="An entry, a summary or a memory.")],
    session: opt.SessionId = None,
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """Say where something is in the last prompt, or when and why it left."""
    from memagent.cli import explained, render

    with opt.look_up(data_dir, user) as agent:
        found = agent.why(wanted, session=session or "last")
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        render.console(sys.stdout).print(explained.whereabouts_view(found))


@context.command("replay", context_settings=_NUMBERS)
def replay_context(
    number: Annotated[int, typer.Argument(metavar="[NUMBER]", help="Which prompt; negative: from the end.")] = -1,
    session: opt.SessionId = None,
    as_json: opt.AsJson = False,
    data_dir: opt.DataDir = None,
    user: opt.User = None,
) -> None:
    """Make a prompt that was sent again, and say whether it is the same."""
    from pydantic_core import to_json

    from memagent.cli import explained, render

    with opt.look_up(data_dir, user) as agent:
        made = agent.replay(number, session=session or "last")
    if as_json:
        typer.echo(to_json(made, indent=2).decode())
    else:
        render.console(sys.stdout).print(explained.replay_view(made))
