"""Reading a long text piece by piece: by lines, characters, a pattern or a JSON path. Pure, but for the
clock that bounds a search.

Every answer says what of how much it shows and how to go on, and is within its limit. Following the
stated next position gives every line once, in order. What cannot be answered is said, never raised.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import regex

from memagent import prompts
from memagent.context.json_path import JsonPathError, select
from memagent.context.lined import CountText, Lined, Place, fill, fits, fitted, lined, most
from memagent.context.overflow import read_call, shorten

SEARCH_SECONDS = 2.0
MAX_PATTERN_CHARS = 500
SNIPPET_CHARS = 240
"""Of longer lines a search shows this much around each hit."""
LONG_CHARS = 10_000
"""Lines from this length on are searched without holding up other threads; for all it would take long."""
_PLACE = r"(?P<{0}>\d{{1,12}})(?::(?P<{0}_char>\d{{1,12}}))?"
_RANGE = regex.compile(rf"\s*(?:{_PLACE.format('start')})?\s*(?P<dash>[-–—]|\.\.)?\s*(?:{_PLACE.format('stop')})?\s*")


class _CannotError(Exception):
    """The question cannot be answered; the text says why."""


@dataclass(frozen=True, slots=True)
class _Page:
    """What a page is cut from, and how the call for the next one begins."""

    form: Lined
    asked: dict[str, str]
    of: str
    limit_raw: int
    count: CountText
    ref: str | None

    def status(self, what: str, following: dict[str, str] | None) -> str:
        """The first line of an answer."""
        if following is None:
            return prompts.text("page_end", what=what, total=self.of)
        return prompts.text("page", what=what, total=self.of, call=read_call(self.ref, {**self.asked, **following}))


def read(
    text: str,
    *,
    lines: str | None = None,
    chars: str | None = None,
    grep: str | None = None,
    json_path: str | None = None,
    limit_raw: int,
    count: CountText,
    ref: str | None = None,
) -> str:
    """A page of a text in at most ``limit_raw`` tokens (about 100 are needed to say anything).

    ``lines`` and ``chars`` count from 1: "41-80", "41-", "-40" for the last 40, "41"; "41:2001-" begins
    inside a line. ``grep`` is a regular expression, searched line by line and literally if it is none; with
    ``lines`` only there. ``json_path`` is taken first. Without a selector the text is read from its
    beginning. JSON on one line has the lines of its unwrapped form.
    """
    try:
        asked: dict[str, str] = {}
        if json_path:
            text, asked = _at_path(text, json_path), {"json_path": json_path}
        if lines and chars:
            raise _CannotError("give lines or chars, not both")
        if not text:
            raise _CannotError("there is nothing to read: the text is empty")
        form = Lined([text]) if chars else lined(text)
        size = f"{len(text):,} characters"
        of = size if len(form.lines) == 1 else f"{len(form.lines):,} lines, {size}"
        page = _Page(form, asked, of + (", unwrapped JSON" if form.unwrapped else ""), limit_raw, count, ref)
        if grep:
            return _search(page, grep, *_lines(lines, form))
        if chars or (len(form.lines) == 1 and not lines):
            return _characters(page, chars, text)
        return _page(page, *_lines(lines, form))
    except _CannotError as problem:
        return shorten(f"[{problem}]", limit_raw, count).text


def _at_path(text: str, path: str) -> str:
    try:
        found, values = select(text, path)
    except JsonPathError as error:
        raise _CannotError(str(error)) from error
    if not values:
        raise _CannotError(f"the path {path!r} finds nothing; read without a path to see what there is")
    return found or '""'


def _page(page: _Page, start: Place, stop: Place) -> str:
    return _shown(page, start, stop, lambda first, end: f"lines {page.form.span(first, end)}", _next_lines(page))


def _next_lines(page: _Page) -> Callable[[Place, Place], dict[str, str]]:
    def following(start: Place, end: Place) -> dict[str, str]:
        last = min(end.line + max(1, end.line - start.line), len(page.form.lines))
        return {"lines": f"{end}-{max(last, end.line + 1)}"}

    return following


def _characters(page: _Page, chars: str | None, text: str) -> str:
    page = _Page(Lined([text]), page.asked, page.of, page.limit_raw, page.count, page.ref)
    first, last = _range(chars, len(text), "characters")
    start, stop = Place(0, first), Place(1) if last == len(text) else Place(0, last)

    def what(first: Place, end: Place) -> str:
        return f"characters {first.char + 1:,}-{end.char or len(text):,}"

    def following(first: Place, end: Place) -> dict[str, str]:
        size = max(1, end.char - first.char)
        return {"chars": f"{end.char + 1}-{min(end.char + size, len(text))}"}

    return _shown(page, start, stop, what, following)


def _shown(
    page: _Page,
    start: Place,
    stop: Place,
    what: Callable[[Place, Place], str],
    following: Callable[[Place, Place], dict[str, str]],
) -> str:
    """The text from ``start`` on, at most to ``stop``, under its status line."""
    end_of_text = page.form.end

    def build(room_raw: int) -> str:
        body, end = fill(page.form, start, stop, room_raw, page.count)
        status = page.status(what(start, end), None if end == end_of_text else following(start, end))
        return f"{status}\n{body}"

    far = Place(end_of_text.line, 0) if stop == end_of_text else stop
    frame = page.status(what(start, far), following(start, far))
    return fitted(build, page.count(frame) + 2, page.limit_raw, page.count)


# --- where to read ---------------------------------------------------------------------------------


def _lines(lines: str | None, form: Lined) -> tuple[Place, Place]:
    total = len(form.lines)
    first, last = _range(lines, total, "lines")
    match = _RANGE.fullmatch((lines or "").replace(",", ""))
    start, stop = Place(first), Place(last)
    if match and match["start"] and match["start_char"]:
        char = max(0, int(match["start_char"]) - 1)
        if char >= max(1, len(form.lines[first])):
            raise _CannotError(f"line {first + 1} has only {len(form.lines[first]):,} characters")
        start = Place(first, char)
    if match and match["stop_char"] and int(match["stop_char"]) < len(form.lines[last - 1]):
        stop = Place(last - 1, int(match["stop_char"]))
        if stop <= start:
            raise _CannotError(f"the range {lines!r} ends before it begins")
    return start, stop


def _range(text: str | None, total: int, unit: str) -> tuple[int, int]:
    """From 0, the end excluded."""
    if not text or not text.strip():
        return 0, total
    match = _RANGE.fullmatch(text.replace(",", ""))
    if match is None or not (match["start"] or match["stop"]):
        raise _CannotError(f'{unit} {text!r} is no range; write "41-80", "41-" or "-40" for the last 40')
    if match["start"] is None:
        return max(0, total - max(1, int(match["stop"]))), total
    first = max(1, int(match["start"]))
    last = int(match["stop"]) if match["stop"] else (total if match["dash"] else first)
    if first > total:
        raise _CannotError(f"there are only {total:,} {unit}; {text.strip()!r} is beyond the end")
    if last < first:
        raise _CannotError(f"the range {text.strip()!r} ends before it begins")
    return first - 1, min(last, total)


# --- searching -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Hits:
    """Where a pattern matches, and what to say about how it was searched. ``stopped`` is the line at which
    time ran out."""

    places: list[Place]
    notes: str = ""
    stopped: int | None = None


def _search(page: _Page, pattern: str, start: Place, stop: Place) -> str:
    page = _Page(page.form, {**page.asked, "grep": pattern}, page.of, page.limit_raw, page.count, page.ref)
    hits = _find(page.form, pattern, start, stop)
    notes = hits.notes
    if hits.stopped is not None:
        notes += (
            f"; stopped at line {hits.stopped + 1} after {SEARCH_SECONDS:g} s: use a simpler pattern or fewer lines"
        )
    if not hits.places:
        where = page.form.span(start, stop)
        raise _CannotError(f"no match for {pattern!r} in lines {where} of {len(page.form.lines):,}{notes}")
    total = f"{len(hits.places):,}" + ("+" if hits.stopped is not None else "")

    def build(shown: int) -> str:
        what = f"matches 1-{shown} of {total}{notes}, in lines {page.form.span(start, stop)}"
        if shown == len(hits.places):
            status = page.status(what, None)
        else:
            status = page.status(what, {"lines": page.form.span(hits.places[shown], stop)})
        return f"{status}\n{_with_context(page.form, hits.places[:shown])}"

    shown = most(lambda n: fits(build(n), page.limit_raw, page.count), len(hits.places), 8)
    return build(shown) if shown else shorten(build(1), page.limit_raw, page.count).text


def _find(form: Lined, pattern: str, start: Place, stop: Place) -> _Hits:
    if len(pattern) > MAX_PATTERN_CHARS:
        raise _CannotError(f"the pattern is longer than {MAX_PATTERN_CHARS} characters")
    deadline = time.monotonic() + SEARCH_SECONDS
    notes = ""
    try:
        compiled = regex.compile(pattern)
    except regex.error:
        pattern, notes = regex.escape(pattern), " (searched literally: it is no regular expression)"
        compiled = regex.compile(pattern)
    hits = _scan(form, compiled, start, stop, deadline)
    if not hits.places and hits.stopped is None:
        hits = _scan(form, regex.compile(pattern, regex.IGNORECASE), start, stop, deadline)
        notes += " (in other capitals)" if hits.places else ""
    return _Hits(hits.places, notes, hits.stopped)


def _scan(form: Lined, compiled: Any, start: Place, stop: Place, deadline: float) -> _Hits:
    places: list[Place] = []
    last = stop.line + (stop.char > 0)
    for index in range(start.line, last):
        line = form.lines[index]
        at = start.char if index == start.line else 0
        end = stop.char if index == stop.line else len(line)
        try:
            while match := compiled.search(line, at, end, timeout=_left(deadline), concurrent=len(line) > LONG_CHARS):
                long = len(line) > SNIPPET_CHARS
                places.append(Place(index, match.start() if long else 0))
                at = max(match.end(), match.start() + SNIPPET_CHARS // 2)
                if not long or at > end:
                    break
        except TimeoutError:
            return _Hits(places, stopped=index)
    return _Hits(places)


def _left(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())


def _with_context(form: Lined, hits: list[Place]) -> str:
    """Hits as "41: text", the lines beside them as "40- text", "--" where lines are left out between."""
    shown: dict[Place, str] = {}
    matching = {hit.line for hit in hits}
    for hit in hits:
        for line in (hit.line - 1, hit.line + 1):
            if 0 <= line < len(form.lines) and line not in matching:
                shown[Place(line)] = f"{line + 1}- {_snippet(form.lines[line], 0)}"
        shown[hit] = f"{hit}: {_snippet(form.lines[hit.line], hit.char)}"
    parts: list[str] = []
    before: Place | None = None
    for place in sorted(shown):
        if before is not None and place.line > before.line + 1:
            parts.append("--")
        parts.append(shown[place])
        before = place
    return "\n".join(parts)


def _snippet(line: str, char: int) -> str:
    if len(line) <= SNIPPET_CHARS:
        return line
    start = max(0, char - SNIPPET_CHARS // 4)
    end = start + SNIPPET_CHARS
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
