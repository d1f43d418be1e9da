"""`memagent chat` from a pipe: a message a line, plain answers. On a terminal: see terminal.py."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from memagent.cli import render, slash
from memagent.cli.options import await_recall
from memagent.cli.stream import exit_code, interruptible, shortfall
from memagent.cli.telling import opened_agent
from memagent.cli.wall import tell
from memagent.errors import AgentClosedError, MemagentError
from stores.errors import StoreError

if TYPE_CHECKING:
    from memagent import Agent, Settings


def chat(settings: Settings, session: str | None, *, private: bool = False) -> int:
    """Chats until the input ends or the person quits; returns the exit code."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        from memagent.cli.terminal import TerminalChat  # only a terminal needs prompt_toolkit

        return TerminalChat(settings, session, private=private).run()
    with opened_agent(settings, session, private=private) as agent:
        if settings.recall_tokens != 0:
            await_recall(agent)
        return chat_lines(agent, sys.stdin)


def chat_lines(agent: Agent, lines: Iterable[str]) -> int:
    """Answers each line on standard output. A line that fails is told on standard error (the same
    failure once) and the next is tried; when the journal fails, the rest could not be kept and is
    left unread. Returns 0, 1 if a line failed, or 130 when interrupted."""
    console = render.console(sys.stdout)
    told, code = "", 0
    for line in lines:
        text = line.strip().lstrip("\N{BYTE ORDER MARK}")
        if not text:
            continue
        try:
            if not slash.is_command(text):
                answered = _answer(agent, text)
                if answered == 130:
                    return answered
                code = max(code, answered)
            elif not slash.run(agent, console, text):
                break
        except (MemagentError, StoreError) as error:
            code = 1
            if str(error) != told:
                told = str(error)
                tell(told)
            if isinstance(error, StoreError | AgentClosedError):
                break
        sys.stdout.flush()
    return code


def _answer(agent: Agent, text: str) -> int:
    """Prints the answer, and on standard error what it lacks; returns its exit code."""
    with interruptible(agent):
        reply = agent.ask(text)
    for warning in render.warnings(reply.events):
        tell(warning)
    if reply.text:
        typer.echo(reply.text)
    missing = shortfall(reply.finish_reason)
    if missing:
        tell(missing)
    return exit_code(reply.finish_reason)
