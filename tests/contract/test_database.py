"""What all SQL stores share: files, opening, versions, threads, processes, and how they fail."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from stores.errors import (
    DiskFullError,
    StoreBusyError,
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreVersionError,
)
from stores.records import Message
from stores.sql import SqlStores, open_sql
from stores.sql.engines import make_engine, url_of
from stores.sql.schema import HEAD_REVISION, metadata
from tests.contract.samples import U1, memory, message
from tests.contract.worker import finish, start

OpenStores = Callable[[str], SqlStores]


# --- opening -----------------------------------------------------------------------------------


def test_files_are_the_owners_only(sqlite_file: Path, open_stores: OpenStores) -> None:
    umask = os.umask(0)
    try:
        stores = open_stores(str(sqlite_file))
        asyncio.run(stores.journal.append(U1, [message(1)]))
        modes = {path.name: path.stat().st_mode & 0o777 for path in sqlite_file.parent.iterdir()}
    finally:
        os.umask(umask)
    assert sqlite_file.parent.stat().st_mode & 0o777 == 0o700
    assert set(modes.values()) == {0o600}
    assert modes.keys() >= {"memagent.db", "memagent.db-wal"}


async def test_data_are_there_after_reopening(location: str) -> None:
    for number in range(1, 4):
        stores = open_sql(location)
        await stores.journal.append(U1, [message(number)])
        await stores.memories.put(U1, [memory(f"m{number}", f"tea {number}")])
        assert len(await stores.journal.read(U1, "s1")) == number
        assert len(await stores.lexical.search(U1, "tea", limit=9)) == number
        await stores.close()


def test_tables_are_what_the_code_thinks(empty_location: str, open_stores: OpenStores) -> None:
    open_stores(empty_location)
    engine = make_engine(url_of(empty_location))
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                # Indexes and the lexical index stand in the migrations only.
                "include_object": lambda item, name, kind, *_: (
                    kind in ("table", "column") and not str(name).startswith(("memory_term", "passage_term"))
                )
            },
        )
        assert compare_metadata(context, metadata) == []
        assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == HEAD_REVISION
    engine.dispose()


def test_processes_that_open_a_fresh_place_at_once_all_succeed(empty_location: str) -> None:
    for process in [start("append", empty_location, name, 5) for name in "abcd"]:
        finish(process)
    stores = open_sql(empty_location)
    entries = asyncio.run(stores.journal.read(U1, "s1"))
    assert [entry.sequence for entry in entries] == list(range(1, 21))
    asyncio.run(stores.close())


def test_data_of_a_newer_version_are_refused(location: str) -> None:
    asyncio.run(open_sql(location).close())
    change_revision(location, "9999")
    with pytest.raises(StoreVersionError, match="newer"):
        open_sql(location)
    change_revision(location, HEAD_REVISION)
    asyncio.run(open_sql(location).close())


def change_revision(location: str, revision: str) -> None:
    if "://" in location:
        with psycopg.connect(location) as connection:
            connection.execute("UPDATE alembic_version SET version_num = %s", (revision,))
    else:
        with sqlite3.connect(location) as connection:
            connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        connection.close()


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to be one " * 100, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_file_that_is_no_database(sqlite_file: Path, content: bytes) -> None:
    sqlite_file.parent.mkdir()
    sqlite_file.write_bytes(content)
    with pytest.raises(StoreCorruptError):
        open_sql(sqlite_file)
    assert sqlite_file.read_bytes() == content


def test_a_database_of_another_program_is_left_alone(sqlite_file: Path) -> None:
    sqlite_file.parent.mkdir()
    with sqlite3.connect(sqlite_file) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    with pytest.raises(StoreCorruptError, match="another program"):
        open_sql(sqlite_file)
    connection = sqlite3.connect(sqlite_file)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]
    connection.close()


def test_a_file_damaged_while_closed(sqlite_file: Path, open_stores: OpenStores) -> None:
    stores = open_stores(str(sqlite_file))
    asyncio.run(stores.journal.append(U1, [message(number, "x" * 3000) for number in range(200)]))
    asyncio.run(stores.close())
    content = bytearray(sqlite_file.read_bytes())
    content[len(content) // 4 :] = b"\xa5" * (len(content) - len(content) // 4)
    sqlite_file.write_bytes(bytes(content))

    def use() -> None:
        asyncio.run(open_stores(str(sqlite_file)).journal.read(U1, "s1"))

    with pytest.raises(StoreCorruptError):
        use()


@pytest.mark.parametrize(
    "location", ["mysql://localhost/x", "nonsense://", "://", "postgresql://u@127.0.0.1:1/x?connect_timeout=2"]
)
def test_a_wrong_location_gives_one_clear_error(location: str) -> None:
    with pytest.raises(StoreError):
        open_sql(location)


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a file"):
        open_sql(tmp_path)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError):
        open_sql(tmp_path / "file" / "memagent.db")


@pytest.mark.parametrize("name", ["with space.db", "per%cent.db", "quest?ion.db", "名前.db", "a#b.db"])
async def test_any_file_name_works(tmp_path: Path, name: str) -> None:
    stores = open_sql(tmp_path / name)
    await stores.journal.append(U1, [message(1)])
    await stores.close()
    assert (tmp_path / name).stat().st_size > 0


# --- threads (C31) -----------------------------------------------------------------------------


def test_one_object_used_by_eight_threads(stores: SqlStores) -> None:
    """C31a and c: 50 writes and reads each, in threads with loops of their own."""
    errors: list[BaseException] = []

    async def work(thread: int) -> None:
        for number in range(50):
            await stores.journal.append(U1, [message(number, session=f"s{thread}")])
            assert len(await stores.journal.read(U1, f"s{thread}")) == number + 1
            await stores.memories.put(U1, [memory(f"{thread}-{number}", f"tea {thread}")])
            await stores.lexical.search(U1, "tea", limit=3)

    def run(thread: int) -> None:
        try:
            asyncio.run(work(thread))
        except BaseException as error:  # noqa: BLE001  told to the main thread
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(asyncio.run(stores.journal.since(U1, 0, limit=1000))) == 400
    assert len(asyncio.run(stores.memories.list(U1))) == 400


async def test_tasks_that_append_to_one_session_at_once(stores: SqlStores) -> None:
    await asyncio.gather(*(stores.journal.append(U1, [message(number)]) for number in range(100)))
    entries = await stores.journal.read(U1, "s1")
    assert [entry.sequence for entry in entries] == list(range(1, 101))
    assert [entry.position for entry in entries] == sorted(entry.position for entry in entries)


async def test_a_writer_waits_for_another_process(location: str, open_stores: OpenStores) -> None:
    """C31b: it waits two seconds and succeeds; reading does not wait."""
    stores = open_stores(location)
    await stores.journal.append(U1, [message(0)])
    holder = await asyncio.to_thread(start, "hold", location, 2)
    assert holder.stdout is not None
    assert (await asyncio.to_thread(holder.stdout.readline)).strip() == "held"
    writing = asyncio.create_task(stores.journal.append(U1, [message(1)]))
    assert len(await stores.journal.read(U1, "s1")) == 1
    assert not writing.done()
    [entry] = await writing
    assert entry.sequence == 2
    await asyncio.to_thread(finish, holder)


async def test_a_writer_that_waited_too_long_says_so_and_can_go_on(
    location: str, open_stores: OpenStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.sql.engines.BUSY_SECONDS", 1)
    stores = open_stores(location)
    holder = await asyncio.to_thread(start, "hold", location, 3)
    assert holder.stdout is not None
    await asyncio.to_thread(holder.stdout.readline)
    with pytest.raises(StoreBusyError, match="try again"):
        await stores.journal.append(U1, [message(1)])
    await asyncio.to_thread(finish, holder)
    [entry] = await stores.journal.append(U1, [message(1)])
    assert entry.sequence == 1


async def test_close_while_writing(location: str, open_stores: OpenStores) -> None:
    """C31d: what was reported as stored is stored; later calls get one clear error."""
    stores = open_sql(location)
    stored: list[str] = []
    refused: list[BaseException] = []
    enough = asyncio.Event()

    async def work(number: int) -> None:
        try:
            for index in range(100):
                [entry] = await stores.journal.append(U1, [message(index, session=f"s{number}")])
                stored.append(entry.id)
                if len(stored) == 20:
                    enough.set()
        except StoreClosedError as error:
            refused.append(error)

    tasks = [asyncio.create_task(work(number)) for number in range(4)]
    await enough.wait()
    await stores.close()
    await stores.close()
    await asyncio.gather(*tasks)
    assert len(refused) == 4
    again = open_stores(location)
    found = {entry.id for entry in await again.journal.since(U1, 0, limit=1000)}
    assert found == set(stored)


async def test_a_closed_database_refuses_every_call(stores: SqlStores) -> None:
    await stores.close()
    for call in (
        stores.journal.append(U1, [message(1)]),
        stores.journal.read(U1, "s1"),
        stores.memories.list(U1),
        stores.lexical.search(U1, "tea", limit=1),
        stores.outbox.epoch(),
        stores.ledger.list(U1),
        stores.manifests.list(U1, "s1"),
    ):
        with pytest.raises(StoreClosedError):
            await call


# --- processes ---------------------------------------------------------------------------------


def test_two_processes_append_to_one_session(location: str) -> None:
    asyncio.run(open_sql(location).close())
    workers = [start("append", location, name, 60) for name in ("a", "b")]
    printed = [finish(worker) for worker in workers]
    stores = open_sql(location)
    entries = asyncio.run(stores.journal.read(U1, "s1"))
    asyncio.run(stores.close())
    assert [entry.sequence for entry in entries] == list(range(1, 121))
    assert [entry.position for entry in entries] == sorted({entry.position for entry in entries})
    for name, ids in zip("ab", printed, strict=True):
        assert [entry.id for entry in entries if entry.id.startswith(name)] == ids


def test_positions_become_visible_in_order(location: str) -> None:
    """A reader that follows `since` misses nothing while others write."""

    async def follow() -> list[str]:
        stores = open_sql(location)
        workers = [start("append", location, name, 40) for name in ("a", "b", "c")]
        seen: list[str] = []
        position = 0
        while len(seen) < 120:
            for entry in await stores.journal.since(U1, position, limit=7):
                seen.append(entry.id)
                position = entry.position
        for worker in workers:
            finish(worker)
        await stores.close()
        return seen

    seen = asyncio.run(asyncio.wait_for(follow(), 60))
    assert len(set(seen)) == 120


def test_two_processes_remember_at_once(location: str) -> None:
    workers = [start("remember", location, name, 40) for name in ("a", "b")]
    for worker in workers:
        finish(worker)
    stores = open_sql(location)

    async def check() -> None:
        assert len(await stores.memories.list(U1)) == 80
        assert len(await stores.lexical.search(U1, "says", limit=100)) == 80
        numbers = [task.number for task in await stores.outbox.pending()]
        assert len(numbers) == 80
        assert numbers == sorted(set(numbers))
        await stores.close()

    asyncio.run(check())


@pytest.mark.parametrize("acknowledged", [0, 1, 7, 30])
def test_a_killed_process_loses_nothing_it_acknowledged(location: str, acknowledged: int) -> None:
    worker = start("append", location, "k", 100_000)
    assert worker.stdout is not None
    ids = [worker.stdout.readline().strip() for _ in range(acknowledged)]
    worker.kill()
    rest, _ = worker.communicate()
    ids += [line for line in rest.split("\n")[:-1] if line]  # the last line may be half
    stores = open_sql(location)
    entries = asyncio.run(stores.journal.read(U1, "s1"))
    asyncio.run(stores.journal.append(U1, [message(1, id="after")]))
    asyncio.run(stores.close())
    assert [entry.id for entry in entries[: len(ids)]] == ids
    assert len(entries) - len(ids) <= 1
    assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))


# --- no room -----------------------------------------------------------------------------------


def test_a_full_disk_keeps_what_was_there(sqlite_file: Path) -> None:
    """A file size limit, as a quota would, stops the write-ahead log in the middle of a transaction."""
    asyncio.run(open_sql(sqlite_file).close())
    *ids, error, readable = finish(start("fill", sqlite_file, 900_000))
    assert error == "DiskFullError"
    assert len(ids) > 10
    assert int(readable) == len(ids)
    stores = open_sql(sqlite_file)
    entries = asyncio.run(stores.journal.read(U1, "s1"))
    asyncio.run(stores.journal.append(U1, [message(1, id="there is room again")]))
    asyncio.run(stores.close())
    assert [entry.id for entry in entries] == ids
    assert all(isinstance(entry, Message) and entry.content == "x" * 5_000 for entry in entries)


async def test_a_database_that_may_not_grow(sqlite_file: Path) -> None:
    """SQLite's own "full": one transaction over all tables fails, and nothing of it stays."""
    stores = open_sql(sqlite_file)
    await stores.memories.put(U1, [memory("a", "tea")])

    # Set on the writer's connection: only one is open, since nothing has been read yet.
    await stores.database.write(lambda connection: connection.exec_driver_sql("PRAGMA max_page_count = 1"))
    with pytest.raises(DiskFullError):
        await stores.memories.put(U1, [memory(f"b{number}", "coffee " * 2_000) for number in range(50)])
    assert [found.id for found in await stores.memories.list(U1)] == ["a"]
    assert await stores.lexical.search(U1, "coffee", limit=3) == []
    assert await stores.outbox.open_count() == 1
    await stores.close()


def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    # root may write into any folder of its own, but nobody makes files there
    folder = Path("/sys/kernel") if os.geteuid() == 0 else tmp_path
    try:
        with pytest.raises(StoreError, match="permissions"):
            open_sql(folder / "memagent.db")
    finally:
        tmp_path.chmod(0o700)


async def test_a_copied_database_opens(sqlite_file: Path, tmp_path: Path) -> None:
    """A backup made with VACUUM INTO is not in WAL mode; opening puts it right."""
    stores = open_sql(sqlite_file)
    await stores.journal.append(U1, [message(1)])
    await stores.close()
    copy = tmp_path / "copy.db"
    connection = sqlite3.connect(sqlite_file)
    connection.execute("VACUUM INTO ?", (str(copy),))
    connection.close()
    shutil.rmtree(sqlite_file.parent)
    again = open_sql(copy)
    assert len(await again.journal.read(U1, "s1")) == 1
    await again.close()
