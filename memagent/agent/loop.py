"""The loop: journal, recall, assemble, ask, run tools, and again, until there is an answer.

Everything said or done is in the journal before it is sent or shown as done, so a process killed at
any point loses nothing that was acknowledged.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memagent.agent.compacting import Current
from memagent.agent.opened import Opened
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import SessionView
from memagent.context.assemble import Prompt
from memagent.context.manifest import Candidate
from memagent.context.render import ContextBlock, Exchange, build_exchange
from memagent.errors import ContextTooLongError, ModelError, ModelReplyError
from memagent.events import (
    Event,
    FinishReason,
    Notice,
    Recalled,
    TextDelta,
    ToolFinished,
    ToolStarted,
    Usage,
)
from memagent.llm.client import ChatRequest, Completion, Retrying, TextPiece
from memagent.tools.running import Limits, Outcome, run_calls
from stores.errors import StoreError
from stores.records import ImagePart, LedgerEntry, Mark, MarkKind, Message, MessageRole, ToolCall

STOPPED = {
    "turn_limit": "I stopped after {turns} turns without reaching an answer.",
    "no_progress": "I stopped: the same tool call kept giving the same result.",
    "silent": "The model said nothing more.",
}
RESULT_CHARS = 600
"""So much of each last result stands in the message that an exchange without an answer ends with."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the person asks. ``remember`` False: nothing of the exchange becomes a memory;
    ``asked_for_discretion``: the message itself says so; ``takes_back``: nor of the one before, after all."""

    text: str
    images: tuple[ImagePart, ...] = ()
    tool_choice: str | Mapping[str, Any] = "auto"
    remember: bool = True
    asked_for_discretion: bool = False
    takes_back: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """How an exchange ended. ``prompt`` is the last one sent; None if none was."""

    text: str
    finish_reason: FinishReason
    usage: Usage
    prompt: Prompt | None


@dataclass(frozen=True, slots=True)
class _Ending:
    """What the person is told last, and why. ``partial``: it was cut off."""

    text: str
    reason: FinishReason
    partial: bool = False


class ExchangeRun:
    """One exchange, from the person's message to the final answer. `start` is called once."""

    def __init__(
        self,
        rooms: Rooms,
        view: SessionView,
        opened: Opened,
        question: Question,
        emit: Callable[[Event], None],
    ) -> None:
        self._rooms = rooms
        self._view = view
        self._composer = opened.composer
        self._compactor = opened.compactor
        self._model = opened.model
        self._tools = opened.tools
        self._overflowing = opened.overflowing
        self._learner = opened.learner
        self._question = question
        self._emit = emit
        self._entries: list[Message | Mark] = []
        self._block = ContextBlock()
        self._candidates: tuple[Candidate, ...] = ()
        self._exchange_id = rooms.new_id()
        self._usage = Usage()
        self._spoken = ""
        self._prompt: Prompt | None = None
        self._seen: set[tuple[str, str, str]] = set()
        self._results: list[str] = []
        self._asked = self._message(MessageRole.USER, question.text, id=self._exchange_id, images=question.images)
        self._task: asyncio.Task[Answer] | None = None
        self._work: asyncio.Task[_Ending] | None = None
        self._before: datetime | None = None
        self._stopped = self._ending = False

    @property
    def exchange_id(self) -> str:
        return self._exchange_id

    @property
    def asked(self) -> str:
        """The person's words."""
        return self._question.text

    def start(self) -> asyncio.Task[Answer]:
        """Answers in a task. It raises a ModelError, PromptTooLargeError or StoreError; what was said stays
        journalled."""
        self._task = asyncio.create_task(self._run())
        return self._task

    def cancel(self) -> bool:
        """Stops the answer, at any moment and any number of times, and keeps what was said; False when it
        has ended or is about to."""
        if self._task is None or self._ending:
            return False
        self._stopped = True
        if self._work is not None:
            self._work.cancel()
        return True

    async def stopped(self) -> None:
        """Cancels and waits for the end, whatever it is."""
        self.cancel()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self) -> Answer:
        """Never cancelled itself: only the model's and the tools' work is, so that the beginning and the
        end of an exchange are always whole."""
        try:
            await self._open()
            self._work = asyncio.create_task(self._answered())
            if self._stopped:
                self._work.cancel()
            try:
                ending = await self._work
            except asyncio.CancelledError:
                ending = _Ending(self._spoken, "cancelled", partial=True)
            return await self._end(ending)
        finally:
            await self._tidy()

    async def _tidy(self) -> None:
        """The exchange joins the window. The answer is kept by now: what fails here is told and made good
        before the next one."""
        self._ending = True
        try:
            self._composer.use_margin()
            await self._view.finish_open()
        except StoreError as error:
            self._emit(Notice(level="warning", text=f"the window could not be brought up to date: {error}"))

    async def _answered(self) -> _Ending:
        await self._remind()
        stop: FinishReason = "stop"
        for turn in range(1, self._rooms.settings.turn_limit + 1):
            if turn == self._rooms.settings.turn_limit and turn > 1:
                stop = "turn_limit"
            try:
                completion = await self._ask(last=stop != "stop")
            except ModelReplyError:
                if not self._results:
                    raise
                return _Ending(self._without_answer("silent"), "no_progress")
            if not completion.calls:
                partial = completion.finish_reason == "partial"
                reason = "partial" if partial else "length" if completion.finish_reason == "length" else stop
                return _Ending(completion.text, reason, partial)
            if stop != "stop":
                break  # told not to call tools, the model called one: that call is neither run nor stored
            if not await self._use_tools(completion):
                stop = "no_progress"
        if stop == "stop":
            stop = "turn_limit"
        return _Ending(self._without_answer(stop), stop)

    def _without_answer(self, reason: str) -> str:
        """What an exchange ends with that came to no answer: why, and what the tools said last."""
        lines = [STOPPED[reason].format(turns=self._rooms.settings.turn_limit)]
        if self._results:
            lines += ["The last results:", *self._results]
        return "\n".join(lines)

    async def _open(self) -> None:
        """The message goes to the journal, before anything is sent or recalled."""
        await self._rooms.indexer.catch_up(self._rooms.scope)
        await self._view.refresh()
        self._before = self._view.last_at or await self._composer.last_talk()
        self._view.open_exchange_id = self._exchange_id
        # composed against an unsent prompt first: what can never fit is refused before anything is stored
        async with self._view.steady:
            self._composer.prompt(self._view, _exchange([self._asked], self._block))
        if self._question.remember:
            await self._learner.queue(self._view.session_id, [self._exchange_id])
        await self._write(self._asked)
        if self._question.takes_back:
            await self._take_back()

    async def _take_back(self) -> None:
        """The exchange before is not to be remembered after all: the journal says so, then the memories go."""
        before = self._view.window.exchanges[-1:]
        for closed in before:
            await self._write(self._mark(MarkKind.NOT_REMEMBERED, entry_ids=sorted(closed.entry_ids)))
            await self._learner.withdraw(self._view.session_id, closed.exchange.id)
        await self._rooms.indexer.catch_up(self._rooms.scope)

    async def _remind(self) -> None:
        """What memory has to say about the message."""
        self._block, self._candidates = await self._composer.recall(
            self._view, self._question.text, self._exchange_id, self._before
        )
        if self._block.recalled:
            self._emit(Recalled(memory_ids=tuple(line.memory_id for line in self._block.recalled)))
        await self._write(self._mark(MarkKind.CONTEXT, **await self._composer.block_data(self._block)))

    async def _ask(self, *, last: bool) -> Completion:
        """One model call. A prompt that the server finds too long is made smaller once; a model that returns
        nothing is asked once without tools, which confuse the smallest."""
        try:
            return await self._ask_once(last)
        except ModelReplyError as error:
            if self._spoken or self._prompt is None or not self._prompt.wire_tools:
                raise
            self._emit(Notice(text=f"{error}; asking again without tools"))
            return await self._ask_once(last, bare=True)
        except ContextTooLongError as error:
            if self._spoken or self._prompt is None:
                raise
            self._emit(Notice(level="warning", text=f"{error} Trying again with a shorter prompt."))
            self._composer.tighten(self._prompt)
            try:
                return await self._ask_once(last)
            finally:
                self._composer.relax()

    async def _ask_once(self, last: bool, *, bare: bool = False) -> Completion:
        prompt = await self._next_prompt()
        request = ChatRequest(
            messages=prompt.wire_messages,
            tools=() if bare else prompt.wire_tools,
            tool_choice="none" if last else self._tool_choice(),
            max_tokens=prompt.manifest.reserve_tokens,
            temperature=self._rooms.settings.temperature,
            known_tools=[tool["function"]["name"] for tool in prompt.wire_tools] if last or bare else (),
        )
        self._spoken = ""
        start = time.monotonic()
        try:
            async for piece in self._model.stream(request):
                match piece:
                    case TextPiece(text):
                        self._spoken += text
                        self._emit(TextDelta(text=text))
                    case Retrying(attempt, after, reason):
                        self._emit(Notice(text=f"{reason}; trying again in {after:.0f} s (attempt {attempt})"))
                    case Completion():
                        return await self._account(prompt, piece)
        except ModelError as error:
            await self._ledger(prompt, Usage(), time.monotonic() - start, type(error).__name__)
            raise
        except asyncio.CancelledError:  # what was generated so far is paid for, too
            usage = self._composer.estimated_usage(prompt, self._spoken)
            self._usage += usage
            await asyncio.shield(self._ledger(prompt, usage, time.monotonic() - start, "cancelled"))
            raise
        raise AssertionError("a stream ends with a Completion or an error")

    def _tool_choice(self) -> str | Mapping[str, Any]:
        """The caller's choice holds for the first call; a demand that lasted would never let an answer come."""
        chosen = self._question.tool_choice
        return chosen if chosen == "none" or not self._seen else "auto"

    async def _next_prompt(self) -> Prompt:
        prompt, current = await self._composed()
        if not prompt.fits_whole or self._compactor.over_cap(self._view):
            prompt = await self._made_to_fit(prompt, current)
        self._prompt = await self._composer.record(self._view, self._exchange_id, prompt)
        return self._prompt

    async def _composed(self) -> tuple[Prompt, Exchange]:
        async with self._view.steady:
            current = self._exchange(self._entries)
            return self._composer.prompt(self._view, current, self._candidates), current

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
        self._usage += completion.usage
        call = await self._ledger(prompt, completion.usage, completion.latency_seconds, completion.finish_reason)
        if warning := self._composer.learn_from(call):
            self._emit(Notice(level="warning", text=warning))
        for notice in completion.notices:
            self._emit(Notice(text=notice))
        return completion

    async def _use_tools(self, completion: Completion) -> bool:
        """Journals the calls, runs them, journals each result as it comes. False: nothing new came of it."""
        self._spoken = ""  # the write below happens even if it is interrupted
        await self._write(self._message(MessageRole.ASSISTANT, completion.text, calls=completion.calls))

        async def on_start(call: ToolCall) -> None:
            await self._write(self._mark(MarkKind.STARTED, call_id=call.id, name=call.name))
            self._emit(ToolStarted(call_id=call.id, name=call.name, arguments=call.arguments))

        async def on_finish(outcome: Outcome) -> None:
            call = outcome.call
            # shielded: a result that is there is kept, even if the person stops the answer just now
            kept = await asyncio.shield(self._keep(outcome))
            self._emit(ToolFinished(call_id=call.id, name=call.name, content=kept, failed=outcome.failed))

        self._overflowing.begin_turn(len(completion.calls))
        outcomes = await run_calls(
            completion.calls,
            self._tools,
            limits=Limits(self._rooms.settings.tool_timeout_seconds),
            approve=self._rooms.approve,
            on_start=on_start,
            on_finish=on_finish,
        )
        results = {(o.call.name, o.call.arguments, o.content) for o in outcomes}
        news = bool(results - self._seen)
        self._results = [f"{o.call.name}: {_beginning(o.content)}" for o in outcomes]
        self._seen |= results
        return news

    async def _keep(self, outcome: Outcome) -> str:
        """Journals a result, and returns it as it is shown."""
        call, ref = outcome.call, self._rooms.new_id()
        kept = await self._overflowing.keep(outcome.content, call.name, ref)
        if kept.trouble:
            self._emit(Notice(level="warning", text=kept.trouble))
        await self._write(
            self._message(
                MessageRole.TOOL,
                kept.content,
                id=ref,
                call_id=call.id,
                name=call.name,
                failed=outcome.failed,
                overflow=kept.overflow,
            )
        )
        return kept.content

    async def _end(self, ending: _Ending) -> Answer:
        self._ending = True
        if ending.text.strip():  # an exchange that was stopped before a word came has no answer
            await self._write(self._message(MessageRole.ASSISTANT, ending.text, partial=ending.partial))
        return Answer(ending.text, ending.reason, self._usage, self._prompt)

    async def _write(self, entry: Message | Mark) -> None:
        """A cancellation does not stop what has been asked of the journal, so that nothing is written twice."""
        self._entries += await asyncio.shield(self._rooms.stores.journal.append(self._rooms.scope, [entry]))

    def _head_ids(self) -> tuple[str, ...]:
        """The person's message and what was recalled for it: all before the first turn."""
        spoke = (isinstance(e, Message) and e.role is MessageRole.ASSISTANT for e in self._entries)
        return tuple(e.id for e, turn in zip(self._entries, itertools.accumulate(spoke, max), strict=True) if not turn)

    def _exchange(self, entries: Sequence[Message | Mark]) -> Exchange:
        return _exchange(self._view.trimmed(entries), self._block.without(self._view.forgotten))

    def _message(self, role: MessageRole, content: str, **more: Any) -> Message:
        return Message(role=role, content=content, remember=self._question.remember, **{**self._envelope(), **more})

    def _mark(self, what: MarkKind, **data: Any) -> Mark:
        return Mark(what=what, data=data, **self._envelope())

    def _envelope(self) -> dict[str, Any]:
        return {
            "id": self._rooms.new_id(),
            "session_id": self._view.session_id,
            "exchange_id": self._exchange_id,
            "at": self._rooms.clock(),
            "zone": self._rooms.zone,
        }

    async def _ledger(self, prompt: Prompt, usage: Usage, latency_seconds: float, outcome: str) -> LedgerEntry:
        call = LedgerEntry(
            id=self._rooms.new_id(),
            session_id=self._view.session_id,
            exchange_id=self._exchange_id,
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


def _beginning(text: str) -> str:
    return text if len(text) <= RESULT_CHARS else f"{text[:RESULT_CHARS]} …"


def _exchange(entries: Sequence[Message | Mark], block: ContextBlock) -> Exchange:
    exchange = build_exchange(entries, block)
    assert exchange is not None  # it holds the person's message
    return exchange
