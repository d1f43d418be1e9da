"""Reading what was shown only in part: an entry of the journal by its id, whole or by pages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from memagent import prompts
from memagent.agent.rooms import Rooms
from memagent.context.overflow import CountText
from memagent.context.reading import read
from memagent.context.view import summary_of
from memagent.errors import NotFoundError
from memagent.sanitize import clean_text
from memagent.tools.definition import Tool
from stores.records import Mark, MarkKind, Message, MessageRole

PAGE_TOKENS = 1_000
"""The most that one page takes."""
LEAST_CAP_RAW = 256
"""A tool's own cap holds for pages of its results too, but never below this: reading would take for ever."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part: see `memagent.context.reading.read`. None of them: from the beginning."""

    lines: str | None = None
    chars: str | None = None
    grep: str | None = None
    json_path: str | None = None

    @property
    def is_all(self) -> bool:
        return not (self.lines or self.chars or self.grep or self.json_path)


class ReadBack:
    """Reads the entries of the rooms' scope. ``tools``: whose results they may be."""

    def __init__(self, rooms: Rooms, tools: Mapping[str, Tool]) -> None:
        self._rooms = rooms
        self._tools = tools

    async def find(self, ref: str, session_id: str) -> Message | Mark:
        """The message or the summary with this id, of this session if it has one, else of the session that
        used it last. Raises NotFoundError."""
        wanted = clean_text(ref).strip()
        # models copy references with what stands around them
        found = await self._entries(wanted) or await self._entries(wanted.strip(" \t\n\"'`[]()<>"))
        if not found:
            raise NotFoundError(f"nothing is kept under {wanted[:80]!r}; copy the reference from its notice")
        here = [entry for entry in found if entry.session_id == session_id]
        entry = (here or found)[-1]
        if entry.erased and isinstance(entry, Message):
            raise NotFoundError(f"the content of {entry.id!r} was erased (receipt {entry.erased})")
        return entry

    async def _entries(self, entry_id: str) -> list[Message | Mark]:
        entries = await self._rooms.stores.journal.get(self._rooms.scope, [entry_id])
        return [entry for entry in entries if isinstance(entry, Message) or entry.what is MarkKind.SUMMARY]

    async def whole(self, entry: Message | Mark) -> str:
        """All of its text, exactly; for a summary what was said in the part that it stands for. Raises
        BlobMissingError, StoreCorruptError, StoreError."""
        if isinstance(entry, Mark):
            return "\n".join(_line(message) for message in await self.messages(entry))
        if entry.overflow is None:
            return entry.content
        content = await self._rooms.stores.blobs.get(self._rooms.scope, entry.overflow.digest)
        return content.decode()

    async def messages(self, summary: Mark) -> list[Message]:
        """What a summary stands for, oldest first: every message, whatever level it is of."""
        first, last = summary_of(summary).first_sequence, summary_of(summary).last_sequence
        entries = await self._rooms.stores.journal.read(
            self._rooms.scope, summary.session_id, after_sequence=first - 1, limit=last - first + 1
        )
        return [entry for entry in entries if isinstance(entry, Message)]

    async def page(
        self, entry: Message | Mark, selection: Selection, *, session_id: str, limit_raw: int, count: CountText
    ) -> str:
        """A page of its text in at most ``limit_raw`` tokens, under a line that says what it is and how old."""
        text = await self.whole(entry)
        head = self._head(entry, session_id)
        page = await asyncio.to_thread(
            read,
            text,
            lines=selection.lines,
            chars=selection.chars,
            grep=selection.grep,
            json_path=selection.json_path,
            limit_raw=limit_raw - count(head) - 1,
            count=count,
            ref=entry.id,
        )
        return f"{head}\n{page}"

    def limit_raw(self, entry: Message | Mark, cap_raw: int, margin_percent: int) -> int:
        """The size of a page of this entry, where a result may take ``cap_raw``."""
        limit_raw = min(cap_raw, PAGE_TOKENS * 100 // margin_percent)
        tool = self._tools.get(entry.name or "") if isinstance(entry, Message) else None
        if tool is not None and tool.max_output_tokens is not None:
            limit_raw = min(limit_raw, max(LEAST_CAP_RAW, tool.max_output_tokens * 100 // margin_percent))
        return limit_raw

    def _head(self, entry: Message | Mark, session_id: str) -> str:
        if isinstance(entry, Mark):
            return prompts.text("read_back_summary")
        at = f"{entry.at.astimezone(ZoneInfo(self._rooms.zone)):%Y-%m-%d %H:%M} ({self._rooms.zone})"
        if entry.role is not MessageRole.TOOL:
            return prompts.text("read_back", what=f"Message of the {entry.role.value}", at=at)
        what = f"Result of {entry.name or 'a tool'}"
        if why := self._stale(entry, session_id):
            return prompts.text("read_back_stale", what=what, at=at, why=why)
        return prompts.text("read_back", what=what, at=at)

    def _stale(self, entry: Message, session_id: str) -> str:
        tool = self._tools.get(entry.name or "")
        limit_seconds = tool.stale_after_seconds if tool else None
        if limit_seconds is not None and (self._rooms.clock() - entry.at).total_seconds() > limit_seconds:
            return f"older than {limit_seconds:g} s"
        return "from an earlier session" if entry.session_id != session_id else ""


def _line(message: Message) -> str:
    name = f" {message.name}" if message.name else ""
    calls = "".join(f" [{call.name} {call.arguments}]" for call in message.calls)
    at = f"{message.at.astimezone(ZoneInfo(message.zone)):%Y-%m-%d %H:%M}"  # as it was for the person then
    return f"{at} {message.role.value}{name} (ref {message.id}):{calls} {message.content}".rstrip()
