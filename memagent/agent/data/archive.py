"""An export on disk: JSON lines by kind, stored outputs beside them, and a summary that is written last.

A folder, or one zip file where its name ends in .zip. Lines are read one by one, whatever the size.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast
from uuid import uuid4

from memagent.errors import MemagentError

FORMAT = "memagent-export"
VERSION = 1
SUMMARY = "export.json"
BLOBS = "blobs"
SECTIONS = ("texts", "memories", "sessions", "entries", "ledger", "never", "receipts")
"""In the order in which they are imported."""


class ArchiveError(MemagentError):
    """An export cannot be written there, or what is there is none."""


class ArchiveWriter:
    """Writes an export. Nothing stands at ``path`` before `close`."""

    def __init__(self, path: Path) -> None:
        if path.exists():
            raise ArchiveError(f"{path} exists already; choose another name")
        self._path = path
        self._part = path.with_name(f"{path.name}.{uuid4().hex[:8]}.part")
        self._zip: zipfile.ZipFile | None = None
        with _mapped(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix.lower() == ".zip":
                descriptor = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                self._file = os.fdopen(descriptor, "w+b")
                self._zip = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED)
            else:
                self._part.mkdir(mode=0o700)

    @contextmanager
    def section(self, name: str) -> Generator[Callable[[str], None]]:
        """A function that adds one line of JSON to a section."""
        with _mapped(self._path), self._opened(f"{name}.jsonl") as opened:
            yield lambda line: _write(opened, line)

    def blob(self, digest: str, content: bytes) -> None:
        """Adds a stored output."""
        with _mapped(self._path), self._opened(f"{BLOBS}/{digest}") as opened:
            opened.write(content)

    def close(self, summary: dict[str, Any]) -> None:
        """Writes the summary and gives the export its name."""
        with _mapped(self._path):
            with self._opened(SUMMARY) as opened:
                opened.write(json.dumps({"format": FORMAT, "version": VERSION, **summary}, indent=2).encode())
            if self._zip is not None:
                self._zip.close()
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()
            self._part.rename(self._path)

    def abandon(self) -> None:
        """Removes what was written so far."""
        if self._zip is not None:
            self._file.close()
            self._part.unlink(missing_ok=True)
        else:
            shutil.rmtree(self._part, ignore_errors=True)

    def _opened(self, name: str) -> Any:
        if self._zip is not None:
            return self._zip.open(name, "w", force_zip64=True)
        file = self._part / name
        file.parent.mkdir(mode=0o700, exist_ok=True)
        return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


class ArchiveReader:
    """Reads an export. Raises ArchiveError for anything else."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._zip: zipfile.ZipFile | None = None
        with _mapped(path):
            if path.is_file() and zipfile.is_zipfile(path):
                self._zip = zipfile.ZipFile(path)
        self.summary = self._summary()

    def lines(self, name: str) -> Iterator[tuple[int, str]]:
        """The lines of a section with their numbers, from 1. A missing section has none."""
        with _mapped(self._path):
            opened = self._opened(f"{name}.jsonl")
            if opened is None:
                return
            with opened, io.TextIOWrapper(opened, "utf-8") as text:
                for number, line in enumerate(text, start=1):
                    if line.strip():
                        yield number, line

    def blob(self, digest: str) -> bytes | None:
        """A stored output; None if it is not there."""
        with _mapped(self._path):
            opened = self._opened(f"{BLOBS}/{digest}")
            if opened is None:
                return None
            with opened:
                return opened.read()

    def close(self) -> None:
        """Releases the file."""
        if self._zip is not None:
            self._zip.close()

    def _summary(self) -> dict[str, Any]:
        with _mapped(self._path):
            opened = self._opened(SUMMARY)
            if opened is None:
                raise ArchiveError(f"{self._path} holds no {SUMMARY}: it is no export of memagent, or not whole")
            with opened:
                loaded: Any = json.loads(opened.read())
        found = cast("dict[str, Any]", loaded) if isinstance(loaded, dict) else {}
        if found.get("format") != FORMAT:
            raise ArchiveError(f"{self._path} is no export of memagent")
        if found.get("version") != VERSION:
            raise ArchiveError(
                f"{self._path} has the format version {found.get('version')}, this memagent reads {VERSION}; upgrade it"
            )
        return found

    def _opened(self, name: str) -> IO[bytes] | None:
        if self._zip is not None:
            return self._zip.open(name) if name in self._zip.NameToInfo else None
        file = self._path / name
        return file.open("rb") if file.is_file() else None


def is_export(path: Path) -> bool:
    """Whether there is an export of memagent, by what it holds. Raises ArchiveError for a damaged zip file."""
    with _mapped(path):
        if path.is_dir():
            return (path / SUMMARY).is_file()
        if not (path.is_file() and is_zip(path)):
            return False
        with zipfile.ZipFile(path) as opened:
            return SUMMARY in opened.namelist()


def is_zip(path: Path) -> bool:
    """Whether a file is a zip file. Raises ArchiveError for a part of one."""
    if zipfile.is_zipfile(path):
        return True
    with path.open("rb") as opened:
        if opened.read(4) == b"PK\3\4":
            raise ArchiveError(f"{path} is a zip file that is damaged or not whole; copy or export it again")
    return False


def _write(opened: IO[bytes], line: str) -> None:
    opened.write(line.encode())
    opened.write(b"\n")


@contextmanager
def _mapped(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise ArchiveError(f"{path}: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, UnicodeDecodeError, json.JSONDecodeError, EOFError) as error:
        raise ArchiveError(f"{path} is damaged ({error}); copy or export it again") from error
