"""Calls that wait for a person: which they are, and what he decides, in whatever process."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from memagent.agent.consents import (
    OpenCall,
    PendingCall,
    decided_mark,
    decision_in,
    key_of,
    pending_jobs,
    waiting,
)
from memagent.agent.exchange_journal import ExchangeJournal, exchange_entries
from memagent.agent.loop import Resumption
from memagent.agent.rooms import Rooms
from memagent.errors import MemagentError, NotFoundError
from memagent.tools.approval import Decision
from memagent.tools.arguments import ArgumentsError, named, read_arguments
from memagent.tools.definition import Tool
from memagent.tools.selection import unwrapped
from stores.records import Job, Mark, Message


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that is journalled. ``resumption`` None: other calls of the exchange still wait."""

    session_id: str
    call: PendingCall
    decision: Decision
    resumption: Resumption | None


class Deciding:
    """The waiting calls of one user. ``tools`` are those that a host has given."""

    def __init__(self, rooms: Rooms, tools: Mapping[str, Tool]) -> None:
        self._rooms = rooms
        self._tools = tools

    async def pending(self) -> list[PendingCall]:
        """All sessions' calls that wait, oldest first. Raises StoreError."""
        found: dict[str, PendingCall] = {}
        for job in await pending_jobs(self._rooms):
            entries = await self._entries(job)
            found |= {each.key: self._shown(each) for each in waiting(entries) if each.decision is None}
        return list(found.values())

    async def decide(self, wanted: str, decision: Decision) -> Decided:
        """Journals what the person decided about a waiting call, by its id or the model's. Raises NotFoundError,
        and MemagentError if somebody decided otherwise before."""
        job, each, entries = await self._find(wanted)
        session_id, exchange_id = str(job.payload["session"]), str(job.payload["exchange"])
        self._check(each, decision)
        journal = ExchangeJournal(self._rooms, session_id, exchange_id, remember=True, entries=entries)
        (kept,) = await journal.write(decided_mark(journal, each.message.id, each.call, decision))
        if not isinstance(kept, Mark) or decision_in(kept).agreed != decision.agreed:
            raise MemagentError(f"the call {wanted!r} was decided before, otherwise")
        all_decided = all(one.decision for one in waiting(journal.entries))
        resumption = Resumption(exchange_id, remember=each.message.remember) if all_decided else None
        return Decided(session_id, self._shown(each), decision, resumption)

    def _check(self, each: OpenCall, decision: Decision) -> None:
        """Arguments that a person writes must fit, before anything is decided."""
        meant = named(unwrapped(each.call, self._tools).name, self._tools)
        if decision.arguments is None or meant is None:
            return
        try:
            read_arguments(meant.tool, json.dumps(dict(decision.arguments)))
        except (ArgumentsError, TypeError, ValueError) as error:
            raise MemagentError(f"{each.call.name} cannot run with these arguments: {error}") from error

    async def _find(self, wanted: str) -> tuple[Job, OpenCall, list[Message | Mark]]:
        found: dict[str, tuple[Job, OpenCall, list[Message | Mark]]] = {}
        for job in await pending_jobs(self._rooms):
            message_id, call_id = str(job.payload["message"]), str(job.payload["call"])
            if wanted not in (call_id, key_of(message_id, call_id)):
                continue
            entries = await self._entries(job)
            each = next((e for e in waiting(entries) if e.key == key_of(message_id, call_id)), None)
            if each is None:  # a crash left the job behind
                await self._rooms.stores.jobs.done(job.number)
            else:
                found[each.key] = (job, each, entries)
        if len(found) == 1:
            return next(iter(found.values()))
        if found:
            raise MemagentError(f"several calls are called {wanted!r}; use one of the ids {', '.join(found)}")
        raise NotFoundError(f"no call {wanted!r} waits for approval")

    def _shown(self, each: OpenCall) -> PendingCall:
        call = unwrapped(each.call, self._tools)
        meant = named(call.name, self._tools)
        arguments = call.arguments
        if meant is not None:
            with contextlib.suppress(ArgumentsError):  # the tool has changed since; it will not run
                arguments = read_arguments(meant.tool, arguments).text
        return PendingCall(
            id=each.key,
            call_id=each.call.id,
            name=meant.tool.name if meant else each.call.name,
            arguments=arguments,
            session_id=each.message.session_id,
            exchange_id=each.message.exchange_id,
            asked_at=each.asked_at,
        )

    async def _entries(self, job: Job) -> list[Message | Mark]:
        return await exchange_entries(self._rooms, str(job.payload["session"]), str(job.payload["exchange"]))
