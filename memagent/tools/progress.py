"""What a tool says while it works."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

REPORT: ContextVar[Callable[[str], None] | None] = ContextVar("memagent_report", default=None)
"""Takes what the running tool reports; set by whoever runs it."""


def report(text: str) -> None:
    """Says from inside a tool how far it is: the person sees it, the model does not. Outside a call of an agent
    nothing happens. May be called from any thread that the tool's context was copied to."""
    sink = REPORT.get()
    if sink is not None:
        sink(text)
