"""The contracts of Ledger and Manifests."""

from __future__ import annotations

import pytest

from stores.errors import StoreError
from stores.sql import SqlStores
from tests.contract.samples import HARD_TEXTS, U1, U2, WEIRD_SCOPES, ledger_entry, time


async def test_ledger_newest_first(stores: SqlStores) -> None:
    assert await stores.ledger.list(U1) == []
    calls = [
        ledger_entry(1),
        ledger_entry(2, session=None, cost_usd=0.0012),
        ledger_entry(3, at=time(2)),
        ledger_entry(4, session="s2", at=time(0)),
    ]
    for call in calls:
        await stores.ledger.add(U1, call)
    await stores.ledger.add(U1, calls[0])
    await stores.ledger.add(U2, ledger_entry(1, session="s9"))
    assert await stores.ledger.list(U1) == [calls[2], calls[1], calls[0], calls[3]]
    assert await stores.ledger.list(U1, limit=1) == [calls[2]]
    assert await stores.ledger.list(U1, session_id="s1") == [calls[2], calls[0]]
    assert await stores.ledger.list(U1, session_id="s9") == []


async def test_the_last_manifest_of_a_session(stores: SqlStores) -> None:
    assert await stores.manifests.last(U1, "s1") is None
    await stores.manifests.put(U1, "s1", "e1", '{"n": 1}')
    await stores.manifests.put(U1, "s1", "e1", '{"n": 2}')
    await stores.manifests.put(U1, "s2", "e9", '{"n": 3}')
    await stores.manifests.put(U2, "s1", "e1", '{"n": 4}')
    assert await stores.manifests.last(U1, "s1") == '{"n": 2}'
    assert await stores.manifests.last(U2, "s2") is None


async def test_texts_are_kept_once_by_hash(stores: SqlStores) -> None:
    hashes = [await stores.manifests.put_text(U1, text) for text in HARD_TEXTS]
    assert hashes == [await stores.manifests.put_text(U1, text) for text in HARD_TEXTS]
    assert len(set(hashes)) == len(HARD_TEXTS)
    assert await stores.manifests.texts(U1, [*hashes, "unknown"]) == dict(zip(hashes, HARD_TEXTS, strict=True))
    assert await stores.manifests.texts(U1, []) == {}
    assert await stores.manifests.texts(U2, hashes) == {}
    with pytest.raises(StoreError):
        await stores.manifests.put_text(U1, "\ud800")


async def test_any_user_id_works_and_none_shares(stores: SqlStores) -> None:
    for scope in WEIRD_SCOPES:
        await stores.ledger.add(scope, ledger_entry(1, session=str(scope)))
        await stores.manifests.put(scope, "s", "e", f'"{len(scope)}{scope[:3]}"')
    for scope in WEIRD_SCOPES:
        assert [call.session_id for call in await stores.ledger.list(scope)] == [scope]
        assert await stores.manifests.last(scope, "s") == f'"{len(scope)}{scope[:3]}"'
