"""Texts too long for the journal, in a folder of any kind that fsspec can reach.

One folder a scope, named by a hash of the scope: any user id works and no two share. One file a text,
named by its SHA-256. On a local folder only the owner may read them, and a text is written under another
name, flushed, read back and compared before it gets its own; elsewhere it is written, read back and
compared, and taken away again if it differs.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from filelock import FileLock, Timeout
from fsspec.core import url_to_fs  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from stores.base import BlobInfo
from stores.errors import BlobMissingError, DiskFullError, StoreBusyError, StoreCorruptError, StoreError
from stores.records import Scope

_DIGEST = re.compile(r"[0-9a-f]{64}")
_STORED = re.compile(r"[0-9a-f]{64}(\.[0-9a-f]{8}\.part)?")
"""A text, or what a write left that was cut short."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_LOCK_NAME = "lock"
_LOCK_SECONDS = 15


def open_blobs(url: str | Path) -> FsspecBlobStore | LocalBlobStore:
    """The store at a folder's path or an fsspec URL. Touches nothing yet. Raises StoreError when nothing
    installed can reach the URL."""
    with _mapped(str(url)):
        filesystem, root = cast("tuple[Any, str]", url_to_fs(str(url), use_listings_cache=False))
        protocols: str | tuple[str, ...] = filesystem.protocol
        local = "file" in ((protocols,) if isinstance(protocols, str) else protocols)
    return LocalBlobStore(Path(root)) if local else FsspecBlobStore(filesystem, root)


class LocalBlobStore:
    """BlobStore on a folder of this machine, shared by any number of processes."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, scope: Scope, content: bytes) -> str:
        return await asyncio.to_thread(self._put, self._root / _folder(scope), content)

    async def get(self, scope: Scope, digest: str) -> bytes:
        return await asyncio.to_thread(self._get, self._root / _folder(scope), digest)

    async def list(self, scope: Scope) -> list[BlobInfo]:
        """A leftover's digest is its file's name: it can be deleted by it."""
        return await asyncio.to_thread(self._list, self._root / _folder(scope))

    async def delete(self, scope: Scope, digests: Sequence[str], *, unused_since: float | None = None) -> None:
        await asyncio.to_thread(self._delete, self._root / _folder(scope), digests, unused_since)

    def _put(self, folder: Path, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        file = folder / digest
        part = folder / f"{digest}.{uuid4().hex[:8]}.part"
        with _mapped(str(self._root)):
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            try:
                _write_flushed(part, content)
                if part.read_bytes() != content:
                    raise StoreCorruptError(f"what was written to {self._root} reads back changed; check the disk")
                with self._alone():
                    # over an equal one too: its new time keeps it from being collected before it is referred to
                    part.replace(file)
            except BaseException:
                with suppress(OSError):
                    part.unlink()
                raise
            _flush_names(folder)
        return digest

    def _get(self, folder: Path, digest: str) -> bytes:
        if not _DIGEST.fullmatch(digest):
            raise BlobMissingError(_missing(digest))
        with _mapped(str(self._root)):
            try:
                content = (folder / digest).read_bytes()
            except FileNotFoundError as error:
                raise BlobMissingError(_missing(digest)) from error
        return _checked(content, digest)

    def _list(self, folder: Path) -> list[BlobInfo]:
        found: list[BlobInfo] = []
        with _mapped(str(self._root)), suppress(FileNotFoundError), os.scandir(folder) as files:
            for file in files:
                if _STORED.fullmatch(file.name):
                    with suppress(FileNotFoundError):  # another process took it away meanwhile
                        state = file.stat()
                        found.append(BlobInfo(file.name, state.st_size, state.st_mtime))
        return found

    def _delete(self, folder: Path, digests: Sequence[str], unused_since: float | None) -> None:
        files = [folder / digest for digest in digests if _STORED.fullmatch(digest)]
        if not files or not folder.is_dir():
            return
        with _mapped(str(self._root)), self._alone():
            for file in files:
                with suppress(FileNotFoundError):
                    if unused_since is None or file.stat().st_mtime < unused_since:
                        file.unlink()

    @contextmanager
    def _alone(self) -> Generator[None]:
        """No other process gives a text its name, or takes one away, meanwhile."""
        try:
            with FileLock(self._root / _LOCK_NAME, timeout=_LOCK_SECONDS, mode=0o600):
                yield
        except Timeout as error:
            raise StoreBusyError("another process holds the stored outputs for too long; try again") from error


class FsspecBlobStore:
    """BlobStore on an fsspec filesystem that is not this machine's: memory, S3, a server."""

    def __init__(self, filesystem: Any, root: str) -> None:
        self._files = filesystem
        self._root = root.rstrip("/")

    async def put(self, scope: Scope, content: bytes) -> str:
        return await asyncio.to_thread(self._put, self._path(scope), content)

    async def get(self, scope: Scope, digest: str) -> bytes:
        return await asyncio.to_thread(self._get, self._path(scope), digest)

    async def list(self, scope: Scope) -> list[BlobInfo]:
        return await asyncio.to_thread(self._list, self._path(scope))

    async def delete(self, scope: Scope, digests: Sequence[str], *, unused_since: float | None = None) -> None:
        await asyncio.to_thread(self._delete, self._path(scope), digests, unused_since)

    def _path(self, scope: Scope) -> str:
        return f"{self._root}/{_folder(scope)}"

    def _put(self, folder: str, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        with _mapped(self._root):
            self._files.makedirs(folder, exist_ok=True)
            self._files.pipe_file(f"{folder}/{digest}", content)
            if self._files.cat_file(f"{folder}/{digest}") != content:
                self._files.rm_file(f"{folder}/{digest}")
                raise StoreCorruptError(f"what was written to {self._root} reads back changed")
        return digest

    def _get(self, folder: str, digest: str) -> bytes:
        if not _DIGEST.fullmatch(digest):
            raise BlobMissingError(_missing(digest))
        with _mapped(self._root):
            try:
                content: bytes = self._files.cat_file(f"{folder}/{digest}")
            except FileNotFoundError as error:
                raise BlobMissingError(_missing(digest)) from error
        return _checked(content, digest)

    def _list(self, folder: str) -> list[BlobInfo]:
        with _mapped(self._root):
            try:
                entries: Sequence[dict[str, Any]] = self._files.ls(folder, detail=True)
            except FileNotFoundError:
                return []
            named = [(str(entry["name"]).rsplit("/", 1)[-1], entry) for entry in entries]
            return [
                BlobInfo(name, int(entry.get("size") or 0), self._modified(str(entry["name"])))
                for name, entry in named
                if _STORED.fullmatch(name)
            ]

    def _modified(self, path: str) -> float:
        at: datetime = self._files.modified(path)
        return at.timestamp()

    def _delete(self, folder: str, digests: Sequence[str], unused_since: float | None) -> None:
        for digest in digests:
            path = f"{folder}/{digest}"
            with _mapped(self._root), suppress(FileNotFoundError):
                if _STORED.fullmatch(digest) and (unused_since is None or self._modified(path) < unused_since):
                    self._files.rm_file(path)


def _folder(scope: Scope) -> str:
    return hashlib.sha256(scope.encode()).hexdigest()[:40]


def _write_flushed(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)


def _flush_names(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _checked(content: bytes, digest: str) -> bytes:
    if hashlib.sha256(content).hexdigest() != digest:
        raise StoreCorruptError(f"the stored output {digest[:12]} is damaged; restore it from a copy")
    return content


def _missing(digest: str) -> str:
    return f"no stored output {digest[:12]!r} is there any more"


@contextmanager
def _mapped(place: str) -> Generator[None]:
    """Inside, outside errors become StoreErrors, cause chained."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFullError(
                f"there is no room left for outputs in {place} (or in its quota); free some and try again"
            ) from error
        raise StoreError(f"outputs cannot be kept in {place}: {error.strerror or error}") from error
    except Exception as error:  # whatever filesystem stands behind the URL raises what it likes
        raise StoreError(f"outputs cannot be kept in {place}: {type(error).__name__}: {error}") from error
