"""Slash commands: what a person can ask of the chat itself. Nothing of them goes to the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memagent.cli import render
from memagent.errors import MemagentError

if TYPE_CHECKING:
    from memagent import Agent


class UnknownCommandError(MemagentError):
    """There is no such slash command, or it lacks what it needs."""


@dataclass(frozen=True, slots=True)
class Command:
    """``argument`` names what must follow, empty for nothing. ``run`` gets the agent, where to print,
    and the argument."""

    argument: str
    help: str
    run: Callable[[Agent, Console, str], None]


def is_command(line: str) -> bool:
    """Whether a line is for the chat and not for the model."""
    return line.lstrip().startswith("/")


def run(agent: Agent, console: Console, line: str) -> bool:
    """Runs a slash command; False when the chat is to end. Raises MemagentError or StoreError."""
    name, _, argument = line.strip().partition(" ")
    argument = argument.strip()
    if name == "/quit":
        return False
    command = COMMANDS.get(name)
    if command is None:
        raise UnknownCommandError(f"there is no command {render.printable(name)}; /help lists them")
    if command.argument and not argument:
        raise UnknownCommandError(f"{name} needs {command.argument}: {name} {command.argument}")
    command.run(agent, console, argument)
    return True


def _context(agent: Agent, console: Console, _argument: str) -> None:
    console.print(render.manifest_view(render.manifest_of(agent, None), console))


def _memory(agent: Agent, console: Console, query: str) -> None:
    console.print(render.recalled_table(agent.recall(query)))


def _history(agent: Agent, console: Console, query: str) -> None:
    console.print(render.history_table(agent.search_history(query, session="all")))


def _remember(agent: Agent, console: Console, text: str) -> None:
    console.print(Text(f"remembered as {agent.remember(text).id}"))


def _forget(agent: Agent, console: Console, memory_id: str) -> None:
    memory = agent.forget(render.memory_of(agent, memory_id).id)
    console.print(
        Text(f"forgotten (memagent memory restore {memory.id} brings it back): ").append(render.printable(memory.text))
    )


def _sessions(agent: Agent, console: Console, _argument: str) -> None:
    console.print(render.sessions_table(agent.sessions()))


def _new(agent: Agent, console: Console, _argument: str) -> None:
    console.print(Text(f"new session {agent.new_session()}"))


def _help(_agent: Agent, console: Console, _argument: str) -> None:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, command in COMMANDS.items():
        table.add_row(Text(f"{name} {command.argument}".rstrip()), Text(command.help))
    table.add_row(Text("/quit"), Text("end the chat (so does Ctrl-D)"))
    console.print(table)


COMMANDS = {
    "/context": Command("", "what the last prompt was made of", _context),
    "/memory": Command("QUERY", "find memories", _memory),
    "/history": Command("QUERY", "find what was said or returned by tools, in all sessions", _history),
    "/remember": Command("TEXT", "remember a statement", _remember),
    "/forget": Command("ID", "stop recalling a memory", _forget),
    "/sessions": Command("", "list the sessions", _sessions),
    "/new": Command("", "begin a new session", _new),
    "/help": Command("", "this list", _help),
}
