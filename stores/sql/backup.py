"""A copy of a SQLite database from before an upgrade: consistent, checked, for its owner only; the newest is kept.

A PostgreSQL server's backups are its administrator's.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import cast

from sqlalchemy import Engine

from stores.errors import DiskFullError, StoreCorruptError, StoreError

_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})


def back_up(engine: Engine, file: Path, revision: str) -> Path:
    """Copies the database to ``file`` + ".before-" + revision, and removes older copies. Raises DiskFullError,
    StoreCorruptError, StoreError; then there is no copy and nothing was changed."""
    copy = file.with_name(f"{file.name}.before-{revision}")
    part = file.with_name(f"{copy.name}.part")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        _copy(engine, part)
        part.replace(copy)
    except sqlite3.Error as error:
        if error.sqlite_errorcode & 0xFF in _FULL:
            raise DiskFullError(_words(file, "there is no room for it")) from error
        raise StoreError(_words(file, str(error))) from error
    except OSError as error:
        kind = DiskFullError if error.errno == 28 else StoreError
        raise kind(_words(file, error.strerror or str(error))) from error
    finally:
        for left in (part, *(part.with_name(part.name + end) for end in ("-journal", "-wal", "-shm"))):
            left.unlink(missing_ok=True)
    for older in file.parent.glob(f"{file.name}.before-*"):
        if older != copy:
            older.unlink(missing_ok=True)
    return copy


def _copy(engine: Engine, part: Path) -> None:
    connection = engine.raw_connection()
    try:
        source = cast(sqlite3.Connection, connection.driver_connection)
        with closing(sqlite3.connect(part, isolation_level=None)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # one file by itself
            (verdict,) = target.execute("PRAGMA quick_check").fetchone()
    finally:
        connection.close()
    if verdict != "ok":
        raise StoreCorruptError(f"the database is damaged ({verdict}); restore it from a copy. Nothing was changed")
    descriptor = os.open(part, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _words(file: Path, why: str) -> str:
    return (
        f"{file} must be upgraded, and a copy of it could not be made first: {why}. Nothing was changed; "
        "make room or set the permissions of the folder right, and try again"
    )
