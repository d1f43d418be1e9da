"""Records for the suites, with times that grow with their number."""

from __future__ import annotations

import math
import struct
from datetime import UTC, datetime, timedelta
from typing import Any

from stores.records import LedgerEntry, Mark, MarkKind, Memory, MemoryKind, MemoryState, Message, MessageRole, Scope
from stores.records import Trust as Trust

U1, U2 = Scope("u1"), Scope("u2")

WEIRD_SCOPES = [
    Scope(name)
    for name in (
        "a@b.example",
        "名前",
        "x",
        "y" * 600,
        "名" * 600,
        "..",
        "10.0.0.1",
        "a.b",
        "a_b",
        "A.B",
        "a'b\"; --",
        "%",
        "🦊",
    )
]
"""User ids that are no legal names of collections, files or SQL identifiers."""

HARD_TEXTS = [
    "plain words",
    "我妹妹住在里斯本",
    "emoji 👩‍👩‍👧‍👦🎉 and ﬁ ligatures",
    "quotes ' \" ` and \\ backslash; DROP TABLE memories; --",
    "e\u0301 decomposed, \u202eright to left\u202c, zero\u200dwidth",
    "tab\tand\nnew\r\nlines",
    "נִקּוּד हिन्दी ภาษาไทย 한국어 ひらがな",
    "control \x01\x02\x1f",
    "<|endoftext|>",
    "",
]


def time(number: int) -> datetime:
    return datetime(2026, 3, 1, 12, tzinfo=UTC) + timedelta(seconds=number)


def message(number: int, content: str = "", *, session: str = "s1", **fields: Any) -> Message:
    id_ = fields.pop("id", f"{session}-m{number}")
    fields.setdefault("role", MessageRole.USER)
    fields.setdefault("at", time(number))
    return Message(id=id_, session_id=session, exchange_id=id_, content=content or f"message {number}", **fields)


def mark(number: int, what: MarkKind, *, session: str = "s1", **data: Any) -> Mark:
    id_ = f"{session}-k{number}"
    return Mark(id=id_, session_id=session, exchange_id=id_, at=time(number), what=what, data=data)


def memory(id_: str, text: str, number: int = 0, **fields: Any) -> Memory:
    fields.setdefault("kind", MemoryKind.FACT)
    return Memory(id=id_, text=text, trust=Trust.USER, said_at=time(number), recorded_at=time(number), **fields)


def forgotten(old: Memory) -> Memory:
    return old.model_copy(update={"state": MemoryState.FORGOTTEN, "version": old.version + 1})


def ledger_entry(number: int, *, session: str | None = "s1", **fields: Any) -> LedgerEntry:
    given: dict[str, Any] = {
        "id": f"call{number}",
        "session_id": session,
        "exchange_id": "e1",
        "role": "chat",
        "model": "m",
        "endpoint": "http://127.0.0.1",
        "at": time(number),
        "prompt_tokens": 10,
        "cached_tokens": 0,
        "completion_tokens": 5,
        "estimated": False,
        "latency_seconds": 0.25,
        "outcome": "stop",
        **fields,
    }
    return LedgerEntry.model_validate(given)


def vector(*values: float) -> bytes:
    """A row of float32."""
    return struct.pack(f"<{len(values)}f", *values)


def angle(degrees: float) -> bytes:
    """A unit vector of the plane: the cosine of two is the cosine of their difference."""
    return vector(math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))
