"""The contracts of the stores. One suite a protocol runs over every implementation.

All methods are coroutines and may be called from any task of one event loop; implementations do
their blocking work in threads. Every error is a `StoreError`. A call that returned is durable: it
survives a kill of the process. Other processes may write the same store at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from stores.records import (
    Job,
    JournalEntry,
    LedgerEntry,
    Mark,
    MarkKind,
    Memory,
    MemoryKind,
    MemoryState,
    Message,
    Pin,
    Scope,
    Session,
    Source,
)


class Journal(Protocol):
    """What was said and done, append-only. Sessions belong to a scope: two users may both have "s1"."""

    async def append(self, scope: Scope, entries: Sequence[JournalEntry]) -> list[Message | Mark]:
        """Adds entries of one session, in order, in one transaction, and returns them with
        ``sequence`` and ``position`` set. Makes the session if it is new. An id that the session
        already holds is not added again (its stored entry is returned), so a repeat is harmless.
        An empty sequence returns []."""
        ...

    async def read(
        self, scope: Scope, session_id: str, *, after_sequence: int = 0, limit: int | None = None
    ) -> list[Message | Mark]:
        """Entries with a larger sequence, oldest first. An unknown session gives []."""
        ...

    async def last_cut(self, scope: Scope, session_id: str) -> Mark | None:
        """The newest mark of kind CUT, in time independent of the session's length."""
        ...

    async def last_mark(self, scope: Scope, session_id: str, what: MarkKind) -> Mark | None:
        """The newest mark of a kind. May walk the session: not for every message."""
        ...

    async def marks(self, scope: Scope, session_id: str, what: MarkKind) -> list[Mark]:
        """The marks of a kind, oldest first. May walk the session: not for every message."""
        ...

    async def since(self, scope: Scope, position: int, *, limit: int = 500) -> list[Message | Mark]:
        """Entries of all the scope's sessions with a larger position, by position: what a view has not seen yet."""
        ...

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Message | Mark]:
        """The entries with these ids, in the order asked; unknown ids and other scopes' are left out."""
        ...

    async def sessions(self, scope: Scope, *, limit: int | None = None) -> list[Session]:
        """The scope's sessions, last used first."""
        ...

    async def overflow_digests(self, scope: Scope) -> set[str]:
        """The blobs that entries of the scope refer to. Walks all its entries: for the doctor, not for talk."""
        ...


@dataclass(frozen=True, slots=True)
class Basis:
    """What somebody had seen when he decided to write; the write happens only if all of it still holds, in the same
    transaction. ``memories`` stand as they are here. ``same_words``: of each text, the ids of the facts with its
    words (see `stores.sameness`) in any order; texts without words are not compared. ``sources`` are entries that
    are there, not erased, and may be remembered. ``cursor`` is where episodes have been made up to, so that nothing
    that was said or taken back was taken in since; ``never`` the never-list, oldest first (None: does not matter).
    """

    memories: Sequence[Memory] = ()
    same_words: Mapping[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    sources: Sequence[Source] = ()
    cursor: int | None = None
    never: Sequence[str] | None = None


class MemoryTable(Protocol):
    """Memories. Writing one also writes its lexical index entry, keeps what it was under its old version
    number, and adds an outbox row for its vectors where they change, in the same transaction."""

    async def put(
        self, scope: Scope, memories: Sequence[Memory], *, told: Mark | None = None, basis: Basis | None = None
    ) -> bool:
        """Adds or replaces by id, and appends the journal's mark of it in the same transaction. A memory equal to
        the stored one changes nothing (no outbox row). False: ``basis`` holds no more, and nothing is written."""
        ...

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        """In the order asked; unknown ids and other scopes' are left out; [] for none."""
        ...

    async def list(
        self,
        scope: Scope,
        *,
        kind: MemoryKind | None = None,
        state: MemoryState | None = None,
        limit: int | None = None,
    ) -> list[Memory]:
        """Newest (``said_at``, then insertion) first. Conditions are joined by AND."""
        ...

    async def count(self, scope: Scope) -> int:
        """How many active memories there are."""
        ...

    async def cursor(self, scope: Scope) -> int:
        """The journal position up to which episodes have been made; 0 at first."""
        ...

    async def put_episodes(
        self, scope: Scope, episodes: Sequence[Memory], *, cursor: int, basis: Basis | None = None
    ) -> bool:
        """Adds episodes whose ids are not there yet and moves the cursor forward, in one transaction.
        A cursor behind the stored one leaves it where it is. False: ``basis`` holds no more, and nothing is
        written."""
        ...


class MemoryFinder(Protocol):
    """Memories by what they hold, whatever their state. All results oldest first (``said_at``, then insertion)."""

    async def with_text(self, scope: Scope, text: str, *, kind: MemoryKind = MemoryKind.FACT) -> list[Memory]:
        """Those whose text is the same by its words (see `stores.sameness`)."""
        ...

    async def about(self, scope: Scope, subject: str, attribute: str | None = None) -> list[Memory]:
        """Facts with this subject, and this attribute where one is given, by their words. "" finds none."""
        ...

    async def pinned(self, scope: Scope, pin: Pin = Pin.PINNED) -> list[Memory]:
        """Active facts of the profile; or those that are proposed for it."""
        ...

    async def from_entries(self, scope: Scope, sources: Sequence[Source]) -> list[Memory]:
        """Those that came from at least one of the entries."""
        ...

    async def versions(self, scope: Scope, memory_id: str) -> list[Memory]:
        """How the memory was before, oldest version first, without the present one."""
        ...


class TalkPlace(NamedTuple):
    """Where a memory stands in the talk. ``before`` and ``after`` are the ids of the active episodes of its
    session next to an episode; None at the ends, and for what is no episode."""

    memory_id: str
    session_id: str | None
    speaker: str | None
    before: str | None
    after: str | None


class Talk(Protocol):
    """Who said what, when, and after what."""

    async def places(self, scope: Scope, ids: Sequence[str], *, beside: Collection[str] = ()) -> list[TalkPlace]:
        """Of those memories that exist and are active, in no order; and of the neighbours of those among them that
        are in ``beside``."""
        ...

    async def speakers(self, scope: Scope, *, limit: int = 200) -> list[str]:
        """The different speakers of the scope's memories, by name; time does not depend on how many memories
        there are."""
        ...

    async def said_between(self, scope: Scope, since: datetime, until: datetime, *, limit: int) -> list[str]:
        """The ids of active memories said from ``since`` on and before ``until``, oldest first; of more than
        ``limit`` those said last."""
        ...


class Jobs(Protocol):
    """Background work, claimed by one process at a time."""

    async def put(
        self, scope: Scope, kind: str, key: str, payload: Mapping[str, JsonValue] | None = None, *, at: datetime
    ) -> bool:
        """Queues a job, due at once. False: an open job of that kind and key is there already (one that was
        given up is queued anew)."""
        ...

    async def claim(
        self, kinds: Sequence[str], *, at: datetime, lease_seconds: float, scope: Scope | None = None
    ) -> Job | None:
        """The oldest job that is due and that nobody holds, with ``attempts`` raised by one. It is held for
        ``lease_seconds``: a process that dies loses it then."""
        ...

    async def renew(self, number: int, *, at: datetime, lease_seconds: float) -> None:
        """Holds a claimed job for so long from ``at``. An unknown number is ignored."""
        ...

    async def done(self, number: int) -> None:
        """Removes a job. An unknown number is ignored."""
        ...

    async def failed(self, number: int, error: str, *, retry_at: datetime | None) -> None:
        """Says why, and when it is due again; None: it is given up, and stays listed until it is queued anew."""
        ...

    async def list(self, scope: Scope, *, kind: str | None = None) -> list[Job]:
        """Open and given-up jobs, oldest first."""
        ...


class NeverList(Protocol):
    """What the person does not want remembered: patterns as they were written."""

    async def add(self, scope: Scope, pattern: str, *, at: datetime) -> bool:
        """False: it is there already."""
        ...

    async def remove(self, scope: Scope, pattern: str) -> bool:
        """False: it was not there."""
        ...

    async def list(self, scope: Scope) -> list[str]:
        """Oldest first."""
        ...


class Told(Protocol):
    """What a person is told once, and not at every start."""

    async def first(self, scope: Scope, key: str, *, at: datetime) -> bool:
        """True the first time for this key, however many processes ask."""
        ...


class BlobInfo(NamedTuple):
    """A stored text. ``modified_at`` is seconds since 1970."""

    digest: str
    size_bytes: int
    modified_at: float


class BlobStore(Protocol):
    """Texts too long for the journal, by scope and SHA-256 (hex). The same text is kept once a scope."""

    async def put(self, scope: Scope, content: bytes) -> str:
        """Stores and returns the digest. What was written has been read back and is equal, or a StoreError
        is raised and nothing is left under the digest."""
        ...

    async def get(self, scope: Scope, digest: str) -> bytes:
        """All of it. Raises BlobMissingError, or StoreCorruptError when its content does not fit its digest."""
        ...

    async def list(self, scope: Scope) -> list[BlobInfo]:
        """All blobs of the scope, leftovers of crashed writes included, in no order."""
        ...

    async def delete(self, scope: Scope, digests: Sequence[str], *, unused_since: float | None = None) -> None:
        """Unknown digests are ignored; with ``unused_since`` (seconds since 1970) those put since then stay."""
        ...


class Ledger(Protocol):
    """Every model call."""

    async def add(self, scope: Scope, entry: LedgerEntry) -> None: ...

    async def list(self, scope: Scope, *, session_id: str | None = None, limit: int | None = None) -> list[LedgerEntry]:
        """Newest first."""
        ...

    async def recent(self, scope: Scope, *, model: str, endpoint: str, limit: int = 200) -> list[LedgerEntry]:
        """Newest first, only calls whose prompt both we and the server have counted: not estimated, without
        images, both counts above 0."""
        ...

    async def tokens_since(self, scope: Scope, *, role: str, since: datetime) -> int:
        """Prompt and completion tokens of a role's calls from that time on, of all models and sessions."""
        ...


class KeptManifest(NamedTuple):
    """``number`` counts from 1 within the session. ``figures`` and ``details`` are JSON objects; ``details``
    None: they have expired, or were never kept."""

    number: int
    exchange_id: str
    at: datetime
    figures: str
    details: str | None


class Manifests(Protocol):
    """One manifest per prompt, and the texts it refers to, each kept once by hash."""

    async def put(
        self,
        scope: Scope,
        session_id: str,
        exchange_id: str,
        figures: str,
        *,
        details: str,
        at: datetime,
        texts: Sequence[str] = (),
    ) -> int:
        """Adds the session's next manifest and returns its number. ``texts`` are kept as long as manifests
        that came with them have their details."""
        ...

    async def list(
        self, scope: Scope, session_id: str, *, number: int | None = None, limit: int | None = None
    ) -> list[KeptManifest]:
        """The session's manifests, newest first; or the one with that number, if it exists."""
        ...

    async def put_text(self, scope: Scope, text: str) -> str:
        """Keeps a text that the journal refers to, for ever, and returns its hash; the same text is kept once."""
        ...

    async def texts(self, scope: Scope, hashes: Sequence[str]) -> dict[str, str]:
        """Those that exist, by hash."""
        ...

    async def expire(self, scope: Scope, *, before: datetime) -> int:
        """Drops the details of older manifests, and the texts that only they referred to; figures stay.
        Returns how many manifests had some."""
        ...


class Eraser(Protocol):
    """Takes things away for good. The one exception to a journal that only grows. All calls may be repeated."""

    async def overwrite(self, scope: Scope, entries: Sequence[JournalEntry]) -> int:
        """Puts these in the places of the entries with the same session, id and kind, and says how many were
        changed; where there is none, nothing happens. The words of changed messages leave the history's index;
        their sessions' titles and counts are made anew of the messages that are not erased."""
        ...

    async def remove_memories(self, scope: Scope, ids: Collection[str], *, history_of: Collection[str] = ()) -> int:
        """Removes memories with their words, sources, earlier versions and outbox rows, queues the removal of
        their vectors, and says how many there were. Other scopes' memories with these ids are only queued, to
        be put into the vector index again. Of ``history_of`` only the earlier versions go."""
        ...

    async def remove_texts(
        self, scope: Scope, hashes: Collection[str], *, details: Mapping[tuple[str, int], str] | None = None
    ) -> int:
        """Removes texts that manifests or the journal refer to, and says how many there were; puts ``details``
        in the places of those of the manifests with this session and number."""
        ...

    async def hashes_of(self, scope: Scope, holds: Callable[[str], bool]) -> list[str]:
        """The hashes of the kept texts of which ``holds`` is true."""
        ...

    async def anywhere(self, holds: Callable[[str], bool]) -> bool:
        """Whether ``holds`` is true of any stored text (as JSON, for records), of whatever scope: a copy in the
        files is then no leftover."""
        ...

    async def purge(self) -> None:
        """Afterwards the database's files hold nothing of what was removed. Takes as long as copying them.
        Raises StoreBusyError while another process still reads an older state."""
        ...


class Receipts(Protocol):
    """What was erased when, without its content."""

    async def put(self, scope: Scope, receipt_id: str, payload: str, *, at: datetime) -> None:
        """Adds or replaces by id. ``payload`` is a JSON object."""
        ...

    async def list(self, scope: Scope) -> list[str]:
        """The payloads, newest first."""
        ...
