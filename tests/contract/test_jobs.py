"""The contracts of Jobs and NeverList."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from stores.sql import SqlStores, open_sql
from tests.contract.samples import U1, U2, time


async def test_jobs_are_claimed_oldest_first_by_one_worker(stores: SqlStores) -> None:
    for key in ("b", "a"):
        assert await stores.jobs.put(U1, "extract", key, {"session": key, "names": ["名前"]}, at=time(0))
    first = await stores.jobs.claim(["extract"], at=time(1), lease_seconds=60)
    second = await stores.jobs.claim(["extract"], at=time(1), lease_seconds=60)
    assert first is not None
    assert second is not None
    assert (first.key, second.key, first.attempts, first.scope) == ("b", "a", 1, U1)
    assert first.payload == {"session": "b", "names": ["名前"]}
    assert await stores.jobs.claim(["extract"], at=time(1), lease_seconds=60) is None
    await stores.jobs.done(first.number)
    await stores.jobs.done(12_345)
    assert [job.key for job in await stores.jobs.list(U1)] == ["a"]


async def test_a_job_is_queued_once(stores: SqlStores) -> None:
    assert await stores.jobs.put(U1, "extract", "a", at=time(0))
    assert not await stores.jobs.put(U1, "extract", "a", at=time(0))
    assert await stores.jobs.put(U1, "erase", "a", at=time(0))
    assert await stores.jobs.put(U2, "extract", "a", at=time(0))
    assert len(await stores.jobs.list(U1)) == 2
    assert len(await stores.jobs.list(U1, kind="erase")) == 1


async def test_only_what_is_wanted_and_due_is_claimed(stores: SqlStores) -> None:
    await stores.jobs.put(U1, "extract", "later", at=time(100))
    await stores.jobs.put(U2, "erase", "now", at=time(0))
    assert await stores.jobs.claim(["extract"], at=time(99), lease_seconds=9) is None
    assert await stores.jobs.claim(["erase"], at=time(1), lease_seconds=9, scope=U1) is None
    assert await stores.jobs.claim([], at=time(1), lease_seconds=9) is None
    assert await stores.jobs.claim(["extract", "erase"], at=time(1), lease_seconds=9, scope=U2) is not None
    assert await stores.jobs.claim(["extract"], at=time(100), lease_seconds=9) is not None


async def test_a_worker_that_died_loses_its_job(stores: SqlStores) -> None:
    await stores.jobs.put(U1, "extract", "a", at=time(0))
    assert await stores.jobs.claim(["extract"], at=time(0), lease_seconds=60) is not None
    assert await stores.jobs.claim(["extract"], at=time(59), lease_seconds=60) is None
    again = await stores.jobs.claim(["extract"], at=time(60), lease_seconds=60)
    assert again is not None
    assert again.attempts == 2


async def test_a_failed_job_waits_and_a_hopeless_one_stays_listed(stores: SqlStores) -> None:
    await stores.jobs.put(U1, "extract", "a", at=time(0))
    job = await stores.jobs.claim(["extract"], at=time(0), lease_seconds=60)
    assert job is not None
    await stores.jobs.failed(job.number, "the model is not there", retry_at=time(10))
    assert await stores.jobs.claim(["extract"], at=time(9), lease_seconds=60) is None
    again = await stores.jobs.claim(["extract"], at=time(10), lease_seconds=60)
    assert again is not None
    assert (again.attempts, again.error) == (2, "the model is not there")
    await stores.jobs.failed(job.number, "no", retry_at=None)
    assert await stores.jobs.claim(["extract"], at=time(10) + timedelta(days=9), lease_seconds=60) is None
    (listed,) = await stores.jobs.list(U1)
    assert (listed.gave_up, listed.error) == (True, "no")
    assert await stores.jobs.put(U1, "extract", "a", at=time(20))
    (listed,) = await stores.jobs.list(U1)
    assert (listed.gave_up, listed.attempts, listed.error) == (False, 0, "")


@pytest.mark.parametrize("kind", ["sqlite-file", "postgres"])
async def test_no_job_is_claimed_twice(kind: str, new_location: Callable[..., str]) -> None:
    location = new_location(kind)
    stores = [open_sql(location) for _ in range(3)]
    try:
        for number in range(30):
            await stores[0].jobs.put(U1, "extract", str(number), at=time(0))

        async def work(own: SqlStores) -> list[int]:
            claimed: list[int] = []
            while job := await own.jobs.claim(["extract"], at=time(1), lease_seconds=600):
                claimed.append(job.number)
            return claimed

        claimed = await asyncio.gather(*(work(each) for each in stores))
        numbers = [number for each in claimed for number in each]
        assert len(numbers) == len(set(numbers)) == 30
    finally:
        for each in stores:
            await each.close()


async def test_what_is_never_remembered_is_kept_in_order(stores: SqlStores) -> None:
    assert await stores.never.add(U1, "card *", at=time(0))
    assert await stores.never.add(U1, 'älter\'s "x" %', at=time(1))
    assert not await stores.never.add(U1, "card *", at=time(2))
    assert await stores.never.list(U1) == ["card *", 'älter\'s "x" %']
    assert await stores.never.list(U2) == []
    assert not await stores.never.remove(U2, "card *")
    assert await stores.never.remove(U1, "card *")
    assert not await stores.never.remove(U1, "card *")
    assert await stores.never.list(U1) == ['älter\'s "x" %']


async def test_a_lease_can_be_renewed(stores: SqlStores) -> None:
    await stores.jobs.put(U1, "extract", "a", at=time(0))
    job = await stores.jobs.claim(["extract"], at=time(0), lease_seconds=10)
    assert job is not None
    await stores.jobs.renew(job.number, at=time(8), lease_seconds=10)
    assert await stores.jobs.claim(["extract"], at=time(15), lease_seconds=10) is None
    await stores.jobs.renew(99, at=time(8), lease_seconds=10)
    again = await stores.jobs.claim(["extract"], at=time(18), lease_seconds=10)
    assert again is not None
    assert again.number == job.number
