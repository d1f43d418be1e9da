"""The loop: journal, recall, assemble, ask, run tools, and again, until there is an answer.

Everything said or done is in the journal before it is sent or shown as done, so a process killed at
any point loses nothing that was acknowledged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memagent.agent.asking import Asking, exchange_of
from memagent.agent.calling import Calling, result_of
from memagent.agent.consents import WENT_ON, decided_mark, decision_in, unqueue, waiting, waits_text
from memagent.agent.discreet import said_before
from memagent.agent.exchange_journal import ExchangeJournal
from memagent.agent.opened import Opened
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import SessionView
from memagent.agent.spending import over_budget
from memagent.agent.stopwatch import Stopwatch
from memagent.context.assemble import Prompt
from memagent.context.render import ContextBlock
from memagent.errors import ModelReplyError, NotFoundError
from memagent.events import Event, FinishReason, Notice, Recalled, State, StateChanged, Usage
from memagent.llm.client import Completion
from memagent.tools.approval import Decision
from memagent.tools.output import refusal
from stores.errors import StoreError
from stores.records import ImagePart, Mark, MarkKind, Message, MessageRole, ToolCall

STOPPED = {
    "turn_limit": "I stopped after {turns} turns without reaching an answer.",
    "no_progress": "I stopped: the same tool call kept giving the same result.",
    "silent": "The model said nothing more.",
    "time_limit": "I stopped: this took longer than the {seconds:g} s that it may take.",
    "spend_limit": "I stopped: this has used up what one answer may take of the model.",
}


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
class Resumption:
    """An exchange whose calls waited for the person, who has decided about all of them. ``remember`` as he wanted
    when he asked."""

    exchange_id: str
    remember: bool


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
    """One exchange, from the person's message, or the decision it waited for, to the final answer. `start` is
    called once."""

    def __init__(
        self,
        rooms: Rooms,
        view: SessionView,
        opened: Opened,
        task: Question | Resumption,
        emit: Callable[[Event], None],
    ) -> None:
        self._rooms = rooms
        self._view = view
        self._composer = opened.composer
        self._model = opened.model
        self._learner = opened.learner
        self._resumed = task if isinstance(task, Resumption) else None
        self._question = task if isinstance(task, Question) else Question("")
        self._emit = emit
        self._exchange_id = self._resumed.exchange_id if self._resumed else rooms.new_id()
        self._journal = ExchangeJournal(rooms, view.session_id, self._exchange_id, remember=self._question.remember)
        self._stopwatch = Stopwatch(rooms.settings.exchange_seconds)
        self._calling = Calling(rooms, opened, self._journal, emit, self._stopwatch)
        self._asking = Asking(rooms, view, opened, self._journal, emit)
        self._state: State | None = None
        self._turns = 0
        self._news = True
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
            self._enter("planning")
            await (self._reopen(self._resumed) if self._resumed else self._open())
            self._work = asyncio.create_task(self._answered())
            if self._stopped:
                self._work.cancel()
            try:
                ending = await self._work
            except asyncio.CancelledError:
                ending = _Ending(self._asking.spoken, "cancelled", partial=True)
            except TimeoutError:
                if not self._stopwatch.expired:
                    raise
                spoken = self._asking.spoken
                ending = _Ending(spoken or self._without_answer("time_limit"), "time_limit", partial=bool(spoken))
            return await self._end(ending)
        finally:
            await self._tidy()

    def _enter(self, state: State) -> None:
        if state != self._state:
            self._state = state
            self._emit(StateChanged(state=state))

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
        async with self._stopwatch:
            if self._resumed is None:
                await self._remind()
            elif ending := await self._carry_out(self._resumed):
                return ending
            return await self._turn_after_turn()

    async def _turn_after_turn(self) -> _Ending:
        limit = self._rooms.settings.turn_limit
        stop: FinishReason = "stop"
        said = ""
        while self._turns < limit:
            self._turns += 1
            if self._turns == limit and limit > 1:
                stop = "turn_limit"
            try:
                completion = await self._ask(stop)
            except ModelReplyError:
                if not self._calling.results:
                    raise
                return _Ending(self._without_answer("silent"), "no_progress")
            if not completion.calls:
                partial = completion.finish_reason == "partial"
                reason = "partial" if partial else "length" if completion.finish_reason == "length" else stop
                return _Ending(completion.text, reason, partial)
            said = completion.text
            if stop != "stop":
                break  # told not to call tools, the model called one: that call is neither run nor stored
            if over_budget(self._rooms, self._model, self._asking.usage):
                stop = "spend_limit"
                break  # its calls are not run either
            if ending := await self._use_tools(completion):
                return ending
            if not self._news:
                stop = "no_progress"
        if stop == "stop":
            stop = "turn_limit"
        return _Ending("\n\n".join(part for part in (said.strip(), self._without_answer(stop)) if part), stop)

    async def _ask(self, stop: FinishReason) -> Completion:
        """The caller's choice of tools holds for the first call; a demand that lasted would never let an answer
        come."""
        self._enter("planning")
        chosen = self._question.tool_choice
        choice = chosen if chosen == "none" or not self._calling.begun else "auto"
        return await self._asking.ask(choice, last=stop != "stop")

    def _without_answer(self, reason: str) -> str:
        """What an exchange ends with that came to no answer: why, and what the tools said last."""
        settings = self._rooms.settings
        lines = [STOPPED[reason].format(turns=settings.turn_limit, seconds=settings.exchange_seconds or 0)]
        if self._calling.results:
            lines += ["The last results:", *self._calling.results]
        return "\n".join(lines)

    async def _open(self) -> None:
        """The message goes to the journal, before anything is sent or recalled."""
        await self._rooms.indexer.catch_up(self._rooms.scope)
        await self._view.refresh()
        self._before = self._view.last_at or await self._composer.last_talk()
        self._view.open_exchange_id = self._exchange_id
        asked = self._journal.message(
            MessageRole.USER, self._question.text, id=self._exchange_id, images=self._question.images
        )
        # composed against an unsent prompt first: what can never fit is refused before anything is stored
        async with self._view.steady:
            self._composer.prompt(self._view, exchange_of([asked], ContextBlock()))
        await self._let_go()
        if self._question.remember:
            await self._learner.queue(self._view.session_id, [self._exchange_id])
        before = await said_before(self._rooms, self._view) if self._question.takes_back else []
        named = sorted(message.id for message in before)
        marks = [self._journal.mark(MarkKind.NOT_REMEMBERED, entry_ids=named)] if named else []
        await self._journal.write(asked, *marks)  # together: a kill leaves both or neither
        if named:
            await self._learner.withdraw(self._view.session_id, before[0].exchange_id)
            await self._rooms.indexer.catch_up(self._rooms.scope)

    async def _let_go(self) -> None:
        """Calls of the exchange before that still wait for the person will not run: he went on without deciding.
        Who decides at the same time elsewhere is heard if he came first."""
        entries = self._view.newest_entries
        if not (left := waiting(entries)):
            return
        before = ExchangeJournal(
            self._rooms, self._view.session_id, entries[0].exchange_id, remember=True, entries=entries
        )
        for each in left:
            mark = decided_mark(before, each.message.id, each.call, WENT_ON)
            (kept,) = await before.write(mark)
            if isinstance(kept, Mark) and decision_in(kept) == WENT_ON:
                text = refusal(each.call.name, WENT_ON.reason, by_nobody=True)
                await before.write(result_of(before, each.call, text, failed=True))
        await unqueue(self._rooms, before.exchange_id)
        await self._view.refresh()

    async def _reopen(self, resumed: Resumption) -> None:
        """The exchange leaves the window and goes on where it was."""
        await self._view.refresh()
        entries, self._asking.block = await self._view.reopen(resumed.exchange_id)
        self._journal.go_on_with(entries)
        self._turns = sum(isinstance(entry, Message) and bool(entry.calls) for entry in entries)

    async def _carry_out(self, resumed: Resumption) -> _Ending | None:
        """The calls that waited run, or do not, as the person decided. Raises NotFoundError if somebody has carried
        them out by now."""
        left = [each for each in waiting(self._journal.entries) if each.decision]
        if not left:
            raise NotFoundError("these calls wait no more: they were carried out meanwhile")
        decisions = {each.call.id: each.decision for each in left if each.decision}
        for message_id in dict.fromkeys(each.message.id for each in left):
            calls = [each.call for each in left if each.message.id == message_id]
            if ending := await self._run_calls(message_id, calls, decisions):
                return ending
        await unqueue(self._rooms, resumed.exchange_id)
        return None

    async def _remind(self) -> None:
        """What memory has to say about the message."""
        self._asking.block, self._asking.candidates = await self._composer.recall(
            self._view, self._question.text, self._exchange_id, self._before
        )
        if self._asking.block.recalled:
            self._emit(Recalled(memory_ids=tuple(line.memory_id for line in self._asking.block.recalled)))
        data = await self._composer.block_data(self._asking.block)
        await self._journal.write(self._journal.mark(MarkKind.CONTEXT, **data))

    async def _use_tools(self, completion: Completion) -> _Ending | None:
        """Journals the calls and runs them. An ending if some of them wait for the person."""
        self._asking.spoken = ""  # the write below happens even if it is interrupted
        message = self._journal.message(MessageRole.ASSISTANT, completion.text, calls=completion.calls)
        await self._journal.write(message)
        return await self._run_calls(message.id, completion.calls)

    async def _run_calls(
        self, message_id: str, calls: Sequence[ToolCall], decisions: Mapping[str, Decision] | None = None
    ) -> _Ending | None:
        self._enter("executing")
        self._news = await self._calling.run(message_id, calls, decisions)
        if self._calling.waits:
            return _Ending(waits_text([(c.name, c.arguments) for c in self._calling.waits]), "approval")
        self._enter("observing")
        return None

    async def _end(self, ending: _Ending) -> Answer:
        self._ending = True
        # an exchange that was stopped before a word came has no answer, and one that waits none yet
        if ending.text.strip() and ending.reason != "approval":
            await self._journal.write(self._journal.message(MessageRole.ASSISTANT, ending.text, partial=ending.partial))
        self._enter("final")
        return Answer(ending.text, ending.reason, self._asking.usage, self._asking.prompt)
