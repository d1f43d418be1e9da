"""The contract of MemoryFinder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from stores.records import Memory, MemoryKind, MemoryState, Pin, Source
from stores.sql import SqlStores, open_sql
from stores.sql.engines import url_of
from tests.contract.samples import U1, U2, forgotten, memory


def ids(found: list[Memory]) -> list[str]:
    return [item.id for item in found]


def said(session: str, *entries: str) -> tuple[Source, ...]:
    return tuple(Source(session_id=session, entry_id=entry) for entry in entries)


async def test_the_same_words_are_found_whatever_their_case_and_signs(stores: SqlStores) -> None:
    await stores.memories.put(
        U1,
        [
            memory("late", "prefers TEA,  over coffee.", 9),
            forgotten(memory("early", "Prefers tea over coffee", 1)),
            memory("other", "Prefers coffee over tea", 2),
            memory("seven", "owns 7 cats", 3),
            memory("episode", "prefers tea over coffee", 4, kind=MemoryKind.EPISODE),
        ],
    )
    await stores.memories.put(U2, [memory("theirs", "prefers tea over coffee")])
    assert ids(await stores.finder.with_text(U1, "Prefers tea over coffee!")) == ["early", "late"]
    assert ids(await stores.finder.with_text(U1, "prefers tea over coffee", kind=MemoryKind.EPISODE)) == ["episode"]
    assert await stores.finder.with_text(U1, "owns 8 cats") == []
    assert await stores.finder.with_text(U1, " ?! ") == []


async def test_an_edited_text_is_found_by_its_new_words_only(stores: SqlStores) -> None:
    await stores.memories.put(U1, [memory("a", "lives in Berlin", subject="user", attribute="home")])
    await stores.memories.put(U1, [memory("a", "lives in Porto", subject="Ana", attribute="home", version=2)])
    assert await stores.finder.with_text(U1, "lives in Berlin") == []
    assert ids(await stores.finder.with_text(U1, "lives in Porto")) == ["a"]
    assert await stores.finder.about(U1, "user") == []


async def test_facts_are_found_by_subject_and_attribute(stores: SqlStores) -> None:
    await stores.memories.put(
        U1,
        [
            memory("home", "lives in Porto", 2, subject="user", attribute="Home city"),
            memory("diet", "eats no meat", 1, subject="User", attribute="diet"),
            memory("ana", "Ana lives in Oslo", 3, subject="Ana", attribute="home city"),
            memory("nobody", "it rains", 4),
        ],
    )
    assert ids(await stores.finder.about(U1, "user")) == ["diet", "home"]
    assert ids(await stores.finder.about(U1, "user", "home-city")) == ["home"]
    assert await stores.finder.about(U1, "") == []
    assert await stores.finder.about(U1, "user", "") == []
    assert await stores.finder.about(U2, "user") == []


async def test_the_profile_holds_active_facts_only(stores: SqlStores) -> None:
    await stores.memories.put(
        U1,
        [
            memory("name", "is called Maya", 2, pin=Pin.PINNED),
            memory("first", "lives in Porto", 1, pin=Pin.PINNED),
            forgotten(memory("gone", "has a cat", 3, pin=Pin.PINNED)),
            memory("maybe", "likes tea", 4, pin=Pin.PROPOSED),
            memory("plain", "likes rain", 5),
        ],
    )
    assert ids(await stores.finder.pinned(U1)) == ["first", "name"]
    assert ids(await stores.finder.pinned(U1, Pin.PROPOSED)) == ["maybe"]
    assert await stores.finder.pinned(U2) == []


async def test_memories_are_found_by_the_entries_they_came_from(stores: SqlStores) -> None:
    """Imported ids repeat across sessions: "1" of one session is not "1" of another."""
    await stores.memories.put(
        U1,
        [
            memory("a", "from one", 2, sources=said("s1", "1", "2")),
            memory("b", "from both", 1, sources=said("s1", "1") + said("s2", "1"), kind=MemoryKind.EPISODE),
            memory("c", "from two", 3, sources=said("s2", "1", "1")),
        ],
    )
    assert ids(await stores.finder.from_entries(U1, said("s1", "1"))) == ["b", "a"]
    assert ids(await stores.finder.from_entries(U1, said("s2", "1"))) == ["b", "c"]
    assert await stores.finder.from_entries(U1, []) == []
    assert await stores.finder.from_entries(U2, said("s1", "1")) == []
    await stores.memories.put(U1, [memory("a", "from one", 2, sources=said("s1", "2", "3"))])
    assert ids(await stores.finder.from_entries(U1, said("s1", "1"))) == ["b"]
    assert ids(await stores.finder.from_entries(U1, said("s1", "3"))) == ["a"]


async def test_earlier_versions_are_kept(stores: SqlStores) -> None:
    first = memory("a", "lives in Berlin")
    more = first.model_copy(update={"sources": said("s", "e")})
    second = more.model_copy(update={"text": "lives in Porto", "version": 2})
    third = second.model_copy(update={"state": MemoryState.FORGOTTEN, "version": 3})
    for each in (first, more, second, third):
        await stores.memories.put(U1, [each])
    assert await stores.finder.versions(U1, "a") == [more, second]
    assert await stores.finder.versions(U2, "a") == []
    assert await stores.finder.versions(U1, "nobody") == []


@pytest.mark.parametrize("kind", ["sqlite-file", "postgres"])
def test_memories_of_an_older_database_are_brought_along(
    kind: str, new_location: Callable[..., str], tmp_path: Path
) -> None:
    """Sources named no session before, and nothing was found by its words."""
    location = new_location(kind)
    asyncio.run(_as_before(location))

    async def look() -> None:
        stores = open_sql(location)
        try:
            (found,) = await stores.memories.get(U1, ["old"])
            assert found.sources == said("s1", "e1", "e2")
            assert found.text == 'lives in 東京 "now"'
            assert ids(await stores.finder.with_text(U1, "Lives in 東京 now")) == ["old"]
            assert ids(await stores.finder.from_entries(U1, said("s1", "e2"))) == ["old"]
            assert await stores.talk.speakers(U1) == ["Ana"]
        finally:
            await stores.close()

    asyncio.run(look())


async def _as_before(location: str) -> None:
    """Puts a memory and takes the database back to the revision before."""
    stores = open_sql(location)
    await stores.memories.put(
        U1, [memory("old", 'lives in 東京 "now"', session_id="s1", sources=said("s1", "e1", "e2"))]
    )
    await stores.close()
    old = (
        '{"id":"old","kind":"fact","text":"lives in 東京 \\"now\\"","trust":"user","said_at":"2026-03-01T12:00:00Z",'
        '"recorded_at":"2026-03-01T12:00:00Z","zone":"UTC","session_id":"s1","speaker":"Ana",'
        '"source_ids":["e1","e2"],"valid_from":null,"valid_to":null,"state":"active","version":1}'
    )
    engine = create_engine(url_of(location))
    with engine.begin() as connection:
        connection.execute(text("UPDATE memories SET payload = :old"), {"old": old})
        connection.execute(text("DROP INDEX entries_private"))
        for name in ("by_session", "by_text", "by_subject", "pinned", "by_speaker"):
            connection.execute(text(f"DROP INDEX memories_{name}"))
        tables = ("memory_sources", "memory_versions", "jobs", "never_patterns", "generations", "told", "receipts")
        for table in tables:
            connection.execute(text(f"DROP TABLE {table}"))
        for column in ("session_id", "text_key", "subject_key", "attribute_key", "pin", "speaker"):
            connection.execute(text(f"ALTER TABLE memories DROP COLUMN {column}"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0004'"))
    engine.dispose()
