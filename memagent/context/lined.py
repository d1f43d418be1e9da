"""A long text as lines, and how many of them fit. Pure.

A place in a text is a line and a character in it, both from 0 here and from 1 for readers, who see
"41" for a line's beginning and "41:2001" for a place inside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

CountText = Callable[[str], int]
"""Raw tokens of a text."""

_MOST_CHARS_A_TOKEN = 64
"""Runs of blanks aside, no token is longer; what is longer than the limit times this needs no counting."""
_INLINE_CHARS = 80
"""Objects and lists up to this size stay on one line when JSON is unwrapped."""
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]')


class Place(NamedTuple):
    """A line and a character in it, from 0."""

    line: int
    char: int = 0

    def __str__(self) -> str:
        return f"{self.line + 1}:{self.char + 1}" if self.char else str(self.line + 1)


@dataclass(frozen=True, slots=True)
class Lined:
    """A text's lines, without their ends; those of one-line JSON when it is ``unwrapped``. At least one."""

    lines: Sequence[str]
    unwrapped: bool = False

    @property
    def end(self) -> Place:
        return Place(len(self.lines))

    def up_to(self, end: Place) -> str:
        """The last place before ``end``, for a reader."""
        return str(end.line) if not end.char else f"{end.line + 1}:{end.char}"

    def span(self, start: Place, end: Place) -> str:
        """From ``start`` up to ``end``, for a reader: "41-80", "41:2001-41:4000", "41"."""
        first, last = str(start), self.up_to(end)
        return first if first == last else f"{first}-{last}"


def lined(text: str) -> Lined:
    """The lines of a text. JSON on one line is broken after commas and brackets, nothing else changed."""
    lines = text.split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    if len(lines) == 1 and text.lstrip()[:1] in ("{", "[") and (unwrapped := _unwrapped(text.strip())) is not None:
        return Lined(unwrapped, unwrapped=True)
    return Lined(lines)


def _unwrapped(text: str) -> list[str] | None:
    """The lines of JSON in one line; None if it is none, or has only one line this way too."""
    try:
        json.loads(text, parse_int=float)  # exact integers of any length take long
    except (ValueError, RecursionError):
        return None
    places = [match.start() for match in _STRUCTURE.finditer(text) if text[match.start()] != '"']
    closing: dict[int, int] = {}
    opened: list[int] = []
    for index, place in enumerate(places):
        if text[place] in "[{":
            opened.append(index)
        elif text[place] in "]}":
            closing[opened.pop()] = index
    lines: list[str] = []
    inside: list[str] = []
    start = index = 0

    def line(end: int) -> None:
        if piece := text[start:end].strip():
            lines.append(" " * len(inside) + piece)

    while index < len(places):
        place = places[index]
        if text[place] in "[{":
            if places[closing[index]] - place < _INLINE_CHARS:
                index = closing[index] + 1
                continue
            line(place + 1)
            inside.append(text[place])
            start = place + 1
        elif text[place] == ",":
            if not _joined(text, places, index, inside, start):
                line(place + 1)
                start = place + 1
        else:
            line(place)
            inside.pop()
            start = place
        index += 1
    line(len(text))
    return lines if len(lines) > 1 else None


def _joined(text: str, places: Sequence[int], index: int, inside: Sequence[str], start: int) -> bool:
    """Whether the values on both sides of a comma stand on one line: plain ones of a list do, while it is short."""
    following = places[index + 1] if index + 1 < len(places) else len(text)
    plain = text[places[index - 1]] not in "]}" and text[following] not in "[{"
    return inside[-1:] == ["["] and plain and following - start <= _INLINE_CHARS


def fits(text: str, limit_raw: int, count: CountText) -> bool:
    """Whether a text takes at most so many tokens; quick for any length."""
    # a token is at least one byte of text, so most short texts need no counting
    return len(text) <= limit_raw // 4 or (
        len(text) <= limit_raw * _MOST_CHARS_A_TOKEN and limit_raw > 0 and count(text) <= limit_raw
    )


def most(fit: Callable[[int], bool], high: int, guess: int) -> int:
    """The largest number up to ``high`` that fits, found from a guess by doubling and halving; 0 if none does."""
    low, over, step = 0, high + 1, max(1, guess)
    while low < high and over > high:
        tried = min(high, low + step)
        if fit(tried):
            low, step = tried, step * 2
        else:
            over = tried
    while over - low > 1:
        middle = (low + over) // 2
        if fit(middle):
            low = middle
        else:
            over = middle
    return low


def fill(form: Lined, start: Place, stop: Place, room_raw: int, count: CountText) -> tuple[str, Place]:
    """As much from ``start`` on as fits into the room, and where it ends: after a line, or inside one that
    takes more than half of the room."""
    lines = _cut(form.lines, start, stop)
    taken = most(lambda n: fits("\n".join(lines[:n]), room_raw, count), len(lines), room_raw // 8)
    text = "\n".join(lines[:taken])
    if taken == len(lines):
        return text, stop
    if taken and not fits(text, room_raw // 2, count):
        return text, Place(start.line + taken)
    line = lines[taken]
    begun = f"{text}\n" if taken else ""
    chars = most(lambda n: fits(begun + line[:n], room_raw, count), len(line), room_raw)
    if not chars:
        return text, Place(start.line + taken) if taken else start
    offset = start.char if taken == 0 else 0
    return begun + line[:chars], Place(start.line + taken, offset + chars)


def fill_back(form: Lined, start: Place, stop: Place, room_raw: int, count: CountText) -> tuple[str, Place]:
    """As much before ``stop``, at most back to ``start``, as fits, and where it begins."""
    lines = _cut(form.lines, start, stop)
    taken = most(lambda n: fits("\n".join(lines[-n:]), room_raw, count), len(lines), room_raw // 8)
    text = "\n".join(lines[len(lines) - taken :])
    if taken == len(lines):
        return text, start
    left = len(lines) - taken
    if taken and not fits(text, room_raw // 2, count):
        return text, Place(start.line + left)
    line = lines[left - 1]
    ended = f"\n{text}" if taken else ""
    chars = most(lambda n: fits(line[len(line) - n :] + ended, room_raw, count), len(line), room_raw)
    if not chars:
        return text, Place(start.line + left) if taken else stop
    offset = len(line) - chars + (start.char if left == 1 else 0)
    return line[len(line) - chars :] + ended, Place(start.line + left - 1, offset)


def fitted(build: Callable[[int], str], frame_raw: int, limit_raw: int, count: CountText) -> str:
    """``build(room)`` with the largest room for which all of it, a frame of about ``frame_raw`` tokens
    included, is within the limit; ``build(0)`` if none is."""
    room_raw = limit_raw - frame_raw
    while room_raw > 0:
        text = build(room_raw)
        over = count(text) - limit_raw
        if over <= 0:
            return text
        room_raw -= over + 2
    return build(0)


def _cut(lines: Sequence[str], start: Place, stop: Place) -> Sequence[str]:
    """The lines between two places."""
    if start.char == 0 and stop.char == 0:
        return lines[start.line : stop.line]
    some = list(lines[start.line : stop.line + (stop.char > 0)])
    if some and stop.char:
        some[-1] = some[-1][: stop.char]
    if some:
        some[0] = some[0][start.char :]
    return some
