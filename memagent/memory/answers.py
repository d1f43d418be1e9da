"""Reading what a model wrote where JSON was asked for. Pure.

Fences, thinking, small talk around the JSON, a bare list instead of an object and light damage are
understood; what was cut off, or says something else, is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

import json_repair

from memagent.sanitize import clean_output

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_OPEN_THINKING = re.compile(r"\A.*?</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_BEGINS = re.compile(r"[\[{]")
_PAIRS = {"{": "}", "[": "]"}
MOST_DEPTH = 3
START_CHARS = 120
"""How much of an answer that cannot be used is told."""


class UnusableAnswerError(Exception):
    """The answer is not what was asked for. The text quotes its beginning."""

    def __init__(self, reply: str) -> None:
        start = " ".join(clean_output(reply).split())[:START_CHARS]
        super().__init__(f'the model\'s answer could not be used: "{start}"' if start else "the model answered nothing")


def listed(reply: str, key: str) -> list[Any]:
    """The list under ``key`` of the object that the reply holds, also where that is a part of another; of several
    objects, all their lists one after the other. Without one, the list that the reply is; of several the last.
    Raises UnusableAnswerError."""
    text = _OPEN_THINKING.sub("", _THINKING.sub("", clean_output(reply)))
    named: list[Any] | None = None
    bare: list[Any] | None = None
    for value in _values(text):
        if isinstance(value, dict):
            if (items := _under(cast("dict[str, Any]", value), key)) is not None:
                named = [*(named or []), *items]
        elif (items := _entries(value)) is not None:
            bare = items
    found = named if named is not None else bare
    if found is None:
        raise UnusableAnswerError(reply)
    return found


def _under(value: dict[str, Any], key: str, depth: int = 0) -> list[Any] | None:
    """What stands under the key, in the object or in those that are its parts."""
    if key in value:
        item = value[key]
        return _entries([] if item is None else [item] if isinstance(item, dict) else item)
    parts = [cast("dict[str, Any]", part) for part in value.values() if isinstance(part, dict)]
    found = (_under(part, key, depth + 1) for part in parts if depth < MOST_DEPTH)
    return next((items for items in found if items is not None), None)


def _entries(value: Any) -> list[Any] | None:
    if not isinstance(value, list):
        return None
    items = cast("list[Any]", value)
    return items if all(item is None or isinstance(item, str | dict) for item in items) else None


def _values(text: str) -> Iterator[Any]:
    """The outermost objects and lists of a text, in order; one that was cut off gives nothing."""
    position = 0
    decoder = json.JSONDecoder(strict=False)
    while begin := _BEGINS.search(text, position):
        start = begin.start()
        try:
            value, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = _end(text, start)
            if end is None:
                return  # cut off: what is inside is a part of it, not an answer
            position = end
            value = _repaired(text[start:end])
        yield value


def _repaired(block: str) -> Any:
    try:
        return json_repair.loads(block)
    except (ValueError, RecursionError):
        return None


def _end(text: str, start: int) -> int | None:
    """Where the value that begins there ends; None if it does not."""
    open_ones: list[str] = []
    quoted = escaped = False
    for index in range(start, len(text)):
        char = text[index]
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in _PAIRS:
            open_ones.append(_PAIRS[char])
        elif char in "}]":
            if not open_ones or open_ones.pop() != char:
                return None
            if not open_ones:
                return index + 1
    return None
