"""Comparing what is kept with what was made of it, and making anew exactly what differs.

The journal is the truth; memories that follow from it, their words, the history's words and the vectors are
views of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from memagent.agent.rooms import Rooms
from memagent.memory.episodes import memories_of, taken_back_by
from memagent.memory.never import NeverPatterns
from memagent.memory.passages import passages_of, searched_text
from stores.errors import StoreCorruptError
from stores.indexes import IndexState
from stores.records import Mark, Memory, Message, Source

BATCH = 500


class IndexReport(BaseModel):
    """How one view stands: ``wanted`` it must have, ``missing`` of these it lacks, ``extra`` it has that it must not.
    ``why`` says what else is wrong, or why it could not be looked at."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    what: str
    wanted: int
    missing: int = 0
    extra: int = 0
    why: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing differs, as far as it could be looked at."""
        return not (self.missing or self.extra or self.why.startswith("damaged"))


class Repairer:
    """Looks the rooms' scope over. One batch of the journal, and all ids of memories, are in memory at a time."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._stores = rooms.stores
        self._scope = rooms.scope

    async def look(self, *, repair: bool) -> list[IndexReport]:
        """What differs; with ``repair`` it is made anew, and what is said is how it stood before. Vectors are
        then written in the background: `settle` waits for them."""
        await self._rooms.indexer.catch_up(self._scope)
        await self._rooms.history.catch_up(self._scope)
        return [
            await self._memories(repair=repair),
            await self._memory_words(repair=repair),
            await self._history_words(repair=repair),
            await self._vectors(repair=repair),
        ]

    async def _memories(self, *, repair: bool) -> IndexReport:
        wanted, missing = 0, 0
        never = NeverPatterns(await self._stores.never.list(self._scope))
        taken_back = await self._taken_back()
        position, cursor = 0, await self._stores.memories.cursor(self._scope)
        while entries := await self._stores.journal.since(self._scope, position, limit=BATCH):
            position = entries[-1].position
            made = {memory.id: memory for memory in memories_of(entries, self._rooms.clock(), never)}
            known = {memory.id for memory in await self._stores.memories.get(self._scope, list(made))}
            lacking: list[Memory] = [
                memory for id_, memory in made.items() if id_ not in known and taken_back.isdisjoint(memory.sources)
            ]
            wanted, missing = wanted + len(made), missing + len(lacking)
            if lacking and repair:
                await self._stores.memories.put_episodes(self._scope, lacking, cursor=cursor)
        return IndexReport(what="memories of what was said", wanted=wanted, missing=missing)

    async def _taken_back(self) -> set[Source]:
        """What the person said later is not to be remembered."""
        found: set[Source] = set()
        position = 0
        while entries := await self._stores.journal.since(self._scope, position, limit=BATCH):
            position = entries[-1].position
            for entry in entries:
                if isinstance(entry, Mark):
                    found.update(Source(session_id=s, entry_id=i) for s, i in taken_back_by(entry))
        return found

    async def _memory_words(self, *, repair: bool) -> IndexReport:
        state = await self._stores.upkeep.memory_words(self._scope)
        if repair and not state.is_whole:
            await self._stores.upkeep.repair_memory_words(self._scope)
        return _report("words of memories", state)

    async def _history_words(self, *, repair: bool) -> IndexReport:
        state = await self._stores.upkeep.history_words(self._scope)
        missing = await self._unsearchable()
        if repair and (missing or not state.is_whole):
            await self._stores.upkeep.forget_history_words(self._scope)
            await self._rooms.history.catch_up(self._scope)
        return _report("words of the history", state._replace(missing=state.missing + missing))

    async def _unsearchable(self) -> int:
        """How many messages with words have no passage at all."""
        missing = position = 0
        while entries := await self._stores.journal.since(self._scope, position, limit=BATCH):
            position = entries[-1].position
            said = [e for e in entries if isinstance(e, Message) and passages_of(e, searched_text(e)[:200])]
            known = await self._stores.upkeep.with_passages(self._scope, [(e.session_id, e.id) for e in said])
            missing += sum((e.session_id, e.id) not in known for e in said)
        return missing

    async def _vectors(self, *, repair: bool) -> IndexReport:
        what = "vectors"
        wanted = await self._stores.upkeep.active_ids(self._scope)
        if not await self._rooms.embedding.wait():
            why = f"not looked at: the embedder cannot be loaded ({self._rooms.embedding.failure})"
            return IndexReport(what=what, wanted=len(wanted), why=why)
        try:
            there = await self._stores.vectors.ids(self._scope, self._rooms.embedding.generation or "")
        except StoreCorruptError as error:
            if repair:
                self._rooms.indexer.report_damage()
            return IndexReport(what=what, wanted=len(wanted), why=f"damaged: {error}")
        # looked at once more: vectors may have been written in between
        active = await self._stores.upkeep.active_ids(self._scope)
        missing, extra = (wanted & active) - there, there - wanted - active
        extra -= await self._in_work(extra)
        if repair:
            await self._stores.upkeep.requeue(self._scope, missing | extra)
            self._rooms.indexer.wake()
        return IndexReport(what=what, wanted=len(wanted), missing=len(missing), extra=len(extra))

    async def _in_work(self, ids: Sequence[str] | set[str]) -> set[str]:
        """Those of which a task is open: their vectors are about to be written or removed."""
        return {i for i in ids if await self._stores.outbox.open_count(self._scope, memory_ids=[i])}


def _report(what: str, state: IndexState) -> IndexReport:
    why = "damaged: the index contradicts itself" if state.broken else ""
    return IndexReport(what=what, wanted=state.wanted, missing=state.missing, extra=state.extra, why=why)
