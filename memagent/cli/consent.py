"""Asking the person at the terminal whether a call with side effects may run."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from memagent.cli.render import printable

if TYPE_CHECKING:
    from memagent import Decision
    from memagent.events import ApprovalAsked
    from stores.records import ToolCall

QUESTION = "run it? [y]es, [n]o, [a]lways in this session, [e]dit, or why not: "
EDIT = "arguments: "


class TerminalConsent:
    """The agent waits in one thread (calls this object), the terminal asks in another (`ask`): so the answer's
    events and the question share the screen in good order. ``read(prompt, default)`` reads a line; an end of
    input or an interrupt means no."""

    def __init__(self, console: Console, read: Callable[[str, str], str]) -> None:
        self._console = console
        self._read = read
        self._lock = threading.Lock()
        self._answers: dict[str, Future[Decision]] = {}

    def __call__(self, call: ToolCall) -> Decision:
        """What `Agent` takes as ``approve``: waits for the answer."""
        try:
            return self._answer(call.id).result()
        finally:
            with self._lock:
                self._answers.pop(call.id, None)

    def ask(self, event: ApprovalAsked) -> None:
        """Shows the call and hands the person's answer over. An interrupt gets out, after a no."""
        from memagent import Decision

        decision = Decision("no")
        try:
            self._console.print(Text(f"? {event.name} wants to run with", style="yellow"))
            self._console.print(Text(printable(_pretty(event.arguments)), style="yellow"))
            decision = self._decided(event)
        except EOFError:
            pass
        finally:
            self._answer(event.call_id).set_result(decision)

    def _decided(self, event: ApprovalAsked) -> Decision:
        from memagent import Decision

        while True:
            answer = self._read(QUESTION, "").strip()
            match answer.casefold():
                case "y" | "yes":
                    return Decision("yes")
                case "a" | "always":
                    return Decision("always")
                case "" | "n" | "no":
                    return Decision("no")
                case "e" | "edit":
                    try:
                        given = json.loads(self._read(EDIT, event.arguments))
                    except ValueError as error:
                        self._console.print(Text(f"that is no JSON: {error}", style="red"))
                        continue
                    if isinstance(given, dict):
                        return Decision("yes", arguments=given)  # pyright: ignore[reportUnknownArgumentType]
                    self._console.print(Text("the arguments are a JSON object", style="red"))
                case _:
                    return Decision("no", answer)

    def _answer(self, call_id: str) -> Future[Decision]:
        with self._lock:
            return self._answers.setdefault(call_id, Future())


def _pretty(arguments: str) -> str:
    """One argument a line; a text as it is, so that what it does can be read."""
    given: dict[str, object] = json.loads(arguments)
    lines = [f"  {name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in given.items()]
    return "\n".join(lines) or "  no arguments"
