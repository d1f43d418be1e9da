"""Requests that memagent makes for itself, not to answer: bounded, without tools, each in the ledger."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from memagent import prompts
from memagent.agent.rooms import Rooms
from memagent.context.budget import Budget
from memagent.context.overflow import shorten
from memagent.errors import ContextTooLongError, ModelError
from memagent.events import Usage
from memagent.llm.client import ChatModel, ChatRequest, Completion, TextPiece
from memagent.llm.tokens import REPLY_PRIMING_TOKENS, TokenCounter
from stores.records import LedgerEntry


class HelperFailedError(Exception):
    """No reply came, or none that could be used. The text says why, for the person."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked: ``text`` goes into the system message, the material is fenced into the user message.
    ``role`` and ``session_id`` are for the ledger."""

    role: str
    text: str
    reply_tokens: int
    session_id: str


class HelperModel:
    """A model in a helper's role."""

    def __init__(self, rooms: Rooms, model: ChatModel, counter: TokenCounter) -> None:
        self._rooms = rooms
        self._model = model
        self._counter = counter

    def room_raw(self, task: Task, budget: Budget) -> int:
        """How much material one request can hold."""
        frame = self._size(task, "")
        return (budget.window_tokens - task.reply_tokens) * 100 // budget.margin_percent - frame

    async def ask(self, task: Task, material: str, budget: Budget) -> str:
        """The reply. Material above the room is shortened to its beginning and end; a request that the server
        finds too long is made once more with half of it. Raises HelperFailedError."""
        room = self.room_raw(task, budget)
        material = prompts.fenced(material)  # before it is measured: a tag without its bracket takes more tokens
        try:
            return await self._complete(task, self._short(material, room), budget)
        except ContextTooLongError:
            smaller = self._short(material, room // 2)
        except ModelError as error:
            raise HelperFailedError(str(error)) from error
        try:
            return await self._complete(task, smaller, budget)
        except ModelError as error:
            raise HelperFailedError(str(error)) from error

    async def _complete(self, task: Task, material: str, budget: Budget) -> str:
        raw_tokens = self._size(task, material)
        request = ChatRequest(messages=_messages(task, material), max_tokens=task.reply_tokens, temperature=0)
        start, spoken = time.monotonic(), ""
        try:
            async for piece in self._model.stream(request):
                if isinstance(piece, TextPiece):
                    spoken += piece.text
                elif isinstance(piece, Completion):
                    await self._ledger(task, piece.usage, raw_tokens, piece.latency_seconds, piece.finish_reason)
                    if piece.finish_reason == "partial":
                        raise HelperFailedError("the model's answer broke off")
                    return piece.text
        except ModelError as error:
            await self._ledger(task, Usage(), raw_tokens, time.monotonic() - start, type(error).__name__)
            raise
        except asyncio.CancelledError:
            usage = Usage(
                prompt_tokens=budget.estimated(raw_tokens),
                completion_tokens=budget.estimated(self._counter.text(spoken)),
                estimated=True,
            )
            await asyncio.shield(self._ledger(task, usage, raw_tokens, time.monotonic() - start, "cancelled"))
            raise
        raise AssertionError("a stream ends with a Completion or an error")

    def _short(self, material: str, room_raw: int) -> str:
        return shorten(material, room_raw, self._counter.text).text

    def _size(self, task: Task, material: str) -> int:
        return sum(self._counter.message(m) for m in _messages(task, material)) + REPLY_PRIMING_TOKENS

    async def _ledger(self, task: Task, usage: Usage, raw_tokens: int, latency_seconds: float, outcome: str) -> None:
        rooms = self._rooms
        await rooms.stores.ledger.add(
            rooms.scope,
            LedgerEntry(
                id=rooms.new_id(),
                session_id=task.session_id,
                exchange_id=None,
                role=task.role,
                model=self._model.profile.name,
                endpoint=self._model.endpoint,
                at=rooms.clock(),
                prompt_tokens=usage.prompt_tokens,
                cached_tokens=usage.cached_tokens,
                completion_tokens=usage.completion_tokens,
                estimated=usage.estimated,
                latency_seconds=latency_seconds,
                outcome=outcome,
                raw_tokens=raw_tokens,
            ),
        )


def _messages(task: Task, material: str) -> list[dict[str, str]]:
    text = prompts.text("context", lines=prompts.fenced(material)).strip()  # shortening may have made a tag
    return [{"role": "system", "content": task.text}, {"role": "user", "content": text}]
