"""Asking the model within one exchange: a prompt that fits, the answer as it streams, and what it took."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memagent.agent.compacting import Current
from memagent.agent.exchange_journal import ExchangeJournal
from memagent.agent.opened import Opened
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import SessionView
from memagent.context.assemble import Prompt
from memagent.context.manifest import Candidate
from memagent.context.render import ContextBlock, Exchange, build_exchange
from memagent.errors import ContextTooLongError, ModelError, ModelReplyError
from memagent.events import Event, Notice, TextDelta, Usage
from memagent.llm.client import ChatRequest, Completion, Retrying, TextPiece
from stores.records import LedgerEntry, Mark, Message, MessageRole


class Asking:
    """The model calls of one exchange. ``block`` and ``candidates`` are what was recalled for it; ``usage`` is what
    the calls took together, ``spoken`` the text of the one that is under way, ``prompt`` the last one sent."""

    def __init__(
        self,
        rooms: Rooms,
        view: SessionView,
        opened: Opened,
        journal: ExchangeJournal,
        emit: Callable[[Event], None],
    ) -> None:
        self._rooms = rooms
        self._view = view
        self._composer = opened.composer
        self._compactor = opened.compactor
        self._model = opened.model
        self._journal = journal
        self._emit = emit
        self.block = ContextBlock()
        self.candidates: tuple[Candidate, ...] = ()
        self.usage = Usage()
        self.spoken = ""
        self.prompt: Prompt | None = None

    async def ask(self, tool_choice: str | Mapping[str, Any], *, last: bool) -> Completion:
        """One model call; ``last``: no call may come of it any more. A prompt that the server finds too long is
        made smaller once; a model that returns nothing is asked once without tools, which confuse the smallest.
        Raises a ModelError, PromptTooLargeError, StoreError."""
        try:
            return await self._ask_once(tool_choice, last)
        except ModelReplyError as error:
            if self.spoken or self.prompt is None or not self.prompt.wire_tools:
                raise
            self._emit(Notice(text=f"{error}; asking again without tools"))
            return await self._ask_once(tool_choice, last, bare=True)
        except ContextTooLongError as error:
            if self.spoken or self.prompt is None:
                raise
            self._emit(Notice(level="warning", text=f"{error} Trying again with a shorter prompt."))
            self._composer.tighten(self.prompt)
            try:
                return await self._ask_once(tool_choice, last)
            finally:
                self._composer.relax()

    async def _ask_once(self, tool_choice: str | Mapping[str, Any], last: bool, *, bare: bool = False) -> Completion:
        prompt = await self._next_prompt()
        request = ChatRequest(
            messages=prompt.wire_messages,
            tools=() if bare else prompt.wire_tools,
            tool_choice="none" if last else tool_choice,
            max_tokens=prompt.manifest.reserve_tokens,
            temperature=self._rooms.settings.temperature,
            known_tools=[tool["function"]["name"] for tool in prompt.wire_tools] if last or bare else (),
        )
        self.spoken = ""
        start = time.monotonic()
        try:
            async for piece in self._model.stream(request):
                match piece:
                    case TextPiece(text):
                        self.spoken += text
                        self._emit(TextDelta(text=text))
                    case Retrying(attempt, after, reason):
                        self._emit(Notice(text=f"{reason}; trying again in {after:.0f} s (attempt {attempt})"))
                    case Completion():
                        return await self._account(prompt, piece)
        except ModelError as error:
            await self._ledger(prompt, Usage(), time.monotonic() - start, type(error).__name__)
            raise
        except asyncio.CancelledError:  # what was generated so far is paid for, too
            usage = self._composer.estimated_usage(prompt, self.spoken)
            self.usage += usage
            await asyncio.shield(self._ledger(prompt, usage, time.monotonic() - start, "cancelled"))
            raise
        raise AssertionError("a stream ends with a Completion or an error")

    async def _next_prompt(self) -> Prompt:
        prompt, current = await self._composed()
        if not prompt.fits_whole or self._compactor.over_cap(self._view):
            prompt = await self._made_to_fit(prompt, current)
        self.prompt = await self._composer.record(self._view, self._journal.exchange_id, prompt)
        return self.prompt

    async def _composed(self) -> tuple[Prompt, Exchange]:
        async with self._view.steady:
            current = self._exchange(self._journal.entries)
            return self._composer.prompt(self._view, current, self.candidates), current

    async def _made_to_fit(self, prompt: Prompt, current: Exchange) -> Prompt:
        """Older talk makes room. If another compaction was under way, its end may be enough."""
        for _ in range(2):
            fitted = await self._compactor.to_fit(self._view, Current(current, self._head_ids()), self._emit)
            prompt, current = await self._composed()
            if fitted:
                self._emit(fitted)
                return replace(prompt, manifest=prompt.manifest.model_copy(update={"compaction": "done"}))
            if prompt.fits_whole:
                break
        return prompt

    async def _account(self, prompt: Prompt, completion: Completion) -> Completion:
        self.usage += completion.usage
        call = await self._ledger(prompt, completion.usage, completion.latency_seconds, completion.finish_reason)
        if warning := self._composer.learn_from(call):
            self._emit(Notice(level="warning", text=warning))
        for notice in completion.notices:
            self._emit(Notice(text=notice))
        return completion

    def _head_ids(self) -> tuple[str, ...]:
        """The person's message and what was recalled for it: all before the first turn."""
        spoke = (isinstance(e, Message) and e.role is MessageRole.ASSISTANT for e in self._journal.entries)
        return tuple(
            e.id for e, turn in zip(self._journal.entries, itertools.accumulate(spoke, max), strict=True) if not turn
        )

    def _exchange(self, entries: Sequence[Message | Mark]) -> Exchange:
        return exchange_of(self._view.trimmed(entries), self.block.without(self._view.forgotten))

    async def _ledger(self, prompt: Prompt, usage: Usage, latency_seconds: float, outcome: str) -> LedgerEntry:
        call = LedgerEntry(
            id=self._rooms.new_id(),
            session_id=self._view.session_id,
            exchange_id=self._journal.exchange_id,
            role="chat",
            model=self._model.profile.name,
            endpoint=self._model.endpoint,
            at=self._rooms.clock(),
            prompt_tokens=usage.prompt_tokens,
            cached_tokens=usage.cached_tokens,
            completion_tokens=usage.completion_tokens,
            estimated=usage.estimated,
            latency_seconds=latency_seconds,
            outcome=outcome,
            raw_tokens=prompt.manifest.raw_tokens,
            text_only=prompt.text_only,
        )
        await self._rooms.stores.ledger.add(self._rooms.scope, call)
        return call


def exchange_of(entries: Sequence[Message | Mark], block: ContextBlock) -> Exchange:
    """The exchange of entries among which the person's message is."""
    exchange = build_exchange(entries, block)
    assert exchange is not None
    return exchange
