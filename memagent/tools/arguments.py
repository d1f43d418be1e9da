"""A call's arguments: read, repaired where only one thing can be meant, validated.

Every repair is stated to the model, so that it learns what it should have written and can object.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import to_json

from memagent.tools.definition import Tool

NEAR = 0.75
"""How alike two names must be (difflib's ratio, from 0 to 1) for one to be meant by the other."""
REASONS = 5
"""So many of the things that are wrong are told at once."""
REASON_CHARS = 200
_SEPARATORS = re.compile(r"[\s_-]+")


class ArgumentsError(Exception):
    """The arguments cannot be used; the message says why, for the model."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a function is called with. ``text`` is the same as JSON, in one form however it was written: what a
    person is asked about, and what equal calls have in common. ``repairs`` say what was changed, in words."""

    values: Mapping[str, Any]
    text: str
    repairs: tuple[str, ...] = ()


def read_arguments(tool: Tool, text: str) -> Arguments:
    """Raises ArgumentsError."""
    repairs: list[str] = []
    given = _renamed(tool, _object(text), repairs)
    try:
        model = tool.arguments.model_validate(given)
    except (ValidationError, RecursionError) as error:
        given = _read_texts(tool, given, error, repairs)
        try:
            model = tool.arguments.model_validate(given)
        except (ValidationError, RecursionError) as again:
            raise ArgumentsError(_reasons(again)) from again
    values = {name: getattr(model, name) for name in tool.arguments.model_fields}
    repairs += _converted(given, values)
    # the values as a JSON text, defaults left out: what the model meant, and nothing else
    shown = {name: value for name, value in values.items() if name in model.model_fields_set}
    canonical = json.dumps(json.loads(to_json(shown, fallback=repr)), ensure_ascii=False, sort_keys=True)
    return Arguments(values, canonical, tuple(repairs))


def _object(text: str) -> dict[str, Any]:
    try:
        raw = json.loads(text or "{}")
    except (json.JSONDecodeError, RecursionError) as error:
        raise ArgumentsError(f"the arguments are not valid JSON: {error}") from error
    if not isinstance(raw, dict):
        raise ArgumentsError(f"the arguments must be a JSON object, not {type(raw).__name__}")
    return cast(dict[str, Any], raw)


def _renamed(tool: Tool, given: dict[str, Any], repairs: list[str]) -> dict[str, Any]:
    """A parameter that does not exist is taken for the one missing parameter whose name is near it."""
    known = tool.arguments.model_fields
    free = [name for name in known if name not in given]
    renamed: dict[str, Any] = {}
    for name, value in given.items():
        meant = name if name in known else nearest(name, free)
        if meant is None:
            renamed[name] = value
            continue
        if meant != name:
            free.remove(meant)
            repairs.append(f"there is no parameter {name[:64]!r}; it was taken for {meant!r}")
        renamed[meant] = value
    return renamed


def _read_texts(
    tool: Tool, given: dict[str, Any], error: ValidationError | RecursionError, repairs: list[str]
) -> dict[str, Any]:
    """A list or an object that was written as a text is read, where no text is wanted."""
    if isinstance(error, RecursionError):
        return given
    read = dict(given)
    for name in {str(item["loc"][0]) for item in error.errors() if item["loc"]}:
        value = given.get(name)
        if not isinstance(value, str) or name not in tool.arguments.model_fields:
            continue
        try:
            inner = json.loads(value)
        except (json.JSONDecodeError, RecursionError):
            continue
        if isinstance(inner, list | dict):
            read[name] = inner
            kind = "a list" if isinstance(inner, list) else "an object"
            repairs.append(f"{name} was a text that holds JSON; it was read as {kind}")
    return read


def _converted(given: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """Which texts the validation took for numbers or truth values."""
    return [
        f"{name} was the text {value!r}; it was read as {json.dumps(values[name])}"
        for name, value in given.items()
        if isinstance(value, str) and isinstance(values.get(name), bool | int | float)
    ]


def _reasons(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "the arguments are nested too deeply"
    lines = [
        f"{'.'.join(map(str, item['loc']))[:64] or 'arguments'}: {item['msg'][:REASON_CHARS]}"
        for item in error.errors()[:REASONS]
    ]
    return "; ".join(lines)


# --- names -------------------------------------------------------------------------------------


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one name that can be meant; None if none is near, or two are."""
    plain = {_plain(candidate): candidate for candidate in names}
    if (same := plain.get(_plain(name))) is not None:
        return same
    found = difflib.get_close_matches(_plain(name), list(plain), n=2, cutoff=NEAR)
    return plain[found[0]] if len(found) == 1 else None


def _plain(name: str) -> str:
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name[:128])
    return _SEPARATORS.sub("_", split.strip()).casefold()


@dataclass(frozen=True, slots=True)
class Named:
    """The tool that a call means. ``repair`` says, if the name is not its own, what was made of it."""

    tool: Tool
    repair: str = ""


def named(name: str, tools: Mapping[str, Tool]) -> Named | None:
    """The tool of that name; or the only one that is near it, if it has no side effects: what changes something
    must be called by its name. White space around a name and a prefix ("functions.x") are no part of it."""
    if (found := tools.get(name)) is not None:
        return Named(found)
    bare = name.strip().rsplit(".", 1)[-1].strip()
    if (found := tools.get(bare)) is not None:
        return Named(found, f"there is no tool {name!r}; it was taken for {bare!r}")
    meant = nearest(bare, tools)
    if meant is None or tools[meant].side_effect:
        return None
    return Named(tools[meant], f"there is no tool {name[:64]!r} ({known(tools)}); it was taken for {meant!r}")


def known(tools: Mapping[str, Tool]) -> str:
    """The tools by name, for the model."""
    return f"the tools are: {', '.join(sorted(tools)) or 'none'}"
