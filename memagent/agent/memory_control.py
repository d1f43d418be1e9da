"""What a person, a host or the model may do with memories."""

from __future__ import annotations

from memagent.agent.rooms import Rooms
from memagent.errors import MemagentError, NotFoundError
from memagent.memory.episodes import fact_of
from memagent.memory.recall import Recalled
from memagent.sanitize import clean_text
from stores.records import Mark, MarkKind, Memory, MemoryKind, MemoryState, Trust
from stores.sameness import normalised

SAME_AMONG = 20
"""A text that was kept before is among its nearest by words."""


class MemoryControl:
    """Keeping, finding, listing, forgetting. All within the rooms' scope."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def remember(self, text: str, trust: Trust, session_id: str) -> Memory:
        """Keeps a fact and returns it; a fact with the same words is kept once. The journal notes the
        wish first, so that a crash in between loses nothing. Raises MemagentError for a blank text."""
        text = clean_text(text).strip()
        if not text:
            raise MemagentError("there is nothing to remember: the text is empty")
        known = await self._same(text)
        entry_id = self._rooms.new_id()
        memory_id = known.id if known else self._rooms.new_id()
        mark = Mark(
            id=entry_id,
            session_id=session_id,
            exchange_id=entry_id,
            at=self._rooms.clock(),
            zone=self._rooms.zone,
            what=MarkKind.REMEMBERED,
            data={"text": text, "memory_id": memory_id, "trust": trust.value},
        )
        await self._rooms.stores.journal.append(self._rooms.scope, [mark])
        if known:
            return known
        memory = fact_of(mark, mark.at)
        await self._rooms.stores.memories.put(self._rooms.scope, [memory])
        self._rooms.indexer.wake()
        return memory

    async def _same(self, text: str) -> Memory | None:
        """An active fact with the same words. Only the text decides, never similarity."""
        scope, stores = self._rooms.scope, self._rooms.stores
        hits = await stores.lexical.search(scope, text, limit=SAME_AMONG)
        words = normalised(text)
        for memory in await stores.memories.get(scope, [hit.memory_id for hit in hits]):
            if memory.kind is MemoryKind.FACT and normalised(memory.text) == words:
                return memory
        return None

    async def recall(self, text: str, limit: int) -> list[Recalled]:
        """The best memories, best first; [] for a blank text. What was said a moment ago is found."""
        await self._rooms.indexer.catch_up(self._rooms.scope)
        return await self._rooms.recaller.recall(
            self._rooms.scope,
            clean_text(text),
            limit=limit,
            deadline_seconds=self._rooms.settings.recall_deadline_seconds,
            gated=False,
        )

    async def list(self, state: MemoryState | str | None, kind: MemoryKind | str | None) -> list[Memory]:
        """Memories, newest first. Raises MemagentError for a state or kind that does not exist."""
        try:
            wanted_kind, wanted_state = kind and MemoryKind(kind), state and MemoryState(state)
        except ValueError as error:
            known = ", ".join([*MemoryState, *MemoryKind])
            raise MemagentError(f"{error}; states and kinds are {known}") from error
        return await self._rooms.stores.memories.list(
            self._rooms.scope, kind=wanted_kind or None, state=wanted_state or None
        )

    async def set_state(self, memory_id: str, state: MemoryState) -> Memory:
        """Forgets or restores a memory. Raises NotFoundError for an id this user does not have, or one
        that is in that state already."""
        found = await self._rooms.stores.memories.get(self._rooms.scope, [clean_text(memory_id)])
        if not found or found[0].state is state:
            wanted = "active" if state is MemoryState.FORGOTTEN else "forgotten"
            raise NotFoundError(f"there is no {wanted} memory {memory_id!r}; `memagent memory list` shows the ids")
        memory = found[0].model_copy(update={"state": state, "version": found[0].version + 1})
        await self._rooms.stores.memories.put(self._rooms.scope, [memory])
        self._rooms.indexer.wake()
        return memory
