"""Tool calls that a model writes as text, as the small Qwen models do.

Understood, when the *whole* reply consists of them: ``{"name": …, "arguments": {…}}``, several of
them, or a list; doubled braces; a ```` ```json ```` fence; ``<tool_call>`` or ``<tools>`` tags.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Collection, Iterator
from typing import Any, cast

import json_repair

from stores.records import ToolCall

_SURROGATES = re.compile("[\ud800-\udfff]")
_OPENER = re.compile(
    r"(?:\s*(?:```(?:json|tool_call|tool_code)?[ \t]*(?=\s*[\[{<]|\s*$)|<tool(?:_call)?s?>))*\s*", re.IGNORECASE
)
_CLOSER = re.compile(r"(?:\s*(?:```(?!json|tool)|</tool(?:_call)?s?>))*[\s,;]*", re.IGNORECASE)
_END = re.compile(r"\s*(?:```|</tool(?:_call)?s?>)?\s*$", re.IGNORECASE)
_MARKERS = ("```json", "```tool_call", "```tool_code", "<tool_call>", "<tool_calls>", "<tools>")
_ONLY_TAGS = re.compile(r"\s*(?:</?tool(?:_call)?s?>\s*)+", re.IGNORECASE)
_CLOSERS = ("</tool_calls>", "</tools>")
_FIRST_KEY = re.compile(r"""\[?\s*\{+\s*["']?(\w*)(["']?)""")
_FIRST_NAME = re.compile(r"""\[?\s*\{+\s*["']name["']\s*:\s*["']([^"']*)["']""")
_ARGUMENT_KEYS = ("arguments", "parameters", "args")
_OTHER_KEYS = {"name", "id", "type"}


def new_call_id() -> str:
    """A fresh id for a call that came without one."""
    return f"call_{uuid.uuid4().hex[:24]}"


def object_text(value: dict[str, Any]) -> str:
    """An object as strict JSON text: lone surrogates replaced. Raises ValueError for infinite numbers."""
    return _SURROGATES.sub("\ufffd", json.dumps(value, ensure_ascii=False, allow_nan=False))


def parse_text_calls(text: str, tool_names: Collection[str]) -> list[ToolCall] | None:
    """The calls that make up the whole text, in order; None if it is not calls and nothing else.

    Each name must be among ``tool_names`` and each arguments an object. Light damage (a trailing
    comma, single quotes) is repaired; JSON that was cut off is not a call. The 0.5B model often leaves
    out the very last brace: as the arguments are complete then, that is a call.
    """
    calls: list[ToolCall] = []
    rest = text.strip()
    while rest:
        rest = rest[_matched(_OPENER, rest) :]
        block = _balanced(rest)
        if block is None and (stump := _END.sub("", rest)).endswith("}"):
            rest = stump + "}"
            block = _balanced(rest)
        if block is None:
            return None
        for value in _values(block):
            call = _call(value, tool_names)
            if call is None:
                return None
            calls.append(call)
        rest = rest[len(block) :]
        rest = rest[_matched(_CLOSER, rest) :]
    return calls or None


def may_become_calls(text: str, tool_names: Collection[str]) -> bool:
    """Whether more text could still turn this beginning of a reply into calls."""
    rest = text.lstrip()
    while rest:
        if rest[0] in "`<":
            lower = rest.lower()
            if any(marker.startswith(lower) for marker in _MARKERS):
                return True
            if any(closer.startswith(lower) for closer in _CLOSERS):
                return True
            tags = _matched(_OPENER, rest) or (_matched(_CLOSER, rest) if lower.startswith("</") else 0)
            if tags == 0:
                return False
            rest = rest[tags:]
            continue
        block = _balanced(rest)
        if block is None:
            return _may_open(rest, tool_names)
        if not all(_call(value, tool_names) for value in _values(block)):
            return False
        rest = rest[len(block) :]
        if rest.strip() and any(closer.startswith(rest.strip().lower()) for closer in _CLOSERS):
            return True
        rest = rest[_matched(_CLOSER, rest) :]
    return True


class CallGate:
    """Holds back streamed text as long as it is blank or may be calls. No tool names: no calls."""

    def __init__(self, tool_names: Collection[str]) -> None:
        self._names = tool_names
        self._held = ""
        self._checked_chars = 0
        self._open = False

    def feed(self, piece: str) -> str:
        """The text that may be shown now, possibly ""."""
        if self._open:
            return piece
        self._held += piece
        if not self._held.strip():
            return ""
        # Each check reads all that is held: growing steps keep a long reply linear.
        if len(self._held) < 200 or len(self._held) > 1.2 * self._checked_chars:
            self._checked_chars = len(self._held)
            self._open = not (self._names and may_become_calls(self._held, self._names))
        if not self._open:
            return ""
        held, self._held = self._held, ""
        return held

    def finish(self) -> tuple[str, list[ToolCall]]:
        """At the end of the reply: the text still to be shown, or the calls it was."""
        held, self._held = self._held, ""
        calls = parse_text_calls(held, self._names)
        if calls:
            return "", calls
        # tags with nothing in them are what some models write when they have nothing to call
        return ("" if not held.strip() or _ONLY_TAGS.fullmatch(held) else held), []


def _matched(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.match(text)
    return match.end() if match else 0


def _balanced(text: str) -> str | None:
    """The object or list at the start of the text, by its brackets outside double quotes; None if
    there is none or it does not end."""
    if not text or text[0] not in "{[":
        return None
    depth = 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|["{}\[\]]', text, re.DOTALL):
        mark = match.group()
        if mark == '"':
            return None  # an open string
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return text[: match.end()]
    return None


def _values(block: str) -> Iterator[Any]:
    """The block's value; of a list, its items. A block that is no JSON yields None."""
    candidates = [block]
    if block.startswith("{{"):
        candidates = [block[1:-1], block.replace("{{", "{").replace("}}", "}")]
    for candidate in candidates:
        try:
            value = json.loads(candidate)
            break
        except RecursionError:  # no call is so deep
            yield None
            return
        except ValueError:
            continue
    else:
        value = json_repair.loads(candidates[-1], skip_json_loads=True)
    if isinstance(value, list):
        yield from cast("list[Any]", value)
    else:
        yield value


def _call(value: Any, tool_names: Collection[str]) -> ToolCall | None:
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    inner = fields.get("function")
    if isinstance(inner, dict) and set(fields) <= {"function", "id", "type"}:
        fields = cast("dict[str, Any]", inner)
    key = next((key for key in _ARGUMENT_KEYS if key in fields), None)
    name = fields.get("name")
    if key is None or not isinstance(name, str) or name not in tool_names or not set(fields) <= {key, *_OTHER_KEYS}:
        return None
    arguments = fields[key]
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    if not isinstance(arguments, dict):
        return None
    try:
        return ToolCall(id=new_call_id(), name=name, arguments=object_text(cast("dict[str, Any]", arguments)))
    except ValueError:
        return None


def _may_open(text: str, tool_names: Collection[str]) -> bool:
    """Whether an unfinished block may yet become a call: its first key, then its first name, decide."""
    if not text or text[0] not in "{[":
        return not text
    key = _FIRST_KEY.match(text)
    if key is None:
        return not re.sub(r"[\[\]{\s]", "", text)
    word, closed = key.groups()
    known = (*_ARGUMENT_KEYS, *_OTHER_KEYS, "function")
    if not (word in known if closed else any(name.startswith(word) for name in known)):
        return False
    name = _FIRST_NAME.match(text)
    return name is None or name.group(1) in tool_names
