"""How one memory is shown: what it says, where it comes from, how it became so; and the profile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic_core import to_json
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from memagent.cli import render
from stores.records import Memory, Pin

if TYPE_CHECKING:
    from memagent.agent.memory_story import MemoryStory


def story_view(story: MemoryStory) -> RenderableType:
    """A memory, a field a line, then its sources and its history, oldest first."""
    parts: list[RenderableType] = [_fields(story)]
    if story.origins:
        parts.append(_titled("what it came from", [(o.said_at[:16], o.role, o.text) for o in story.origins]))
    if story.before:
        parts.append(_titled("what it was before", [(f"v{m.version}", m.state.value, m.text) for m in story.before]))
    if story.supersedes:
        parts.append(_titled("whose place it took", [(m.id, _span(m), m.text) for m in story.supersedes]))
    return Group(*parts)


def story_json(story: MemoryStory) -> str:
    """The memory's fields, and beside them its ``origins``, ``before``, ``supersedes``."""
    told = {"origins": story.origins, "before": story.before, "supersedes": story.supersedes}
    return to_json({**story.memory.model_dump(), **told}, indent=2).decode()


def profile_view(memories: Sequence[Memory]) -> RenderableType:
    """What stands in every prompt, then what is proposed for it."""
    pinned = [memory for memory in memories if memory.pin is Pin.PINNED]
    proposed = [memory for memory in memories if memory.pin is Pin.PROPOSED]
    if not pinned and not proposed:
        return Text("the profile is empty; `memagent memory pin ID` puts a fact into it")
    parts: list[RenderableType] = []
    if pinned:
        parts.append(_titled("in every prompt", [(m.id, m.attribute, m.text) for m in pinned]))
    if proposed:
        parts.append(_titled("proposed: pin or unpin", [(m.id, m.attribute, m.text) for m in proposed]))
    return Group(*parts)


def _fields(story: MemoryStory) -> RenderableType:
    memory = story.memory
    fields = [
        ("id", memory.id),
        ("text", memory.text),
        ("kind", memory.kind.value),
        ("state", memory.state.value + (", pinned" if memory.pin is Pin.PINNED else "")),
        ("about", ", ".join(part for part in (memory.subject, memory.attribute) if part)),
        ("said", f"{render.when(memory.said_at)} by {render.by(memory)}"),
        ("last said", render.when(memory.confirmed_at) if memory.confirmed_at else ""),
        ("holds", _span(memory)),
        ("now", f"{story.superseded_by.text} ({story.superseded_by.id})" if story.superseded_by else ""),
        ("why", memory.reason),
        ("session", memory.session_id or ""),
        ("version", str(memory.version)),
    ]
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in fields:
        if value:
            table.add_row(name, Text(render.printable(value)))
    return table


def _span(memory: Memory) -> str:
    since = f"since {memory.valid_from:%Y-%m-%d}" if memory.valid_from else ""
    until = f"until {memory.valid_to:%Y-%m-%d}" if memory.valid_to else ""
    return " ".join(part for part in (since, until) if part)


def _titled(title: str, rows: Sequence[tuple[str, str, str]]) -> RenderableType:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), title=title, title_justify="left")
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for first, second, text in rows:
        table.add_row(Text(first), Text(render.printable(second)), Text(render.printable(text)))
    return table
