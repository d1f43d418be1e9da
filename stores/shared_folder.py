"""A folder of index files that several processes use: one at a time writes, and a death while writing is noticed.

For an index whose library keeps an image in memory and changes its files in place: two processes
that do so at once ruin the files, and so does one that dies in the middle.
"""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from stores.errors import StoreBusyError, StoreCorruptError

DAMAGED = "the vector index is damaged; clear it and rebuild it from the memories"

_LOCK_NAME = "memagent.lock"
_MARK_NAME = "memagent.mark"
_SWAP_NAME = "memagent.swap"
_OWN_NAMES = (_LOCK_NAME, _MARK_NAME, _SWAP_NAME)
_WRITING = "writing"
_SWAPPING = "swapping"
_LOCK_SECONDS = 15


class SharedFolder:
    """``path`` holds index files in subfolders. All methods but `alone` are called inside `alone`.
    Errors of files are left as OSErrors."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fresh = path.with_name(f"{path.name}.fresh")
        """Where files are made that shall take the place of those that are there; see `swap`."""
        self._old = path.with_name(f"{path.name}.old")
        self._mark = path / _MARK_NAME

    @contextmanager
    def alone(self) -> Generator[None]:
        """No other process is inside meanwhile. Makes the folder. Raises StoreBusyError after 15 s."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(self.path / _LOCK_NAME, timeout=_LOCK_SECONDS, mode=0o600)
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreBusyError("another process holds the vector index for too long; try again") from error
        try:
            yield
        finally:
            lock.release()

    def last_writer(self) -> str:
        """The token of who wrote last, or an empty text."""
        return self._read_mark().partition(" ")[0]

    def sign(self, token: str) -> None:
        """Notes who wrote last."""
        self._mark.write_text(f"{token} done")

    @contextmanager
    def writing(self, token: str) -> Generator[None]:
        """Signs; leaves a mark when the process dies, or the call fails, inside."""
        self._mark.write_text(f"{token} {_WRITING}")
        yield
        self.sign(token)

    def check_whole(self) -> None:
        """Raises StoreCorruptError when a writer died after it had begun to change index files.

        One that died before does no harm: what Chroma (1.5.9) appends between two changes of its
        files, about every 1,000 vectors, is in a SQLite transaction.
        """
        if self._read_mark().endswith(_SWAPPING):
            raise StoreCorruptError(DAMAGED)
        if self._read_mark().endswith(_WRITING):
            begun = self._mark.stat().st_mtime_ns
            if any(changed >= begun for changed in self.file_times().values()):
                raise StoreCorruptError(DAMAGED)

    def file_times(self) -> dict[Path, int]:
        """When each index file was changed, in nanoseconds."""
        return {file: file.stat().st_mtime_ns for file in self.path.glob("*/*")}

    def clear(self) -> None:
        """Removes all index files, and makes everybody else no longer the last writer."""
        self._remove_aside()
        for item in self._items():
            if item.is_dir():
                shutil.rmtree(item)
            else:
                item.unlink()
        self._note_swap()
        self.sign(uuid4().hex)

    def begin_fresh(self) -> Path:
        """An empty folder beside this one, for `swap`. What a death left of an earlier one is removed."""
        self._remove_aside()
        self.fresh.mkdir(mode=0o700)
        return self.fresh

    def swap(self, token: str) -> None:
        """The files in `fresh` take the place of all index files, which are removed. Whoever dies in the middle
        leaves a folder that is not whole: `check_whole` says so, and `clear` removes the rest."""
        self._mark.write_text(f"{token} {_SWAPPING}")
        self._old.mkdir(mode=0o700)
        for item in self._items():
            item.rename(self._old / item.name)
        for item in list(self.fresh.iterdir()):
            item.rename(self.path / item.name)
        self._note_swap()
        self.sign(token)
        self._remove_aside()

    def swapped(self) -> str:
        """Changes when other files have taken the place of those that a handle has open."""
        try:
            return (self.path / _SWAP_NAME).read_text()
        except FileNotFoundError:
            return ""

    def _note_swap(self) -> None:
        (self.path / _SWAP_NAME).write_text(uuid4().hex)

    def _items(self) -> list[Path]:
        return [item for item in self.path.iterdir() if item.name not in _OWN_NAMES]

    def _remove_aside(self) -> None:
        for folder in (self.fresh, self._old):
            if folder.exists():
                shutil.rmtree(folder)

    def _read_mark(self) -> str:
        try:
            return self._mark.read_text()
        except FileNotFoundError:
            return ""
