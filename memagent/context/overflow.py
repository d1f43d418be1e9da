"""Texts that are too long for their place: shown by head and tail, whole in the journal. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from memagent import prompts

CountText = Callable[[str], int]
"""Raw tokens of a text."""

HEAD_SHARE = 2 / 3
"""The beginning usually says what a text is; the end how it came out."""


class Shortened(NamedTuple):
    """``text`` is what to show; it is the whole text when ``shown_chars == total_chars``."""

    text: str
    shown_chars: int
    total_chars: int


def shorten(text: str, limit_raw: int, count: CountText) -> Shortened:
    """The text, or its head and tail around a notice with the exact figures, in at most ``limit_raw``
    tokens. With no room for even the notice, the notice alone is returned: the caller compares."""
    total = len(text)
    # a token is at least one byte of text, so most short texts need no counting
    if total <= limit_raw // 4 or (total <= limit_raw * 64 and count(text) <= limit_raw):
        return Shortened(text, total, total)
    low, high = 0, min(total - 1, limit_raw * 64)
    while low < high:
        middle = (low + high + 1) // 2
        if count(_around_notice(text, middle)) <= limit_raw:
            low = middle
        else:
            high = middle - 1
    return Shortened(_around_notice(text, low), low, total)


def _around_notice(text: str, shown: int) -> str:
    head = int(shown * HEAD_SHARE)
    tail = shown - head
    notice = prompts.text("left_out", left_out=f"{len(text) - shown:,}", total=f"{len(text):,}")
    if shown == 0:
        return notice
    return f"{text[:head]}\n{notice}\n{text[len(text) - tail :] if tail else ''}"
