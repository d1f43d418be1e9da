"""Searching every byte of files for what was erased: honest to the last step.

A text is looked for as it may stand in a file: in UTF-8, escaped as JSON escapes it, in either case (of
Latin letters), and with any white space between its words.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memagent.memory.erase import Residue, units

PIECE_CHARS = 80
"""A long text is looked for by pieces: a copy may hold only a part of it."""
LEAST_PIECE_BYTES = 10
"""Fewer bytes stand in a file by chance."""
MOST_PIECES = 64
CHUNK_BYTES = 8_000_000
OVERLAP_BYTES = 4_000
_SPACE = rb"(?:[\s\x00]|\\[nrt]|\\u00a0|\xc2\xa0|\xe3\x80\x80)+"


class Piece:
    """Something to look for, by its longest word first. ``name`` says what it is, without telling it."""

    def __init__(self, words: Sequence[Sequence[bytes]], name: str) -> None:
        self.name = name
        self._anchors = max(words, key=lambda spellings: len(spellings[0]))
        joined = _SPACE.join(b"(?:" + b"|".join(map(re.escape, spellings)) + b")" for spellings in words)
        self._pattern = re.compile(joined)
        self._reach = 2 * sum(len(spellings[-1]) + 8 for spellings in words)

    @classmethod
    def of_text(cls, text: str, name: str) -> Piece:
        """A text without regard to case and white space."""
        return cls([_spellings(word) for word in text.split()], name)

    def is_in(self, content: bytes) -> bool:
        """Whether it stands in these bytes, which must be lowered."""
        for anchor in self._anchors:
            place = content.find(anchor)
            while place >= 0:
                if self._pattern.search(content, max(0, place - self._reach), place + self._reach):
                    return True
                place = content.find(anchor, place + 1)
        return False


@dataclass(slots=True)
class Search:
    """What was searched, and which pieces were found in which file."""

    files: int = 0
    bytes: int = 0
    found: dict[Path, list[Piece]] = field(default_factory=dict[Path, list[Piece]])


def pieces_of(texts: Iterable[str]) -> list[str]:
    """What to look for: whole short texts, and of longer ones sentences and stretches of words; at most 64,
    from all of the texts."""
    found: dict[str, None] = {}
    for text in texts:
        for unit in units(text):
            for piece in _stretches(unit.split()):
                if not too_short(piece):
                    found[piece] = None
    pieces = list(found)
    return pieces[:: max(1, -(-len(pieces) // MOST_PIECES))]


def too_short(text: str) -> bool:
    """Whether a text stands in files by chance."""
    return 0 < len("".join(text.split()).encode()) < LEAST_PIECE_BYTES


def search(files: Iterable[Path], pieces: Sequence[Piece]) -> Search:
    """Looks through files; those that are gone meanwhile are passed over."""
    result = Search()
    for file in files:
        found: dict[int, Piece] = {}
        try:
            for chunk in _chunks(file):
                result.bytes += len(chunk)
                found |= {n: one for n, one in enumerate(pieces) if n not in found and one.is_in(chunk)}
        except FileNotFoundError:
            continue
        result.files += 1
        if found:
            result.found[file] = list(found.values())
    return result


def residues(found: dict[Path, list[Piece]], folder: Path) -> tuple[Residue, ...]:
    """What was found, in words."""
    return tuple(
        Residue(file=str(file.relative_to(folder) if file.is_relative_to(folder) else file), what=piece.name)
        for file, pieces in sorted(found.items())
        for piece in pieces
    )


def _chunks(file: Path) -> Iterator[bytes]:
    """The bytes of a file, lowered, in pieces that overlap."""
    before = b""
    with file.open("rb") as opened:
        while read := opened.read(CHUNK_BYTES):
            yield before + read.lower()
            before = read[-OVERLAP_BYTES:].lower()


def _stretches(words: Sequence[str]) -> Iterator[str]:
    """Runs of words of some 80 characters; a longer word is cut."""
    run = ""
    for word in words:
        if run and len(run) + len(word) >= PIECE_CHARS:
            yield run
            run = ""
        run = f"{run} {word[:PIECE_CHARS]}" if run else word[:PIECE_CHARS]
    if run:
        yield run


def _spellings(word: str) -> list[bytes]:
    """As it is, in other forms of Unicode and other case, and as JSON escapes these, longest last. The bytes of
    Latin letters are lowered, as those that are searched."""
    forms = {word}
    if not word.isascii():
        forms |= {form for case in (str, str.lower, str.upper, str.title) for form in _forms(case(word))}
    encoded = {form.encode() for form in forms}
    encoded |= {
        json.dumps(form, ensure_ascii=ascii_only)[1:-1].encode() for form in forms for ascii_only in (True, False)
    }
    return sorted((form.lower() for form in encoded), key=len)


def _forms(word: str) -> list[str]:
    return [word, *(unicodedata.normalize(form, word) for form in ("NFC", "NFD", "NFKC"))]
