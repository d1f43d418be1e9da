"""The contracts of what is searched, all of it made from the journal and the memory table: words, vectors, the
history. What `stores.base` says of all stores holds here, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from stores.records import (
    IndexTask,
    Scope,
)


class LexicalHit(NamedTuple):
    """``score`` larger is better; comparable only within one answer."""

    memory_id: str
    score: float


class LexicalIndex(Protocol):
    """Words. Kept in step with the memory table by the memory table's own transactions."""

    async def search(self, scope: Scope, query: str, *, limit: int) -> list[LexicalHit]:
        """Active memories that share a term with the query, best first (BM25 where the engine has
        it). Latin text is matched by stems, CJK by bigrams. Terms that occur in more than 5 % of the
        scope's memories are dropped while rarer ones remain. A query without terms, or a limit of 0, gives []."""
        ...

    async def telling(self, scope: Scope, text: str) -> frozenset[str]:
        """The text's terms that occur in the scope's memories, but in at most 5 % of them (in scopes of fewer
        than 100 memories: those that occur)."""
        ...


class VectorHit(NamedTuple):
    """``similarity`` is the cosine, -1 to 1, larger is closer."""

    memory_id: str
    similarity: float


class VectorIndex(Protocol):
    """Vectors by scope and embedding generation; one memory may have several (its chunks). A hit is a
    proposal: the caller checks it against the memory table."""

    async def put(self, scope: Scope, generation: str, vectors: Mapping[str, Sequence[bytes]]) -> None:
        """Replaces all vectors of each memory id. Row-major float32 bytes, one length per generation.
        An empty sequence removes the memory."""
        ...

    async def query(self, scope: Scope, generation: str, vector: bytes, *, limit: int) -> list[VectorHit]:
        """The nearest memories, best first, one hit a memory (its best chunk). An unknown scope or
        generation, or limit 0, gives []."""
        ...

    async def first(self, scope: Scope, generation: str, ids: Sequence[str]) -> dict[str, bytes]:
        """The first vector of each memory that has one."""
        ...

    async def count(self, scope: Scope, generation: str) -> int:
        """How many memories have vectors."""
        ...

    async def ids(self, scope: Scope, generation: str) -> set[str]:
        """The ids of the memories that have vectors."""
        ...

    async def drop(self, scope: Scope, generation: str) -> None:
        """Removes all vectors of a scope's generation. An unknown one is ignored."""
        ...

    async def clear(self) -> None:
        """Removes all vectors of all scopes: the way out of a StoreCorruptError, before a rebuild."""
        ...

    async def rewrite(self, without: Collection[str]) -> None:
        """Removes the memories with these ids, of whatever scope and generation, and writes all others to
        fresh files: no file holds a vector, or an id, that was removed. Raises StoreCorruptError when the
        old ones cannot be read."""
        ...

    async def reopen(self) -> None:
        """Forgets cached state, so that what another process wrote is seen."""
        ...

    async def close(self) -> None:
        """Releases files and connections. Further calls raise StoreClosedError."""
        ...


class Generations(Protocol):
    """The embedding generations whose vectors the index may hold, and how to know their embedder again."""

    async def list(self) -> dict[str, bytes]:
        """The vectors of the probe texts (see memagent.memory.generations) by generation, in no order."""
        ...

    async def add(self, name: str, probe: bytes) -> bytes:
        """Keeps a generation's probe and returns it; the kept one where there is one already."""
        ...


class Outbox(Protocol):
    """Which memories' vectors have still to reach the vector index, and the write epoch. The memory
    table adds a task with every change; its number is larger than all before."""

    async def pending(self, *, limit: int = 256, unembedded_only: bool = False) -> list[IndexTask]:
        """Tasks not done, oldest first, over all scopes. ``unembedded_only``: those without vectors."""
        ...

    async def embedded(self, generation: str, vectors: Mapping[int, Sequence[bytes]]) -> None:
        """Stores the vectors of tasks by number. Unknown numbers are ignored."""
        ...

    async def done(self, numbers: Sequence[int]) -> None:
        """Marks tasks done; drops the vectors of done tasks more than 2,000 numbers old."""
        ...

    async def newer(self, scope: Scope, number: int | None = None) -> list[IndexTask] | None:
        """The scope's tasks with a larger number (done or not, with their vectors where known), oldest first: what a
        handle opened at that epoch cannot see. Without a number those above the present epoch. None when vectors of
        some done ones were already dropped: the caller must reopen instead."""
        ...

    async def epoch(self) -> int:
        """The largest number such that it and all below are done; 0 at first."""
        ...

    async def open_count(self, scope: Scope | None = None, *, memory_ids: Collection[str] | None = None) -> int:
        """How many tasks are not done, of one scope or of all; or only those of these memories."""
        ...

    async def requeue(self, scope: Scope | None = None) -> int:
        """Adds a task for every active memory of one scope, or of all (to rebuild their vectors), and says
        how many."""
        ...


class Passage(NamedTuple):
    """A piece of a journal entry's text: what a search in the history finds. ``start`` is its offset in
    characters in the whole text (of the blob, where the text overflowed). ``context`` is found by its
    words too, though it is no part of the text: what a tool was asked for, say."""

    entry_id: str
    session_id: str
    start: int
    text: str
    context: str = ""


class PassageHit(NamedTuple):
    """``score`` larger is better; comparable only within one answer."""

    entry_id: str
    session_id: str
    start: int
    chars: int
    score: float


class HistoryIndex(Protocol):
    """Words of everything that was said or returned by tools, so that no part of a history is out of reach."""

    async def cursor(self, scope: Scope) -> int:
        """The journal position up to which passages have been added; 0 at first."""
        ...

    async def add(self, scope: Scope, passages: Sequence[Passage], *, cursor: int) -> None:
        """Adds the passages not there yet (by session, entry and start) and moves the cursor forward, in one
        transaction. A cursor behind the stored one leaves it where it is."""
        ...

    async def search(self, scope: Scope, query: str, *, limit: int, session_id: str | None = None) -> list[PassageHit]:
        """Best first (BM25 where the engine has it), of one session or of all; of equals the newest first.
        Terms as for `LexicalIndex`, but where a session has none of the rarer terms the common ones serve.
        A query without terms, or a limit of 0, gives []."""
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
