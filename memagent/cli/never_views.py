"""How the never-list is shown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from memagent.cli import render
from stores.records import Memory


def patterns_view(patterns: Sequence[str]) -> RenderableType:
    """One pattern a line."""
    return Text("\n".join(map(render.printable, patterns)) or "the never-list is empty")


def never_view(pattern: str, found: Sequence[Memory]) -> RenderableType:
    """What a new pattern does, and what is remembered of it already."""
    done = Text("never remembered from now on: ").append(render.printable(pattern))
    if not found:
        return done
    left = Text(f"{len(found)} memories hold it already; `memagent memory erase ID` removes one for good:")
    return Group(done, left, render.memories_table(found))
