"""A copy is made before an upgrade, and nothing is upgraded without."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from stores.errors import StoreError
from stores.sql import migrate, open_sql
from stores.sql.schema import HEAD_REVISION
from tests.contract.samples import U1, message

COPY = f"memagent.db.before-{HEAD_REVISION}"


def older(file: Path, *, filler: int = 0) -> None:
    """A database as the revision before this one left it."""

    async def fill() -> None:
        stores = open_sql(file)
        await stores.journal.append(U1, [message(n, f"kept {'word ' * 200}") for n in range(1 + filler)])
        await stores.close()

    asyncio.run(fill())
    with sqlite3.connect(file) as connection:
        connection.execute("DROP TABLE receipts")
        connection.execute("UPDATE alembic_version SET version_num = '0006'")
    connection.close()


def count(file: Path) -> int:
    async def look() -> int:
        stores = open_sql(file)
        try:
            return len(await stores.journal.read(U1, "s1"))
        finally:
            await stores.close()

    return asyncio.run(look())


def test_an_older_database_is_copied_first(sqlite_file: Path) -> None:
    older(sqlite_file)
    assert not (sqlite_file.parent / COPY).exists()  # a new one needs none
    stale = sqlite_file.parent / "memagent.db.before-0002"
    stale.write_text("older")
    assert count(sqlite_file) == 1
    copy = sqlite_file.parent / COPY
    assert copy.stat().st_mode & 0o777 == 0o600
    assert not stale.exists()
    with sqlite3.connect(copy) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("0006",)
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (1,)
    connection.close()
    times = copy.stat().st_mtime_ns
    assert count(sqlite_file) == 1
    assert copy.stat().st_mtime_ns == times
    copy.replace(sqlite_file)  # the way back, and forth again
    assert count(sqlite_file) == 1


SCRIPT = """
import resource, sys, asyncio
from stores.sql import open_sql
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
try:
    asyncio.run(open_sql(sys.argv[1]).close())
except Exception as error:
    print(type(error).__name__, error)
"""


def test_without_room_for_the_copy_nothing_is_changed(sqlite_file: Path) -> None:
    older(sqlite_file, filler=100)
    done = subprocess.run([sys.executable, "-c", SCRIPT, sqlite_file], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("DiskFullError"), done
    assert "Nothing was changed" in done.stdout
    assert sorted(f.name for f in sqlite_file.parent.iterdir() if "before" in f.name) == []
    with sqlite3.connect(sqlite_file) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("0006",)
    connection.close()
    assert count(sqlite_file) == 101


def test_an_upgrade_that_fails_says_how_to_go_back(sqlite_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    older(sqlite_file)
    real = migrate._upgrade

    def failing(engine: object) -> None:
        raise sqlite3.DatabaseError("no such luck")

    monkeypatch.setattr(migrate, "_upgrade", failing)
    with pytest.raises(StoreError, match="put it in the place of"):
        open_sql(sqlite_file)
    monkeypatch.setattr(migrate, "_upgrade", real)
    assert (sqlite_file.parent / COPY).exists()
    assert count(sqlite_file) == 1
