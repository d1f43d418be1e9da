"""Texts that are too long for their place: a part is shown, with what is left out and how to read it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from memagent import prompts
from memagent.context.lined import CountText, Lined, Place, fill, fill_back, fits, fitted, lined

__all__ = ["CountText", "Preview", "Shortened", "preview", "read_call", "shorten"]

HEAD_SHARE = 2 / 3
"""The beginning usually says what a text is; the end how it came out."""


class Shortened(NamedTuple):
    """``text`` is what to show; it is the whole text when ``shown_chars == total_chars``."""

    text: str
    shown_chars: int
    total_chars: int


class Preview(NamedTuple):
    """``text`` is what to show of a text that is kept elsewhere. Lines are those that `read_output` counts;
    a line shown in part counts as shown. ``shown_chars`` are of the text, without notice."""

    text: str
    shown_lines: int
    total_lines: int
    shown_chars: int
    total_chars: int


def shorten(text: str, limit_raw: int, count: CountText, notice: str = "left_out", **values: str) -> Shortened:
    """The text, or its head and tail around a notice (a prompt file) with the exact figures and ``values``, in at
    most ``limit_raw`` tokens. With no room for even the notice, the notice alone is returned: the caller compares."""
    total = len(text)
    if fits(text, limit_raw, count):
        return Shortened(text, total, total)
    low, high = 0, min(total - 1, limit_raw * 64)
    while low < high:
        middle = (low + high + 1) // 2
        if count(_around_notice(text, middle, notice, values)) <= limit_raw:
            low = middle
        else:
            high = middle - 1
    return Shortened(_around_notice(text, low, notice, values), low, total)


def _around_notice(text: str, shown: int, notice_name: str, values: Mapping[str, str]) -> str:
    head = int(shown * HEAD_SHARE)
    tail = shown - head
    notice = prompts.text(notice_name, left_out=f"{len(text) - shown:,}", total=f"{len(text):,}", **values)
    if shown == 0:
        return notice
    return f"{text[:head]}\n{notice}\n{text[len(text) - tail :] if tail else ''}"


def preview(text: str, ref: str, limit_raw: int, count: CountText) -> Preview:
    """Head and tail of a text that is stored under ``ref``, around a notice that says how much of how much
    is shown, what is left out, and how to read on; in at most ``limit_raw`` tokens, cut between lines where
    they are short enough. JSON on one line is shown unwrapped. With no room for even the shortest notice,
    that notice alone is returned: the caller compares."""
    form = lined(text)
    made: Preview = _preview(form, text, ref, 0, count)

    def build(room_raw: int) -> str:
        nonlocal made
        made = _preview(form, text, ref, room_raw, count)
        return made.text

    fitted(build, count(made.text) + 2, limit_raw, count)
    if made.shown_chars == 0 and not fits(made.text, limit_raw, count):
        brief = prompts.text("overflowed_brief", total=_size(form, text), call=read_call(ref))
        made = made._replace(text=brief)
    return made


def read_call(ref: str | None, selectors: Mapping[str, str] | None = None) -> str:
    """How a call of `read_output` is written; without a reference only what it selects by."""
    given = {**({} if ref is None else {"ref": ref}), **(selectors or {})}
    arguments = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in given.items())
    return arguments if ref is None else f"read_output({arguments})"


def _preview(form: Lined, text: str, ref: str, room_raw: int, count: CountText) -> Preview:
    start, stop = Place(0), form.end
    head, head_end = fill(form, start, stop, int(room_raw * HEAD_SHARE), count)
    tail, tail_start = fill_back(form, head_end, stop, room_raw - int(room_raw * HEAD_SHARE), count)
    shown_chars = _chars(head, form) + _chars(tail, form)
    total_lines = len(form.lines)
    shown_lines = 0
    if shown_chars:
        shown_lines = head_end.line + (head_end.char > 0) + total_lines - tail_start.line
        shown_lines = min(total_lines, shown_lines)
    chars_only = total_lines == 1
    if chars_only:
        left_out = f"characters {head_end.char + 1:,}-{(tail_start.char or len(text)):,}"
        following = {"chars": f"{head_end.char + 1}-{head_end.char + max(len(head), 1)}"}
    else:
        left_out = f"lines {form.span(head_end, tail_start)}" + (" of the unwrapped JSON" if form.unwrapped else "")
        lines = max(1, head_end.line)
        following = {"lines": f"{head_end}-{min(head_end.line + lines, total_lines)}"}
    shown = f"{shown_chars:,} of {len(text):,} characters"
    notice = prompts.text(
        "overflowed",
        shown=shown if chars_only else f"{shown_lines:,} of {total_lines:,} lines ({shown})",
        left_out=left_out,
        call=read_call(ref, following),
    )
    shown_text = "\n".join(part for part in (head, notice, tail) if part)
    return Preview(shown_text, shown_lines, total_lines, shown_chars, len(text))


def _chars(shown: str, form: Lined) -> int:
    """Characters of the text itself: not those that unwrapping put in."""
    return sum(len(line.strip()) for line in shown.split("\n")) if form.unwrapped else len(shown)


def _size(form: Lined, text: str) -> str:
    lines = len(form.lines)
    return f"{len(text):,} characters" if lines == 1 else f"{lines:,} lines, {len(text):,} characters"
