"""The contract of Outbox."""

from __future__ import annotations

import pytest

from stores.errors import StoreError
from stores.sql import SqlStores
from tests.contract.samples import U1, U2, angle, forgotten, memory


async def add(stores: SqlStores, count: int, *, first: int = 0) -> list[int]:
    """Adds memories of u1 one by one and returns the numbers of their tasks."""
    for number in range(first, first + count):
        await stores.memories.put(U1, [memory(f"m{number}", f"text {number}")])
    return [task.number for task in await stores.outbox.pending(limit=10_000)][-count:]


async def test_an_empty_outbox(stores: SqlStores) -> None:
    assert await stores.outbox.pending() == []
    assert await stores.outbox.epoch() == 0
    assert await stores.outbox.open_count() == 0
    assert await stores.outbox.newer(U1, 0) == []
    assert await stores.outbox.requeue(U1) == 0
    await stores.outbox.done([])
    await stores.outbox.embedded("g", {})


async def test_every_change_is_a_task_with_a_larger_number(stores: SqlStores) -> None:
    await stores.memories.put(U1, [memory("a", "1"), memory("b", "2")])
    await stores.memories.put(U2, [memory("a", "3")])
    await stores.memories.put(U1, [memory("a", "4"), memory("b", "2"), forgotten(memory("c", "5"))])
    tasks = await stores.outbox.pending()
    assert [(task.scope, task.memory_id) for task in tasks] == [
        ("u1", "a"), ("u1", "b"), ("u2", "a"), ("u1", "a"), ("u1", "c"),
    ]  # fmt: skip
    numbers = [task.number for task in tasks]
    assert numbers == sorted(set(numbers))
    assert numbers[0] > 0
    assert all(task.vectors is None and task.generation is None and not task.done for task in tasks)
    assert await stores.outbox.pending(limit=2) == tasks[:2]
    assert await stores.outbox.pending(limit=0) == []
    assert (await stores.outbox.open_count(), await stores.outbox.open_count(U2)) == (5, 1)


async def test_embedded_stores_vectors(stores: SqlStores) -> None:
    one, two, three = await add(stores, 3)
    await stores.outbox.embedded("g", {one: [angle(1), angle(2)], two: [], 999_999: [angle(3)]})
    tasks = await stores.outbox.pending()
    assert [task.vectors for task in tasks] == [(angle(1), angle(2)), (), None]
    assert [task.generation for task in tasks] == ["g", "g", None]
    assert [task.number for task in await stores.outbox.pending(unembedded_only=True)] == [three]
    assert await stores.outbox.newer(U1, one) == tasks[1:]
    with pytest.raises(StoreError, match="one length"):
        await stores.outbox.embedded("g", {three: [b"1234", b"12345678"]})


async def test_the_epoch_is_below_the_first_open_task(stores: SqlStores) -> None:
    one, two, three = await add(stores, 3)
    assert await stores.outbox.epoch() < one
    await stores.outbox.done([two])
    assert await stores.outbox.epoch() < one
    await stores.outbox.done([one, two])
    assert two <= await stores.outbox.epoch() < three
    await stores.outbox.done([three, 999_999])
    assert await stores.outbox.epoch() == three
    assert await stores.outbox.pending() == []
    [four] = await add(stores, 1, first=10)
    assert three <= await stores.outbox.epoch() < four


async def test_newer_without_a_number_begins_at_the_epoch(stores: SqlStores) -> None:
    numbers = await add(stores, 3)
    await stores.outbox.embedded("g", {number: [angle(1)] for number in numbers})
    await stores.outbox.done([numbers[0], numbers[2]])
    newer = await stores.outbox.newer(U1)
    assert newer is not None
    assert [(task.number, task.done) for task in newer] == [(numbers[1], False), (numbers[2], True)]
    await stores.outbox.done(numbers)
    assert await stores.outbox.newer(U1) == []


async def test_newer_gives_done_tasks_too(stores: SqlStores) -> None:
    numbers = await add(stores, 4)
    await stores.memories.put(U2, [memory("x", "not u1's")])
    await stores.outbox.embedded("g", {numbers[1]: [angle(5)]})
    await stores.outbox.done(numbers[:2])
    newer = await stores.outbox.newer(U1, numbers[0])
    assert newer is not None
    assert [(task.number, task.done) for task in newer] == [
        (numbers[1], True),
        (numbers[2], False),
        (numbers[3], False),
    ]
    assert newer[0].vectors == (angle(5),)
    assert await stores.outbox.newer(U1, numbers[-1]) == []


async def test_old_done_tasks_are_dropped_and_said_to_be(stores: SqlStores) -> None:
    await stores.memories.put(U2, [memory("x", "kept open")])
    await stores.memories.put(U1, [memory(f"m{number}", f"text {number}") for number in range(2_100)])
    tasks = await stores.outbox.pending(limit=10_000)
    await stores.outbox.embedded("g", {task.number: [angle(1)] for task in tasks})
    mine = [task.number for task in tasks if task.scope == "u1"]
    await stores.outbox.done(mine)
    assert await stores.outbox.newer(U1, 0) is None
    assert await stores.outbox.newer(U1, mine[10]) is None
    recent = await stores.outbox.newer(U1, mine[-1] - 1_500)
    assert recent is not None
    assert len(recent) == 1_500
    assert all(task.vectors == (angle(1),) for task in recent)
    # An open task is never dropped, and keeps the epoch down.
    assert [task.vectors for task in await stores.outbox.pending()] == [(angle(1),)]
    assert await stores.outbox.epoch() < mine[0]
    theirs = await stores.outbox.newer(U2, 0)
    assert theirs is not None
    assert len(theirs) == 1
    await stores.outbox.done([theirs[0].number])
    assert await stores.outbox.epoch() == mine[-1]
    [fresh] = await add(stores, 1, first=5_000)
    assert fresh > mine[-1]


async def test_requeue_adds_a_task_for_every_active_memory(stores: SqlStores) -> None:
    numbers = await add(stores, 3)
    await stores.memories.put(U1, [forgotten(memory("m1", "text 1"))])
    await stores.memories.put(U2, [memory("x", "y")])
    await stores.outbox.done([task.number for task in await stores.outbox.pending()])
    assert await stores.outbox.requeue(U1) == 2
    assert await stores.outbox.requeue() == 3
    await stores.outbox.done([task.number for task in (await stores.outbox.pending())[2:]])
    tasks = await stores.outbox.pending()
    assert [task.memory_id for task in tasks] == ["m0", "m2"]
    assert min(task.number for task in tasks) > max(numbers)
