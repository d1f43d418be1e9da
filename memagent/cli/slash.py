"""Slash commands: what a person can ask of the chat itself. Nothing of them goes to the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memagent.cli import erase, explained, never_views, render, slash_memory
from memagent.cli.stream import compacted_line
from memagent.errors import MemagentError
from stores.records import Memory

if TYPE_CHECKING:
    from memagent import Agent


PRIVATE = "this session is private: what is said stays in its history and becomes no memory"


class UnknownCommandError(MemagentError):
    """There is no such slash command, or it lacks what it needs."""


@dataclass(frozen=True, slots=True)
class Command:
    """``argument`` names what must follow, empty for nothing, in brackets what may. ``run`` gets the agent,
    where to print, and the argument."""

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
    if command.argument and not command.argument.startswith("[") and not argument:
        raise UnknownCommandError(f"{name} needs {command.argument}: {name} {command.argument}")
    command.run(agent, console, argument)
    return True


def _context(agent: Agent, console: Console, _argument: str) -> None:
    console.print(render.manifest_view(render.manifest_of(agent, None), console))


def _diff(agent: Agent, console: Console, _argument: str) -> None:
    console.print(explained.diff_view(agent.diff()))


def _why(agent: Agent, console: Console, wanted: str) -> None:
    console.print(explained.whereabouts_view(agent.why(wanted)))


def _compact(agent: Agent, console: Console, keep: str) -> None:
    done = agent.compact(keep)
    console.print(Text(compacted_line(done) if done else "there is nothing to summarise yet"))
    _summaries(agent, console, "")


def _undo(agent: Agent, console: Console, _argument: str) -> None:
    done = agent.undo()
    figures = f"{done.before_tokens:,} → {done.after_tokens:,} tokens"
    console.print(Text(f"the session is shown as before ({figures}); /undo again takes this back"))


def _summaries(agent: Agent, console: Console, _argument: str) -> None:
    console.print(render.summaries_view(agent.summaries()))


def _expand(agent: Agent, console: Console, summary_id: str) -> None:
    console.print(render.messages_view(agent.expand(summary_id)))


def _edit(agent: Agent, console: Console, argument: str) -> None:
    wanted, _, text = argument.partition(" ")
    done = agent.edit(wanted, text)
    back = "/show has what it was" if isinstance(done, Memory) else "/undo takes it back"
    console.print(Text(f"reworded as {done.id}; {back}"))


def _history(agent: Agent, console: Console, query: str) -> None:
    console.print(render.history_table(agent.search_history(query, session="all")))


def _private(agent: Agent, console: Console, wanted: str) -> None:
    if wanted not in ("", "on", "off"):
        raise UnknownCommandError("/private takes on, off, or nothing to ask")
    private = agent.private({"on": True, "off": False}.get(wanted))
    console.print(Text(PRIVATE if private else "this session is not private"))


def _never(agent: Agent, console: Console, pattern: str) -> None:
    if not pattern:
        console.print(never_views.patterns_view(agent.never_list()))
        return
    console.print(never_views.never_view(pattern, agent.never(pattern)))


def _erase(agent: Agent, console: Console, argument: str) -> None:
    console.print(erase.run_slash(agent, argument))


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
    "/diff": Command("", "what changed from the last prompt but one to the last", _diff),
    "/why": Command("ID", "where an entry, a summary or a memory is, or why it is not in the prompt", _why),
    "/compact": Command("[WHAT TO KEEP]", "summarise all but the newest exchange", _compact),
    "/undo": Command("", "take the last compaction, rewording or undo back", _undo),
    "/summaries": Command("", "what stands for the older part of this session", _summaries),
    "/expand": Command("ID", "the messages that a summary stands for", _expand),
    "/edit": Command("ID TEXT", "reword a memory or a summary", _edit),
    "/memory": Command("QUERY", "find memories", slash_memory.find),
    "/memories": Command("", "the statements that were kept, and those that wait for your word", slash_memory.listed),
    "/show": Command("ID", "where a memory comes from, and what it was before", slash_memory.show),
    "/profile": Command("", "what stands in every prompt, and what is proposed for it", slash_memory.profile),
    "/pin": Command("ID", "put a fact into the profile", slash_memory.pin),
    "/unpin": Command("ID", "take a fact out of the profile, or decline a proposal", slash_memory.unpin),
    "/approve": Command("ID", "say yes to what waits for your word", slash_memory.approve),
    "/history": Command("QUERY", "find what was said or returned by tools, in all sessions", _history),
    "/remember": Command("TEXT", "remember a statement", slash_memory.remember),
    "/forget": Command("ID", "stop recalling a memory", slash_memory.forget),
    "/restore": Command("ID", "recall a forgotten memory again", slash_memory.restore),
    "/private": Command("[on|off]", "whether anything said here may be remembered elsewhere", _private),
    "/never": Command("[PATTERN]", "what is never to be remembered: words, with * for any", _never),
    "/erase": Command("TEXT", "show all that holds a text; /erase yes TEXT erases it for good", _erase),
    "/sessions": Command("", "list the sessions", _sessions),
    "/new": Command("", "begin a new session", _new),
    "/help": Command("", "this list", _help),
}
