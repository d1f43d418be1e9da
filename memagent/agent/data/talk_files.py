"""The files that other programs export talk in, read a value at a time, whatever their size."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TextIO

from memagent.agent.data.archive import SUMMARY, is_zip
from memagent.errors import MemagentError

CHUNK_CHARS = 1 << 20
_NAME = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json", re.DOTALL)
"""What the exports of other programs, folders or zip files, hold their talk in; large ones are split."""
_SPACE = re.compile(r"\s*")
_SURE = 32
"""Broken JSON this far before the end of what has been read is no value that only goes on."""


class TranscriptError(MemagentError):
    """A file holds no transcript that is understood."""


@dataclass(frozen=True, slots=True)
class TalkFile:
    """One file, or a part of a zip file."""

    path: Path
    member: str | None = None

    def values(self) -> Iterator[Any]:
        """The items of a JSON array, or JSON values one after another (JSON lines), in their order. Raises
        TranscriptError."""
        with _mapped(), self._opened() as opened, io.TextIOWrapper(opened, "utf-8-sig") as text:
            yield from _Values(text).all()

    @contextmanager
    def _opened(self) -> Generator[IO[bytes]]:
        if self.member is None:
            with self.path.open("rb") as opened:
                yield opened
            return
        with zipfile.ZipFile(self.path) as pack:
            if pack.getinfo(self.member).flag_bits & 1:
                raise TranscriptError("the zip file is encrypted; unpack it, and import the folder")
            with pack.open(self.member) as opened:
                yield opened


def talk_files(path: Path) -> list[TalkFile]:
    """The files with talk at a path, which is a file, a folder or a zip file. Raises TranscriptError if none is."""
    with _mapped():
        if path.is_dir():
            found = [TalkFile(file) for file in sorted(path.iterdir()) if _NAME.fullmatch(file.name)]
        elif not path.is_file():
            raise TranscriptError("it is neither a file nor a folder")
        elif not is_zip(path):
            return [TalkFile(path)]
        else:
            with zipfile.ZipFile(path) as pack:
                found = [TalkFile(path, name) for name in sorted(pack.namelist()) if _NAME.fullmatch(name)]
    if not found:
        raise TranscriptError(f"it holds neither conversations.json, as ChatGPT and Claude export it, nor {SUMMARY}")
    return found


class _Values:
    """Decodes JSON values from a text that is read piece by piece."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._decode = json.JSONDecoder().raw_decode
        self._buffer = ""
        self._at = 0
        self._line = 1
        self._ended = False

    def all(self) -> Iterator[Any]:
        if self._next() == "[":
            self._at += 1
            yield from self._items()
            if self._next():
                raise TranscriptError(f"something follows the list, in line {self._line_at(self._at)}")
        else:
            while self._next():
                yield self._value()

    def _items(self) -> Iterator[Any]:
        while (sign := self._next()) != "]":
            yield self._value()
            sign = self._next()
            if sign == ",":
                self._at += 1
            elif sign != "]":
                raise TranscriptError(
                    f"line {self._line_at(self._at)} is no JSON: the list goes on without a comma"
                    if sign
                    else "it ends in the middle of the list: it is not whole"
                )
        self._at += 1

    def _value(self) -> Any:
        while True:
            try:
                value, end = self._decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                line = self._line_at(error.pos)
                ends = error.pos >= len(self._buffer) - _SURE or error.msg.startswith("Unterminated string")
                if not ends or not self._more():
                    raise TranscriptError(f"line {line} is no JSON: {error.msg}") from error
            except (ValueError, RecursionError) as error:  # a number of 5,000 digits, lists in lists in lists
                raise TranscriptError(f"line {self._line_at(self._at)} cannot be read: {error}") from error
            else:
                if end < len(self._buffer) or not self._more():  # else a number may go on
                    self._at = end
                    return value

    def _next(self) -> str:
        """The next sign that is no space; "" at the end."""
        while True:
            found = _SPACE.match(self._buffer, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Reads on, the more the longer the value is, so that a long one is not decoded too often."""
        if self._ended:
            return False
        self._line = self._line_at(self._at)
        rest = self._buffer[self._at :]
        piece = self._text.read(max(CHUNK_CHARS, len(rest)))
        self._buffer, self._at = rest + piece, 0
        self._ended = not piece
        return not self._ended

    def _line_at(self, place: int) -> int:
        return self._line + self._buffer.count("\n", 0, place)


@contextmanager
def _mapped() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise TranscriptError(error.strerror or str(error)) from error
    except (UnicodeDecodeError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise TranscriptError(f"it is no text in UTF-8, or damaged: {error}") from error
