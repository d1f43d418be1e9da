"""Passages: the pieces of what was said that a search in the history finds, and the snippets shown of
them. Pure; the same text always gives the same pieces."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from memagent.memory.asking import asks
from stores.indexes import Passage
from stores.records import Message, MessageRole
from stores.terms import document_terms

PASSAGE_CHARS = 1_200
OVERLAP_CHARS = 200
"""A passage begins with the end of the one before, at most so much of it: what belongs together may stand
on both sides of a cut."""
ENTRY_CHARS = 32_000_000
"""Of a longer text the rest is not searched; it can still be read and grepped."""
CONTEXT_CHARS = 300
SNIPPET_WIDTH = 240
FILLED_WIDTH = 180
"""A snippet narrower than this is filled up with what stands around it."""
UNIT_CHARS = 90

ECHO_TOOLS = frozenset({"search_history", "recall", "read_output", "expand_summary"})
"""memagent's own tools that say again what the history holds anyway."""

# Best first: where a text may be cut, and what is left before the cut.
_CUTS = (("\n\n",), ("\n",), (". ", "! ", "? ", "。", "！", "？"), ("; ", ", ", ",", "；", "，", "、"), (" ", "\t"))
_UNIT_ENDS = re.compile(r"\n+|(?<=[.!?;])\s+|(?<=[。！？；])")


class Snippet(NamedTuple):
    """``start`` is its offset in the text, ``words`` are the wanted terms in it."""

    start: int
    text: str
    words: frozenset[str]


def passages_of(entry: Message, text: str, context: str = "") -> list[Passage]:
    """The passages of an entry whose searched text (`searched_text`) is ``text``: about 1,200 characters
    each, in order, together all of it up to ENTRY_CHARS. The first also has the words of ``context``.
    Blank pieces give none."""
    return [
        Passage(entry.id, entry.session_id, start, text[start:end], context if start == 0 else "")
        for start, end in cut(text[:ENTRY_CHARS], PASSAGE_CHARS, OVERLAP_CHARS)
        if not text[start:end].isspace()
    ]


def searched_text(entry: Message, whole: str | None = None) -> str:
    """What is searched of an entry: its text (``whole`` where the entry has only a preview), then the
    calls it made, one a line. Calls that only looked something up in the history are left out."""
    calls = [f"{call.name}: {_readable(call.arguments)}" for call in entry.calls if call.name not in ECHO_TOOLS]
    text = entry.content if whole is None else whole
    return "\n".join([text, *calls] if text or not calls else calls)


def context_of(entry: Message, earlier: Sequence[Message]) -> str:
    """What an entry answers, in at most 300 characters: a tool's result the call, an answer the question.
    ``earlier`` are messages of its session before it, oldest first. "" where there is nothing."""
    if entry.role is MessageRole.TOOL:
        calls = (call for message in reversed(earlier) for call in message.calls if call.id == entry.call_id)
        call = next(calls, None)
        return f"{call.name} {_readable(call.arguments)}"[:CONTEXT_CHARS] if call else entry.name or ""
    other = {MessageRole.USER: MessageRole.ASSISTANT, MessageRole.ASSISTANT: MessageRole.USER}.get(entry.role)
    asked = next((message.content for message in reversed(earlier) if message.role is other), "").rstrip()
    return asked[-CONTEXT_CHARS:].lstrip() if asks(asked) else ""


def _readable(arguments: str) -> str:
    """Arguments as a person would read them: JSON without escapes of letters."""
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


# --- cutting -----------------------------------------------------------------------------------


def cut(text: str, limit: int, overlap: int = 0) -> list[tuple[int, int]]:
    """Places (start, end) of pieces of at most ``limit`` characters that cover the text, cut at the best
    boundary in each second half: a blank line, a line, a sentence, a comma, a space."""
    places: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = len(text)
        if end - start > limit:
            end = _boundary(text, start + limit // 2, start + limit) or start + limit
        places.append((start, end))
        if end == len(text):
            break
        start = (overlap and _boundary(text, end - overlap, end - 1)) or end
    return places


def _boundary(text: str, low: int, high: int) -> int | None:
    """The best place to cut, after ``low`` and not after ``high``."""
    for marks in _CUTS:
        found = [place + len(mark) for mark in marks if (place := text.rfind(mark, low, high)) >= 0]
        if found:
            return max(found)
    return None


# --- snippets ----------------------------------------------------------------------------------


class Units(NamedTuple):
    """A text in sentences, lines or pieces of them: where each begins, how wide it is, and which of the
    wanted terms it has. ``ends[i]`` is ``starts[i + 1]``."""

    text: str
    places: tuple[tuple[int, int], ...]
    words: tuple[frozenset[str], ...]


def units_of(text: str, wanted: Collection[str]) -> Units:
    """The units of a passage."""
    places: list[tuple[int, int]] = []
    start = 0
    for end in [*(match.end() for match in _UNIT_ENDS.finditer(text)), len(text)]:
        places += [(start + a, start + b) for a, b in cut(text[start:end], UNIT_CHARS)]
        start = end
    words = tuple(frozenset(wanted).intersection(document_terms(text[a:b])) for a, b in places)
    return Units(text, tuple(places), words)


def best_snippet(units: Units, weights: Mapping[str, float], width: int = SNIPPET_WIDTH) -> Snippet:
    """The run of units, no wider than ``width``, whose different wanted terms weigh most; the shorter of
    equals, then filled up with what follows and what precedes."""
    widths = [width_of(units.text[a:b]) for a, b in units.places]
    best, best_key = (0, 1), (0.0, 0)
    for first in range(len(widths)):
        found: set[str] = set()
        size = 0
        for last in range(first, len(widths)):
            size += widths[last]
            if size > width and last > first:
                break
            found |= units.words[last]
            key = (_weight(found, weights), -size)
            if key > best_key:
                best, best_key = (first, last + 1), key
    first, last = _filled(best, widths, min(width, FILLED_WIDTH))
    if not units.places:
        return Snippet(0, "", frozenset())
    start, end = units.places[first][0], units.places[last - 1][1]
    return Snippet(start, units.text[start:end], frozenset().union(*units.words[first:last]))


def _filled(run: tuple[int, int], widths: Sequence[int], width: int) -> tuple[int, int]:
    first, last = run
    size = sum(widths[first:last])
    while True:
        if last < len(widths) and size + widths[last] <= width:
            size += widths[last]
            last += 1
        elif first > 0 and size + widths[first - 1] <= width:
            first -= 1
            size += widths[first]
        else:
            return first, last


def _weight(words: Iterable[str], weights: Mapping[str, float]) -> float:
    return sum(weights.get(word, 0.0) for word in sorted(words))


def width_of(text: str) -> int:
    """How much room a text takes, in Latin letters: a character of other scripts costs about three."""
    return len(text) if text.isascii() else sum(1 if character.isascii() else 3 for character in text)
