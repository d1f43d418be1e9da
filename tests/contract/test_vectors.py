"""The contract of VectorIndex, on Chroma."""

from __future__ import annotations

import asyncio
import os
import struct
from pathlib import Path

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stores.chroma import ChromaVectorIndex
from stores.errors import StoreClosedError, StoreCorruptError, StoreError
from stores.indexes import VectorIndex
from stores.records import Scope
from tests.contract.samples import U1, U2, WEIRD_SCOPES, angle, vector
from tests.contract.vector_worker import spread, start
from tests.contract.worker import finish
from tests.residue import files_with, files_with_vector


async def ids(index: VectorIndex, degrees: float, *, limit: int = 10, scope: Scope = U1) -> list[str]:
    return [hit.memory_id for hit in await index.query(scope, "g", angle(degrees), limit=limit)]


async def test_nearest_first_with_cosines(vectors: ChromaVectorIndex) -> None:
    # Lengths differ: the cosine does not.
    await vectors.put(U1, "g", {"a": [angle(0)], "b": [vector(0.0, 5.0)], "c": [vector(-3.0, 0.0)]})
    hits = await vectors.query(U1, "g", angle(30), limit=3)
    assert [hit.memory_id for hit in hits] == ["a", "b", "c"]
    assert [hit.similarity for hit in hits] == pytest.approx([0.8660, 0.5, -0.8660], abs=1e-3)


async def test_an_empty_index(vectors: ChromaVectorIndex) -> None:
    assert await vectors.query(U1, "g", angle(0), limit=5) == []
    assert await vectors.count(U1, "g") == 0
    await vectors.put(U1, "g", {})
    await vectors.put(U1, "g", {"unknown": []})
    assert await vectors.query(U1, "g", angle(0), limit=5) == []


async def test_limits(vectors: ChromaVectorIndex) -> None:
    await vectors.put(U1, "g", {f"m{number}": [angle(number)] for number in range(5)})
    assert await ids(vectors, 0, limit=0) == []
    assert await ids(vectors, 0, limit=2) == ["m0", "m1"]
    assert await ids(vectors, 0, limit=1000) == ["m0", "m1", "m2", "m3", "m4"]


async def test_the_first_vector_of_each_memory(vectors: ChromaVectorIndex) -> None:
    assert await vectors.first(U1, "g", ["a"]) == {}
    await vectors.put(U1, "g", {"a": [angle(0), angle(90)], "b": [angle(45)]})
    await vectors.put(U2, "g", {"theirs": [angle(1)]})
    found = await vectors.first(U1, "g", ["b", "a", "theirs", "nobody"])
    assert found == {"a": angle(0), "b": angle(45)}
    assert await vectors.first(U1, "g", []) == {}
    assert await vectors.first(U1, "other", ["a"]) == {}


async def test_put_replaces_all_chunks(vectors: ChromaVectorIndex) -> None:
    await vectors.put(U1, "g", {"a": [angle(0), angle(90), angle(180)], "b": [angle(270)]})
    await vectors.put(U1, "g", {"a": [angle(10)]})
    assert await vectors.count(U1, "g") == 2
    [first, second] = await vectors.query(U1, "g", angle(180), limit=5)
    assert (first.memory_id, second.memory_id) == ("b", "a")
    assert second.similarity == pytest.approx(-0.9848, abs=1e-3)
    await vectors.put(U1, "g", {"a": [angle(180), angle(0), angle(90), angle(45)]})
    assert await ids(vectors, 180) == ["a", "b"]
    await vectors.put(U1, "g", {"a": []})
    assert await ids(vectors, 180) == ["b"]
    assert await vectors.count(U1, "g") == 1


async def test_one_hit_a_memory_however_many_chunks(vectors: ChromaVectorIndex) -> None:
    await vectors.put(U1, "g", {"long": [angle(number / 100) for number in range(300)]})
    await vectors.put(U1, "g", {f"m{number}": [angle(20 + number)] for number in range(5)})
    assert await ids(vectors, 0, limit=4) == ["long", "m0", "m1", "m2"]


async def test_many_equal_vectors_hide_nobody(vectors: ChromaVectorIndex) -> None:
    """Hundreds of equal texts ("ok") have equal vectors."""
    await vectors.put(U1, "g", {f"other{number}": [spread("other", number)] for number in range(500)})
    await vectors.put(U1, "g", {"long": [spread("same", 0)] * 500})
    await vectors.put(U1, "g", {f"same{number}": [spread("same", 0)] for number in range(3)})
    hits = await vectors.query(U1, "g", spread("same", 0), limit=10)
    assert len(hits) == 10
    assert {hit.memory_id for hit in hits[:4]} == {"long", "same0", "same1", "same2"}
    assert [hit.similarity for hit in hits[:4]] == pytest.approx([1.0] * 4, abs=1e-3)


async def test_more_vectors_than_one_batch(vectors: ChromaVectorIndex) -> None:
    await vectors.put(U1, "g", {f"m{number}": [angle(number / 100)] for number in range(6_000)})
    assert await vectors.count(U1, "g") == 6_000
    await vectors.put(U1, "g", {f"m{number}": [] for number in range(5_999)})
    assert await ids(vectors, 0) == ["m5999"]


@pytest.mark.parametrize("memory_id", ["a#0", "a#1#0", "#", "名前", "a b", "x" * 500, "'\""])
async def test_any_memory_id_works(vectors: ChromaVectorIndex, memory_id: str) -> None:
    await vectors.put(U1, "g", {"a": [angle(90), angle(91)], memory_id: [angle(0), angle(1)]})
    await vectors.put(U1, "g", {memory_id: [angle(0)]})
    assert await ids(vectors, 0) == [memory_id, "a"]
    await vectors.put(U1, "g", {memory_id: []})
    assert await ids(vectors, 0) == ["a"]


async def test_any_user_id_works_and_none_shares(vectors: ChromaVectorIndex) -> None:
    """C21, C25."""
    for number, scope in enumerate(WEIRD_SCOPES):
        await vectors.put(scope, "g", {f"m{number}": [angle(0)]})
    for number, scope in enumerate(WEIRD_SCOPES):
        assert await ids(vectors, 0, scope=scope) == [f"m{number}"]


async def test_generations_do_not_mix(vectors: ChromaVectorIndex) -> None:
    await vectors.put(U1, "small", {"a": [vector(1.0, 0.0)]})
    await vectors.put(U1, "large", {"b": [vector(1.0, 0.0, 0.0)]})
    assert [hit.memory_id for hit in await vectors.query(U1, "small", vector(1.0, 0.0), limit=5)] == ["a"]
    assert [hit.memory_id for hit in await vectors.query(U1, "large", vector(1.0, 0.0, 0.0), limit=5)] == ["b"]


async def test_forgetting_takes_exactly_one_out(vectors: ChromaVectorIndex, tmp_path: Path) -> None:
    """C24: removing, again, an unknown one, none; all of one user; and after reopening."""
    for scope in (U1, U2):
        await vectors.put(scope, "g", {f"m{number}": [angle(number)] for number in range(3)})
    for removed in ({"m1": []}, {"m1": []}, {"unknown": []}, {}):
        await vectors.put(U1, "g", removed)
        assert await vectors.count(U1, "g") == 2
        assert await ids(vectors, 1, limit=2) in (["m0", "m2"], ["m2", "m0"])
    await vectors.put(U1, "g", {f"m{number}": [] for number in range(3)})
    await vectors.close()
    again = ChromaVectorIndex(tmp_path / "vectors")
    assert await ids(again, 1) == []
    assert set(await ids(again, 1, scope=U2)) == {"m0", "m1", "m2"}
    assert await again.count(U2, "g") == 3
    await again.close()


@pytest.mark.parametrize(
    "bad", [b"", b"123", vector(1.0, 0.0, 0.0), vector(float("nan"), 0.0), vector(float("inf"), 1.0)]
)
async def test_a_bad_vector_is_refused_and_changes_nothing(vectors: ChromaVectorIndex, bad: bytes) -> None:
    await vectors.put(U1, "g", {"a": [angle(0)]})
    with pytest.raises(StoreError):
        await vectors.query(U1, "g", bad, limit=3)
    with pytest.raises(StoreError):
        await vectors.put(U1, "g", {"b": [bad]})
    with pytest.raises(StoreError):
        await vectors.put(U1, "g", {"c": [angle(0), bad]})
    assert await ids(vectors, 0) == ["a"]


async def test_closed(vectors: ChromaVectorIndex) -> None:
    await vectors.put(U1, "g", {"a": [angle(0)]})
    await vectors.close()
    await vectors.close()
    for call in (vectors.query(U1, "g", angle(0), limit=1), vectors.count(U1, "g"), vectors.reopen()):
        with pytest.raises(StoreClosedError):
            await call


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
async def test_close_releases_the_files(vectors: ChromaVectorIndex, tmp_path: Path) -> None:
    await vectors.put(U1, "g", {"a": [angle(0)]})
    await vectors.close()

    def open_files() -> list[str]:
        links = [Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd")]
        return [
            target
            for link in links
            if link.is_symlink() and (target := os.path.realpath(link)).startswith(str(tmp_path))
        ]

    for _ in range(100):  # Chroma's own threads close the last of them a moment later
        if not open_files():
            break
        await asyncio.sleep(0.05)
    assert open_files() == []


async def test_reopen_shows_what_another_process_wrote(vectors: ChromaVectorIndex, tmp_path: Path) -> None:
    await vectors.put(U1, "g", {"old": [angle(0)], "kept": [angle(90)]})
    assert await ids(vectors, 0) == ["old", "kept"]
    finish(start("put_vectors", tmp_path / "vectors", "new", 10))
    await vectors.reopen()
    assert await ids(vectors, 0) == ["new", "kept"]


async def test_reopen_works_beside_other_indexes_and_clients_of_the_host(tmp_path: Path) -> None:
    """The host's own client of the folder stays usable, and does not keep our view stale."""
    folder = tmp_path / "vectors"
    folder.mkdir()
    host = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    host.create_collection("mine", embedding_function=None).add(ids=["x"], embeddings=np.eye(2, dtype=np.float32)[:1])
    one, two = ChromaVectorIndex(folder), ChromaVectorIndex(folder)
    await one.put(U1, "g", {"old": [angle(0)]})
    assert await ids(two, 0) == ["old"]
    finish(start("put_vectors", folder, "new", 0))
    await two.reopen()
    assert await ids(two, 0) == ["new"]
    await one.close()
    assert await ids(two, 0) == ["new"]
    await two.close()
    assert host.get_collection("mine", embedding_function=None).count() == 1
    host.close()


def test_processes_that_write_and_read_at_once(tmp_path: Path) -> None:
    """Each may write the index files, every 1,000 vectors; none is lost and none disturbs another."""
    workers = [start("share", tmp_path / "vectors", name, 900) for name in "abc"]
    for worker in workers:
        finish(worker)

    async def check() -> None:
        index = ChromaVectorIndex(tmp_path / "vectors")
        assert await index.count(U1, "g") == 2_700
        for name in "abc":
            for number in range(0, 900, 30):
                [hit] = await index.query(U1, "g", spread(name, number), limit=1)
                assert hit.memory_id == f"{name}-{number}"
        await index.close()

    asyncio.run(check())


async def test_a_death_while_the_files_change_is_noticed_and_can_be_cleared(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    other = ChromaVectorIndex(folder)
    await other.put(U1, "g", {f"m{number}": [angle(number / 10)] for number in range(1_500)})
    index = ChromaVectorIndex(folder)
    await index.put(U2, "g", {"a": [angle(0)]})
    await index.close()
    # What a killed process leaves: its mark, and index files that changed after it.
    mark = folder / "memagent.mark"
    mark.write_text(mark.read_text().replace("done", "writing"))
    os.utime(mark, (1, 1))
    index = ChromaVectorIndex(folder)
    for _ in range(2):
        with pytest.raises(StoreCorruptError, match="rebuild"):
            await index.query(U2, "g", angle(0), limit=1)
    await index.clear()
    assert await ids(index, 0, scope=U2) == []
    assert await index.count(U1, "g") == 0
    await index.put(U1, "g", {"new": [angle(0)]})
    await other.put(U1, "g", {"newer": [angle(90)]})
    assert await ids(other, 0) == ["new", "newer"]
    await index.reopen()
    assert await ids(index, 0) == ["new", "newer"]
    await index.close()
    await other.close()


async def test_a_death_between_changes_of_the_files_does_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    index = ChromaVectorIndex(folder)
    await index.put(U1, "g", {f"m{number}": [angle(number / 10)] for number in range(1_500)})
    await index.close()
    await asyncio.sleep(0.05)
    mark = folder / "memagent.mark"
    mark.write_text(mark.read_text().replace("done", "writing"))
    again = ChromaVectorIndex(folder)
    assert await again.count(U1, "g") == 1_500
    await again.put(U1, "g", {"new": [angle(-90)]})
    assert await ids(again, -90, limit=1) == ["new"]
    await again.close()


async def test_a_damaged_folder(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    folder.mkdir()
    (folder / "chroma.sqlite3").write_bytes(b"not a database" * 1000)
    index = ChromaVectorIndex(folder)
    with pytest.raises(StoreCorruptError):
        await index.count(U1, "g")
    await index.close()


async def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    index = ChromaVectorIndex(tmp_path / "file" / "vectors")
    with pytest.raises(StoreError):
        await index.count(U1, "g")
    await index.close()


async def test_the_folder_is_the_owners_only(vectors: ChromaVectorIndex, tmp_path: Path) -> None:
    await vectors.put(U1, "g", {"a": [angle(0)]})
    assert (tmp_path / "vectors").stat().st_mode & 0o777 == 0o700


def test_a_full_disk(tmp_path: Path) -> None:
    assert finish(start("fill_vectors", tmp_path / "vectors", 2_000_000)) == ["DiskFullError"]
    index = ChromaVectorIndex(tmp_path / "vectors")
    assert asyncio.run(index.query(U1, "g", vector(*[1.0] * 384), limit=1)) != []
    asyncio.run(index.put(U1, "g", {"later": [vector(*[1.0] * 384)]}))
    asyncio.run(index.close())


def test_nothing_reaches_out(tmp_path: Path) -> None:
    """C21: no attempt at the network, no telemetry lines."""
    out, err = start("use_offline", tmp_path).communicate(timeout=100)
    assert out.splitlines() == ["1"]
    assert err == ""


@pytest.mark.timeout(1800)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    puts=st.lists(
        st.dictionaries(st.sampled_from("abcd"), st.lists(st.integers(0, 179), max_size=4), max_size=3), max_size=6
    ),
    asked=st.integers(0, 179),
)
def test_any_order_of_puts(vectors: ChromaVectorIndex, puts: list[dict[str, list[int]]], asked: int) -> None:
    """Against a dict: the best chunk's cosine of every memory."""
    asyncio.run(check_puts(vectors, puts, asked))


async def check_puts(vectors: ChromaVectorIndex, puts: list[dict[str, list[int]]], asked: int) -> None:
    generation = f"{puts}{asked}"
    expected: dict[str, list[int]] = {}
    for put in puts:
        await vectors.put(U1, generation, {id_: [angle(degrees) for degrees in chunks] for id_, chunks in put.items()})
        expected |= put
    best = {
        id_: max(float(np.cos(np.radians(degrees - asked))) for degrees in chunks)
        for id_, chunks in expected.items()
        if chunks
    }
    hits = await vectors.query(U1, generation, angle(asked), limit=10)
    assert {hit.memory_id: hit.similarity for hit in hits} == pytest.approx(best, abs=1e-3)
    similarities = [hit.similarity for hit in hits]
    assert similarities == sorted(similarities, reverse=True)
    assert await vectors.count(U1, generation) == len(best)


# --- rewriting ---------------------------------------------------------------------------------


async def test_rewritten_files_hold_nothing_of_what_was_removed(tmp_path: Path) -> None:
    index = ChromaVectorIndex(tmp_path / "vectors")
    many = {f"m{number}": [spread("vectors", number), spread("more", number)] for number in range(1_500)}
    await index.put(U1, "g", many)
    await index.put(U2, "g", {"m7": [angle(5)], "theirs": [angle(10)]})
    await index.put(U1, "other", {"m7": [angle(20)], "m8": [angle(70)]})
    await index.put(U1, "g", {"m7": []})
    assert files_with(tmp_path, b"m7#0")
    for chunk in many["m7"]:
        assert files_with_vector(tmp_path, chunk)
    await index.rewrite({"m7", "nobody"})
    assert files_with(tmp_path, b"m7#0") == []
    for chunk in many["m7"]:
        assert files_with_vector(tmp_path, chunk) == []
    assert files_with_vector(tmp_path, many["m8"][0])
    assert await index.count(U1, "g") == 1_499
    hit, *_ = await index.query(U1, "g", many["m8"][1], limit=3)
    assert hit.memory_id == "m8"
    assert await ids(index, 12, scope=U2) == ["theirs"]
    assert [h.memory_id for h in await index.query(U1, "other", angle(20), limit=5)] == ["m8"]
    await index.put(U1, "g", {"m8": [spread("new", 1)]})  # its chunks are still known
    assert await index.count(U1, "g") == 1_499
    await index.rewrite([])
    assert await index.count(U1, "g") == 1_499
    await index.close()
    assert os.listdir(tmp_path) == ["vectors"]


def unused_rooms(folder: Path) -> list[bytes]:
    """Of all vector files, what stands behind the vectors they say they have."""
    found: list[bytes] = []
    for file in folder.rglob("data_level0.bin"):
        _, _, _, count, each, _ = struct.unpack_from("<i5Q", (file.parent / "header.bin").read_bytes())
        found.append(file.read_bytes()[count * each :])
    return found


async def test_files_hold_nothing_of_the_process_s_memory(tmp_path: Path) -> None:
    """hnswlib writes the room for further vectors as it finds it in memory: other vectors, often."""
    index = ChromaVectorIndex(tmp_path / "v")
    for size in (1, 120, 1_100, 1_300):
        await index.put(U1, "g", {f"m{number}": [spread("vectors", number)] for number in range(size)})
        await index.put(U2, "g", {f"m{number}": [spread("more", number)] for number in range(size // 2)})
        await index.query(U1, "g", spread("vectors", 1), limit=3)
        rooms = unused_rooms(tmp_path)
        assert rooms
        assert not any(any(room) for room in rooms)
    await index.reopen()
    await index.query(U1, "g", spread("vectors", 1), limit=3)
    await index.rewrite([])
    await index.query(U2, "g", spread("vectors", 1), limit=3)
    await index.close()
    assert not any(any(room) for room in unused_rooms(tmp_path))


async def test_rewriting_an_empty_index(vectors: ChromaVectorIndex) -> None:
    await vectors.rewrite(["a"])
    await vectors.put(U1, "g", {"a": [angle(0)]})
    await vectors.rewrite(["a"])
    assert await ids(vectors, 0) == []
    await vectors.put(U1, "g", {"a": [angle(0)]})
    assert await ids(vectors, 0) == ["a"]


async def test_another_handle_notices_that_the_files_were_rewritten(tmp_path: Path) -> None:
    one, other = ChromaVectorIndex(tmp_path / "v"), ChromaVectorIndex(tmp_path / "v")
    await one.put(U1, "g", {"a": [angle(0)], "b": [angle(40)]})
    assert await ids(other, 0) == ["a", "b"]
    await one.rewrite(["a"])
    assert await ids(other, 0) == ["b"]
    await other.put(U1, "g", {"c": [angle(5)]})
    await one.reopen()
    assert await ids(one, 0) == ["c", "b"]
    await one.clear()
    assert await ids(other, 0) == []
    for index in (one, other):
        await index.close()


@pytest.mark.parametrize("moved", [0, 1, 99])
async def test_a_death_while_files_are_swapped_is_noticed(
    tmp_path: Path, moved: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = ChromaVectorIndex(tmp_path / "v")
    await index.put(U1, "g", {"a": [angle(0)], "b": [angle(40)]})
    rename, done = Path.rename, 0

    class DeathError(BaseException):
        pass

    def dying(self: Path, target: Path) -> Path:
        nonlocal done
        if ".fresh" in str(self):
            if done == moved:
                raise DeathError
            done += 1
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", dying)
    try:
        await index.rewrite(["a"])
    except DeathError:
        monkeypatch.setattr(Path, "rename", rename)
        with pytest.raises(StoreCorruptError):
            await index.query(U1, "g", angle(0), limit=1)
        with pytest.raises(StoreCorruptError):
            await index.rewrite(["a"])
        await index.clear()
        assert await ids(index, 0) == []
    else:
        assert moved == 99
    assert files_with(tmp_path, b"a#0") == []
    await index.close()
