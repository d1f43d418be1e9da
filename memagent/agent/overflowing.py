"""Tool results as they are shown and kept: what is too long goes to the blob store, whole, and a preview
takes its place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memagent.agent.rooms import Rooms
from memagent.context.budget import Budget
from memagent.context.fit import SMALLEST_RESULT_RAW
from memagent.context.lined import fits
from memagent.context.overflow import preview, shorten
from memagent.llm.tokens import TokenCounter
from memagent.memory.passages import ECHO_TOOLS
from memagent.tools.definition import Tool
from stores.errors import StoreError
from stores.records import Message, MessageRole, Overflow

SMALLEST_BOUNDED_RAW = 128


@dataclass(frozen=True, slots=True)
class Kept:
    """A result as the journal holds it. ``trouble``: what the person must be told."""

    content: str
    overflow: Overflow | None = None
    trouble: str = ""


class Overflowing:
    """Caps the results of one agent's tools. ``tools`` are all that may be called."""

    def __init__(
        self, rooms: Rooms, counter: TokenCounter, budget: Callable[[], Budget], tools: Mapping[str, Tool]
    ) -> None:
        self._rooms = rooms
        self._counter = counter
        self._budget = budget
        self._tools = tools
        self.results = 1

    def cap_raw(self, name: str, results: int) -> int:
        """The most tokens that a tool's result may take among so many of a turn."""
        cap_raw = self._budget().result_raw(results)
        own = self._tools[name].max_output_tokens if name in self._tools else None
        if own is not None:
            cap_raw = min(cap_raw, own * 100 // self._budget().margin_percent)
        return max(SMALLEST_RESULT_RAW, cap_raw)

    def begin_turn(self, results: int) -> None:
        """The turn that begins will have so many results, which share its room: those that page what is kept
        must know before they run."""
        self.results = results

    async def keep(self, text: str, name: str, ref: str) -> Kept:
        """A result of the turn that is running. If it cannot be stored, a part of it is all that stays, and
        both the part and ``trouble`` say so."""
        cap_raw, count = self.cap_raw(name, self.results), self._counter.text
        if name in ECHO_TOOLS and name not in self._rooms.host_tools:  # it shows what is kept already
            return Kept(shorten(text, max(SMALLEST_BOUNDED_RAW, cap_raw), count, "overflow_narrow").text)
        try:
            return await self._stored(text, ref, cap_raw)
        except StoreError as error:
            trouble = f"the output of {name} could not be kept; what is not shown of it is lost: {error}"
            return Kept(shorten(text, cap_raw, count, "overflow_lost").text, trouble=trouble)

    async def keep_imported(self, messages: list[Message]) -> list[Message]:
        """Messages of a transcript with its long tool results stored. Raises StoreError: nothing is lost, since
        whoever imports has the text."""
        kept: list[Message] = []
        results = 1
        for message in messages:
            if message.calls:
                results = len(message.calls)
            if message.role is MessageRole.TOOL and message.overflow is None:
                stored = await self._stored(message.content, message.id, self.cap_raw(message.name or "", results))
                message = message.model_copy(update={"content": stored.content, "overflow": stored.overflow})
            kept.append(message)
        return kept

    async def _stored(self, text: str, ref: str, cap_raw: int) -> Kept:
        if fits(text, cap_raw, self._counter.text):
            return Kept(text)
        room_raw = max(SMALLEST_RESULT_RAW, min(cap_raw, self._budget().preview_raw))
        shown = await asyncio.to_thread(preview, text, ref, room_raw, self._counter.text)
        if len(shown.text) >= len(text):  # the notice alone says more than the text
            return Kept(text)
        content = text.encode()
        digest = await self._rooms.stores.blobs.put(self._rooms.scope, content)
        return Kept(shown.text, Overflow(digest=digest, size_bytes=len(content), chars=len(text)))
