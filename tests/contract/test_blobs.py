"""The contract of a BlobStore, over a local folder and over fsspec's memory filesystem."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from stores.base import BlobStore
from stores.blobs import open_blobs
from stores.errors import BlobMissingError, StoreCorruptError, StoreError
from stores.records import Overflow
from stores.sql import SqlStores
from tests.contract.samples import HARD_TEXTS, U1, U2, WEIRD_SCOPES, message

ROWS = "\n".join(f"row {number:05d}" for number in range(50_000)).encode()
UNKNOWN = "0" * 64


@pytest.fixture(params=["folder", "file-url", "memory"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    urls = {
        "folder": str(tmp_path / "blobs"),
        "file-url": f"file://{tmp_path}/deep/er/blobs",
        "memory": f"memory://{uuid4().hex}/blobs",
    }
    return open_blobs(urls[request.param])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


def files_in(folder: Path) -> list[Path]:
    """The stored files, leftovers included."""
    return [path for path in folder.glob("*/*") if path.is_file()]


async def test_what_is_put_is_given_back(blobs: BlobStore) -> None:
    for content in [ROWS, b"", bytes(range(256)), *(text.encode() for text in HARD_TEXTS)]:
        digest = await blobs.put(U1, content)
        assert digest == hashlib.sha256(content).hexdigest()
        assert await blobs.get(U1, digest) == content


async def test_the_same_text_is_kept_once(blobs: BlobStore) -> None:
    assert await blobs.put(U1, ROWS) == await blobs.put(U1, ROWS)
    [info] = await blobs.list(U1)
    assert info.size_bytes == len(ROWS)
    assert abs(info.modified_at - time.time()) < 60


async def test_missing_is_missing(blobs: BlobStore) -> None:
    for digest in (UNKNOWN, "", "../..", "x" * 64, f"{UNKNOWN}/..", "lock"):
        with pytest.raises(BlobMissingError):
            await blobs.get(U1, digest)
    assert await blobs.list(U1) == []


async def test_another_scope_sees_nothing_of_it(blobs: BlobStore) -> None:
    digest = await blobs.put(U1, ROWS)
    with pytest.raises(BlobMissingError):
        await blobs.get(U2, digest)
    assert await blobs.list(U2) == []
    await blobs.delete(U2, [digest])
    assert await blobs.get(U1, digest) == ROWS


async def test_any_scope_works_and_none_shares(blobs: BlobStore) -> None:
    digests = {scope: await blobs.put(scope, b"the same for all") for scope in WEIRD_SCOPES}
    await blobs.delete(WEIRD_SCOPES[0], list(digests.values()))
    assert [len(await blobs.list(scope)) for scope in WEIRD_SCOPES] == [0] + [1] * (len(WEIRD_SCOPES) - 1)


async def test_delete(blobs: BlobStore) -> None:
    one, two = await blobs.put(U1, b"one"), await blobs.put(U1, b"two")
    await blobs.delete(U1, [one, UNKNOWN, "../../etc/passwd", "lock", ""])
    assert [info.digest for info in await blobs.list(U1)] == [two]
    await blobs.delete(U1, [])
    await blobs.delete(U1, [one])
    with pytest.raises(BlobMissingError):
        await blobs.get(U1, one)


async def test_what_was_put_again_since_is_not_deleted(blobs: BlobStore) -> None:
    digest = await blobs.put(U1, b"text")
    before = time.time()
    await asyncio.sleep(0.05)
    await blobs.put(U1, b"text")
    await blobs.delete(U1, [digest, UNKNOWN], unused_since=before)
    assert await blobs.get(U1, digest) == b"text"
    await blobs.delete(U1, [digest], unused_since=time.time() + 60)
    assert await blobs.list(U1) == []


async def test_many_at_once(blobs: BlobStore) -> None:
    contents = [f"text {number % 10}".encode() * 1_000 for number in range(60)]
    digests = await asyncio.gather(*(blobs.put(U1, content) for content in contents))
    assert [await blobs.get(U1, digest) for digest in digests] == contents
    assert len(await blobs.list(U1)) == 10


async def test_what_was_changed_on_disk_is_noticed_and_healed_by_the_next_put(folder: Path) -> None:
    blobs = open_blobs(folder)
    digest = await blobs.put(U1, ROWS)
    [file] = files_in(folder)
    file.write_bytes(ROWS[:-1] + b"x")
    with pytest.raises(StoreCorruptError, match="damaged"):
        await blobs.get(U1, digest)
    await blobs.put(U1, ROWS)
    assert await blobs.get(U1, digest) == ROWS


async def test_only_the_owner_may_read(folder: Path) -> None:
    before = os.umask(0)
    try:
        await open_blobs(folder).put(U1, ROWS)
    finally:
        os.umask(before)
    [file] = files_in(folder)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, file.parent, file, folder / "lock")]
    assert modes == [0o700, 0o700, 0o600, 0o600]


CRASH = """
import asyncio, os, sys
from pathlib import Path
from stores.blobs import open_blobs
from stores.records import Scope

replace = Path.replace
Path.replace = lambda self, target: os._exit(9)
asyncio.run(open_blobs(sys.argv[1]).put(Scope("u1"), b"half done " * 1000))
"""


async def test_leftovers_of_a_crashed_write_are_listed_and_can_be_deleted(folder: Path) -> None:
    assert (await asyncio.to_thread(subprocess.run, [sys.executable, "-c", CRASH, str(folder)])).returncode == 9
    blobs = open_blobs(folder)
    [left] = await blobs.list(U1)
    assert (left.digest.endswith(".part"), left.size_bytes) == (True, 10_000)
    with pytest.raises(BlobMissingError):
        await blobs.get(U1, left.digest)
    digest = await blobs.put(U1, b"half done " * 1000)
    await blobs.delete(U1, [left.digest])
    assert [info.digest for info in await blobs.list(U1)] == [digest]


FULL = """
import asyncio, resource, sys
from stores.blobs import open_blobs
from stores.errors import DiskFullError
from stores.records import Scope

blobs = open_blobs(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
try:
    asyncio.run(blobs.put(Scope("u1"), b"x" * 20_000))
except DiskFullError as error:
    print(error)
print(asyncio.run(blobs.list(Scope("u1"))))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(len(asyncio.run(blobs.put(Scope("u1"), b"x" * 20_000))))
"""


def test_no_room_is_said_and_leaves_nothing(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL, str(folder)], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    said, listed, size = done.stdout.splitlines()
    assert "no room left" in said
    assert (listed, size) == ("[]", "64")


@pytest.mark.parametrize("kind", ["a file in the way", "a scope's file in the way"])
async def test_a_folder_that_cannot_be_used_is_a_store_error(folder: Path, kind: str) -> None:
    blobs = open_blobs(folder)
    await blobs.put(U1, b"x")
    in_the_way = folder if kind == "a file in the way" else files_in(folder)[0].parent
    shutil.rmtree(in_the_way)
    await asyncio.to_thread(in_the_way.write_text, "not a folder")
    with pytest.raises(StoreError, match=str(folder)):
        await blobs.put(U1, ROWS)
    with pytest.raises(StoreError):
        await blobs.list(U1)
    with pytest.raises(StoreError):
        await blobs.get(U1, UNKNOWN)


@pytest.mark.parametrize("url", ["nothing-such://x/y", "s3x://bucket"])
def test_a_url_that_nothing_can_reach_is_a_store_error(url: str) -> None:
    with pytest.raises(StoreError, match=url):
        open_blobs(url)


WRITER = """
import asyncio, sys
from stores.blobs import open_blobs
from stores.records import Scope

async def main():
    blobs = open_blobs(sys.argv[1])
    for number in range(60):
        content = f"text {number % 7}".encode() * 500
        digest = await blobs.put(Scope("u1"), content)
        assert await blobs.get(Scope("u1"), digest) == content

asyncio.run(main())
"""


async def test_several_processes_write_while_one_collects_what_is_old(folder: Path) -> None:
    blobs = open_blobs(folder)
    command = [sys.executable, "-c", WRITER, str(folder)]
    writers = [await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE) for _ in range(2)]
    ends = asyncio.gather(*(writer.communicate() for writer in writers))
    while not ends.done():
        found = await blobs.list(U1)
        await blobs.delete(U1, [info.digest for info in found], unused_since=time.time() - 3_600)
        await asyncio.sleep(0.01)
    assert [errors for _, errors in await ends] == [b"", b""]
    assert len(await blobs.list(U1)) == 7


async def test_the_journal_knows_which_texts_are_referred_to(stores: SqlStores) -> None:
    def long(number: int, scope_digest: str) -> Overflow:
        return Overflow(digest=scope_digest, size_bytes=number, chars=number)

    quoted = 'a text with "overflow":{"digest":"' + "9" * 64 + '"} in it'
    some = [message(number, overflow=long(number, f"{number % 600:064x}")) for number in range(1_200)]
    await stores.journal.append(U1, [*some, message(1_200, quoted), message(1_201)])
    await stores.journal.append(U1, [message(1, session="s2", overflow=long(1, "a" * 64))])
    await stores.journal.append(U2, [message(1, overflow=long(1, "b" * 64))])
    assert await stores.journal.overflow_digests(U1) == {f"{number:064x}" for number in range(600)} | {"a" * 64}
    assert await stores.journal.overflow_digests(U2) == {"b" * 64}
    [stored, *_] = await stores.journal.read(U1, "s2")
    assert getattr(stored, "overflow", None) == long(1, "a" * 64)
