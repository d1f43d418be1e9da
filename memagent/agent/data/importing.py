"""Importing a file, whatever it is: by what it holds, not by its name. Nothing is written before all of it
has been read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from memagent.agent.data.archive import ArchiveError, is_export
from memagent.agent.data.foreign import Conversation, conversations
from memagent.agent.data.restoring import MOST_CONFLICTS, Imported, Restorer
from memagent.agent.data.talk_files import TalkFile, TranscriptError, talk_files
from memagent.agent.discreet import discreet
from memagent.agent.rooms import Rooms
from memagent.agent.transcripts import entries_of
from memagent.context.directives.discretion import discretion
from memagent.errors import MemagentError
from stores.records import MarkKind, Message, MessageRole

BATCH = 500
"""So many entries, to the end of their exchange, are in memory and are written together."""


class Taker:
    """Imports into the rooms' scope."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._restorer = Restorer(rooms)

    async def take(self, path: Path) -> Imported:
        """Raises MemagentError when it cannot be read, and nothing was written; StoreError."""
        if not await asyncio.to_thread(_exists, path):
            raise ArchiveError(f"there is no {path}")
        if await asyncio.to_thread(is_export, path):
            return await self._restorer.restore(path)
        try:
            files = await asyncio.to_thread(talk_files, path)
            await asyncio.to_thread(self._check, files)
        except MemagentError as error:
            raise TranscriptError(f"nothing was imported from {path}: {error}") from error
        run = _Run(self._rooms)
        found = conversations(files)
        while conversation := await asyncio.to_thread(next, found, None):
            await run.take(conversation, _batches(self._rooms, conversation))
        return run.report()

    def _check(self, files: Sequence[TalkFile]) -> None:
        for conversation in conversations(files):
            try:
                for _ in _batches(self._rooms, conversation):
                    pass
            except TranscriptError:
                raise
            except MemagentError as error:
                name = f"{conversation.name}: " if conversation.name else ""
                raise TranscriptError(f"{name}{error}") from error


class _Run:
    """Writes what has been checked. A repeat adds nothing: a killed one goes on."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._kind = ""
        self._sessions: dict[str, None] = {}
        self._added = self._skipped = self._left_out = 0
        self._conflicts: list[str] = []

    async def take(self, conversation: Conversation, batches: Iterator[list[Message]]) -> None:
        journal, scope, session_id = self._rooms.stores.journal, self._rooms.scope, conversation.session_id
        self._kind = self._kind or conversation.kind
        mark = await journal.last_mark(scope, session_id, MarkKind.PRIVATE)
        private = mark is not None and bool(mark.data.get("on"))
        while batch := await asyncio.to_thread(next, batches, None):
            entries = [entry for entry in batch if entry.role is not MessageRole.NOTE]
            self._left_out += len(batch) - len(entries)
            found = await journal.get(scope, [entry.id for entry in entries])
            kept = [entry for entry in found if isinstance(entry, Message) and entry.session_id == session_id]
            self._compare(kept, entries)
            fresh = discreet(entries, private=private, kept=kept)
            await journal.append(scope, fresh)  # what is not to be remembered, and what says so, together
            self._skipped += len(kept)
            self._added += len(entries) - len(kept)
            self._sessions |= {session_id: None} if fresh else {}

    def _compare(self, kept: Sequence[Message], entries: Sequence[Message]) -> None:
        there = {entry.id: entry for entry in entries}
        for here in kept:
            shown_whole = not (here.erased or here.overflow)
            if shown_whole and (here.role, here.content) != (there[here.id].role, there[here.id].content):
                self._conflicts.append(f"message {here.id} of session {here.session_id} says something else here")

    def report(self) -> Imported:
        notes = [f"{self._left_out:,} system messages were left out"] if self._left_out else []
        if len(self._conflicts) > MOST_CONFLICTS:
            notes.append(f"{len(self._conflicts) - MOST_CONFLICTS:,} more conflicts")
        return Imported(
            format=self._kind,
            sessions=tuple(self._sessions),
            added={"entries": self._added},
            skipped={"entries": self._skipped} if self._skipped else {},
            conflicts=tuple(self._conflicts[:MOST_CONFLICTS]),
            notes=tuple(notes),
        )


def _batches(rooms: Rooms, conversation: Conversation) -> Iterator[list[Message]]:
    """Whole exchanges. None begins with a message about the one before: they are judged, and written, together."""
    numbers = count(1)
    entries = entries_of(
        conversation.messages,
        session_id=conversation.session_id,
        zone=rooms.zone,
        now=rooms.clock(),
        new_id=lambda: f"{conversation.session_id}-{next(numbers)}",
        open_exchange_id=None,
    )
    batch: list[Message] = []
    for entry in entries:
        opens = len(batch) >= BATCH and entry.role is MessageRole.USER
        if opens and discretion(entry.content) != "previous":
            yield batch
            batch = []
        batch.append(entry)
    if batch:
        yield batch


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise ArchiveError(f"{path}: {error.strerror or error}") from error
