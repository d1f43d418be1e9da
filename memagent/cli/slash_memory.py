"""Slash commands about what is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from memagent.cli import memory_views, render
from stores.records import Memory, MemoryState

if TYPE_CHECKING:
    from memagent import Agent


def find(agent: Agent, console: Console, query: str) -> None:
    """Memories by meaning and by words."""
    console.print(render.recalled_table(agent.recall(query)))


def listed(agent: Agent, console: Console, _argument: str) -> None:
    """The statements that were kept, and those that wait."""
    kept = agent.memories(MemoryState.ACTIVE)
    waiting = agent.memories(MemoryState.QUARANTINED)
    console.print(render.memories_table(kept))
    if waiting:
        console.print(Text("\nwaiting for your word (/approve ID, /forget ID):"))
        console.print(render.memories_table(waiting))


def show(agent: Agent, console: Console, memory_id: str) -> None:
    """One memory with where it comes from."""
    console.print(memory_views.story_view(agent.show(render.memory_of(agent, memory_id).id)))


def profile(agent: Agent, console: Console, _argument: str) -> None:
    """What stands in every prompt."""
    console.print(memory_views.profile_view(agent.memories(MemoryState.ACTIVE)))


def remember(agent: Agent, console: Console, text: str) -> None:
    """Keeps a statement."""
    console.print(Text(f"remembered as {agent.remember(text).id}"))


def forget(agent: Agent, console: Console, memory_id: str) -> None:
    """Out of recall; it can come back."""
    memory = agent.forget(render.memory_of(agent, memory_id).id)
    _say(console, f"forgotten (/restore {memory.id} brings it back)", memory)


def restore(agent: Agent, console: Console, memory_id: str) -> None:
    """A forgotten one comes back."""
    _say(console, "recalled again", agent.restore(render.memory_of(agent, memory_id).id))


def approve(agent: Agent, console: Console, memory_id: str) -> None:
    """What waited for the person's word becomes a memory."""
    _say(console, "approved", agent.approve(render.memory_of(agent, memory_id).id))


def pin(agent: Agent, console: Console, memory_id: str) -> None:
    """Into the profile."""
    _say(console, "in every prompt from now on", agent.pin(render.memory_of(agent, memory_id).id))


def unpin(agent: Agent, console: Console, memory_id: str) -> None:
    """Out of the profile."""
    _say(console, "not in the profile", agent.unpin(render.memory_of(agent, memory_id).id))


def _say(console: Console, what: str, memory: Memory) -> None:
    console.print(Text(f"{what}: ").append(render.printable(memory.text)))
