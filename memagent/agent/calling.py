"""The calls of one exchange: journalled before they run, each result as it comes, and what is new in them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from memagent.agent.consents import (
    decided_event,
    decided_mark,
    queue_pending,
    session_rules,
    started_id,
)
from memagent.agent.exchange_journal import ExchangeJournal
from memagent.agent.opened import Opened
from memagent.agent.rooms import Rooms
from memagent.agent.stopwatch import Stopwatch
from memagent.events import (
    ApprovalAsked,
    Event,
    Notice,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from memagent.tools.approval import Decision, Rule, allowed
from memagent.tools.arguments import named
from memagent.tools.running import Outcome
from memagent.tools.selection import unwrapped
from stores.records import Mark, MarkKind, Message, MessageRole, ToolCall

RESULT_CHARS = 600
"""So much of each last result stands in the message that an exchange without an answer ends with."""


class Calling:
    """Runs the calls of one exchange. ``results`` are the last ones in short; ``waits`` the calls of the last
    turn that wait for a person."""

    def __init__(
        self,
        rooms: Rooms,
        opened: Opened,
        journal: ExchangeJournal,
        emit: Callable[[Event], None],
        stopwatch: Stopwatch,
    ) -> None:
        self._rooms = rooms
        self._tools = opened.tools
        self._runner = opened.runner
        self._overflowing = opened.overflowing
        self._journal = journal
        self._emit = emit
        self._stopwatch = stopwatch
        self._rules: list[Rule] | None = None
        self._message_id = ""
        self._seen: set[tuple[str, str, str]] = set()
        self.results: list[str] = []
        self.waits: list[ToolCall] = []

    @property
    def begun(self) -> bool:
        """Whether a call of the exchange came to a result yet."""
        return bool(self._seen)

    async def run(
        self, message_id: str, calls: Sequence[ToolCall], decisions: Mapping[str, Decision] | None = None
    ) -> bool:
        """Runs calls of a journalled message and journals their results. False: nothing new came of it."""
        self._message_id, self.waits = message_id, []
        if self._rules is None and any(self._has_side_effects(call) for call in calls):
            self._rules = await session_rules(self._rooms, self._journal.session_id)
        self._overflowing.begin_turn(len(calls))
        outcomes = await self._runner.run(calls, self, decisions)
        results = {(o.call.name, o.call.arguments, o.content) for o in outcomes if not o.pending}
        news = bool(results - self._seen)
        self.results = [f"{o.call.name}: {_beginning(o.content)}" for o in outcomes if not o.pending]
        self._seen |= results
        return news

    def _has_side_effects(self, call: ToolCall) -> bool:
        meant = named(unwrapped(call, self._tools).name, self._tools)
        return meant is not None and meant.tool.side_effect

    # --- what the runner tells -----------------------------------------------------------------

    def ruled(self, wanted: ToolCall) -> bool:
        """See `Watch`."""
        return allowed(self._rules or (), wanted.name, wanted.arguments)

    async def asking(self, call: ToolCall, wanted: ToolCall) -> None:
        """See `Watch`."""
        pending = self._runner.consent_waits
        if pending:
            self.waits.append(wanted)
            await queue_pending(self._rooms, self._journal, self._message_id, wanted)
        await self._journal.write(
            self._journal.mark(MarkKind.ASKED, call_id=call.id, name=wanted.name, message_id=self._message_id)
        )
        self._emit(ApprovalAsked(call_id=call.id, name=wanted.name, arguments=wanted.arguments, pending=pending))
        if not pending:
            self._stopwatch.pause()

    async def decided(self, call: ToolCall, wanted: ToolCall, decision: Decision) -> None:
        """See `Watch`."""
        self._stopwatch.resume()
        await self._journal.write(decided_mark(self._journal, self._message_id, wanted, decision))
        if decision.verdict == "always":
            self._rules = [*(self._rules or []), Rule(wanted.name, decision.pattern)]
        self._emit(decided_event(call.id, wanted.name, decision))

    async def starting(self, call: ToolCall, wanted: ToolCall) -> bool:
        """See `Watch`."""
        nonce = self._rooms.new_id()
        mark = self._journal.mark(
            MarkKind.STARTED, started_id(self._message_id, call.id), call_id=call.id, name=wanted.name, nonce=nonce
        )
        (kept,) = await self._journal.write(mark)
        if not isinstance(kept, Mark) or kept.data.get("nonce") != nonce:
            return False
        self._emit(ToolStarted(call_id=call.id, name=wanted.name, arguments=wanted.arguments))
        return True

    def progress(self, call: ToolCall, text: str) -> None:
        """See `Watch`."""
        self._emit(ToolProgress(call_id=call.id, text=text))

    async def finished(self, outcome: Outcome) -> None:
        """See `Watch`."""
        # shielded: a result that is there is kept, even if the person stops the answer just now
        kept = await asyncio.shield(self._keep(outcome))
        call = outcome.call
        self._emit(ToolFinished(call_id=call.id, name=call.name, content=kept, failed=outcome.failed))

    async def _keep(self, outcome: Outcome) -> str:
        """Journals a result, and returns it as it is shown."""
        call, ref = outcome.call, self._rooms.new_id()
        kept = await self._overflowing.keep(outcome.content, call.name, ref)
        if kept.trouble:
            self._emit(Notice(level="warning", text=kept.trouble))
        await self._journal.write(
            result_of(self._journal, call, kept.content, id=ref, failed=outcome.failed, overflow=kept.overflow)
        )
        return kept.content


def result_of(journal: ExchangeJournal, call: ToolCall, content: str, **more: object) -> Message:
    """A call's result, to be written."""
    return journal.message(MessageRole.TOOL, content, call_id=call.id, name=call.name, **more)


def _beginning(text: str) -> str:
    return text if len(text) <= RESULT_CHARS else f"{text[:RESULT_CHARS]} …"
