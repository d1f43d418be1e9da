"""The contract of MemoryTable."""

from __future__ import annotations

import pytest

from stores.base import Basis
from stores.errors import StoreError
from stores.records import MarkKind, MemoryKind, MemoryState, Pin, Scope, Source
from stores.sql import SqlStores
from tests.contract.samples import HARD_TEXTS, U1, U2, WEIRD_SCOPES, forgotten, mark, memory, message, time


async def test_memories_come_back_equal(stores: SqlStores) -> None:
    full = memory(
        "a",
        "lives in Lisbon",
        zone="Europe/Lisbon",
        session_id="s1",
        speaker="Ana",
        sources=(Source(session_id="s1", entry_id="e1"), Source(session_id="s2", entry_id="e1")),
        subject="user",
        attribute="home city",
        confirmed_at=time(3),
        pin=Pin.PINNED,
        superseded_by="b",
        reason="said so",
        valid_from=time(1),
        valid_to=time(2),
        version=7,
    )
    bare = memory("b", "", kind=MemoryKind.EPISODE)
    await stores.memories.put(U1, [full, bare])
    assert await stores.memories.get(U1, ["b", "nobody", "a"]) == [bare, full]
    assert await stores.memories.get(U1, []) == []


async def test_put_replaces_by_id(stores: SqlStores) -> None:
    await stores.memories.put(U1, [memory("a", "old"), memory("b", "b")])
    await stores.memories.put(U1, [memory("a", "middle"), memory("a", "new", version=2)])
    assert [found.text for found in await stores.memories.get(U1, ["a"])] == ["new"]
    assert len(await stores.memories.list(U1)) == 2


def same_words(text: str, *ids: str) -> Basis:
    """These are the facts with these words."""
    return Basis(same_words={text: ids})


async def test_nothing_is_written_on_a_basis_that_holds_no_more(stores: SqlStores) -> None:
    old, other = memory("a", "lives in Porto"), memory("b", "likes tea")
    said = await stores.journal.append(U1, [message(1), message(2, remember=False)])
    await stores.memories.put(U1, [old, other])
    await stores.never.add(U1, "salary", at=time(1))
    await stores.memories.put_episodes(U1, [], cursor=said[-1].position)
    source, unwanted = (Source(session_id=entry.session_id, entry_id=entry.id) for entry in said)
    position = said[-1].position
    new = memory("a", "lives in Berlin", version=2)
    wrong = [
        Basis(memories=[old.model_copy(update={"confirmed_at": time(9)})]),
        Basis(memories=[memory("gone", "is not there")]),
        Basis(cursor=position - 1),
        Basis(never=[]),
        Basis(never=["salary", "gate code"]),
        Basis(sources=[unwanted]),
        Basis(sources=[source, Source(session_id="s9", entry_id=source.entry_id)]),
        Basis(same_words={"likes tea": []}),
        Basis(memories=[old, other], cursor=0),
    ]
    for basis in wrong:
        assert not await stores.memories.put(U1, [new], told=mark(3, MarkKind.REMEMBERED), basis=basis)
        assert not await stores.memories.put_episodes(U1, [memory("e", "an episode")], cursor=99, basis=basis)
    assert await stores.memories.get(U1, ["a", "e"]) == [old]
    assert await stores.memories.cursor(U1) == position
    assert len(await stores.journal.read(U1, "s1")) == 2
    right = Basis([old, other], {"likes tea": ["b"], "!": ["x"]}, [source], position, ["salary"])
    assert await stores.memories.put_episodes(U1, [memory("e", "an episode")], cursor=position, basis=right)
    assert await stores.memories.put(U1, [new], basis=right)
    assert not await stores.memories.put(U1, [new], basis=right)


async def test_a_fact_and_the_mark_that_tells_of_it_are_one_write(stores: SqlStores) -> None:
    told = mark(1, MarkKind.REMEMBERED)
    assert await stores.memories.put(U1, [memory("a", "lives in Porto")], told=told, basis=same_words("lives in Porto"))
    assert [entry.id for entry in await stores.journal.read(U1, told.session_id)] == [told.id]
    assert [found.text for found in await stores.memories.get(U1, ["a"])] == ["lives in Porto"]
    bad = memory("b", "\ud800")
    with pytest.raises(StoreError):
        await stores.memories.put(U1, [bad], told=mark(2, MarkKind.REMEMBERED), basis=same_words(""))
    assert [entry.id for entry in await stores.journal.read(U1, told.session_id)] == [told.id]
    assert await stores.memories.get(U1, ["b"]) == []


async def test_a_fact_is_not_written_beside_one_that_came_in_between(stores: SqlStores) -> None:
    await stores.memories.put(U2, [memory("theirs", "lives in Porto")])
    await stores.memories.put(U1, [memory("e", "lives in Porto", kind=MemoryKind.EPISODE)])
    one, two = mark(1, MarkKind.REMEMBERED), mark(2, MarkKind.REMEMBERED)
    assert await stores.memories.put(U1, [memory("a", "lives in Porto")], told=one, basis=same_words("lives in Porto"))
    assert not await stores.memories.put(
        U1, [memory("b", "Lives in  Porto!")], told=two, basis=same_words("Lives in  Porto!")
    )
    assert [entry.id for entry in await stores.journal.read(U1, one.session_id)] == [one.id]
    again = memory("a", "lives in Porto", version=2)
    assert await stores.memories.put(U1, [again], told=two, basis=same_words(again.text, "a"))
    assert [found.id for found in await stores.memories.list(U1, kind=MemoryKind.FACT)] == ["a"]
    for number, id_ in enumerate(("x", "y"), start=3):
        wordless = memory(id_, "🙂")
        assert await stores.memories.put(
            U1, [wordless], told=mark(number, MarkKind.REMEMBERED), basis=same_words(wordless.text)
        )


async def test_an_equal_memory_changes_nothing(stores: SqlStores) -> None:
    await stores.memories.put(U1, [memory("a", "text"), memory("a", "text")])
    assert await stores.outbox.open_count() == 1
    await stores.memories.put(U1, [memory("a", "text")])
    assert await stores.outbox.open_count() == 1
    await stores.memories.put(U1, [])
    assert await stores.outbox.open_count() == 1


async def test_only_a_change_of_the_words_or_the_state_is_embedded_anew(stores: SqlStores) -> None:
    first = memory("a", "text")
    ended = memory("a", "text", valid_to=time(9), version=2, sources=(Source(session_id="s", entry_id="e"),))
    await stores.memories.put(U1, [first, ended])
    assert await stores.outbox.open_count() == 1
    await stores.memories.put(U1, [forgotten(ended)])
    assert await stores.outbox.open_count() == 2
    await stores.memories.put(U1, [memory("a", "other text", version=4)])
    await stores.memories.put(U1, [memory("a", "yet another text", version=5)])
    assert await stores.outbox.open_count() == 4


async def test_list_newest_first_with_conditions(stores: SqlStores) -> None:
    await stores.memories.put(
        U1,
        [
            memory("late", "x", 9),
            memory("early", "x", 1),
            memory("same1", "x", 5),
            memory("same2", "x", 5, kind=MemoryKind.EPISODE),
            forgotten(memory("gone", "x", 7)),
        ],
    )

    async def ids(**conditions: object) -> list[str]:
        return [found.id for found in await stores.memories.list(U1, **conditions)]  # type: ignore[arg-type]

    assert await ids() == ["late", "gone", "same2", "same1", "early"]
    assert await ids(limit=2) == ["late", "gone"]
    assert await ids(limit=0) == []
    assert await ids(kind=MemoryKind.EPISODE) == ["same2"]
    assert await ids(state=MemoryState.FORGOTTEN) == ["gone"]
    assert await ids(kind=MemoryKind.FACT, state=MemoryState.ACTIVE) == ["late", "same1", "early"]
    assert await ids(kind=MemoryKind.EPISODE, state=MemoryState.FORGOTTEN) == []
    assert await stores.memories.list(U2) == []


async def test_episodes_are_added_once_and_move_the_cursor_forward(stores: SqlStores) -> None:
    assert await stores.memories.cursor(U1) == 0
    await stores.memories.put_episodes(U1, [memory("a", "first"), memory("b", "second")], cursor=10)
    assert await stores.memories.cursor(U1) == 10
    edited = memory("a", "edited by the person", version=2)
    await stores.memories.put(U1, [edited])
    await stores.memories.put_episodes(U1, [memory("a", "first"), memory("c", "third")], cursor=4)
    assert await stores.memories.get(U1, ["a", "b", "c"]) == [edited, memory("b", "second"), memory("c", "third")]
    assert await stores.memories.cursor(U1) == 10
    await stores.memories.put_episodes(U1, [], cursor=12)
    assert (await stores.memories.cursor(U1), await stores.memories.cursor(U2)) == (12, 0)


async def test_a_failing_put_leaves_no_trace(stores: SqlStores) -> None:
    with pytest.raises(StoreError):
        await stores.memories.put_episodes(U1, [memory("a", "fine"), memory("b", "broken \udfff")], cursor=5)
    assert await stores.memories.list(U1) == []
    assert await stores.memories.cursor(U1) == 0
    assert await stores.lexical.search(U1, "fine", limit=5) == []
    assert await stores.outbox.open_count() == 0


@pytest.mark.parametrize("text", HARD_TEXTS)
async def test_hard_texts_come_back_equal(stores: SqlStores, text: str) -> None:
    await stores.memories.put(U1, [memory("a", text)])
    assert await stores.memories.get(U1, ["a"]) == [memory("a", text)]


async def test_any_user_id_works_and_none_shares(stores: SqlStores) -> None:
    """C21, C25: a scope sees its own memories only, by every path."""
    for index, scope in enumerate(WEIRD_SCOPES):
        await stores.memories.put(scope, [memory("same-id", f"gate code {7000 + index}")])
    for index, scope in enumerate(WEIRD_SCOPES):
        own = [memory("same-id", f"gate code {7000 + index}")]
        assert await stores.memories.get(scope, ["same-id"]) == own
        assert await stores.memories.list(scope) == own
        assert [hit.memory_id for hit in await stores.lexical.search(scope, "gate code?", limit=9)] == ["same-id"]
        assert await stores.lexical.search(scope, str(7000 + (index + 1) % len(WEIRD_SCOPES)), limit=9) == []


async def test_one_user_cannot_change_anothers_memory(stores: SqlStores) -> None:
    """C25: access by id across users finds nothing and changes nothing."""
    mine = memory("m", "gate code 7741")
    await stores.memories.put(U1, [mine])
    assert await stores.memories.get(U2, ["m"]) == []
    await stores.memories.put(U2, [forgotten(memory("m", "gate code 9902"))])
    await stores.memories.put_episodes(U2, [memory("m", "again")], cursor=99)
    assert await stores.memories.get(U1, ["m"]) == [mine]
    assert await stores.memories.cursor(U1) == 0
    for other in (Scope("U1"), Scope("u1 "), Scope("")):
        assert await stores.memories.list(other) == []


async def test_forgetting_takes_exactly_one_out(stores: SqlStores) -> None:
    """C24, at the table: forgetting, twice, of one of u1's three memories."""
    for scope in (U1, U2):
        await stores.memories.put(scope, [memory(f"m{number}", f"likes tea number {number}") for number in range(3)])

    async def found(scope: Scope, limit: int = 9) -> set[str]:
        return {hit.memory_id for hit in await stores.lexical.search(scope, "tea", limit=limit)}

    [old] = await stores.memories.get(U1, ["m1"])
    await stores.memories.put(U1, [forgotten(old)])
    await stores.memories.put(U1, [forgotten(old)])
    assert await found(U1) == {"m0", "m2"}
    assert await found(U1, limit=2) == {"m0", "m2"}
    assert await found(U2) == {"m0", "m1", "m2"}
    assert await stores.outbox.open_count(U1) == 4
    await stores.memories.put(U1, [old.model_copy(update={"version": 3})])
    assert await found(U1) == {"m0", "m1", "m2"}
