"""Engines: from a path or URL to a SQLAlchemy engine that begins its transactions as we need them."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import StaticPool

from stores.errors import StoreError

BUSY_SECONDS = 15
"""How long a writer waits for another process before StoreBusyError."""
READERS = 3
"""Threads, and connections, that read side by side."""

WRITE = "memagent_write"
"""The execution option of connections whose transactions write."""


def url_of(location: str | Path) -> URL:
    """The URL of a path, "sqlite://" (in memory), "sqlite:///path" or "postgresql://…" (psycopg). Raises StoreError."""
    if isinstance(location, Path) or "://" not in location:
        return URL.create("sqlite", database=str(Path(location).expanduser().absolute()))
    try:
        url = make_url(location)
    except ArgumentError as error:
        raise StoreError("this is not a database URL; use a path, sqlite:///path or postgresql://…") from error
    if url.get_backend_name() == "sqlite":
        return url.set(drivername="sqlite")
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    raise StoreError(f"{url.get_backend_name()} is not supported; use SQLite or PostgreSQL")


def file_of(url: URL) -> Path | None:
    """The SQLite file, or None for a database in memory or on a server."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    return Path(url.database)


def make_engine(url: URL) -> Engine:
    """An engine; nothing is connected yet. The folder and an empty file are made, owner-only, where missing."""
    if url.get_backend_name() == "postgresql":
        return _postgres_engine(url)
    file = file_of(url)
    if file is None:
        engine = create_engine(
            "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False, "isolation_level": None}
        )
    else:
        _make_file(file)
        connect_args = {"check_same_thread": False, "isolation_level": None, "timeout": BUSY_SECONDS}
        engine = create_engine(
            URL.create("sqlite", database=str(file)), pool_size=READERS + 1, max_overflow=1, connect_args=connect_args
        )
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _begin)
    return engine


def _postgres_engine(url: URL) -> Engine:
    options = f"-c lock_timeout={BUSY_SECONDS * 1000}"
    try:
        return create_engine(
            url,
            pool_size=READERS + 1,
            max_overflow=1,
            pool_pre_ping=True,
            connect_args={"options": options, "connect_timeout": BUSY_SECONDS},
        )
    except ImportError as error:
        raise StoreError("PostgreSQL needs psycopg: pip install 'memagent[postgres]'") from error


def _make_file(file: Path) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Never opened when it exists: closing a second descriptor would drop the locks this process holds on it.
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        if not file.is_file():
            raise StoreError(f"{file} is not a file; give the path of a database file") from None
    except OSError as error:
        raise StoreError(f"{file} cannot be made: {error.strerror}; check the folder and its permissions") from error


def _set_pragmas(connection: sqlite3.Connection, _record: Any) -> None:
    for pragma in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # IMMEDIATE takes the write lock at once: a reader that turns writer could not wait for it.
    writes = connection.get_execution_options().get(WRITE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
