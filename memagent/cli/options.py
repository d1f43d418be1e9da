"""The options that commands share, and what is made of them. Loads nothing heavy: `--help` reads this."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import memagent

if TYPE_CHECKING:
    from memagent import Agent, Settings

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


def open_agent(data_dir: Path | None = None, user: str | None = None, session: str | None = None) -> Agent:
    """An agent for looking things up: its model is not asked, so none is fetched."""
    return memagent.Agent(settings=settings_of(data_dir=data_dir, user=user), session=session)
