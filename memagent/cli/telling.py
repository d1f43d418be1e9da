"""An agent for one command, which tells what went wrong behind it."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memagent.cli import render
from memagent.cli.options import open_agent
from memagent.cli.wall import tell
from memagent.errors import AgentClosedError

if TYPE_CHECKING:
    from memagent import Agent, Settings


@contextmanager
def opened_agent(settings: Settings, session: str | None = None, *, private: bool = False) -> Generator[Agent]:
    """An open agent for one command; what went wrong in the background is told before it closes."""
    with open_agent(settings, session, private=private) as agent:
        try:
            yield agent
        finally:
            tell_warnings(agent)


def tell_warnings(agent: Agent) -> None:
    """Says on the standard error what went wrong in the background and was not told yet."""
    with contextlib.suppress(AgentClosedError):
        for text in render.warnings(agent.happened()):
            tell(text)
