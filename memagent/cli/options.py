"""The options that commands share, and what is made of them. Loads nothing heavy: `--help` reads this."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import memagent
from memagent.errors import MemagentError
from stores.errors import StoreError

if TYPE_CHECKING:
    from memagent import Agent, Decision, Settings
    from stores.records import ToolCall

RECALL_READY_SECONDS = 3.0
"""How long the embedder and the indexes may take before words alone must do."""

Model = Annotated[
    str | None, typer.Option("--model", metavar="NAME|PATH.gguf", help="The model's name, or a model file.")
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", metavar="URL", help="An OpenAI-compatible endpoint.")]
DataDir = Annotated[Path | None, typer.Option("--data-dir", metavar="DIR", help="Where everything is kept.")]
User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Whose sessions and memories.")]
WindowTokens = Annotated[
    int | None, typer.Option("--window-tokens", min=1024, metavar="N", help="The model's context window.")
]
SessionId = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="Resume this session (the beginning of its id will do).")
]
Continue = Annotated[bool, typer.Option("--continue", "-c", help="Resume the last used session.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def settings_of(
    *,
    model: str | None = None,
    base_url: str | None = None,
    data_dir: Path | None = None,
    user: str | None = None,
    window_tokens: int | None = None,
) -> Settings:
    """Settings from all sources, the options last. Raises SettingsError."""
    return memagent.load_settings(
        model=model, base_url=base_url, data_dir=data_dir, user=user, window_tokens=window_tokens
    )


def session_of(session: str | None, resume_last: bool) -> str | None:
    """What `Agent` takes as its session. Asking for both is wrong usage."""
    if session and resume_last:
        raise typer.BadParameter("give --session or --continue, not both")
    return "last" if resume_last else session


def open_agent(
    settings: Settings,
    session: str | None = None,
    *,
    warm_up: bool = True,
    private: bool = False,
    approve: Callable[[ToolCall], Decision] | None = None,
) -> Agent:
    """An open agent; ``approve`` asks the person about calls with side effects. On the command line a session is
    one that exists: a mistyped id is an error, not the beginning of a new one. Raises SettingsError, StoreError,
    NotFoundError."""
    if session in (None, "last"):
        return memagent.Agent(settings=settings, session=session, warm_up=warm_up, private=private, approve=approve)
    agent = memagent.Agent(settings=settings, warm_up=warm_up, private=private, approve=approve)
    try:
        agent.resume(session)
    except (MemagentError, StoreError):
        agent.close()
        raise
    return agent


def look_up(data_dir: Path | None, user: str | None) -> Agent:
    """An agent for looking things up: nothing is loaded that is not needed."""
    return open_agent(settings_of(data_dir=data_dir, user=user), warm_up=False)


def await_recall(agent: Agent) -> None:
    """Waits until memories are found by meaning and not only by words, if there are any: whoever asks
    once, or through a pipe, is not hurried."""
    if agent.sessions() or agent.memories():
        agent.settle(timeout_seconds=RECALL_READY_SECONDS, indexes_only=True)
