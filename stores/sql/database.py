"""One database: a writer thread, a few reader threads, and transactions run in them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, Engine

from stores.errors import StoreClosedError
from stores.sql.engines import READERS, WRITE, file_of, make_engine, url_of
from stores.sql.faults import mapped
from stores.sql.schema import HEAD_REVISION

T = TypeVar("T")
Work = Callable[[Connection], T]

_LOCK_BASE = 0x6D656D61 << 8
"""Advisory locks of PostgreSQL are numbers shared by all its users; ours start here."""


class Turn(IntEnum):
    """What transactions of several processes take turns at."""

    MIGRATE = 1
    JOURNAL = 2
    MEMORIES = 3
    MANIFESTS = 4
    HISTORY = 5
    JOBS = 6


def take_turn(connection: Connection, turn: Turn) -> None:
    """Waits until no other transaction has this turn, and keeps it to the end of this one, so that
    numbers become visible in the order they were given. SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_LOCK_BASE + turn,))


class Database:
    """Runs work in transactions, off the event loop. Not bound to one loop or thread."""

    def __init__(self, engine: Engine, *, one_connection: bool) -> None:
        """``one_connection``: a database in memory, where reading waits for writing."""
        self._engine = engine
        self._writing = engine.execution_options(**{WRITE: True})
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="memagent-sql-write")
        self._readers = (
            self._writer if one_connection else ThreadPoolExecutor(READERS, thread_name_prefix="memagent-sql-read")
        )
        self._closed = False
        self._gate = threading.Lock()

    @property
    def dialect(self) -> str:
        """The engine's name: sqlite or postgresql."""
        return self._engine.dialect.name

    async def read(self, work: Work[T]) -> T:
        """Runs work in a transaction that sees one state of the database. Raises StoreErrors."""
        return await self._run(self._readers, self._engine, work)

    async def write(self, work: Work[T]) -> T:
        """Runs work in a transaction that is durable when this returns, or left no trace when it raises."""
        return await self._run(self._writer, self._writing, work)

    async def alone(self, work: Callable[[Engine], T]) -> T:
        """Runs work in the writer's turn but in no transaction, which some statements refuse to be in."""
        with self._gate:
            if self._closed:
                raise StoreClosedError("the database was closed")
            future = self._writer.submit(_mapped_call, work, self._engine)
        return await asyncio.wrap_future(future)

    async def close(self) -> None:
        """Finishes the work that was already asked for, then releases files and connections."""
        await asyncio.to_thread(self._close)

    async def _run(self, threads: ThreadPoolExecutor, engine: Engine, work: Work[T]) -> T:
        with self._gate:
            if self._closed:
                raise StoreClosedError("the database was closed")
            future = threads.submit(_in_transaction, engine, work)
        return await asyncio.wrap_future(future)

    def _close(self) -> None:
        with self._gate:
            self._closed = True
        self._writer.shutdown(wait=True)
        self._readers.shutdown(wait=True)
        with mapped():
            self._engine.dispose()


def open_database(location: str | Path) -> Database:
    """Opens, and where needed makes or upgrades, a database. Blocks; raises StoreErrors."""
    url = url_of(location)
    with mapped():
        engine = make_engine(url)
        try:
            if not is_current(engine):
                # Alembic takes 0.3 s to import and is needed only here.
                from stores.sql import migrate

                migrate.upgrade(engine, file_of(url))
        except BaseException:
            engine.dispose()
            raise
    return Database(engine, one_connection=engine.dialect.name == "sqlite" and file_of(url) is None)


def is_current(engine: Engine) -> bool:
    """Whether the database stands at this version's revision."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            if connection.exec_driver_sql("PRAGMA journal_mode").scalar() not in ("wal", "memory"):
                return False
            known = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
        else:
            known = "SELECT to_regclass('alembic_version')"
        if connection.exec_driver_sql(known).scalar() is None:
            return False
        return connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == HEAD_REVISION


def _mapped_call(work: Callable[[Engine], T], engine: Engine) -> T:
    with mapped():
        return work(engine)


def _in_transaction(engine: Engine, work: Work[T]) -> T:
    with mapped(), engine.begin() as connection:
        return work(connection)


def batches(items: Sequence[T], size: int = 500) -> Iterator[Sequence[T]]:
    """Slices of at most ``size``: engines limit the parameters of one statement."""
    return (items[start : start + size] for start in range(0, len(items), size))
