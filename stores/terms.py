"""Text to terms: what the lexical indexes hold and what they are asked for.

NFKC and case folding first. Words are stemmed (English snowball); runs of scripts written without
spaces (Han, kana, hangul, Thai, Lao, Khmer, Burmese) become overlapping pairs of characters. A
document also gets the single characters of such runs, so that a query of one character finds it;
a query gets them only where a run is one character long. Signs, punctuation and emoji are no terms.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterator

import Stemmer

TERM_CHARS = 64
"""Longer words (base64, hashes run together) are cut to this length."""

_UNSPACED = (
    "\u3005-\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u1100-\u11ff\uac00-\ud7af\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1780-\u17d3"
)
# Marks that belong inside a word but that `\w` does not match.
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_RUN = re.compile(f"([{_UNSPACED}]+)|((?:[^\\W_{_UNSPACED}]|[{_MARKS}])+)")
_CLITIC = re.compile(r"(?<=\w)['’](?:s|t|re|ve|ll|d|m)\b")


class _Stemmer(threading.local):
    """One a thread: it must not be shared, and it remembers the words it has seen. PyStemmer has no types."""

    def __init__(self) -> None:
        self.word: Callable[[str], str] = Stemmer.Stemmer("english").stemWord  # pyright: ignore[reportUnknownMemberType]


_stemmer = _Stemmer()


def document_terms(text: str) -> list[str]:
    """The terms of a text to be found, in order, with repeats."""
    return list(_terms(text, singles=True))


def query_terms(text: str) -> list[str]:
    """The different terms of a query, in order."""
    return list(dict.fromkeys(_terms(text, singles=False)))


def _terms(text: str, *, singles: bool) -> Iterator[str]:
    folded = _CLITIC.sub("", unicodedata.normalize("NFKC", text).casefold())
    stem = _stemmer.word
    for match in _RUN.finditer(folded):
        run, word = match.groups()
        if word:
            yield stem(word[:TERM_CHARS])
            continue
        if singles or len(run) == 1:
            yield from run
        yield from (run[index : index + 2] for index in range(len(run) - 1))
