"""The contract of HistoryIndex."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import time
from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.config import Config

from stores.indexes import Passage
from stores.records import Scope
from stores.sql import SqlStores, open_sql
from stores.sql.engines import WRITE, make_engine, url_of
from stores.sql.migrate import SCRIPTS
from stores.sql.schema import HEAD_REVISION
from tests.contract.samples import HARD_TEXTS, U1, U2, WEIRD_SCOPES, memory, message
from tests.contract.worker import finish, start


def passage(text: str, *, entry: str | None = None, session: str = "s1", start: int = 0, context: str = "") -> Passage:
    return Passage(entry or text, session, start, text, context)


async def keep(stores: SqlStores, *texts: str, scope: Scope = U1, session: str = "s1") -> None:
    await stores.history.add(scope, [passage(text, session=session) for text in texts], cursor=0)


async def found(
    stores: SqlStores, query: str, *, limit: int = 10, scope: Scope = U1, session: str | None = None
) -> list[str]:
    hits = await stores.history.search(scope, query, limit=limit, session_id=session)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return [hit.entry_id for hit in hits]


# --- finding -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Maya rented locker 12, its code is K-4471", "what was the code of the locker that Maya rented?"),
        ("玛雅租的储物柜的密码是 K-4471", "储物柜的密码"),
        ("我有一只猫", "猫"),
        ("東京に住んでいます", "どこに住んで"),
        ("서울에 살고 있어요", "서울에"),
        ('{"name":"Maya","locker_code":"K-4471"}', "maya k-4471"),
        ("ERROR [worker-7] timeout after 30s", "worker 7"),
    ],
)
async def test_text_is_found(stores: SqlStores, text: str, query: str) -> None:
    await keep(stores, "something else entirely", text, "又一句无关的话")
    assert (await found(stores, query))[0] == text


async def test_a_hit_says_where_it_stands(stores: SqlStores) -> None:
    await stores.history.add(U1, [passage("opening", entry="e"), passage("tea time", entry="e", start=7)], cursor=1)
    [hit] = await stores.history.search(U1, "tea", limit=5)
    assert (hit.entry_id, hit.session_id, hit.start, hit.chars) == ("e", "s1", 7, 8)


async def test_context_is_found_too_and_is_no_part_of_the_text(stores: SqlStores) -> None:
    await stores.history.add(U1, [passage("K-4471", entry="e", context="look_up locker Maya")], cursor=1)
    [hit] = await stores.history.search(U1, "Maya's locker", limit=5)
    assert hit.chars == len("K-4471")


@pytest.mark.parametrize(
    "query",
    [
        "a OR b", "NOT tea", "NEAR(tea, 2)", '"tea', '"tea"', "tea*", "terms:tea", "tea AND", "(tea", "-tea", "^tea",
        "session:tea", "tea' OR 1=1 --", "tea:*", "tea & !", "tea | x", "<-> tea", "{tea}", "tea\\", "a\0tea",
        "tea \ud800", ":tea", "%s tea",
    ],
)  # fmt: skip
async def test_a_query_is_words_not_syntax(stores: SqlStores, query: str) -> None:
    await keep(stores, "tea", "b or near", "milk")
    for session in (None, "s1"):
        hits = await found(stores, query, session=session)
        assert "milk" not in hits
        assert ("tea" in hits) == ("tea" in query)


@pytest.mark.parametrize("query", ["", "   ", "?!…", "🎉", "\0", "' \" ( ) *"])
async def test_a_query_without_terms_finds_nothing(stores: SqlStores, query: str) -> None:
    await keep(stores, "tea 🎉")
    assert await found(stores, query) == []


async def test_a_query_of_ten_thousand_words(stores: SqlStores) -> None:
    await keep(stores, "tea", "milk")
    query = "tea " + " ".join(f"word{number}" for number in range(10_000))
    assert await found(stores, query) == ["tea"]
    assert await found(stores, query * 10, session="s1") == ["tea"]


@pytest.mark.parametrize("text", HARD_TEXTS)
async def test_hard_texts(stores: SqlStores, text: str) -> None:
    await stores.history.add(U1, [passage(text, entry="e"), passage("needle", entry="n")], cursor=1)
    assert await found(stores, "needle") == ["n"]


async def test_limits(stores: SqlStores) -> None:
    assert await found(stores, "tea") == []
    await keep(stores, *(f"tea number {number}" for number in range(5)))
    assert await found(stores, "tea", limit=0) == []
    assert await found(stores, "tea", limit=-1) == []
    assert len(await found(stores, "tea", limit=2)) == 2
    assert len(await found(stores, "tea", limit=1000)) == 5


# --- order -------------------------------------------------------------------------------------


async def test_more_and_rarer_terms_come_first(stores: SqlStores) -> None:
    await keep(stores, *(f"the locker of person number p{number}" for number in range(30)))
    await keep(stores, "Maya likes the sea", "the locker of Maya", "the sea and the hills")
    assert (await found(stores, "locker of Maya"))[:2] == ["the locker of Maya", "Maya likes the sea"]


async def test_of_equals_the_newest_comes_first(stores: SqlStores) -> None:
    for number in range(3):
        await stores.history.add(U1, [passage("the code is 12", entry=f"e{number}")], cursor=number)
    assert await found(stores, "code") == ["e2", "e1", "e0"]
    assert await found(stores, "code", session="s1", limit=2) == ["e2", "e1"]


async def test_common_terms_find_nothing_by_themselves_while_rarer_ones_remain(stores: SqlStores) -> None:
    await keep(stores, *(f"the day {number}" for number in range(200)), "the zebra", "the zebra that day")
    assert set(await found(stores, "the zebra", limit=500)) == {"the zebra", "the zebra that day"}
    assert len(await found(stores, "the day", limit=500)) == 202
    assert await found(stores, "the unheardof", limit=3) != []


async def test_common_terms_still_rank_what_rarer_ones_found(stores: SqlStores) -> None:
    await keep(stores, *(f"blue thing {number}" for number in range(20)), *(f"filler {n}" for n in range(180)))
    await keep(stores, "a zebra in a blue coat", "a zebra in a warm coat")
    assert (await found(stores, "blue zebra")) == ["a zebra in a blue coat", "a zebra in a warm coat"]


# --- whose and where ---------------------------------------------------------------------------


async def test_scopes_are_apart(stores: SqlStores) -> None:
    for number, scope in enumerate([*WEIRD_SCOPES, U1, U2]):
        await stores.history.add(scope, [passage(f"tea {number}")], cursor=number + 1)
    for number, scope in enumerate([*WEIRD_SCOPES, U1, U2]):
        assert await found(stores, "tea", scope=scope) == [f"tea {number}"]
        assert await stores.history.cursor(scope) == number + 1
    assert await found(stores, "tea", scope=Scope("nobody")) == []
    assert await stores.history.cursor(Scope("nobody")) == 0


async def test_shares_are_of_the_scope_itself(stores: SqlStores) -> None:
    await keep(stores, *(f"zebra {number}" for number in range(300)), scope=U2)
    await keep(stores, *(f"horse {number}" for number in range(150)), "zebra and horse")
    assert await found(stores, "zebra horse", limit=500) == ["zebra and horse"]


@pytest.mark.parametrize("session", ["s2", "x'y\"", "s 2", "会话", "", "S1"])
async def test_one_session_or_all(stores: SqlStores, session: str) -> None:
    await keep(stores, "tea here")
    await keep(stores, "tea there", session=session)
    assert await found(stores, "tea", session="s1") == ["tea here"]
    assert await found(stores, "tea", session=session) == ["tea there"]
    assert set(await found(stores, "tea")) == {"tea here", "tea there"}
    assert await found(stores, "tea", session="no such session") == []


async def test_a_session_without_the_rarer_terms_is_searched_by_the_common_ones(stores: SqlStores) -> None:
    await keep(stores, *(f"day number {number}" for number in range(200)))
    await keep(stores, "zebra", session="s2")
    assert len(await found(stores, "zebra day", session="s1", limit=500)) == 200


async def test_the_same_entry_id_in_two_sessions(stores: SqlStores) -> None:
    await stores.history.add(U1, [passage("tea a", entry="1"), passage("tea b", entry="1", session="s2")], cursor=1)
    hits = await stores.history.search(U1, "tea", limit=5)
    assert {(hit.entry_id, hit.session_id) for hit in hits} == {("1", "s1"), ("1", "s2")}


# --- adding ------------------------------------------------------------------------------------


async def test_adding_twice_is_harmless(stores: SqlStores) -> None:
    given = [passage("tea", entry="e"), passage("tea", entry="e", start=3), passage("tea", entry="f")]
    for _ in range(3):
        await stores.history.add(U1, given + given, cursor=4)
    assert len(await stores.history.search(U1, "tea", limit=10)) == 3
    await stores.history.add(U1, [*given, passage("tea", entry="g")], cursor=5)
    assert len(await stores.history.search(U1, "tea", limit=10)) == 4


async def test_the_cursor_never_goes_back(stores: SqlStores) -> None:
    assert await stores.history.cursor(U1) == 0
    await stores.history.add(U1, [], cursor=7)
    assert await stores.history.cursor(U1) == 7
    await stores.history.add(U1, [passage("tea")], cursor=3)
    assert await stores.history.cursor(U1) == 7
    assert await found(stores, "tea") == ["tea"]
    assert await stores.memories.cursor(U1) == 0


async def test_tasks_that_add_the_same_at_once(stores: SqlStores) -> None:
    given = [passage(f"tea {number}") for number in range(50)]
    await asyncio.gather(*(stores.history.add(U1, given, cursor=9) for _ in range(10)))
    assert len(await found(stores, "tea", limit=1000)) == 50


def test_processes_that_add_the_same_at_once(location: str) -> None:
    for process in [start("history", location, 200) for _ in range(3)]:
        finish(process)
    stores = open_sql(location)
    hits = asyncio.run(stores.history.search(U1, "tea", limit=1000))
    assert len({(hit.entry_id, hit.start) for hit in hits}) == len(hits) == 200
    assert asyncio.run(stores.history.cursor(U1)) == 200
    asyncio.run(stores.close())


async def test_texts_are_not_kept_a_second_time(sqlite_file: Path) -> None:
    stores = open_sql(sqlite_file)
    await stores.history.add(U1, [passage("the quick vermilion fox", entry="e", context="asked of whom")], cursor=1)
    await stores.close()
    connection = sqlite3.connect(sqlite_file)
    assert connection.execute("SELECT terms, session FROM passage_terms").fetchall() == [(None, None)]
    connection.close()
    content = await asyncio.to_thread(sqlite_file.read_bytes)
    assert b"quick vermilion" not in content
    assert b"asked of" not in content


# --- size --------------------------------------------------------------------------------------


async def test_twenty_thousand_passages(stores: SqlStores) -> None:
    dice = random.Random(7)
    words = [f"word{number}" for number in range(5_000)] + ["the", "of", "code"] * 300
    many = [
        passage(" ".join(dice.choices(words, k=60)), entry=f"e{number}", session=f"s{number % 40}")
        for number in range(20_000)
    ]
    many[12_345] = passage("the code of the locker that Maya rented is K-4471", entry="fact", session="s5")
    for first in range(0, len(many), 1_000):
        await stores.history.add(U1, many[first : first + 1_000], cursor=first + 1_000)
    began = time.perf_counter()
    assert (await found(stores, "what was the code of the locker that Maya rented?"))[0] == "fact"
    assert (await found(stores, "the code of the locker", session="s5"))[0] == "fact"
    assert len(await found(stores, "word17 word400 the of code", limit=50)) == 50
    assert time.perf_counter() - began < 20


# --- older data --------------------------------------------------------------------------------


def test_a_database_without_history_is_upgraded_and_keeps_its_data(empty_location: str) -> None:
    """Revision 0001 as it was: made by its own migration, filled through its own columns."""
    if "://" not in empty_location:
        Path(empty_location).parent.mkdir(mode=0o700)
    engine = make_engine(url_of(empty_location))
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.set_main_option("path_separator", "os")
    with engine.execution_options(**{WRITE: True}).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        old = message(1, "tea in Lisbon")
        connection.exec_driver_sql("INSERT INTO scopes (name, cursor, active_count) VALUES ('u1', 1, 0)")
        connection.exec_driver_sql("INSERT INTO sessions VALUES ('u1', 's1', 'tea', 1, 1, 1, 1, 1)")
        connection.exec_driver_sql(
            "INSERT INTO entries (position, scope, session_id, sequence, id, kind, payload)"
            f" VALUES (1, 'u1', 's1', 1, '{old.id}', 'message',"
            f" '{old.model_dump_json(exclude={'sequence', 'position', 'overflow'})}')"
        )
    engine.dispose()
    stores = open_sql(empty_location)
    asyncio.run(_check_upgraded(stores))
    asyncio.run(stores.close())
    assert _revision(empty_location) == HEAD_REVISION


async def _check_upgraded(stores: SqlStores) -> None:
    [entry] = await stores.journal.read(U1, "s1")
    assert getattr(entry, "content", None) == "tea in Lisbon"
    assert await stores.memories.cursor(U1) == 1
    assert await stores.history.cursor(U1) == 0
    await stores.memories.put(U1, [memory("m", "green tea")])
    await stores.history.add(U1, [passage("tea in Lisbon", entry=entry.id)], cursor=entry.position)
    assert await found(stores, "lisbon") == [entry.id]
    assert len(await stores.lexical.search(U1, "tea", limit=3)) == 1


def _revision(location: str) -> str:
    query = "SELECT version_num FROM alembic_version"
    if "://" in location:
        with psycopg.connect(location) as connection:
            row = connection.execute(query).fetchone()
    else:
        connection = sqlite3.connect(location)
        row = connection.execute(query).fetchone()
        connection.close()
    assert row is not None
    return str(row[0])
