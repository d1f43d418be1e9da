"""The contracts of Eraser and Receipts: what was taken away is gone, also from the files."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from stores.errors import StoreBusyError
from stores.indexes import Passage
from stores.records import MarkKind, Message, MessageRole, Source
from stores.sql import SqlStores, open_sql
from stores.terms import document_terms
from tests.contract.samples import U1, U2, mark, memory, message, time, vector

SECRET = "the xylocarp quibbles at noontide"


def blank(entry: Message) -> Message:
    return entry.model_copy(update={"content": "", "calls": (), "images": (), "name": None, "erased": "r1"})


def passage(entry: Message) -> Passage:
    return Passage(entry.id, entry.session_id, 0, entry.content)


async def test_an_overwritten_entry_keeps_its_place_and_loses_its_words(stores: SqlStores) -> None:
    given = [message(1, SECRET), message(2, "answer", role=MessageRole.ASSISTANT), message(3, "what is new")]
    first, second, third = await stores.journal.append(U1, given)
    await stores.journal.append(U2, given)
    for scope in (U1, U2):
        await stores.history.add(scope, [passage(e) for e in given], cursor=9)
    assert await stores.eraser.overwrite(U1, [blank(given[0]), blank(message(9))]) == 1
    assert await stores.eraser.overwrite(U1, [blank(given[0])]) == 0
    assert await stores.journal.read(U1, "s1") == [blank(first), second, third]  # type: ignore[arg-type]
    assert await stores.history.search(U1, "xylocarp", limit=5) == []
    assert [hit.entry_id for hit in await stores.history.search(U1, "what new", limit=5)] == ["s1-m3"]
    assert [hit.entry_id for hit in await stores.history.search(U2, "xylocarp", limit=5)] == ["s1-m1"]
    (session,) = await stores.journal.sessions(U1)
    assert (session.title, session.message_count) == ("what is new", 2)
    (theirs,) = await stores.journal.sessions(U2)
    assert (theirs.title, theirs.message_count) == (SECRET, 3)
    assert (await stores.journal.append(U1, [given[0]]))[0].erased == "r1"  # it does not come back


async def test_an_entry_of_another_kind_is_left(stores: SqlStores) -> None:
    (noted,) = await stores.journal.append(U1, [mark(1, MarkKind.REMEMBERED, text=SECRET)])
    assert await stores.eraser.overwrite(U1, [mark(1, MarkKind.CONTEXT)]) == 0
    assert await stores.eraser.overwrite(U1, [message(1, id=noted.id)]) == 0
    assert await stores.journal.read(U1, "s1") == [noted]
    assert await stores.eraser.overwrite(U1, []) == 0


async def test_removed_memories_are_nowhere(stores: SqlStores) -> None:
    old = memory("a", SECRET, sources=(Source(session_id="s", entry_id="e"),))
    new = old.model_copy(update={"text": f"{SECRET}, sharp", "version": 2})
    for scope in (U1, U2):
        await stores.memories.put(scope, [old, memory("b", "xylocarp soup")])
        await stores.memories.put(scope, [new])
    await stores.outbox.embedded("g", {task.number: [vector(1, 2)] for task in await stores.outbox.pending()})
    await stores.outbox.done([task.number for task in await stores.outbox.pending()])
    assert await stores.eraser.remove_memories(U1, ["a", "nobody"]) == 1
    assert await stores.memories.get(U1, ["a", "b"]) == [memory("b", "xylocarp soup")]
    assert await stores.finder.versions(U1, "a") == []
    assert await stores.finder.from_entries(U1, old.sources) == []
    assert [hit.memory_id for hit in await stores.lexical.search(U1, "xylocarp", limit=5)] == ["b"]
    assert await stores.memories.count(U1) == 1
    assert await stores.memories.get(U2, ["a"]) == [new]
    assert await stores.eraser.remove_memories(U1, [], history_of=["a", "b"]) == 0
    assert len(await stores.finder.versions(U2, "a")) == 1
    left = [(task.scope, task.memory_id, task.vectors) for task in await stores.outbox.pending()]
    assert left == [(U1, "a", None), (U1, "nobody", None), (U2, "a", None)]
    assert await stores.eraser.remove_memories(U1, ["a"]) == 0
    assert await stores.eraser.remove_memories(U2, [], history_of=["a"]) == 0
    assert await stores.finder.versions(U2, "a") == []
    assert await stores.memories.get(U2, ["a"]) == [new]
    assert await stores.eraser.remove_memories(U1, []) == 0
    assert await stores.memories.count(U1) == 1


async def test_texts_of_manifests_are_removed_and_details_replaced(stores: SqlStores) -> None:
    mine = await stores.manifests.put_text(U1, SECRET)
    other = await stores.manifests.put_text(U1, "something else")
    theirs = await stores.manifests.put_text(U2, SECRET)
    for _ in range(2):
        await stores.manifests.put(U1, "s1", "e1", "{}", details=f'{{"a": "{SECRET}"}}', at=time(1))
    assert await stores.eraser.hashes_of(U1, lambda kept: "xylocarp" in kept) == [mine]
    assert await stores.eraser.remove_texts(U1, [mine, "none"], details={("s1", 2): "{}"}) == 1
    assert list(await stores.manifests.texts(U1, [mine, other])) == [other]
    assert list(await stores.manifests.texts(U2, [theirs])) == [theirs]
    newest, older = await stores.manifests.list(U1, "s1")
    assert (newest.details, older.details) == ("{}", f'{{"a": "{SECRET}"}}')


async def test_a_text_is_found_wherever_it_is_kept(stores: SqlStores) -> None:
    def holds(kept: str) -> bool:
        return "xylocarp" in kept

    assert not await stores.eraser.anywhere(holds)
    await stores.jobs.put(U2, "k", "1", {"text": SECRET}, at=time(1))
    assert await stores.eraser.anywhere(holds)


async def test_receipts_are_kept_newest_first(stores: SqlStores) -> None:
    assert await stores.receipts.list(U1) == []
    await stores.receipts.put(U1, "r1", "{}", at=time(1))
    await stores.receipts.put(U1, "r2", '{"a": 1}', at=time(2))
    await stores.receipts.put(U1, "r1", '{"b": 1}', at=time(1))
    await stores.receipts.put(U2, "r1", "{}", at=time(1))
    assert await stores.receipts.list(U1) == ['{"a": 1}', '{"b": 1}']


async def test_after_a_purge_the_stores_work_on(stores: SqlStores) -> None:
    await stores.journal.append(U1, [message(1, SECRET), message(2, "kept words")])
    await stores.history.add(U1, [passage(message(1, SECRET)), passage(message(2, "kept words"))], cursor=2)
    await stores.memories.put(U1, [memory("a", SECRET), memory("b", "kept memory")])
    await stores.eraser.overwrite(U1, [blank(message(1))])
    await stores.eraser.remove_memories(U1, ["a"])
    await stores.eraser.purge()
    assert [hit.entry_id for hit in await stores.history.search(U1, "words", limit=3)] == ["s1-m2"]
    assert [hit.memory_id for hit in await stores.lexical.search(U1, "kept", limit=3)] == ["b"]
    await stores.memories.put(U1, [memory("c", "later memory")])
    assert [hit.memory_id for hit in await stores.lexical.search(U1, "later", limit=3)] == ["c"]


async def test_no_file_of_sqlite_holds_what_was_purged(sqlite_file: Path) -> None:
    stores = open_sql(sqlite_file)
    try:
        many = [message(n, f"{SECRET} {'filler ' * 300} {n}") for n in range(60)]
        await stores.journal.append(U1, [*many, message(99, "kept words")])
        await stores.history.add(U1, [passage(entry) for entry in [*many, message(99, "kept words")]], cursor=99)
        await stores.memories.put(U1, [memory(f"a{n}", f"{SECRET} {n}") for n in range(60)])
        await stores.memories.put(U1, [memory("z", "kept memory")])
        tasks = await stores.outbox.pending()
        await stores.outbox.embedded("g", {task.number: [b"VECT" * 8] for task in tasks})
        digest = await stores.manifests.put_text(U1, SECRET)
        assert b"xylocarp" in _bytes(sqlite_file)
        await stores.eraser.overwrite(U1, [blank(entry) for entry in many])
        await stores.eraser.remove_memories(U1, [f"a{n}" for n in range(60)])
        await stores.eraser.remove_texts(U1, [digest])
        await stores.outbox.embedded("g", {task.number: [] for task in await stores.outbox.pending()})
        await stores.eraser.purge()
        left = _bytes(sqlite_file)
        assert SECRET.encode() not in left
        terms = [term for term in document_terms(SECRET) if len(term) > 4]  # shorter ones may stand anywhere
        assert [term for term in terms if term.encode() in left] == []
        assert left.count(b"VECT") == 0
        assert (await stores.history.search(U1, "words", limit=3))[0].entry_id == "s1-m99"
    finally:
        await stores.close()


async def test_a_purge_says_so_when_somebody_reads_an_older_state(
    sqlite_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.sql.engines.BUSY_SECONDS", 0.2)
    stores = open_sql(sqlite_file)
    try:
        await stores.journal.append(U1, [message(1, SECRET)])
        reader = sqlite3.connect(sqlite_file, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM entries").fetchall()
        await stores.eraser.overwrite(U1, [blank(message(1))])
        with pytest.raises(StoreBusyError, match="older state"):
            await stores.eraser.purge()
        reader.close()
        await stores.eraser.purge()
        assert SECRET.encode() not in _bytes(sqlite_file)
    finally:
        await stores.close()


def _bytes(file: Path) -> bytes:
    return b"".join(path.read_bytes() for path in file.parent.iterdir())
