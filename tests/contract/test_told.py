"""The contract of Told."""

from __future__ import annotations

from stores.sql import SqlStores
from tests.contract.samples import U1, U2, time


async def test_a_person_is_told_once(stores: SqlStores) -> None:
    assert await stores.told.first(U1, "english", at=time(0))
    assert not await stores.told.first(U1, "english", at=time(1))
    assert await stores.told.first(U1, "other", at=time(1))
    assert await stores.told.first(U2, "english", at=time(1))
