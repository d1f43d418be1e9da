"""Compaction: older talk makes room, a summary stands for it, and nothing is lost.

It happens after a reply, in the background, when the prompt has become 85 % full; an answer
waits for it only if its prompt would not fit. What it decides is one journal mark that holds the whole
view, so a crash in the middle changes nothing and an undo is another mark.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from memagent import prompts
from memagent.agent.composing import Composer
from memagent.agent.helper_calls import HelperFailedError, HelperModel
from memagent.agent.marks import new_mark, summary_mark, view_mark
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import SessionView
from memagent.agent.summarising import (
    FRAME_RAW,
    LEAST_LEAF_RAW,
    MOST_CALLS,
    SUMMARISE,
    SummaryBatch,
    Wish,
    leaf_most_raw,
)
from memagent.context.budget import INSTRUCTIONS_PERCENT, SUMMARIES_PERCENT, result_cap_raw
from memagent.context.compact import Goal, Load, Part, Plan, plan
from memagent.context.instructions import standing_instructions
from memagent.context.material import Source, exchange_unit, turn_unit
from memagent.context.render import ContextBlock, Exchange, Turn, build_exchange, turn_messages, user_message
from memagent.context.summary import background
from memagent.context.view import StandingInstruction, Summary, View, ViewCause
from memagent.context.window import freeable
from memagent.events import Compacted, Compacting, Event, Notice
from memagent.llm.tokens import TokenCounter
from stores.records import Mark, MarkKind, Message

LONGEST_WAIT_MESSAGES = 16
INSTRUCTION_FRAME_RAW = 12
"""The date and the quotes around an instruction in the prompt."""
FAILED = "older talk could not be summarised"
STANDS_IN = "Single sentences of it stand in until it can be; all of it is in the history."

Tell = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Current:
    """The exchange that is being answered, and the ids of its entries before the first turn."""

    exchange: Exchange
    head_ids: tuple[str, ...]


class Compactor:
    """Compacts the sessions of one agent, one at a time. ``tell`` gets what the person should know."""

    def __init__(self, rooms: Rooms, composer: Composer, helper: HelperModel, counter: TokenCounter) -> None:
        self._rooms = rooms
        self._composer = composer
        self._helper = helper
        self._counter = counter
        self._lock = asyncio.Lock()
        self._told: set[str] = set()

    async def when_due(self, view: SessionView, tell: Tell) -> Compacted | None:
        """Between requests: if the next prompt would be too full, and the person did not undo the last one.
        A failure is told and changes nothing."""
        async with self._lock:
            await view.refresh()
            budget = self._composer.budget
            try:
                if view.shown.hold:
                    return None
                if self._composer.talk_raw(view) < budget.due_raw and not self.over_cap(view):
                    return await self._replace_extract(view, tell)
                may_ask = await self._may_ask(view)
                goal = self._goal(least_saving_raw=budget.least_saving_raw)
                made = plan(self._load(view, None), goal) or self._only_summaries(view)
                if made is None:
                    self._tell_once(view, tell, "compaction did not help: the newest exchange alone fills the prompt")
                    return None
                if (made.exchanges or self.over_cap(view)) and not may_ask:
                    return None  # there is still room to wait in
                return await self._carry_out(view, None, made, "window full", Wish(view.session_id), tell)
            except HelperFailedError as error:
                await self._rooms.stores.journal.append(self._rooms.scope, [self._failure_mark(view, str(error))])
                await view.refresh()
                tell(Notice(level="warning", text=f"{FAILED}: {error}. Nothing was changed; it is tried again later."))
                return None

    async def to_fit(self, view: SessionView, current: Current, tell: Tell) -> Compacted | None:
        """The prompt does not fit: make it. Whatever the summariser does there is room afterwards, if
        anything can leave at all."""
        if self._lock.locked():
            tell(Compacting())
        before = view.cut_id
        async with self._lock:
            await view.refresh()
            if view.cut_id != before:
                return None  # another one has just ended: see first what it brought
            may_ask = await self._may_ask(view)
            made = plan(self._load(view, current), replace(self._goal(), keep_newest=False))
            made = made or self._only_summaries(view)
            if made is None:
                self._tell_once(view, tell, "compaction did not help: what is being answered fills the prompt")
                return None
            tell(Compacting())
            wish = Wish(view.session_id, use_model=may_ask, fall_back=True)
            return await self._carry_out(view, current, made, "window full", wish, tell)

    async def asked(self, view: SessionView, keep: str, tell: Tell) -> Compacted | None:
        """The person asks for it: all but the newest exchange. None if there is nothing to do. Raises
        HelperFailedError, and nothing is changed."""
        async with self._lock:
            await view.refresh()
            made = plan(self._load(view, None), replace(self._goal(), target_raw=0))
            if made is None or not (made.exchanges or made.freed):
                return None
            wish = Wish(view.session_id, use_model=self._rooms.settings.summary_tokens_per_day > 0, keep=keep)
            done = await self._carry_out(view, None, made, "asked for", wish, tell)
            if done is None:
                raise HelperFailedError("what is shown of the session was changed meanwhile")
            return done

    async def without_model(self, view: SessionView) -> None:
        """After an import, which the view shows: what does not fit leaves at once, extracted; a summary replaces the
        extract later."""
        async with self._lock:
            if self._composer.talk_raw(view) <= self._composer.budget.limit_raw:
                return
            made = plan(self._load(view, None), self._goal())
            if made is not None:
                wish = Wish(view.session_id, use_model=False)
                await self._carry_out(view, None, made, "window full", wish, lambda _event: None)

    def over_cap(self, view: SessionView) -> bool:
        """Whether the summaries take more than their share: they were made for a larger window."""
        taken = sum(s.tokens + FRAME_RAW for s in view.summaries)
        return taken > 0 and taken > self._cap_raw(view.shown.instructions)

    # --- planning ------------------------------------------------------------------------------

    def _only_summaries(self, view: SessionView) -> Plan | None:
        if not self.over_cap(view):
            return None
        total = self._composer.talk_raw(view)
        return Plan((), 0, 0, total, total)

    def _goal(self, *, least_saving_raw: int = 0) -> Goal:
        budget = self._composer.budget
        return Goal(budget.target_raw, budget.limit_raw, least_saving_raw, True, leaf_most_raw(budget))

    def _load(self, view: SessionView, current: Current | None) -> Load:
        window = [Part(closed.tokens_raw, closed.freeable) for closed in view.window.exchanges]
        around = self._composer.before_talk_raw + self._counter.text(view.background.text)
        if current is None:
            return Load(around, window)
        exchange = current.exchange
        around += self._counter.message(user_message(exchange, exchange.block.render()))
        return Load(around, window, [self._turn_part(view, turn) for turn in exchange.turns])

    def _turn_part(self, view: SessionView, turn: Turn) -> Part:
        freed, window_tokens = frozenset(view.shown.freed), self._composer.budget.window_tokens
        messages = turn_messages(turn, result_cap_raw(window_tokens, len(turn.results)), self._counter, freed)
        size = sum(self._counter.message(message) for message in messages)
        return Part(size, (freeable(turn, window_tokens, self._counter, freed),))

    async def _may_ask(self, view: SessionView) -> bool:
        """After a failure the summariser is left alone for 1, 2, 4 … messages of the person; and what all
        summaries of a day take is bounded."""
        wait = min(2 ** (view.failures - 1), LONGEST_WAIT_MESSAGES) if view.failures else 0
        if view.since_failure < wait:
            return False
        since = self._rooms.clock() - timedelta(days=1)
        spent = await self._rooms.stores.ledger.tokens_since(self._rooms.scope, role=SUMMARISE, since=since)
        return spent < self._rooms.settings.summary_tokens_per_day

    # --- carrying out --------------------------------------------------------------------------

    async def _carry_out(
        self, view: SessionView, current: Current | None, made: Plan, cause: ViewCause, wish: Wish, tell: Tell
    ) -> Compacted | None:
        """None if what is shown of the session was changed meanwhile: that stands."""
        batch = self._batch(wish)
        instructions, left_out = self._instructions(view, made)
        # all that the view says is taken at once: it goes on growing while the model writes
        before, since = view.summaries, view.cut_id
        from_sequence, head_ids = self._beginning(view, made, current)
        kept = {i for closed in view.window.exchanges[made.exchanges :] for i in closed.entry_ids}
        if current is not None:
            kept |= {result.id for turn in current.exchange.turns for result in turn.results}
        next_view = View(
            from_sequence=from_sequence,
            head_ids=head_ids,
            freed=tuple(i for i in (*view.shown.freed, *made.freed) if i in kept),
            instructions=instructions,
            cause=cause,
            previous=since or None,
            failures=view.failures,
        )
        leaves = await batch.leaves(self._units(view, made, current), before)
        shown = await batch.within(self._cap_raw(next_view.instructions), [*before, *leaves])
        done = await self._record(view, next_view, shown, made, batch, tell)
        if done is not None and left_out:
            first = left_out[0].text[:80]
            tell(Notice(level="warning", text=f"{len(left_out)} old instructions have no room any more: {first!r} …"))
        return done

    async def _record(
        self, view: SessionView, next_view: View, shown: Sequence[Summary], made: Plan, batch: SummaryBatch, tell: Tell
    ) -> Compacted | None:
        await view.refresh()
        if view.cut_id != (next_view.previous or ""):
            return None  # undone, edited or compacted by another process meanwhile
        after_raw = made.after_raw + sum(s.tokens for s in shown) - sum(s.tokens for s in view.summaries)
        done = Compacted(
            cause=next_view.cause,
            exchanges=made.exchanges,
            freed=len(made.freed),
            turns=made.turns,
            before_tokens=self._composer.budget.estimated(made.before_raw),
            after_tokens=self._composer.budget.estimated(max(0, after_raw)),
            extract=batch.extracted,
        )
        figures = done.model_dump(include={"exchanges", "before_tokens", "after_tokens"})
        ids = tuple(summary.id for summary in shown)
        # the summariser works again only if it was asked, and answered
        failures = 0 if batch.answered else next_view.failures
        next_view = next_view.model_copy(update={"summary_ids": ids, "failures": failures, **figures})
        marks = [summary_mark(self._rooms, view.session_id, summary) for summary in batch.written]
        marks.append(view_mark(self._rooms, view.session_id, next_view))
        if batch.failure is not None:
            marks.append(self._failure_mark(view, batch.failure))
        await self._rooms.stores.journal.append(self._rooms.scope, marks)
        await view.refresh()
        if batch.failure is not None:
            tell(Notice(level="warning", text=f"{FAILED}: {batch.failure}. {STANDS_IN}"))
        if batch.dropped:
            orders = f"a summary held orders that nobody gave; left out: {batch.dropped[0]!r}"
            tell(Notice(level="warning", text=orders))
        return done

    def _batch(self, wish: Wish) -> SummaryBatch:
        return SummaryBatch(self._helper, self._counter, self._rooms.new_id, self._composer.budget, wish)

    def _cap_raw(self, instructions: tuple[StandingInstruction, ...]) -> int:
        """What the summaries may take where these instructions stand above them, the lines around both counted."""
        frame = self._counter.text(prompts.text("summaries", summaries=""))
        taken = self._counter.text(background((), instructions).text)
        return max(LEAST_LEAF_RAW + FRAME_RAW, self._composer.budget.share_raw(SUMMARIES_PERCENT) - taken - frame)

    def _units(self, view: SessionView, made: Plan, current: Current | None) -> list[Source]:
        leaving = view.window.exchanges[: made.exchanges]
        units = [exchange_unit(closed.exchange, closed.tokens_raw, self._counter) for closed in leaving]
        if current is not None and made.turns:
            exchange = current.exchange
            gone = exchange.turns[: made.turns]
            turns = [turn_unit(turn, self._turn_part(view, turn).tokens_raw, self._counter) for turn in gone]
            asked = exchange.user.content if exchange.user else ""
            units += [replace(turns[0], text=f"PERSON (still being answered): {asked}\n{turns[0].text}"), *turns[1:]]
        return units

    @staticmethod
    def _beginning(view: SessionView, made: Plan, current: Current | None) -> tuple[int, tuple[str, ...]]:
        if made.turns and current is not None:
            return current.exchange.turns[made.turns].assistant.sequence, current.head_ids
        if made.exchanges:
            return view.first_kept(made.exchanges), ()
        return view.shown.from_sequence, view.shown.head_ids

    def _instructions(
        self, view: SessionView, made: Plan
    ) -> tuple[tuple[StandingInstruction, ...], tuple[StandingInstruction, ...]]:
        """Those that still bind of what has left the window, and those of them for which there is no room:
        the oldest. What stands in the window can revoke, but speaks for itself."""
        users = [closed.exchange.user for closed in view.window.exchanges if closed.exchange.user]
        leaving = {e.exchange.user.id for e in view.window.exchanges[: made.exchanges] if e.exchange.user}
        gone = leaving | {instruction.entry_id for instruction in view.shown.instructions}
        room = self._composer.budget.share_raw(INSTRUCTIONS_PERCENT)
        bind = [i for i in standing_instructions(users, view.shown.instructions) if i.entry_id in gone]
        kept = len(bind)
        for instruction in reversed(bind):
            room -= self._counter.text(instruction.text) + INSTRUCTION_FRAME_RAW
            if room < 0:
                break
            kept -= 1
        return tuple(bind[kept:]), tuple(bind[:kept])

    # --- failures and extracts -----------------------------------------------------------------

    def _failure_mark(self, view: SessionView, reason: str) -> Mark:
        data = {"reason": reason[:500], "failures": view.failures + 1}
        return new_mark(self._rooms, view.session_id, MarkKind.COMPACTION_FAILED, data)

    async def _replace_extract(self, view: SessionView, tell: Tell) -> Compacted | None:
        """An extract in the prompt is replaced once the summariser works again. Raises HelperFailedError."""
        summaries, view_now = view.summaries, view.shown.model_copy(update={"previous": view.cut_id or None})
        extract = next((s for s in summaries if s.made_by == "extract"), None)
        if extract is None or not await self._may_ask(view):
            return None
        batch = self._batch(Wish(view.session_id))
        units = await self._read_units(view, extract)
        if not 0 < batch.calls_for(units) <= MOST_CALLS:
            return None
        before = [s for s in summaries if s.last_sequence < extract.first_sequence]
        later = [s for s in summaries if s.first_sequence > extract.last_sequence]
        leaves = await batch.leaves(units, [*before, *later])
        shown = await batch.within(self._cap_raw(view_now.instructions), [*before, *leaves, *later])
        next_view = view_now.model_copy(update={"cause": "summary replaced"})
        total = self._composer.talk_raw(view)
        return await self._record(view, next_view, shown, Plan((), 0, 0, total, total), batch, tell)

    async def _read_units(self, view: SessionView, summary: Summary) -> list[Source]:
        after, count = summary.first_sequence - 1, summary.last_sequence - summary.first_sequence + 1
        entries = await self._rooms.stores.journal.read(view.scope, view.session_id, after_sequence=after, limit=count)
        by_exchange: dict[str, list[Message | Mark]] = {}
        for entry in entries:
            by_exchange.setdefault(entry.exchange_id, []).append(entry)
        exchanges = [build_exchange(some, ContextBlock()) for some in by_exchange.values()]
        units = [exchange_unit(exchange, 0, self._counter) for exchange in exchanges if exchange is not None]
        return [replace(unit, tokens_raw=self._counter.text(unit.text)) for unit in units]

    def _tell_once(self, view: SessionView, tell: Tell, text: str) -> None:
        if (key := f"{view.session_id} {text}") not in self._told:
            self._told.add(key)
            tell(Notice(level="warning", text=text))
