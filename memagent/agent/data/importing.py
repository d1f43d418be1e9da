"""Importing a file, whatever it is: by what it holds, not by its name. Nothing is written before all of it
has been read."""

from __future__ import annotations

import asyncio
import zipfile
from pathlib import Path

from memagent.agent.data.archive import ArchiveError, is_export
from memagent.agent.data.foreign import Conversation, TranscriptError, conversations
from memagent.agent.data.restoring import Imported, Restorer
from memagent.agent.ingesting import discreet
from memagent.agent.rooms import Rooms
from memagent.agent.transcripts import transcript_entries
from memagent.errors import MemagentError
from stores.records import Message

CONVERSATIONS = "conversations.json"
"""What the exports of other programs, which are zip files, hold their talk in."""
BATCH = 500


class Taker:
    """Imports into the rooms' scope."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._restorer = Restorer(rooms)

    async def take(self, path: Path) -> Imported:
        """Raises MemagentError when it cannot be read, and nothing was written; StoreError."""
        if not await asyncio.to_thread(path.exists):
            raise ArchiveError(f"there is no {path}")
        if await asyncio.to_thread(is_export, path):
            return await self._restorer.restore(path)
        try:
            kind, found = await asyncio.to_thread(lambda: conversations(_text(path)))
            sessions = {one.session_id: self._entries(one) for one in found}
        except MemagentError as error:
            raise TranscriptError(f"nothing was imported from {path}: {error}") from error
        return await self._journal(kind, sessions, sum(one.left_out for one in found))

    def _entries(self, conversation: Conversation) -> list[Message]:
        entries = transcript_entries(
            conversation.messages,
            session_id=conversation.session_id,
            zone=self._rooms.zone,
            now=self._rooms.clock(),
            new_id=self._rooms.new_id,
            open_exchange_id=None,
        )
        return discreet(entries, private=False)

    async def _journal(self, kind: str, sessions: dict[str, list[Message]], left_out: int) -> Imported:
        journal, scope = self._rooms.stores.journal, self._rooms.scope
        added = skipped = 0
        changed: list[str] = []
        for session_id, entries in sessions.items():
            known = {entry.id for entry in await journal.read(scope, session_id)}
            fresh = [entry for entry in entries if entry.id not in known]
            for start in range(0, len(fresh), BATCH):
                await journal.append(scope, fresh[start : start + BATCH])
            added += len(fresh)
            skipped += len(entries) - len(fresh)
            changed += [session_id] if fresh else []
        notes = (f"{left_out:,} system messages were left out",) if left_out else ()
        counts = {"entries": skipped} if skipped else {}
        return Imported(format=kind, sessions=tuple(changed), added={"entries": added}, skipped=counts, notes=notes)


def _text(path: Path) -> str:
    try:
        if path.is_dir():
            return (path / CONVERSATIONS).read_text("utf-8")
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as opened:
                names = [name for name in opened.namelist() if name.rpartition("/")[2] == CONVERSATIONS]
                if not names:
                    raise TranscriptError(f"the zip file holds no {CONVERSATIONS}")
                return opened.read(names[0]).decode("utf-8")
        return path.read_text("utf-8")
    except OSError as error:
        raise TranscriptError(error.strerror or str(error)) from error
    except (UnicodeDecodeError, zipfile.BadZipFile) as error:
        raise TranscriptError(f"it is no text in UTF-8, or damaged: {error}") from error
