"""The contract of Journal."""

from __future__ import annotations

import asyncio
import time as clock
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stores.errors import StoreError
from stores.records import ImagePart, Mark, MarkKind, Message, MessageRole, Scope, ToolCall
from stores.sql import SqlStores
from tests.contract.samples import HARD_TEXTS, U1, U2, WEIRD_SCOPES, mark, message, time


async def test_entries_come_back_equal_with_sequence_and_position(stores: SqlStores) -> None:
    call = ToolCall(id="c1", name="look", arguments='{"a": 1}')
    given_entries = [
        message(1, "hello", images=(ImagePart(url="data:image/png;base64,AA"),), zone="Europe/Lisbon"),
        mark(2, MarkKind.STARTED, call_id="c1", nested={"list": [1, None, "x"]}),
        message(3, role=MessageRole.ASSISTANT, calls=(call,), partial=True),
        message(4, role=MessageRole.TOOL, call_id="c1", name="look", failed=True, imported=True),
    ]
    added = await stores.journal.append(U1, given_entries)
    assert [entry.sequence for entry in added] == [1, 2, 3, 4]
    positions = [entry.position for entry in added]
    assert positions == sorted(set(positions))
    assert await stores.journal.read(U1, "s1") == added
    assert [entry.model_copy(update={"sequence": 0, "position": 0}) for entry in added] == given_entries


async def test_empty_append_and_unknown_session(stores: SqlStores) -> None:
    assert await stores.journal.append(U1, []) == []
    assert await stores.journal.read(U1, "nobody") == []
    assert await stores.journal.last_cut(U1, "nobody") is None
    assert await stores.journal.since(U1, 0) == []
    assert await stores.journal.get(U1, []) == []
    assert await stores.journal.sessions(U1) == []


async def test_repeated_append_is_harmless(stores: SqlStores) -> None:
    first = await stores.journal.append(U1, [message(1), message(2)])
    changed = message(2, "another text")
    again = await stores.journal.append(U1, [message(1), changed, message(3), message(3)])
    assert again[:2] == first
    assert again[2] == again[3]
    assert [entry.sequence for entry in await stores.journal.read(U1, "s1")] == [1, 2, 3]
    [session] = await stores.journal.sessions(U1)
    assert session.message_count == 3


async def test_one_append_is_one_session(stores: SqlStores) -> None:
    with pytest.raises(StoreError, match="one session"):
        await stores.journal.append(U1, [message(1), message(2, session="s2")])
    assert await stores.journal.sessions(U1) == []


async def test_read_after_and_limit(stores: SqlStores) -> None:
    await stores.journal.append(U1, [message(number) for number in range(1, 11)])
    assert [entry.sequence for entry in await stores.journal.read(U1, "s1", after_sequence=7)] == [8, 9, 10]
    assert [entry.sequence for entry in await stores.journal.read(U1, "s1", after_sequence=2, limit=3)] == [3, 4, 5]
    assert await stores.journal.read(U1, "s1", limit=0) == []


async def test_since_goes_over_sessions_by_position(stores: SqlStores) -> None:
    await stores.journal.append(U2, [message(0, "not u1's")])
    for number in range(6):
        await stores.journal.append(U1, [message(number, session=f"s{number % 2}")])
    seen = await stores.journal.since(U1, 0)
    assert [entry.at for entry in seen] == [time(number) for number in range(6)]
    assert await stores.journal.since(U1, seen[3].position) == seen[4:]
    assert await stores.journal.since(U1, 0, limit=2) == seen[:2]
    assert await stores.journal.since(U1, seen[-1].position) == []


async def test_get_in_the_order_asked(stores: SqlStores) -> None:
    await stores.journal.append(U1, [message(number) for number in range(5)])
    found = await stores.journal.get(U1, ["s1-m3", "nobody", "s1-m0"])
    assert [entry.id for entry in found] == ["s1-m3", "s1-m0"]
    assert len(await stores.journal.get(U1, [f"s1-m{number}" for number in range(2000)])) == 5


async def test_last_cut(stores: SqlStores) -> None:
    await stores.journal.append(U1, [message(1), mark(2, MarkKind.CUT, from_sequence=1), message(3)])
    await stores.journal.append(U1, [mark(4, MarkKind.CUT, from_sequence=3), mark(5, MarkKind.CONTEXT), message(6)])
    cut = await stores.journal.last_cut(U1, "s1")
    assert cut is not None
    assert cut.data == {"from_sequence": 3}
    assert await stores.journal.last_cut(U1, "s2") is None
    assert await stores.journal.last_cut(U2, "s1") is None


async def test_last_cut_takes_no_longer_in_a_long_session(stores: SqlStores) -> None:
    async def seconds(session: str) -> float:
        times: list[float] = []
        for _ in range(15):
            begin = clock.perf_counter()
            await stores.journal.last_cut(U1, session)
            times.append(clock.perf_counter() - begin)
        return min(times)

    for session, length in (("short", 10), ("long", 10_000)):
        await stores.journal.append(U1, [mark(0, MarkKind.CUT, session=session)])
        await stores.journal.append(U1, [message(number, session=session) for number in range(1, length)])
        await stores.journal.append(
            U1, [mark(number, MarkKind.STARTED, session=session) for number in range(1, length)]
        )
    assert await seconds("long") < 10 * await seconds("short")


async def test_sessions_last_used_first(stores: SqlStores) -> None:
    await stores.journal.append(U1, [message(5, session="a"), message(6, session="a")])
    await stores.journal.append(U1, [message(1, session="imported"), mark(2, MarkKind.STARTED, session="imported")])
    await stores.journal.append(U1, [message(7, session="b")])
    sessions = await stores.journal.sessions(U1)
    assert [session.id for session in sessions] == ["b", "a", "imported"]
    assert [session.message_count for session in sessions] == [1, 2, 1]
    assert (sessions[1].created_at, sessions[1].last_at) == (time(5), time(6))
    await stores.journal.append(U1, [message(9, session="imported")])
    assert [session.id for session in await stores.journal.sessions(U1, limit=2)] == ["imported", "b"]


async def test_title_is_the_beginning_of_the_first_user_message(stores: SqlStores) -> None:
    await stores.journal.append(U1, [message(1, "a note", role=MessageRole.NOTE)])
    [session] = await stores.journal.sessions(U1)
    assert session.title == ""
    await stores.journal.append(U1, [message(2, "where\n does  my sister " + "live " * 30), message(3, "second")])
    [session] = await stores.journal.sessions(U1)
    assert session.title == ("where does my sister " + "live " * 30)[:60].rstrip()


async def test_two_users_may_use_one_session_id(stores: SqlStores) -> None:
    """C25: nothing of u1's is seen by u2, by session, by id, or by listing."""
    await stores.journal.append(U1, [message(1, "gate code 7741", id="same")])
    await stores.journal.append(U2, [message(1, "gate code 9902", id="same"), message(2, "more")])
    [mine] = await stores.journal.read(U1, "s1")
    assert isinstance(mine, Message)
    assert (mine.content, mine.sequence) == ("gate code 7741", 1)
    theirs = [
        *await stores.journal.read(U2, "s1"),
        *await stores.journal.since(U2, 0),
        *await stores.journal.get(U2, ["same", "s1-m1"]),
    ]
    assert not any("7741" in entry.model_dump_json() for entry in theirs)
    assert [session.title for session in await stores.journal.sessions(U2)] == ["gate code 9902"]
    assert await stores.journal.get(Scope("U1"), ["same"]) == []


async def test_any_user_id_works_and_none_shares(stores: SqlStores) -> None:
    """C21."""
    for scope in WEIRD_SCOPES:
        await stores.journal.append(scope, [message(1, f"of {scope}")])
    for scope in WEIRD_SCOPES:
        [entry] = await stores.journal.read(scope, "s1")
        assert isinstance(entry, Message)
        assert entry.content == f"of {scope}"


@pytest.mark.parametrize("text", HARD_TEXTS)
async def test_hard_texts_come_back_equal(stores: SqlStores, text: str) -> None:
    entry = message(1).model_copy(update={"content": text})
    [added] = await stores.journal.append(
        U1,
        [
            entry,
        ],
    )
    assert await stores.journal.read(U1, "s1") == [added]
    assert isinstance(added, Message)
    assert added.content == text


async def test_five_megabytes(stores: SqlStores) -> None:
    text = "word 词语 🎉 " * 400_000
    await stores.journal.append(U1, [message(1, text)])
    [entry] = await stores.journal.read(U1, "s1")
    assert isinstance(entry, Message)
    assert entry.content == text


async def test_a_lone_surrogate_is_refused_and_leaves_no_trace(stores: SqlStores) -> None:
    with pytest.raises(StoreError):
        await stores.journal.append(U1, [message(1, "fine"), message(2, "broken \ud800")])
    assert await stores.journal.read(U1, "s1") == []
    await stores.journal.append(U1, [message(3)])
    assert [entry.sequence for entry in await stores.journal.read(U1, "s1")] == [1]


async def test_nul_is_kept_or_refused(stores: SqlStores) -> None:
    await stores.journal.append(U1, [message(1, "a\0b")])
    [entry] = await stores.journal.read(U1, "s1")
    assert isinstance(entry, Message)
    assert entry.content == "a\0b"
    try:
        await stores.journal.append(U1, [message(2, id="nul\0id")])
    except StoreError:
        assert len(await stores.journal.read(U1, "s1")) == 1
    else:
        assert [entry.id for entry in await stores.journal.read(U1, "s1", after_sequence=1)] == ["nul\0id"]


async def test_a_time_without_zone_is_refused(stores: SqlStores) -> None:
    with pytest.raises(StoreError, match="zone"):
        await stores.journal.append(U1, [message(1, at=time(1).replace(tzinfo=None))])
    assert await stores.journal.sessions(U1) == []


@pytest.mark.timeout(1800)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plan=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 6), st.booleans()), max_size=25))
def test_any_order_of_appends(stores: SqlStores, plan: list[tuple[str, int, bool]]) -> None:
    """Against a list per session: what was appended first, once, in order."""
    asyncio.run(check_order(stores, Scope(f"u{uuid4().hex}"), plan))


async def check_order(stores: SqlStores, scope: Scope, plan: list[tuple[str, int, bool]]) -> None:
    expected: dict[str, list[str]] = {"a": [], "b": []}
    for session, number, is_mark in plan:
        entry = mark(number, MarkKind.CUT, session=session) if is_mark else message(number, session=session)
        await stores.journal.append(scope, [entry])
        if entry.id not in expected[session]:
            expected[session].append(entry.id)
    for session, ids in expected.items():
        found = await stores.journal.read(scope, session)
        assert [entry.id for entry in found] == ids
        assert [entry.sequence for entry in found] == list(range(1, len(ids) + 1))
        cuts = [entry.id for entry in found if isinstance(entry, Mark)]
        last = await stores.journal.last_cut(scope, session)
        assert (last.id if last else None) == (cuts[-1] if cuts else None)


async def test_marks_of_a_kind_oldest_first(stores: SqlStores) -> None:
    given_entries = [
        message(1),
        mark(2, MarkKind.DECIDED, verdict="yes"),
        mark(3, MarkKind.STARTED),
        mark(4, MarkKind.DECIDED, verdict="no"),
    ]
    await stores.journal.append(U1, given_entries)
    await stores.journal.append(U2, [mark(5, MarkKind.DECIDED)])
    found = await stores.journal.marks(U1, "s1", MarkKind.DECIDED)
    assert [each.data.get("verdict") for each in found] == ["yes", "no"]
    assert await stores.journal.marks(U1, "s2", MarkKind.DECIDED) == []
    assert await stores.journal.marks(U1, "s1", MarkKind.CUT) == []
