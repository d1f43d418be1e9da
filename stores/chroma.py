"""VectorIndex on Chroma, embedded (tried with chromadb 1.5.9).

One collection a scope and embedding generation, cosine space, ids "memory_id#chunk", vectors only.
The first chunk's metadata tells how many chunks its memory has, so that they can be replaced.

Several processes on one folder: each keeps its own image of an index in memory, and any of them, a
reader too, may write it to the files when it opens a collection; two that do ruin the files. So
opening a collection and writing happen under a file lock, and a handle that was not the last to
write reopens before it writes. Queries of an open collection need no lock. A process that dies
while the files change ruins them too: the next to open them raises StoreCorruptError, then
`ChromaVectorIndex.clear` and a rebuild (`Outbox.requeue`) help.

Chroma leaves the bytes of what it deletes in its files. `ChromaVectorIndex.rewrite` copies the rest to fresh
files, which take the old ones' place; every handle looks at each query whether that has happened.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import itertools
import json
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import uuid4

import numpy as np
from chromadb import Collection
from chromadb.api.client import Client
from chromadb.api.collection_configuration import CreateCollectionConfiguration
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError

from stores.errors import DiskFullError, StoreBusyError, StoreClosedError, StoreCorruptError, StoreError
from stores.hnsw_files import blank_unused
from stores.indexes import VectorHit
from stores.records import Scope
from stores.shared_folder import DAMAGED, SharedFolder

T = TypeVar("T")
_Row = np.ndarray[Any, np.dtype[np.float32]]

_CHUNKS = "chunks"
_COSINE: CreateCollectionConfiguration = {"hnsw": {"space": "cosine"}}
_SPARE_SHARE, _SPARE_CHUNKS = 4, 8
"""So many more chunks are asked for at first than memories are wanted: a quarter, at least eight."""

_FULL = "there is no room left on the disk (or in its quota) for the vector index; free some and try again"
# Chroma tells its faults as text only. Code 778 is what SQLite reports for a used-up quota or file size limit.
_FAULTS: Sequence[tuple[str, type[StoreError], str]] = (
    ("disk is full", DiskFullError, _FULL),
    ("(code: 778)", DiskFullError, _FULL),
    ("no space left", DiskFullError, _FULL),
    ("is locked", StoreBusyError, "another process holds the vector index for too long; try again"),
    ("not a database", StoreCorruptError, DAMAGED),
    ("malformed", StoreCorruptError, DAMAGED),
    ("failed to apply logs", StoreCorruptError, DAMAGED),
)


class ChromaVectorIndex:
    """Vectors in a folder. The folder is opened by the first call. All work runs in one thread."""

    def __init__(self, path: Path) -> None:
        self._folder = SharedFolder(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="memagent-chroma")
        self._closed = False
        self._gate = threading.Lock()
        self._client: Client | None = None
        self._spelling: str | None = None
        self._token = self._swapped = ""
        self._collections: dict[str, Collection] = {}
        self._blanked: dict[Path, int] = {}

    async def put(self, scope: Scope, generation: str, vectors: Mapping[str, Sequence[bytes]]) -> None:
        """A crash in the middle leaves a state that a repeat of the call sets right."""
        if vectors:
            await self._run(lambda: self._put(_name(scope, generation), vectors))

    async def query(self, scope: Scope, generation: str, vector: bytes, *, limit: int) -> list[VectorHit]:
        if limit <= 0:
            return []
        return await self._run(lambda: self._query(_name(scope, generation), vector, limit))

    async def first(self, scope: Scope, generation: str, ids: Sequence[str]) -> dict[str, bytes]:
        def work() -> dict[str, bytes]:
            collection = self._collection(_name(scope, generation))
            if collection is None:
                return {}
            found = collection.get(ids=[f"{id_}#0" for id_ in ids], include=["embeddings"])
            rows = np.asarray(found["embeddings"], dtype="<f4")
            return {id_.rpartition("#")[0]: row.tobytes() for id_, row in zip(found["ids"], rows, strict=True)}

        return await self._run(work) if ids else {}

    async def count(self, scope: Scope, generation: str) -> int:
        return len(await self.ids(scope, generation))

    async def ids(self, scope: Scope, generation: str) -> set[str]:
        """Reads all ids: some 0.1 s for 50,000."""

        def work() -> set[str]:
            collection = self._collection(_name(scope, generation))
            found = collection.get(include=[])["ids"] if collection is not None else []
            return {id_.removesuffix("#0") for id_ in found if id_.endswith("#0")}

        return await self._run(work)

    async def drop(self, scope: Scope, generation: str) -> None:
        """The files of the vectors are removed by `rewrite` and `clear`: Chroma leaves them where they are."""

        def work() -> None:
            name = _name(scope, generation)
            with self._alone():
                if self._client is None or self._folder.last_writer() != self._token:
                    self._release()
                with contextlib.suppress(NotFoundError), self._folder.writing(self._token):
                    self._open().delete_collection(name)
                self._collections.pop(name, None)

        await self._run(work)

    async def clear(self) -> None:
        """Removes all vectors of all scopes: the way out of a StoreCorruptError, before a rebuild."""

        def work() -> None:
            with self._alone():
                self._release()
                self._folder.clear()

        await self._run(work)

    async def rewrite(self, without: Iterable[str]) -> None:
        """A crash in the middle leaves the old files, or a StoreCorruptError for the next who opens them."""
        gone = frozenset(without)

        def work() -> None:
            with self._alone():
                self._release()
                self._folder.check_whole()
                fresh = self._folder.begin_fresh()
                if (self._folder.path / "chroma.sqlite3").exists():
                    self._copy(fresh, gone)
                    self._release()
                self._folder.swap(uuid4().hex)

        await self._run(work)

    async def reopen(self) -> None:
        await self._run(self._release)

    async def close(self) -> None:
        with self._gate:
            if self._closed:
                return
            self._closed = True
            # The last task of the thread: what was asked for before is finished first.
            released = self._thread.submit(_mapped_call, self._release)
            self._thread.shutdown(wait=False)
        await asyncio.wrap_future(released)

    async def _run(self, work: Callable[[], T]) -> T:
        with self._gate:
            if self._closed:
                raise StoreClosedError("the vector index was closed")
            future = self._thread.submit(_mapped_call, work)
        return await asyncio.wrap_future(future)

    # --- in the thread -------------------------------------------------------------------------

    def _open(self) -> Client:
        if self._client is not None:
            return self._client
        self._folder.check_whole()
        spelling = _take_spelling(self._folder.path)
        try:
            settings = Settings(is_persistent=True, persist_directory=spelling, anonymized_telemetry=False)
            client = Client(settings=settings)
        except BaseException as error:
            _give_back_spelling(spelling)
            if isinstance(error, AttributeError):
                # Chroma 1.5.9 trips over its own clean-up when it cannot open the files; the reason is lost.
                raise StoreCorruptError(DAMAGED) from error
            raise
        self._client, self._spelling, self._token = client, spelling, uuid4().hex
        self._swapped = self._folder.swapped()
        return client

    def _release(self) -> None:
        self._collections.clear()
        if self._client is not None and self._spelling is not None:
            self._client.close()
            _give_back_spelling(self._spelling)
            self._client = self._spelling = None

    @contextmanager
    def _alone(self) -> Generator[None]:
        """No other process opens or writes the folder meanwhile. After an error the handle starts
        afresh: what it holds in memory may be half of a change."""
        with self._folder.alone():
            try:
                yield
            except BaseException:
                self._release()
                raise

    def _collection(self, name: str) -> Collection | None:
        if name in self._collections:
            return self._collections[name]
        with self._alone():
            return self._load(name)

    def _load(self, name: str, *, make: bool = False) -> Collection | None:
        """Opens a collection; only when alone. Its first call replays what is not in its files yet,
        and may then write them."""
        if name in self._collections:
            return self._collections[name]
        client = self._open()
        try:
            collection = client.get_collection(name, embedding_function=None)
        except NotFoundError:
            if not make:
                return None
            collection = client.get_or_create_collection(name, configuration=_COSINE, embedding_function=None)
        # Chroma keeps an existing collection's space whatever is asked for.
        configuration = cast(Mapping[str, Mapping[str, object] | None], collection.configuration_json)
        space = (configuration.get("hnsw") or {}).get("space")
        if space != "cosine":
            raise StoreCorruptError(f"the vector index compares by {space}, not cosine; remove its folder and rebuild")
        before = self._folder.file_times()
        with self._folder.writing(self._folder.last_writer()):
            collection.get(limit=1, include=[])
            blank_unused(self._folder.path, self._blanked)
        if self._folder.file_times() != before:
            self._folder.sign(self._token)
        self._collections[name] = collection
        return collection

    def _put(self, name: str, vectors: Mapping[str, Sequence[bytes]]) -> None:
        arrays = {memory_id: [_floats(chunk) for chunk in chunks] for memory_id, chunks in vectors.items()}
        with self._alone():
            if self._client is None or self._folder.last_writer() != self._token:
                self._release()
            collection = self._load(name, make=any(arrays.values()))
            if collection is not None:
                with self._folder.writing(self._token):
                    _replace(collection, arrays, self._open().get_max_batch_size())
                    blank_unused(self._folder.path, self._blanked)

    def _copy(self, fresh: Path, gone: frozenset[str]) -> None:
        """Writes all collections, without these memories, to another folder."""
        settings = Settings(is_persistent=True, persist_directory=str(fresh), anonymized_telemetry=False)
        target = Client(settings=settings)
        try:
            for name in [collection.name for collection in self._open().list_collections()]:
                collection = self._load(name)
                copy = target.create_collection(name, configuration=_COSINE, embedding_function=None)
                if collection is not None:
                    _copy_rows(collection, copy, gone, target.get_max_batch_size())
        finally:
            target.close()
        blank_unused(fresh, {})

    def _query(self, name: str, vector: bytes, limit: int) -> list[VectorHit]:
        if self._client is not None and self._folder.swapped() != self._swapped:
            self._release()
        collection = self._collection(name)
        if collection is None:
            return []
        asked = _floats(vector)
        wanted = limit + max(limit // _SPARE_SHARE, _SPARE_CHUNKS)
        while True:
            result = collection.query(query_embeddings=np.stack([asked]), n_results=wanted, include=["distances"])
            ids, distances = result["ids"][0], (result["distances"] or [[]])[0]
            best: dict[str, float] = {}
            for id_, distance in zip(ids, distances, strict=True):
                # Rounding puts some distances a little below 0.
                best.setdefault(id_.rpartition("#")[0], min(1.0 - distance, 1.0))
            if len(best) < limit and len(ids) < min(wanted, collection.count()):
                # Some hundred equal vectors ("ok", "thanks") can trap the search in their corner of the graph.
                best = _scan(collection, asked)
            elif len(best) < limit and len(ids) == wanted:
                # One memory's many chunks may have pushed others out.
                wanted *= 4
                continue
            return [VectorHit(id_, similarity) for id_, similarity in itertools.islice(best.items(), limit)]


def _name(scope: Scope, generation: str) -> str:
    # A scope may be any text, a collection's name may not; 63 characters are legal everywhere.
    return "m" + hashlib.sha256(json.dumps([scope, generation]).encode()).hexdigest()[:62]


def _replace(collection: Collection, vectors: Mapping[str, Sequence[_Row]], most: int) -> None:
    stale: list[str] = []
    for ids in _batches(list(vectors), most):
        stale += _stale_ids(collection, {id_: len(vectors[id_]) for id_ in ids})
    for ids in _batches(stale, most):
        collection.delete(ids=list(ids))
    rows = [
        (f"{memory_id}#{index}", chunk, {_CHUNKS: len(chunks)} if index == 0 else None)
        for memory_id, chunks in vectors.items()
        for index, chunk in enumerate(chunks)
    ]
    for some in _batches(rows, most):
        collection.upsert(
            ids=[id_ for id_, _, _ in some],
            embeddings=np.stack([chunk for _, chunk, _ in some]),
            metadatas=[metadata for _, _, metadata in some],  # pyright: ignore[reportArgumentType]
        )


def _copy_rows(source: Collection, target: Collection, gone: frozenset[str], most: int) -> None:
    kept = [id_ for id_ in source.get(include=[])["ids"] if id_.rpartition("#")[0] not in gone]
    for ids in _batches(kept, most):
        found = source.get(ids=list(ids), include=["embeddings", "metadatas"])
        target.add(
            ids=found["ids"],
            embeddings=np.asarray(found["embeddings"], dtype=np.float32),
            metadatas=found["metadatas"],
        )


def _scan(collection: Collection, asked: _Row) -> dict[str, float]:
    """The similarities of all memories, best first, by looking at every vector."""
    found = collection.get(include=["embeddings"])
    rows = np.asarray(found["embeddings"], dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(asked)
    similarities = (rows @ asked) / np.where(lengths > 0, lengths, 1)
    best: dict[str, float] = {}
    for index in np.argsort(-similarities, kind="stable"):
        best.setdefault(found["ids"][int(index)].rpartition("#")[0], min(float(similarities[index]), 1.0))
    return best


def _stale_ids(collection: Collection, new_counts: Mapping[str, int]) -> list[str]:
    """The ids of chunks that the new vectors do not overwrite."""
    found = collection.get(ids=[f"{memory_id}#0" for memory_id in new_counts], include=["metadatas"])
    stale: list[str] = []
    for id_, metadata in zip(found["ids"], found["metadatas"] or [], strict=True):
        memory_id = id_.rpartition("#")[0]
        old_count = metadata.get(_CHUNKS) if metadata else None
        if isinstance(old_count, int):
            # Backwards, so that the first chunk, which tells the count, goes last.
            stale += [f"{memory_id}#{index}" for index in range(old_count - 1, new_counts[memory_id] - 1, -1)]
    return stale


def _floats(vector: bytes) -> _Row:
    if not vector or len(vector) % 4:
        raise StoreError(f"a vector of {len(vector)} bytes is not a row of float32; embed it anew")
    floats = np.frombuffer(vector, dtype="<f4").astype(np.float32)
    if not np.isfinite(floats).all():
        raise StoreError("a vector holds NaN or infinite values; embed it anew")
    return floats


def _batches(items: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


# Clients of one process on one folder share one cache, by the folder's text, until the last of them
# closes; only a client that is alone with its spelling of the folder can close and see another
# process's writes. So each index has a spelling of its own: the path and some "/.".
_spellings: set[str] = set()
_spellings_lock = threading.Lock()


def _take_spelling(path: Path) -> str:
    with _spellings_lock:
        spelling = next(
            text for count in itertools.count(1) if (text := str(path.absolute()) + "/." * count) not in _spellings
        )
        _spellings.add(spelling)
        return spelling


def _give_back_spelling(spelling: str) -> None:
    with _spellings_lock:
        _spellings.discard(spelling)


@contextmanager
def _mapped() -> Generator[None]:
    try:
        yield
    except (ChromaError, ValueError, TypeError) as error:
        text = str(error)
        for sign, kind, advice in _FAULTS:
            if sign in text.lower():
                raise kind(f"{advice} ({text})") from error
        raise StoreError(f"the vector index refused the call: {text}") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise DiskFullError(_FULL) from error
        raise StoreError(f"the vector index cannot be opened: {error}; check the folder and its permissions") from error


def _mapped_call(work: Callable[[], T]) -> T:
    with _mapped():
        return work()
