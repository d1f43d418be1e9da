"""The contract of Generations."""

from __future__ import annotations

from stores.chroma import ChromaVectorIndex
from stores.sql import SqlStores
from tests.contract.samples import U1, U2, angle


async def test_a_generation_keeps_its_first_probe(stores: SqlStores) -> None:
    assert await stores.generations.list() == {}
    assert await stores.generations.add("mini/1", b"\x00\xff") == b"\x00\xff"
    assert await stores.generations.add("mini/1", b"other") == b"\x00\xff"
    assert await stores.generations.add("e5/1", b"x") == b"x"
    assert await stores.generations.list() == {"mini/1": b"\x00\xff", "e5/1": b"x"}


async def test_a_dropped_generation_is_gone_and_others_stay(vectors: ChromaVectorIndex) -> None:
    for scope in (U1, U2):
        for generation in ("old", "new"):
            await vectors.put(scope, generation, {"a": [angle(0)]})
    await vectors.drop(U1, "old")
    await vectors.drop(U1, "old")
    assert await vectors.query(U1, "old", angle(0), limit=3) == []
    assert await vectors.count(U1, "new") == await vectors.count(U2, "old") == 1
    await vectors.reopen()
    assert await vectors.count(U1, "old") == 0
    await vectors.put(U1, "old", {"b": [angle(0)]})
    assert await vectors.count(U1, "old") == 1
