"""Consent to calls with side effects: who is asked, what they may answer, and what holds for the session."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, Self, cast

from memagent.errors import MemagentError
from memagent.tools.foreign import contained, in_thread
from stores.records import ToolCall

Verdict = Literal["yes", "no", "always"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person says to a call. ``reason`` is told to the model. "always": yes, and to every later call of
    this tool in this session whose arguments fit ``pattern`` (parameter to a text with * and ?; a parameter
    that it does not name may be anything, so {} is any call of the tool). ``arguments``: run it with these
    instead. ``by`` "nobody": there was no person who said so."""

    verdict: Verdict
    reason: str = ""
    arguments: Mapping[str, Any] | None = None
    pattern: Mapping[str, str] = field(default_factory=dict[str, str])
    by: Literal["person", "nobody"] = "person"

    @property
    def agreed(self) -> bool:
        return self.verdict != "no"


Approve = Callable[[ToolCall], "Answer | Awaitable[Answer]"]
"""Asks a person whether exactly this call may run. What is no coroutine function is called in a thread; one
question at a time."""
Answer = bool | str | Decision | None
"""True, "yes" and "always" agree. All else does not: another text is the reason why not."""
Later = Literal["later"]
"""Nobody is asked now: the call waits until somebody decides, in this process or another."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Calls that were agreed to once for the whole session."""

    name: str
    pattern: Mapping[str, str]

    def allows(self, name: str, arguments: str) -> bool:
        """``arguments`` is a JSON object as text. Texts are compared as they are, all else as JSON."""
        if name != self.name:
            return False
        given: dict[str, Any] = json.loads(arguments)
        return all(key in given and fnmatchcase(_text(given[key]), glob) for key, glob in self.pattern.items())

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self | None:
        """The rule that the data of a decision's mark hold; None if there is none."""
        rule = data.get("rule")
        if not isinstance(rule, dict):
            return None
        globs = cast("dict[str, object]", rule)
        return cls(str(data.get("name", "")), {key: str(glob) for key, glob in globs.items()})


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def allowed(rules: Iterable[Rule], name: str, arguments: str) -> bool:
    """Whether a rule of the session says yes."""
    return any(rule.allows(name, arguments) for rule in rules)


class Consent:
    """Asks a host's ``approve``, one question at a time; without one nobody agrees. ``"later"``: nobody is
    asked, and `ask` returns None. Who does not answer within ``timeout_seconds`` (None: no limit) has not
    agreed."""

    def __init__(self, approve: Approve | Later | None, timeout_seconds: float | None) -> None:
        self._approve = approve
        self._timeout_seconds = timeout_seconds
        self._asking = asyncio.Lock()

    @property
    def waits(self) -> bool:
        """Whether calls wait until somebody decides later."""
        return self._approve == "later"

    async def ask(self, call: ToolCall) -> Decision:
        """What the person says. What the host's function raises means no."""
        approve = self._approve
        if approve is None or isinstance(approve, str):
            return _nobody("nobody could be asked")
        limit = asyncio.timeout(self._timeout_seconds)
        try:
            async with self._asking, limit:
                # in a thread: whoever asks a person blocks, and the loop has other things to do meanwhile
                answer = await in_thread(lambda: approve(call), f"approve-{call.name}")
                return decision_of(await contained(answer) if inspect.isawaitable(answer) else answer)
        except Exception as error:  # noqa: BLE001  a host's function: if it cannot ask, nobody agreed
            if limit.expired():
                return _nobody(f"nobody answered within {self._timeout_seconds:g} s")
            return _nobody(f"asking for approval failed ({type(error).__name__}: {error})")


def _nobody(why: str) -> Decision:
    return Decision("no", why, by="nobody")


def answer_of(answer: Decision | bool | str, reason: str = "") -> Decision:
    """What a person who decides later says: only True, "yes", "no", False and "always" are words for it. Raises
    MemagentError."""
    if isinstance(answer, Decision):
        return answer
    words: dict[object, Verdict] = {True: "yes", False: "no", "yes": "yes", "no": "no", "always": "always"}
    if answer not in words:
        raise MemagentError(f'{answer!r} decides nothing; say "yes", "no" or "always"')
    return Decision(words[answer], reason)


def decision_of(answer: object) -> Decision:
    """What an answer means."""
    if isinstance(answer, Decision):
        return answer
    if answer is True or answer == "yes":
        return Decision("yes")
    if answer == "always":
        return Decision("always")
    return Decision("no", answer.strip() if isinstance(answer, str) and answer != "no" else "")
