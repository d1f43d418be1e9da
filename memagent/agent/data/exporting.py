"""Exporting: all of a person's data, or one session, so that an import elsewhere holds the same."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict

from memagent.agent.data.archive import ArchiveWriter
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import recalled_items
from memagent.agent.sessions import Sessions
from memagent.secret_rules import redacted
from stores.errors import BlobMissingError, StoreCorruptError
from stores.records import Mark, MarkKind, Memory, Message, Overflow, Session

PAGE = 500
TEXTS_AT_ONCE = 500


class Exported(BaseModel):
    """What was written where. ``redacted``: how many texts lost a secret; if any did, the export is not
    lossless. ``missing``: stored outputs that were not there any more."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    path: str
    counts: dict[str, int]
    redacted: int = 0
    missing: tuple[str, ...] = ()

    @property
    def lossless(self) -> bool:
        """Whether an import of it holds all that is exported."""
        return not self.redacted and not self.missing


class Exporter:
    """Writes exports of the rooms' scope. Holds one page of the journal in memory at a time."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._stores = rooms.stores
        self._scope = rooms.scope

    async def export(self, path: Path, session: str | None, *, with_secrets: bool) -> Exported:
        """Raises ArchiveError, NotFoundError, StoreError; then nothing is left at ``path``."""
        only = await Sessions(self._rooms).find(session) if session else None
        run = _Run(self._rooms, await asyncio.to_thread(ArchiveWriter, path), only, _Redactor(with_secrets))
        try:
            exported = await run.all(str(path))
            summary = {"exported_at": self._rooms.clock().isoformat(), "session": only}
            details = exported.model_dump(mode="json", exclude={"path"})
            await asyncio.to_thread(run.writer.close, {**summary, **details, "lossless": exported.lossless})
        except BaseException:
            await asyncio.to_thread(run.writer.abandon)
            raise
        return exported


class _Redactor:
    """Takes secrets out of texts, and counts in how many there were some."""

    def __init__(self, with_secrets: bool) -> None:
        self.count = 0
        self._off = with_secrets

    def text(self, text: str) -> str:
        if self._off or not text:
            return text
        clean = redacted(text)
        self.count += clean != text
        return clean

    def value(self, value: Any) -> Any:
        """All texts in a JSON value but its keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.value(part) for key, part in cast("dict[str, Any]", value).items()}
        if isinstance(value, list):
            return [self.value(part) for part in cast("list[Any]", value)]
        return value


class _Run:
    def __init__(self, rooms: Rooms, writer: ArchiveWriter, only: str | None, redactor: _Redactor) -> None:
        self.writer = writer
        self._rooms = rooms
        self._stores = rooms.stores
        self._scope = rooms.scope
        self._only = only
        self._redactor = redactor
        self._counts: dict[str, int] = {}
        self._missing: list[str] = []
        self._hashes: dict[str, None] = {}
        self._digests: dict[str, Overflow] = {}

    async def all(self, path: str) -> Exported:
        sessions = [s for s in await self._stores.journal.sessions(self._scope) if self._only in (None, s.id)]
        sessions.reverse()  # the one used last comes last, here and there
        await self._outputs(sessions)
        await self._section("sessions", (self._line(session) for session in sessions))
        await self._entries(sessions)
        await self._texts()
        await self._memories()
        ledger = await self._stores.ledger.list(self._scope, session_id=self._only)
        await self._section("ledger", (call.model_dump_json() for call in reversed(ledger)))
        if self._only is None:
            never = await self._stores.never.list(self._scope)
            await self._section("never", (json.dumps(self._redactor.text(pattern)) for pattern in never))
            await self._section("receipts", reversed(await self._stores.receipts.list(self._scope)))
        return Exported(
            path=path, counts=self._counts, redacted=self._redactor.count, missing=tuple(sorted(self._missing))
        )

    async def _outputs(self, sessions: Iterable[Session]) -> None:
        """Stored outputs first: an entry without a secret in it may then refer to what it became."""
        for session in sessions:
            async for entry in self._read(session.id):
                if isinstance(entry, Message) and entry.overflow and entry.overflow.digest not in self._digests:
                    await self._output(entry.overflow)
        self._counts["outputs"] = len(self._digests) - len(self._missing)

    async def _output(self, overflow: Overflow) -> None:
        try:
            content = await self._stores.blobs.get(self._scope, overflow.digest)
        except (BlobMissingError, StoreCorruptError):
            self._missing.append(overflow.digest)
            self._digests[overflow.digest] = overflow
            return
        text = await asyncio.to_thread(self._redactor.text, content.decode())
        content = text.encode()
        kept = Overflow(digest=hashlib.sha256(content).hexdigest(), size_bytes=len(content), chars=len(text))
        written = {one.digest for one in self._digests.values()}
        self._digests[overflow.digest] = kept
        if kept.digest not in written:  # two may differ by their secrets only
            await asyncio.to_thread(self.writer.blob, kept.digest, content)

    async def _entries(self, sessions: Iterable[Session]) -> None:
        count = 0
        with self.writer.section("entries") as add:
            for session in sessions:
                async for entry in self._read(session.id):
                    if isinstance(entry, Mark) and entry.what is MarkKind.CONTEXT:
                        self._hashes |= {digest: None for _, _, digest in recalled_items(entry)}
                    await asyncio.to_thread(add, self._entry_line(entry))
                    count += 1
        self._counts["entries"] = count

    def _entry_line(self, entry: Message | Mark) -> str:
        if isinstance(entry, Message) and entry.overflow:
            entry = entry.model_copy(update={"overflow": self._digests[entry.overflow.digest]})
        return self._line(entry, exclude={"position"})

    async def _texts(self) -> None:
        hashes = list(self._hashes)
        with self.writer.section("texts") as add:
            for start in range(0, len(hashes), TEXTS_AT_ONCE):
                found = await self._stores.manifests.texts(self._scope, hashes[start : start + TEXTS_AT_ONCE])
                for digest, text in found.items():
                    add(json.dumps({"hash": digest, "text": self._redactor.text(text)}, ensure_ascii=False))
        self._counts["texts"] = len(hashes)

    async def _memories(self) -> None:
        count = 0
        with self.writer.section("memories") as add:
            for memory in reversed(await self._stores.memories.list(self._scope)):
                if self._only is None or self._is_of(memory):
                    versions = await self._versions(memory)
                    line = {
                        "memory": json.loads(self._line(memory)),
                        "versions": [json.loads(self._line(version)) for version in versions],
                    }
                    add(json.dumps(line, ensure_ascii=False))
                    count += 1
        self._counts["memories"] = count

    def _is_of(self, memory: Memory) -> bool:
        return self._only in (memory.session_id, *(source.session_id for source in memory.sources))

    async def _versions(self, memory: Memory) -> list[Memory]:
        return await self._stores.finder.versions(self._scope, memory.id) if memory.version > 1 else []

    def _line(self, record: BaseModel, *, exclude: set[str] | None = None) -> str:
        value = record.model_dump(mode="json", exclude=exclude)
        return json.dumps(self._redactor.value(value), ensure_ascii=False)

    async def _section(self, name: str, lines: Iterable[str]) -> None:
        count = 0
        with self.writer.section(name) as add:
            for line in lines:
                _add(add, line)
                count += 1
        self._counts[name] = count

    async def _read(self, session_id: str) -> AsyncIterator[Message | Mark]:
        after = 0
        while entries := await self._stores.journal.read(self._scope, session_id, after_sequence=after, limit=PAGE):
            for entry in entries:
                yield entry
            after = entries[-1].sequence


def _add(add: Callable[[str], None], line: str) -> None:
    add(line)
