"""The vocabulary: what is kept, as immutable values.

Times are aware datetimes in UTC; ``zone`` beside one is the IANA name of the person's zone at that
moment. Texts are valid UTF-8 without NUL (whoever makes a record cleans its text first).
"""

from __future__ import annotations

import unicodedata
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, NewType

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Scope = NewType("Scope", str)
"""Whose data. Made only by `scope_of`; no store call exists without one."""

DEFAULT_SCOPE = Scope("default")


def scope_of(user: str | None) -> Scope:
    """The scope of a user id: NFC, without surrounding white space, case kept ("U1" is not "u1").

    None and a blank id mean one fixed default user, never everyone.
    """
    name = unicodedata.normalize("NFC", user or "").strip()
    return Scope(name) if name else DEFAULT_SCOPE


class Record(BaseModel):
    """A value: immutable, and without fields nobody declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# --- the journal -------------------------------------------------------------------------------


class ToolCall(Record):
    """A call the model asked for. ``arguments`` is always a JSON object as text."""

    id: str
    name: str
    arguments: str


class ImagePart(Record):
    """An image shown to the model: an http(s) or data URL, and a name a person recognises."""

    url: str
    name: str = "image"


class Overflow(Record):
    """A text too long for its place: the entry's ``content`` is a preview, all of it is in the blob store."""

    digest: str
    """SHA-256 of the text in UTF-8, in hex."""
    size_bytes: int
    chars: int


class MessageRole(StrEnum):
    """Who speaks. A note is the host's, never the user's words."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    NOTE = "note"


class Entry(Record):
    """What every journal entry carries.

    ``exchange_id`` is the id of the entry that opened the exchange. ``sequence`` counts from 1
    within a session without gaps and is 0 until the journal has given one; ``position`` counts over
    the whole journal, grows with time, and may have gaps. ``erased`` is the receipt of the erasure that
    took its content, or a part of it, away.
    """

    id: str
    session_id: str
    exchange_id: str
    at: datetime
    zone: str = "UTC"
    sequence: int = 0
    position: int = 0
    erased: str | None = None


class Message(Entry):
    """Something said: by the person, by the model, by a tool, or noted by the host.

    For a tool's result ``call_id`` and ``name`` say which call it answers and ``failed`` whether it
    is an error. ``partial`` marks an answer that was cut off. ``imported`` marks a line that came
    from a transcript. ``remember`` False: kept in the journal, but no memory may be made of it.
    ``overflow``: the content is only a preview; the entry's id is the reference to read the rest by.
    """

    kind: Literal["message"] = "message"
    role: MessageRole
    content: str = ""
    name: str | None = None
    images: tuple[ImagePart, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    failed: bool = False
    partial: bool = False
    imported: bool = False
    remember: bool = True
    overflow: Overflow | None = None


class MarkKind(StrEnum):
    """What a mark records."""

    STARTED = "started"
    """A call is about to run; data: call_id, name, nonce (whose run it is). Its id is the call's, so that no two
    can say so of one call."""
    ASKED = "asked"
    """A call waits for a person's consent; data: call_id, name, message_id (of the message that calls)."""
    DECIDED = "decided"
    """The person, or nobody, decided about a call; data: call_id, name, verdict, reason, by, and where given
    arguments (run instead) and rule (what later calls of the session it allows). Its id is the call's."""
    CONTEXT = "context"
    """What was fenced into an exchange's user message; data: moment (lines), recalled [{id, version, hash}]."""
    CUT = "cut"
    """What the prompt shows of the session changed: a compaction, its undo, an edited summary; data: the
    whole view from then on (see memagent.context.view), so the newest one is all that is needed."""
    SUMMARY = "summary"
    """A summary of older entries was written; data: see memagent.context.view. Shown where a view names it."""
    COMPACTION_FAILED = "compaction_failed"
    """Summarising failed and nothing changed; data: reason, failures (how many in a row)."""
    REMEMBERED = "remembered"
    """A text was to be remembered; data: text, memory_id, trust, state where it is not active, and said_in where
    a message of the session says it: its id."""
    PRIVATE = "private"
    """From here on nothing of the session may become a memory, or no longer so; data: on."""
    NOT_REMEMBERED = "not_remembered"
    """What was said before is not to be remembered after all; data: entry_ids, of messages of the session."""
    ERASED = "erased"
    """Entries of the session lost their content; data: receipt, entries (how many). Whoever shows the
    session reads it anew."""


class Mark(Entry):
    """Something that happened beside the talk. Never shown to a model as somebody's words."""

    kind: Literal["mark"] = "mark"
    what: MarkKind
    data: dict[str, JsonValue] = Field(default_factory=dict)


JournalEntry = Annotated[Message | Mark, Field(discriminator="kind")]


class Session(Record):
    """A conversation. ``title`` is the beginning of its first user message, or empty."""

    id: str
    title: str = ""
    created_at: datetime
    last_at: datetime
    message_count: int = 0


# --- long-term memory --------------------------------------------------------------------------


class MemoryKind(StrEnum):
    """A fact is a statement; an episode is one message of past talk; an experience is what worked, and when."""

    FACT = "fact"
    EPISODE = "episode"
    EXPERIENCE = "experience"


class Trust(StrEnum):
    """Whose statement it is."""

    USER = "user"
    ASSISTANT = "assistant"
    DOCUMENT = "document"
    TOOL = "tool"


class MemoryState(StrEnum):
    """Only active memories are recalled. Forgotten ones are kept and can be restored; quarantined ones rest
    on something else than the person's own word and wait for the person to approve them."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"
    FORGOTTEN = "forgotten"


class Pin(StrEnum):
    """Whether a fact belongs to the profile, which stands in every prompt. A proposed one waits for the person."""

    NONE = "none"
    PROPOSED = "proposed"
    PINNED = "pinned"


class Source(Record):
    """A journal entry that a memory came from. Imported entries' ids are unique in their session only."""

    session_id: str
    entry_id: str


class Memory(Record):
    """One thing that can be recalled.

    ``said_at`` is when it was said first, ``confirmed_at`` when it was last said again, ``recorded_at`` when
    it was written down; ``valid_from`` and ``valid_to`` bound the time it speaks of (None: open).
    ``subject`` and ``attribute`` say whose what a fact is about ("user", "home city"; "" where nobody
    named them). ``sources`` are the journal entries it came from, oldest first, never empty for what was
    said in a session. ``superseded_by`` is the id of the memory that took its place. ``reason`` says why
    it became as it is, for the person. ``version`` grows by one with each change of the text, the state,
    the valid times or the pin; a new source alone does not change it.
    """

    id: str
    kind: MemoryKind
    text: str
    trust: Trust
    said_at: datetime
    recorded_at: datetime
    zone: str = "UTC"
    session_id: str | None = None
    speaker: str | None = None
    subject: str = ""
    attribute: str = ""
    sources: tuple[Source, ...] = ()
    confirmed_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    state: MemoryState = MemoryState.ACTIVE
    pin: Pin = Pin.NONE
    superseded_by: str | None = None
    reason: str = ""
    version: int = 1

    @property
    def source_ids(self) -> tuple[str, ...]:
        """The ids of the entries it came from, oldest first."""
        return tuple(source.entry_id for source in self.sources)


class IndexTask(Record):
    """A row of the outbox: this memory's vectors must be (re)written or removed.

    ``number`` grows with every change and is the write epoch; ``vectors`` are the embedded chunks
    of the memory's text (row-major float32; none for a memory that is no longer active) once some
    process has computed them with the embedder ``generation``; both are None before.
    """

    number: int
    scope: Scope
    memory_id: str
    generation: str | None = None
    vectors: tuple[bytes, ...] | None = None
    done: bool = False


# --- background work ---------------------------------------------------------------------------


class Job(Record):
    """Work that must be done some time, also after a crash. ``key`` names it within its kind: the same
    job is queued once. ``attempts`` counts how often it was begun; ``error`` says why it failed last.
    ``payload`` is what its worker needs."""

    number: int
    scope: Scope
    kind: str
    key: str
    payload: dict[str, JsonValue] = Field(default_factory=dict)
    attempts: int = 0
    not_before: datetime
    error: str = ""
    gave_up: bool = False


# --- accounts ----------------------------------------------------------------------------------


class LedgerEntry(Record):
    """One model call. ``cost_usd`` None: the price is not known. Counts are tokens as the server
    reported them, or our estimate when ``estimated``. ``raw_tokens`` is what our counter says of the
    prompt, without margin (0: not counted); ``text_only`` False: images were part of it."""

    id: str
    session_id: str | None
    exchange_id: str | None
    role: str
    model: str
    endpoint: str
    at: datetime
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    estimated: bool
    latency_seconds: float
    outcome: str
    cost_usd: float | None = None
    raw_tokens: int = 0
    text_only: bool = True
