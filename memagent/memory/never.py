"""What the person never wants remembered: patterns, matched by words in every text that may become a memory. Pure.

A pattern is words in order; case, spaces and punctuation do not count. ``*`` inside a word stands for any
letters ("salar*"), alone for any words, also none ("my * salary").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from memagent.errors import MemagentError
from stores.sameness import normalised

_PIECES = re.compile(r"\*+|[^\W]+")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")


def checked_pattern(pattern: str) -> str:
    """The pattern as it is kept: without space around it. Raises MemagentError for one without a word, which
    would match everything."""
    kept = " ".join(pattern.split())
    if not normalised(kept):
        raise MemagentError(f"{pattern!r} is no pattern: it needs a word at least, for example 'salar*'")
    return kept


class NeverPatterns:
    """The patterns of one person."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._patterns = [(pattern, _compiled(pattern)) for pattern in patterns]

    def matching(self, *texts: str) -> str | None:
        """The first pattern that one of the texts matches; None if none does."""
        if not self._patterns:
            return None
        words = [normalised(text) for text in texts]
        return next((pattern for pattern, form in self._patterns if any(map(form.search, words))), None)


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Words become a pattern over normalised text. Where no spaces are written, a word begins anywhere."""
    alone = [form for word in pattern.casefold().split() for form in _forms(word)]
    joined = ""
    for form in alone:
        if form == "*":
            joined += r"(?: \w+)*"
        else:
            joined += (r" ?" if joined else "") + form
    return re.compile(joined.removeprefix(r"(?: \w+)*"))


def _forms(word: str) -> list[str]:
    """A word of the pattern as expressions, one for each word that its punctuation makes of it."""
    if set(word) == {"*"}:
        return ["*"]
    forms: list[str] = []
    for part in re.sub(r"[^\w*]+", " ", word).split():
        if set(part) == {"*"}:
            continue
        pieces = [r"\w*" if "*" in piece else re.escape(piece) for piece in _PIECES.findall(part)]
        first, last = part[0], part[-1]
        before = "" if _IS_UNSPACED.match(first) or first == "*" else r"\b"
        after = "" if _IS_UNSPACED.match(last) or last == "*" else r"\b"
        forms.append(before + "".join(pieces) + after)
    return forms
