"""Parts of JSON by path: $.items[0].name, items[-1], [2:5], [*], ..id, ['a key']. Pure.

Filters are left out on purpose: the paths come from a model, and a filter can be made to run for ever.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

_STEP = re.compile(
    r"\s*(?:"
    r"(?P<deep>\.\.)(?=[^.\s])"
    r"|\.?(?P<all>\*)|\.?\[\s*(?P<every>\*)\s*\]"
    r"|\.?\[\s*(?P<index>-?\d{1,9})\s*\]"
    r"|\.?\[\s*(?P<start>-?\d{1,9})?\s*:\s*(?P<stop>-?\d{1,9})?\s*\]"
    r"""|\.?\[\s*(?:'(?P<single>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)")\s*\]"""
    r"|\.?(?P<name>[^\s.\[\]*'\"][^.\[\]]*)"
    r")"
)
_MAX_STEPS = 32
_NUMBER = "\ue000"
"""Marks the text of a number that Python's floats and ints would change."""
_MARKED = re.compile(f'"{_NUMBER}([-+.0-9eE]+)"')


class JsonPathError(ValueError):
    """The text is not JSON, or the path cannot be read. The text says which."""


def select(text: str, path: str) -> tuple[str, int]:
    """What the path finds, as text, and how many values: one text value as it is, one other value as JSON,
    several as a JSON list, in their order. Numbers keep their digits. Raises JsonPathError."""
    try:
        root = json.loads(text, parse_float=_number, parse_int=_number)
    except (ValueError, RecursionError) as error:
        raise JsonPathError(f"the text is not JSON: {error}") from error
    found: list[Any] = [root]
    for step in _steps(path):
        found = _apply(step, found)
    if len(found) == 1 and isinstance(found[0], str) and not found[0].startswith(_NUMBER):
        return found[0], 1
    return _dumped(found[0] if len(found) == 1 else found), len(found)


def _number(text: str) -> Any:
    """A short integer as it is, any other number as its marked text."""
    return int(text) if len(text) <= 15 and text.lstrip("-").isdigit() else _NUMBER + text


def _dumped(value: Any) -> str:
    return _MARKED.sub(r"\1", json.dumps(value, ensure_ascii=False))


def _steps(path: str) -> list[re.Match[str]]:
    rest = path.strip().removeprefix("$")
    steps: list[re.Match[str]] = []
    at = 0
    while at < len(rest):
        match = _STEP.match(rest, at)
        if match is None or len(steps) == _MAX_STEPS:
            raise JsonPathError(
                f"the path cannot be read from {rest[at : at + 40]!r} on; write for example $.items[0].id"
            )
        steps.append(match)
        at = match.end()
    return steps


def _apply(step: re.Match[str], values: Sequence[Any]) -> list[Any]:
    given = step.groupdict()
    if given["deep"]:
        return list(_containers(values))
    found: list[Any] = []
    for value in values:
        if isinstance(value, list):
            items = cast(list[Any], value)
            if given["all"] or given["every"]:
                found += items
            elif given["index"] is not None:
                index = int(given["index"])
                found += items[index:][:1] if index >= 0 else items[index : index + 1 or None][:1]
            elif step.group().rstrip().endswith("]") and ":" in step.group() and _key(given) is None:
                found += items[_maybe(given["start"]) : _maybe(given["stop"])]
        elif isinstance(value, dict):
            members = cast(dict[str, Any], value)
            if given["all"] or given["every"]:
                found += members.values()
            elif (key := _key(given)) is not None and key in members:
                found.append(members[key])
    return found


def _key(given: dict[str, str | None]) -> str | None:
    quoted = given["single"] if given["single"] is not None else given["double"]
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted)
    return given["name"].rstrip() if given["name"] is not None else None


def _maybe(text: str | None) -> int | None:
    return int(text) if text else None


def _containers(values: Sequence[Any]) -> Iterator[Any]:
    """All objects and lists inside, each once, outer ones first."""
    seen: set[int] = set()
    waiting = list(reversed(values))
    while waiting:
        value = waiting.pop()
        if not isinstance(value, dict | list) or id(cast(object, value)) in seen:
            continue
        seen.add(id(cast(object, value)))
        yield value
        inner = cast(dict[str, Any], value).values() if isinstance(value, dict) else cast(list[Any], value)
        waiting += reversed(list(inner))
