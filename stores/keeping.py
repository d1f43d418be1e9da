"""The contracts of what is done with all that is kept: erasing, its receipts, and setting indexes right. As in
`stores.base`: coroutines, every error a `StoreError`, one suite a protocol over every implementation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from stores.records import JournalEntry, Scope


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


class IndexState(NamedTuple):
    """How an index stands to what it is an index of: how many it must have, how many of these it lacks, how many
    it has that it must not have. ``broken``: it contradicts itself."""

    wanted: int
    missing: int
    extra: int
    broken: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing is to be repaired."""
        return not (self.missing or self.extra or self.broken)


class Upkeep(Protocol):
    """Comparing the lexical indexes with what they are made of, and setting them right. For the doctor: all of a
    scope is walked."""

    async def memory_words(self, scope: Scope) -> IndexState:
        """The lexical index of the memories. What no memory owns is extra, whatever scope it was of."""
        ...

    async def repair_memory_words(self, scope: Scope) -> None:
        """Adds what is missing and removes what is extra; makes a broken index anew."""
        ...

    async def history_words(self, scope: Scope) -> IndexState:
        """The lexical index of the history, by passages."""
        ...

    async def with_passages(self, scope: Scope, places: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Those of these entries (session, id) that the history's index has passages of."""
        ...

    async def forget_history_words(self, scope: Scope) -> None:
        """Empties it for the scope (a broken one for all) and sets its cursor back to 0: whoever searches next
        makes it anew."""
        ...

    async def active_ids(self, scope: Scope) -> set[str]:
        """The ids of the active memories whose vectors have no task open, …"""
        ...

    async def requeue(self, scope: Scope, ids: Collection[str]) -> None:
        """… and tasks for these: their vectors are then written, or removed where no memory is active."""
        ...
