"""Importing an export of memagent. All of it is read and checked before anything is written; what is there
already is left as it is, and what differs from it is named. A repeat does no harm: a killed one goes on.

Vectors and words are made anew, without any model but the embedder.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from memagent.agent.data.archive import ArchiveError, ArchiveReader
from memagent.agent.data.erase_planning import place_of
from memagent.agent.rooms import Rooms
from memagent.memory.erase import Receipt
from stores.records import JournalEntry, LedgerEntry, Mark, Memory, MemoryKind, Message, Source

T = TypeVar("T")
BATCH = 500
PROBLEMS = 5
"""So many are told; there may be more."""
MOST_CONFLICTS = 50


class Imported(BaseModel):
    """What was taken in. ``skipped`` was there already; ``conflicts`` are there with other content and were left
    as they are. ``notes``: what else is to be known."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    format: str
    sessions: tuple[str, ...] = ()
    added: dict[str, int] = Field(default_factory=dict)
    skipped: dict[str, int] = Field(default_factory=dict)
    conflicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class _Text(BaseModel):
    model_config = ConfigDict(extra="forbid")
    hash: str
    text: str


class _Story(BaseModel):
    model_config = ConfigDict(extra="forbid")
    memory: Memory
    versions: list[Memory]


_ENTRY: TypeAdapter[Message | Mark] = TypeAdapter(JournalEntry)
_PARSE: dict[str, Callable[[str], Any]] = {
    "texts": _Text.model_validate_json,
    "memories": _Story.model_validate_json,
    "entries": _ENTRY.validate_json,
    "ledger": LedgerEntry.model_validate_json,
    "never": TypeAdapter(str).validate_json,
    "receipts": Receipt.model_validate_json,
}


class Restorer:
    """Imports exports into the rooms' scope."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._stores = rooms.stores
        self._scope = rooms.scope

    async def restore(self, path: Path) -> Imported:
        """Raises ArchiveError when it is no whole export, and then nothing was written; StoreError."""
        archive = await asyncio.to_thread(ArchiveReader, path)
        try:
            await asyncio.to_thread(_check, archive)
            run = _Run(self._rooms, archive)
            await run.outputs()
            await run.texts()
            await run.memories()
            await run.entries()
            await run.others()
        finally:
            archive.close()
        self._rooms.indexer.wake()
        return run.report()


def _check(archive: ArchiveReader) -> None:
    problems: list[str] = []
    for name, parse in _PARSE.items():
        last: tuple[str, int] = ("", 0)
        for number, line in archive.lines(name):
            try:
                record = parse(line)
            except ValidationError as error:
                first = error.errors(include_input=False, include_url=False)[0]
                place = ".".join(map(str, first["loc"]))
                problems.append(f"line {number} of {name}.jsonl cannot be read: {first['msg']} {place}".rstrip())
            else:
                if isinstance(record, Message | Mark):
                    expected = last[1] + 1 if record.session_id == last[0] else 1
                    if record.sequence != expected:
                        problems.append(f"line {number} of {name}.jsonl is not entry {expected} of its session")
                    last = (record.session_id, record.sequence)
                    problems += _damage(archive, record)
            if len(problems) >= PROBLEMS:
                break
    if problems:
        raise ArchiveError("nothing was imported: " + "; ".join(problems[:PROBLEMS]))


def _damage(archive: ArchiveReader, entry: Message | Mark) -> list[str]:
    if not isinstance(entry, Message) or entry.overflow is None:
        return []
    content = archive.blob(entry.overflow.digest)
    if content is None or hashlib.sha256(content).hexdigest() == entry.overflow.digest:
        return []  # a missing one was missing when it was exported, too
    return [f"the output of entry {entry.id} is damaged"]


class _Run:
    def __init__(self, rooms: Rooms, archive: ArchiveReader) -> None:
        self._rooms = rooms
        self._stores = rooms.stores
        self._scope = rooms.scope
        self._archive = archive
        self._added: dict[str, int] = {}
        self._skipped: dict[str, int] = {}
        self._conflicts: list[str] = []
        self._sessions: dict[str, None] = {}

    def report(self) -> Imported:
        notes = [] if self._archive.summary.get("lossless", True) else ["the export was made without secrets"]
        if len(self._conflicts) > MOST_CONFLICTS:
            notes.append(f"{len(self._conflicts) - MOST_CONFLICTS:,} more conflicts")
        return Imported(
            format="memagent",
            sessions=tuple(self._sessions),
            added=self._added,
            skipped=self._skipped,
            conflicts=tuple(self._conflicts[:MOST_CONFLICTS]),
            notes=tuple(notes),
        )

    def _count(self, what: str, *, added: int = 0, skipped: int = 0) -> None:
        for counts, number in ((self._added, added), (self._skipped, skipped)):
            if number:
                counts[what] = counts.get(what, 0) + number

    async def outputs(self) -> None:
        known = {info.digest for info in await self._stores.blobs.list(self._scope)}
        for entry in self._records("entries"):
            if isinstance(entry, Message) and entry.overflow and entry.overflow.digest not in known:
                known.add(entry.overflow.digest)
                content = await asyncio.to_thread(self._archive.blob, entry.overflow.digest)
                if content is not None:
                    await self._stores.blobs.put(self._scope, content)
                    self._count("outputs", added=1)

    async def texts(self) -> None:
        for text in self._records("texts"):
            await self._stores.manifests.put_text(self._scope, text.text)

    async def memories(self) -> None:
        """Before the entries: the episodes that indexing would make of those are then there as they were."""
        for stories in _batches(self._records("memories")):
            known = {m.id: m for m in await self._stores.memories.get(self._scope, [s.memory.id for s in stories])}
            sources = [source for story in stories for source in story.memory.sources]
            gone = await self._erased(sources)
            for story in stories:
                memory: Memory = story.memory
                if gone.intersection(memory.sources):
                    self._conflicts.append(f"memory {memory.id} came from what was erased here")
                elif memory.id in known:
                    await self._compare(known[memory.id], story)
                else:
                    # one write: a killed import must not leave an earlier version as the present one
                    await self._stores.memories.put(self._scope, [*story.versions, memory])
                    self._count("memories", added=1)

    async def _compare(self, here: Memory, story: _Story) -> None:
        there = story.memory
        ignored = {"recorded_at": there.recorded_at} if there.kind is MemoryKind.EPISODE else {}
        if here.model_copy(update=ignored) == there:
            self._count("memories", skipped=1)
            kept = {one.version for one in await self._stores.finder.versions(self._scope, there.id)}
            if lacking := [one.version for one in story.versions if one.version not in kept]:
                self._conflicts.append(f"{len(lacking)} earlier versions of memory {there.id} are not here")
        else:
            self._conflicts.append(f"memory {there.id} is another one here")

    async def _erased(self, sources: list[Source]) -> set[Source]:
        found = await self._stores.journal.get(self._scope, list({source.entry_id for source in sources}))
        return set(map(place_of, [entry for entry in found if entry.erased]))

    async def entries(self) -> None:
        """Each session as a whole: entries are numbered, and summaries tell of numbers."""
        for session_id, batch in _by_session(self._records("entries")):
            first = batch[0].sequence
            here = await self._stores.journal.read(self._scope, session_id, after_sequence=first - 1, limit=len(batch))
            fresh = batch[len(here) :]
            differ = [e.id for e, known in zip(batch, here, strict=False) if not _same(e, known)]
            if differ:
                more = f" and {len(differ) - 1:,} more" if len(differ) > 1 else ""
                self._conflicts.append(f"entry {differ[0]}{more} of session {session_id} is another one here")
            self._count("entries", skipped=len(here) - len(differ))
            torn = bool(here) and any(e.id != known.id for e, known in zip(batch, here, strict=False))
            if fresh and not torn and await self._follows(session_id, first + len(here)):
                await self._stores.journal.append(self._scope, fresh)
                self._count("entries", added=len(fresh))
                self._sessions[session_id] = None
            elif fresh and not torn:
                self._conflicts.append(f"session {session_id} went on otherwise here")

    async def _follows(self, session_id: str, sequence: int) -> bool:
        """Whether the next entry of the session here gets this number."""
        if sequence == 1:
            return True
        before = await self._stores.journal.read(self._scope, session_id, after_sequence=sequence - 2, limit=2)
        return [entry.sequence for entry in before] == [sequence - 1]

    async def others(self) -> None:
        known = {call.id for call in await self._stores.ledger.list(self._scope)}
        for call in self._records("ledger"):
            if call.id in known:
                self._count("ledger", skipped=1)
                continue
            await self._stores.ledger.add(self._scope, call)
            self._count("ledger", added=1)
        for pattern in self._records("never"):
            fresh = await self._stores.never.add(self._scope, pattern, at=self._rooms.clock())
            self._count("never", added=fresh, skipped=not fresh)
        receipts = {json.loads(payload)["id"] for payload in await self._stores.receipts.list(self._scope)}
        for receipt in self._records("receipts"):
            if receipt.id not in receipts:
                await self._stores.receipts.put(self._scope, receipt.id, receipt.model_dump_json(), at=receipt.at)

    def _records(self, name: str) -> Iterator[Any]:
        return (_PARSE[name](line) for _, line in self._archive.lines(name))


def _same(one: Message | Mark, other: Message | Mark) -> bool:
    return one.model_copy(update={"position": other.position}) == other


def _batches(items: Iterator[T]) -> Iterator[list[T]]:
    batch: list[T] = []
    for item in items:
        batch.append(item)
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _by_session(entries: Iterator[Message | Mark]) -> Iterator[tuple[str, list[Message | Mark]]]:
    """Runs of one session's entries, at most 500 each."""
    batch: list[Message | Mark] = []
    for entry in entries:
        if batch and (entry.session_id != batch[0].session_id or len(batch) >= BATCH):
            yield batch[0].session_id, batch
            batch = []
        batch.append(entry)
    if batch:
        yield batch[0].session_id, batch
