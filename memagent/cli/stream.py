"""An answer as it comes, and how it is stopped."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.status import Status
from rich.text import Text

from memagent.cli.render import printable
from memagent.events import (
    ApprovalAsked,
    ApprovalDecided,
    Compacted,
    Compacting,
    Finished,
    Notice,
    ProfileProposed,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)

if TYPE_CHECKING:
    from memagent import Agent, Event
    from memagent.cli.consent import TerminalConsent

_SHORTFALLS = {
    "length": "the answer reached the reply's limit and ends early (see --window-tokens and MEMAGENT_REPLY_TOKENS)",
    "turn_limit": "stopped after the allowed number of turns (MEMAGENT_TURN_LIMIT)",
    "no_progress": "stopped: the model kept making the same call",
    "time_limit": "stopped after the time an answer may take (MEMAGENT_EXCHANGE_SECONDS)",
    "spend_limit": "stopped after what an answer may take of the model (MEMAGENT_EXCHANGE_TOKENS, _USD)",
    "approval": "a call waits for approval",
    "cancelled": "stopped; what was said is kept",
    "partial": "the answer broke off; what came is kept",
    "refused": "the model refused to answer",
}
LINE_CHARS = 200
"""How much of a tool's arguments or result one line shows."""


def shortfall(finish_reason: str) -> str:
    """What an answer lacks, in words; empty for a whole one."""
    return _SHORTFALLS.get(finish_reason, "")


def exit_code(finish_reason: str) -> int:
    """An answer that broke off counts as failed, one that was stopped as interrupted."""
    return {"cancelled": 130, "partial": 1, "refused": 1}.get(finish_reason, 0)


@contextmanager
def interruptible(agent: Agent) -> Generator[None]:
    """Inside, the first Ctrl-C stops the answer in good order; the second raises KeyboardInterrupt."""
    asked = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        # In a thread of its own: the handler may have interrupted code that holds what cancel() needs.
        threading.Thread(target=agent.cancel, daemon=True).start()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class AnswerView:
    """Shows one answer's events on a terminal: a spinner until text comes, tools as dim lines. ``consent`` asks
    the person about calls."""

    def __init__(self, console: Console, consent: TerminalConsent | None = None) -> None:
        self._console = console
        self._consent = consent
        self._status: Status | None = None
        self._in_line = False

    def show(self, events: Iterator[Event]) -> Finished:
        """Consumes the events to the last one and returns it."""
        finished: Finished | None = None
        self._wait("thinking…")
        try:
            for event in events:
                self._show(event)
                if isinstance(event, Finished):
                    finished = event
        finally:
            self._end_wait()
            self._end_line()
        assert finished is not None, "a stream ends with Finished"
        return finished

    def _show(self, event: Event) -> None:
        match event:
            case TextDelta():
                self._end_wait()
                self._console.out(printable(event.text), end="", highlight=False)
                self._console.file.flush()
                self._in_line = not event.text.endswith("\n")
            case ApprovalAsked() | ApprovalDecided() | ToolStarted() | ToolProgress() | ToolFinished():
                self._show_call(event)
            case Compacting():
                self._wait("summarising older talk to make room…")
            case Compacted():
                self._dim(compacted_line(event))
                self._wait("thinking…")
            case ProfileProposed():
                self._dim(f"for the profile? {event.text} (memory {event.memory_id}: pin or unpin it)")
                self._wait("thinking…")
            case Notice():
                style = {"info": "dim", "warning": "yellow", "error": "red"}[event.level]
                self._line(event.text, style)
                self._wait("thinking…")
            case _:
                pass

    def _show_call(self, event: ApprovalAsked | ApprovalDecided | ToolStarted | ToolProgress | ToolFinished) -> None:
        match event:
            case ApprovalAsked():
                self._end_wait()
                self._end_line()
                if self._consent is not None and not event.pending:
                    self._consent.ask(event)
            case ApprovalDecided():
                if event.by == "nobody":
                    self._dim(f"{event.name} does not run: {event.reason}")
            case ToolProgress():
                self._dim(f"  {_one_line(event.text)}")
            case ToolStarted():
                self._dim(f"→ {event.name}({_one_line(event.arguments)})")
                self._wait(f"{event.name}…")
            case ToolFinished():
                self._dim(f"{'✗' if event.failed else '←'} {event.name}: {_one_line(event.content)}")
                self._wait("thinking…")

    def _wait(self, text: str) -> None:
        self._end_wait()
        self._end_line()
        self._status = self._console.status(Text(printable(text), style="dim"))
        self._status.start()

    def _end_wait(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _end_line(self) -> None:
        if self._in_line:
            self._console.out()
            self._in_line = False

    def _dim(self, text: str) -> None:
        self._line(text, "dim")

    def _line(self, text: str, style: str) -> None:
        self._end_wait()
        self._end_line()
        self._console.print(Text(printable(text), style=style))


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}… ({len(line):,} characters)"


def compacted_line(event: Compacted) -> str:
    """What a compaction did, in a line."""
    done = "cut down to single sentences until they can be summarised" if event.extract else "summarised"
    what = [f"{event.exchanges} older exchanges {done}"] if event.exchanges else []
    what += [f"{event.turns} tool turns {done}"] if event.turns else []
    what += [f"{event.freed} old tool outputs out"] if event.freed else []
    figures = f"{event.before_tokens:,} → {event.after_tokens:,} tokens"
    return f"{', '.join(what) or event.cause} ({figures}); /undo brings all of it back"
