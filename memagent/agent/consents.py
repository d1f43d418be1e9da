"""Consent as the journal has it: which calls wait, what was decided, what holds for a whole session.

A call that waits has an ASKED mark and no DECIDED one. Marks about a call have ids made of its own, so that
of two who decide, or run it, only the first is heard, whatever process they are in. A job names each waiting
call until its exchange went on, so that those of all sessions are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from memagent.agent.exchange_journal import ExchangeJournal
from memagent.agent.rooms import Rooms
from memagent.events import ApprovalDecided
from memagent.tools.approval import Decision, Rule
from stores.records import Job, Mark, MarkKind, Message, MessageRole, ToolCall

APPROVAL = "approval"
"""The kind of the jobs."""
WENT_ON = Decision("no", "the user went on without deciding", by="nobody")


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that waits for a person. ``id`` is unique, ``call_id`` is the model's. ``arguments``, JSON text, is
    what would run."""

    id: str
    call_id: str
    name: str
    arguments: str
    session_id: str
    exchange_id: str
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call of an exchange that has no result yet, and what was decided about it."""

    message: Message
    call: ToolCall
    asked_at: datetime
    decision: Decision | None

    @property
    def key(self) -> str:
        return key_of(self.message.id, self.call.id)


def key_of(message_id: str, call_id: str) -> str:
    """A call's own id: the model's are used again and again."""
    return f"{message_id}:{call_id}"


def started_id(message_id: str, call_id: str) -> str:
    """The id of a call's STARTED mark."""
    return f"{key_of(message_id, call_id)}:started"


def decided_id(message_id: str, call_id: str) -> str:
    """The id of a call's DECIDED mark."""
    return f"{key_of(message_id, call_id)}:decided"


def waiting(entries: Sequence[Message | Mark]) -> list[OpenCall]:
    """The calls of an exchange that waited for consent and have no result, in call order."""
    asked = {_key(e): e.at for e in entries if isinstance(e, Mark) and e.what is MarkKind.ASKED and e.data}
    if not asked:
        return []
    decided = {e.id: e for e in entries if isinstance(e, Mark) and e.what is MarkKind.DECIDED}
    found: list[OpenCall] = []
    for index, message in enumerate(entries):
        if not isinstance(message, Message) or not message.calls:
            continue
        answered = {e.call_id for e in entries[index:] if isinstance(e, Message) and e.role is MessageRole.TOOL}
        for call in message.calls:
            asked_at = asked.get(key_of(message.id, call.id))
            if asked_at is not None and call.id not in answered:
                mark = decided.get(decided_id(message.id, call.id))
                found.append(OpenCall(message, call, asked_at, decision_in(mark) if mark else None))
    return found


def _key(mark: Mark) -> str:
    return key_of(str(mark.data.get("message_id")), str(mark.data.get("call_id")))


def decided_mark(journal: ExchangeJournal, message_id: str, call: ToolCall, decision: Decision) -> Mark:
    """What was decided about a call, to be written."""
    data: dict[str, Any] = {
        "call_id": call.id,
        "name": call.name,
        "verdict": decision.verdict,
        "reason": decision.reason,
        "by": decision.by,
    }
    if decision.arguments is not None:
        data["arguments"] = dict(decision.arguments)
    if decision.verdict == "always":
        data["rule"] = dict(decision.pattern)
    return journal.mark(MarkKind.DECIDED, decided_id(message_id, call.id), **data)


def decision_in(mark: Mark) -> Decision:
    """What a DECIDED mark tells. One that was erased agrees to nothing."""
    data = cast("dict[str, Any]", mark.data)
    verdict, arguments = data.get("verdict"), data.get("arguments")
    return Decision(
        verdict if verdict in ("yes", "always") else "no",
        str(data.get("reason", "")),
        cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else None,
        by="nobody" if data.get("by") == "nobody" else "person",
    )


def decided_event(call_id: str, name: str, decision: Decision) -> ApprovalDecided:
    """What surfaces hear of a decision."""
    return ApprovalDecided(call_id=call_id, name=name, verdict=decision.verdict, reason=decision.reason, by=decision.by)


def waits_text(calls: Sequence[tuple[str, str]]) -> str:
    """What an exchange says while calls of it, by name and arguments, wait for the person."""
    return "\n".join(["This waits for your approval:", *(f"- {name}({arguments})" for name, arguments in calls)])


async def session_rules(rooms: Rooms, session_id: str) -> list[Rule]:
    """What was agreed to for the whole session, oldest first."""
    marks = await rooms.stores.journal.marks(rooms.scope, session_id, MarkKind.DECIDED)
    return [rule for mark in marks if mark.data.get("verdict") == "always" and (rule := Rule.of(mark.data))]


async def queue_pending(rooms: Rooms, journal: ExchangeJournal, message_id: str, wanted: ToolCall) -> None:
    """Lists a call among those that wait. Raises StoreError."""
    payload = {
        "session": journal.session_id,
        "exchange": journal.exchange_id,
        "message": message_id,
        "call": wanted.id,
    }
    key = f"{journal.session_id}\n{key_of(message_id, wanted.id)}"
    await rooms.stores.jobs.put(rooms.scope, APPROVAL, key, payload, at=rooms.clock())


async def unqueue(rooms: Rooms, exchange_id: str) -> None:
    """The exchange went on, or never will: none of its calls waits any more."""
    for job in await pending_jobs(rooms):
        if job.payload["exchange"] == exchange_id:
            await rooms.stores.jobs.done(job.number)


async def pending_jobs(rooms: Rooms) -> list[Job]:
    """The waiting calls' jobs, oldest first."""
    return await rooms.stores.jobs.list(rooms.scope, kind=APPROVAL)
