"""The contracts of Ledger and Manifests."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text

from stores.errors import StoreError
from stores.records import Scope
from stores.sql import SqlStores, open_sql
from stores.sql.engines import WRITE, file_of, make_engine, url_of
from stores.sql.migrate import SCRIPTS
from stores.sql.schema import to_micros
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


async def test_ledger_recent_samples_of_a_model_at_an_endpoint(stores: SqlStores) -> None:
    here = {"model": "m", "endpoint": "http://127.0.0.1"}
    assert await stores.ledger.recent(U1, **here) == []
    usable = [ledger_entry(n, raw_tokens=8 + n, role=role) for n, role in ((1, "chat"), (2, "summarise"), (3, "chat"))]
    for call in usable:
        await stores.ledger.add(U1, call)
    for number, fields in enumerate(
        (
            {"raw_tokens": 0},
            {"raw_tokens": 9, "prompt_tokens": 0},
            {"raw_tokens": 9, "estimated": True},
            {"raw_tokens": 9, "text_only": False},
            {"raw_tokens": 9, "model": "M"},
            {"raw_tokens": 9, "endpoint": "http://127.0.0.1:1"},
        ),
        start=4,
    ):
        await stores.ledger.add(U1, ledger_entry(number, **fields))
    await stores.ledger.add(U2, ledger_entry(20, raw_tokens=9))
    await stores.ledger.add(U1, ledger_entry(21, raw_tokens=9, session=None, at=time(2)))
    assert [call.id for call in await stores.ledger.recent(U1, **here)] == ["call3", "call21", "call2", "call1"]
    assert await stores.ledger.recent(U1, **here, limit=1) == [usable[2]]
    assert len(await stores.ledger.recent(U1, model="M", endpoint="http://127.0.0.1")) == 1


async def test_ledger_tokens_of_a_role_since_a_time(stores: SqlStores) -> None:
    assert await stores.ledger.tokens_since(U1, role="summarise", since=time(0)) == 0
    for number in range(1, 5):
        call = ledger_entry(number, role="summarise", prompt_tokens=1_000 * number, completion_tokens=number)
        await stores.ledger.add(U1, call)
    await stores.ledger.add(U1, ledger_entry(5, role="chat"))
    await stores.ledger.add(U2, ledger_entry(6, role="summarise"))
    assert await stores.ledger.tokens_since(U1, role="summarise", since=time(0)) == 10_010
    assert await stores.ledger.tokens_since(U1, role="summarise", since=time(3)) == 7_007
    assert await stores.ledger.tokens_since(U1, role="summarise", since=time(9)) == 0
    with pytest.raises(StoreError):
        await stores.ledger.tokens_since(U1, role="chat", since=time(0).replace(tzinfo=None))


async def test_what_an_older_version_kept_is_found_by_role_model_and_number(empty_location: str) -> None:
    calls = [ledger_entry(n, raw_tokens=9 * (n % 2), model=f"m{n % 3}") for n in range(1, 1_203)]
    payloads = [call.model_dump(mode="json") for call in calls]
    for payload in payloads:
        if not payload["raw_tokens"]:  # nor had the oldest of them these fields
            del payload["raw_tokens"], payload["text_only"]
    _keep_at_first_revision(empty_location, payloads)
    stores = open_sql(empty_location)
    try:
        found = await stores.ledger.recent(U1, model="m1", endpoint="http://127.0.0.1", limit=1_000)
        assert found == [c for c in reversed(calls) if c.model == "m1" and c.raw_tokens]
        assert await stores.ledger.tokens_since(U1, role="chat", since=time(0)) == 15 * len(calls)
        assert await stores.ledger.list(U1) == calls[::-1]
        assert [(m.number, m.details) for m in await stores.manifests.list(U1, "s1")] == [(2, None), (1, None)]
        assert await put(stores, 7) == 3
    finally:
        await stores.close()


def _keep_at_first_revision(location: str, payloads: list[dict[str, Any]]) -> None:
    """A database as the first version made it, with these calls in its ledger."""
    url = url_of(location)
    if file := file_of(url):
        file.parent.mkdir()
    engine = make_engine(url)
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.set_main_option("path_separator", "os")
    add = "INSERT INTO ledger (scope, id, session_id, at, payload) VALUES (:scope, :id, :session, :at, :payload)"
    with engine.execution_options(**{WRITE: True}).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        rows = [
            {"scope": U1, "id": p["id"], "session": "s1", "at": number, "payload": json.dumps(p)}
            for number, p in enumerate(payloads, start=to_micros(time(1)))
        ]
        connection.execute(text(add), rows)
        add = "INSERT INTO manifests (scope, session_id, exchange_id, payload) VALUES (:scope, :session, 'e', '{}')"
        connection.execute(text(add), [{"scope": U1, "session": session} for session in ("s1", "s2", "s1")])
    engine.dispose()


async def put(stores: SqlStores, number: int, session: str = "s1", scope: Scope = U1, **more: Any) -> int:
    figures, details = f'{{"n": {number}}}', f'{{"d": {number}}}'
    return await stores.manifests.put(
        scope, session, f"e{number}", figures, details=details, **{"at": time(number), **more}
    )


async def test_manifests_are_numbered_within_their_session(stores: SqlStores) -> None:
    assert await stores.manifests.list(U1, "s1") == []
    assert [await put(stores, n) for n in (1, 2)] == [1, 2]
    assert await put(stores, 3, "s2") == 1
    assert await put(stores, 4, scope=U2) == 1
    assert await put(stores, 5) == 3
    kept = await stores.manifests.list(U1, "s1")
    assert [(m.number, m.exchange_id, m.figures, m.details) for m in kept] == [
        (3, "e5", '{"n": 5}', '{"d": 5}'),
        (2, "e2", '{"n": 2}', '{"d": 2}'),
        (1, "e1", '{"n": 1}', '{"d": 1}'),
    ]
    assert kept[0].at == time(5)
    assert await stores.manifests.list(U1, "s1", limit=1) == kept[:1]
    assert await stores.manifests.list(U1, "s1", number=2) == kept[1:2]
    assert await stores.manifests.list(U1, "s1", number=9) == []


async def test_details_and_texts_expire_and_figures_stay(stores: SqlStores) -> None:
    old, used, said = "a system text", "another system text", "- a recalled line"
    line = await stores.manifests.put_text(U1, said)
    await put(stores, 1, texts=[old, said])
    await put(stores, 2, texts=[old, used])
    await put(stores, 9, texts=[used])
    await put(stores, 1, scope=U2, texts=[old])
    hashes = [hashlib.sha256(one.encode()).hexdigest() for one in (old, used, said)]
    assert await stores.manifests.expire(U1, before=time(1)) == 0
    assert len(await stores.manifests.texts(U1, hashes)) == 3
    assert await stores.manifests.expire(U1, before=time(5)) == 2
    assert await stores.manifests.expire(U1, before=time(5)) == 0
    kept = await stores.manifests.list(U1, "s1")
    assert [m.details for m in kept] == ['{"d": 9}', None, None]
    assert [m.figures for m in kept] == ['{"n": 9}', '{"n": 2}', '{"n": 1}']
    assert set(await stores.manifests.texts(U1, hashes)) == {hashes[1], line}
    assert set(await stores.manifests.texts(U2, hashes)) == {hashes[0]}
    await put(stores, 9, texts=[old])  # as a prompt with the old text comes again
    assert len(await stores.manifests.texts(U1, hashes)) == 3


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
        await put(stores, len(scope), "s", scope)
    for scope in WEIRD_SCOPES:
        assert [call.session_id for call in await stores.ledger.list(scope)] == [scope]
        assert [m.exchange_id for m in await stores.manifests.list(scope, "s")] == [f"e{len(scope)}"]
