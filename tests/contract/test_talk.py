"""The contract of Talk."""

from __future__ import annotations

from stores.base import TalkPlace
from stores.records import Memory, MemoryKind
from stores.sql import SqlStores
from tests.contract.samples import U1, U2, WEIRD_SCOPES, forgotten, memory, time


def said(id_: str, number: int, session: str = "s1", speaker: str | None = "Ana") -> Memory:
    return memory(id_, f"text {id_}", number, kind=MemoryKind.EPISODE, session_id=session, speaker=speaker)


async def test_a_place_names_the_episodes_next_to_it_in_its_session(stores: SqlStores) -> None:
    await stores.memories.put(U1, [said("a", 1), said("x", 2, "s2"), memory("fact", "a fact", 3, session_id="s1")])
    await stores.memories.put(U2, [said("theirs", 3)])
    await stores.memories.put(U1, [forgotten(said("gone", 4)), said("b", 5, speaker="Bo"), said("c", 6, speaker=None)])
    found = await stores.talk.places(U1, ["a", "b", "c", "x", "fact", "gone", "theirs", "nobody"])
    assert sorted(found) == [
        TalkPlace("a", "s1", "Ana", None, "b"),
        TalkPlace("b", "s1", "Bo", "a", "c"),
        TalkPlace("c", "s1", None, "b", None),
        TalkPlace("fact", "s1", None, None, None),
        TalkPlace("x", "s2", "Ana", None, None),
    ]
    assert await stores.talk.places(U2, ["a", "b"]) == []
    assert await stores.talk.places(U1, []) == []


async def test_neighbours_come_with_those_they_stand_beside(stores: SqlStores) -> None:
    await stores.memories.put(U1, [said(id_, number) for number, id_ in enumerate("abcdef")])
    found = await stores.talk.places(U1, ["b", "e"], beside=["b", "f"])
    assert sorted(place.memory_id for place in found) == ["a", "b", "c", "e"]


async def test_episodes_keep_the_order_in_which_they_were_added(stores: SqlStores) -> None:
    await stores.memories.put_episodes(U1, [said("first", 9)], cursor=1)
    await stores.memories.put_episodes(U1, [said("second", 3)], cursor=2)
    [place] = await stores.talk.places(U1, ["second"])
    assert (place.before, place.after) == ("first", None)


async def test_each_speaker_is_named_once(stores: SqlStores) -> None:
    assert await stores.talk.speakers(U1) == []
    await stores.memories.put(U1, [said("a", 1), said("b", 2, speaker="Bo"), said("c", 3), said("d", 4, speaker=None)])
    await stores.memories.put(U2, [said("e", 5, speaker="Cy")])
    assert await stores.talk.speakers(U1) == ["Ana", "Bo"]
    assert await stores.talk.speakers(U1, limit=1) == ["Ana"]
    await stores.memories.put(U1, [said("b", 2, speaker="名前")])
    assert sorted(await stores.talk.speakers(U1)) == ["Ana", "名前"]


async def test_what_was_said_in_a_time_is_found_by_it(stores: SqlStores) -> None:
    await stores.memories.put(U1, [said(f"m{number}", number) for number in range(5)])
    await stores.memories.put(U1, [forgotten(said("gone", 2))])
    await stores.memories.put(U2, [said("theirs", 2)])
    assert await stores.talk.said_between(U1, time(1), time(4), limit=9) == ["m1", "m2", "m3"]
    assert await stores.talk.said_between(U1, time(1), time(4), limit=2) == ["m2", "m3"]
    assert await stores.talk.said_between(U1, time(9), time(12), limit=9) == []


async def test_scopes_may_be_any_text(stores: SqlStores) -> None:
    for number, scope in enumerate(WEIRD_SCOPES):
        await stores.memories.put(scope, [said("a", 1, speaker=f"speaker {number}")])
    for number, scope in enumerate(WEIRD_SCOPES):
        assert await stores.talk.speakers(scope) == [f"speaker {number}"]
        assert [place.memory_id for place in await stores.talk.places(scope, ["a"])] == ["a"]
