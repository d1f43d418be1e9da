"""Searching everything that was said or returned by tools, in the window or not.

The journal is the truth; its index of passages is brought up to date before each search. A hit quotes the
exact text around the words that were found, and its entry's id is the reference to read the rest by.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Mapping, Sequence

from memagent.memory.asking import content_of
from memagent.memory.episodes import episode_id
from memagent.memory.hits import HistoryHit, Place, hit_of, ranked
from memagent.memory.never import NeverPatterns
from memagent.memory.passages import context_of, passages_of, searched_text, units_of
from memagent.memory.recall import Recaller
from stores.base import BlobStore, Journal, MemoryTable, NeverList
from stores.errors import BlobMissingError, StoreCorruptError
from stores.indexes import HistoryIndex, Passage, PassageHit
from stores.records import MemoryState, Message, Scope
from stores.terms import document_terms, query_terms

JOURNAL_BATCH = 200
ADD_BATCH = 500
LONG_CHARS = 20_000
"""Cutting a longer text into passages would hold up others."""
LOOK_BACK = 40
"""How many entries before one may hold the call or the question that it answers."""
CANDIDATES = 120
VECTOR_CANDIDATES = 30
SEARCH_BYTES = 64_000_000
"""Of stored outputs, at most so much is read for one search."""
WORDLESS_CHARS = 4_000
"""How much of a text is looked at for a snippet when it was found by its meaning alone."""
CONTEXTS = 32
"""Of so many of the best candidates it is looked up what they answer."""
ABOUT_CHARS = 60


class HistorySearch:
    """Searches one store. ``recaller`` also finds by meaning; without it, words decide alone.

    An exchange that is not to be remembered is part of its session's history: the person finds it, and so
    does a model that talks in that session; a model in another session does not. The same holds for what
    matches a pattern of the person's never-list. A message whose memory
    the person made forgotten is found by the person only.
    """

    def __init__(
        self,
        *,
        journal: Journal,
        history: HistoryIndex,
        blobs: BlobStore,
        memories: MemoryTable | None = None,
        never: NeverList | None = None,
        recaller: Recaller | None = None,
        deadline_seconds: float = 3.0,
    ) -> None:
        self._journal = journal
        self._history = history
        self._blobs = blobs
        self._memories = memories
        self._never = never
        self._recaller = recaller
        self._deadline_seconds = deadline_seconds
        self._one_at_a_time = asyncio.Lock()

    # --- keeping up ----------------------------------------------------------------------------

    async def catch_up(self, scope: Scope) -> None:
        """Adds what the journal has and the index has not seen yet. Afterwards everything said or returned
        so far is found. Any number of processes may do so at once, and be killed."""
        async with self._one_at_a_time:
            cursor = await self._history.cursor(scope)
            earlier: dict[str, deque[Message]] = {}
            while entries := await self._journal.since(scope, cursor, limit=JOURNAL_BATCH):
                ready: list[Passage] = []
                for entry in entries:
                    if isinstance(entry, Message):
                        ready += await self._passages(scope, entry, earlier)
                    while len(ready) > ADD_BATCH:
                        # the cursor stays before this entry until all of it is there
                        await self._history.add(scope, ready[:ADD_BATCH], cursor=cursor)
                        del ready[:ADD_BATCH]
                cursor = entries[-1].position
                await self._history.add(scope, ready, cursor=cursor)

    async def _passages(self, scope: Scope, entry: Message, earlier: dict[str, deque[Message]]) -> list[Passage]:
        if entry.session_id not in earlier:
            earlier[entry.session_id] = deque(await self._before(scope, entry), LOOK_BACK)
        before = earlier[entry.session_id]
        text = await self._text(scope, entry)
        context = context_of(entry, tuple(before))
        long = len(text) > LONG_CHARS
        passages = (
            await asyncio.to_thread(passages_of, entry, text, context) if long else passages_of(entry, text, context)
        )
        before.append(entry)
        return passages

    async def _before(self, scope: Scope, entry: Message) -> list[Message]:
        last = entry.sequence - 1
        first = max(0, last - LOOK_BACK)
        entries = await self._journal.read(scope, entry.session_id, after_sequence=first, limit=last - first)
        return [e for e in entries if isinstance(e, Message)]

    async def _text(self, scope: Scope, entry: Message) -> str:
        """What is searched of an entry: of an overflowed one the stored text, or its preview if that is gone."""
        if entry.overflow is None:
            return searched_text(entry)
        try:
            content = await self._blobs.get(scope, entry.overflow.digest)
        except (BlobMissingError, StoreCorruptError):
            return searched_text(entry)
        return searched_text(entry, content.decode("utf-8", "replace"))

    # --- searching -----------------------------------------------------------------------------

    async def search(
        self,
        scope: Scope,
        query: str,
        *,
        session_id: str | None = None,
        limit: int = 8,
        exclude_ids: Collection[str] = (),
        shown_in: str | None = None,
    ) -> list[HistoryHit]:
        """The best places, best first; of one session, or of all. ``exclude_ids`` are entries that are no
        hits, such as the message that asks. ``shown_in``: the session whose model will read the hits; None:
        they are for the person. A blank query or limit 0 gives []."""
        if limit < 1 or not query.strip():
            return []
        await self.catch_up(scope)
        asked_for = content_of(query)
        words = await self._history.search(scope, asked_for, limit=CANDIDATES, session_id=session_id)
        meaning = await self._by_meaning(scope, query, session_id)
        entries = await self._entries(scope, [hit.entry_id for hit in words] + [entry_id for _, entry_id in meaning])
        for key in await self._hidden(scope, entries, exclude_ids, shown_in):
            del entries[key]
        places = await self._places(scope, asked_for, words, meaning, entries)
        best = await asyncio.to_thread(ranked, places, meaning, limit)
        return [hit_of(found, await self._about(scope, found.place.entry)) for found in best]

    async def _by_meaning(self, scope: Scope, query: str, session_id: str | None) -> list[tuple[str, str]]:
        """(session, entry) of the messages nearest in meaning, best first."""
        if self._recaller is None:
            return []
        found = await self._recaller.recall(
            scope, query, limit=VECTOR_CANDIDATES, deadline_seconds=self._deadline_seconds, gated=True
        )
        return [
            (item.memory.session_id or "", entry_id)
            for item in found
            for entry_id in item.source_ids
            if session_id in (None, item.memory.session_id)
        ]

    async def _entries(self, scope: Scope, ids: Sequence[str]) -> dict[tuple[str, str], Message]:
        found = await self._journal.get(scope, list(dict.fromkeys(ids)))
        return {(entry.session_id, entry.id): entry for entry in found if isinstance(entry, Message)}

    async def _hidden(
        self,
        scope: Scope,
        entries: Mapping[tuple[str, str], Message],
        exclude_ids: Collection[str],
        shown_in: str | None,
    ) -> set[tuple[str, str]]:
        hidden = {key for key in entries if key[1] in exclude_ids}
        if shown_in is None:
            return hidden
        hidden |= {key for key, entry in entries.items() if not entry.remember and key[0] != shown_in}
        if self._never is not None:
            never = NeverPatterns(await self._never.list(scope))
            hidden |= {
                key for key, entry in entries.items() if key[0] != shown_in and never.matching(searched_text(entry))
            }
        if self._memories is not None:
            keys = {episode_id(entry): key for key, entry in entries.items()}
            memories = await self._memories.get(scope, list(keys))
            hidden |= {keys[memory.id] for memory in memories if memory.state is MemoryState.FORGOTTEN}
        return hidden

    async def _places(
        self,
        scope: Scope,
        query: str,
        words: Sequence[PassageHit],
        meaning: Sequence[tuple[str, str]],
        entries: Mapping[tuple[str, str], Message],
    ) -> list[Place]:
        wanted = frozenset(query_terms(query))
        texts: dict[tuple[str, str], str] = {}
        pieces: list[tuple[Message, int, str, int | None]] = []
        room = SEARCH_BYTES
        for rank, hit in enumerate(words):
            key = (hit.session_id, hit.entry_id)
            entry = entries.get(key)
            if entry is None:
                continue
            if key not in texts:
                room -= entry.overflow.size_bytes if entry.overflow else 0
                texts[key] = await self._text(scope, entry) if room >= 0 else searched_text(entry)
            if text := texts[key][hit.start : hit.start + hit.chars]:
                pieces.append((entry, hit.start, text, rank))
        for key in dict.fromkeys(meaning):
            if key in entries and key not in texts:
                pieces.append((entries[key], 0, searched_text(entries[key])[:WORDLESS_CHARS], None))
        about = await self._contexts(scope, [piece[0] for piece in pieces if piece[1] == 0][:CONTEXTS])
        return await asyncio.to_thread(
            lambda: [
                Place(
                    entry,
                    start,
                    units_of(text, wanted),
                    rank,
                    wanted.intersection(document_terms(about.get(entry.position, ""))) if start == 0 else frozenset(),
                )
                for entry, start, text, rank in pieces
            ]
        )

    async def _contexts(self, scope: Scope, entries: Sequence[Message]) -> dict[int, str]:
        """What entries answer, by their positions."""
        before = await asyncio.gather(*(self._before(scope, entry) for entry in entries))
        return {entry.position: context_of(entry, b) for entry, b in zip(entries, before, strict=True)}

    async def _about(self, scope: Scope, entry: Message) -> str:
        about = " ".join(context_of(entry, await self._before(scope, entry)).split())
        return about if len(about) <= ABOUT_CHARS else f"{about[: ABOUT_CHARS - 1]}…"
