"""Recall: finding memories by meaning, by words, by who said them and when. Automatic recall prefers silence
to noise.

Two legs propose, of one list's length each; their neighbours in the talk and what was said in a time that
the question names are added; the best of them are read and ranked (`memagent.memory.rank`). Nothing walks
over all memories, so that time hardly grows with their number.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memagent.memory.alike import may_say_the_same
from memagent.memory.asking import asks, content_of, says_something
from memagent.memory.dates import ASKS_WHEN, LOOKS_BACK, span_of
from memagent.memory.embed import EmbeddingService
from memagent.memory.gate import KEPT_SHARE, LOOKED_AT, is_evident, words_shared
from memagent.memory.meaning import Meaning
from memagent.memory.rank import (
    CLOSED,
    LIST_LENGTH,
    Question,
    Strengths,
    in_time,
    is_closed,
    own_strengths,
    promising,
    scored,
    strengths_of,
)
from memagent.memory.speakers import asked_of
from stores.base import MemoryTable, Talk, TalkPlace
from stores.indexes import LexicalIndex, Outbox, VectorIndex
from stores.records import Memory, MemoryKind, MemoryState, Scope
from stores.sameness import normalised

LEADING = 30
"""Of so many of the strongest the neighbours are looked at, too."""
READ = 40
"""So many of the most promising are read at least …"""
READ_BEYOND = 20
"""… and so many more than are wanted."""
LIKELY = 4
"""Among the first so many more than are wanted, by what is known without reading, are mostly all that are chosen."""
COMPARED = 16
"""So many of the best are compared with each other: facts may say the same in other words."""
IN_TIME_LIMIT = 200
"""Of what was said in a time that the question names, at most so much is looked at."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that was found. ``score`` larger is better, comparable within one answer only;
    ``source_ids`` are the journal entries that state it, ``context_ids`` those of the messages next to it."""

    memory: Memory
    score: float
    why: str
    source_ids: tuple[str, ...]
    context_ids: tuple[str, ...] = ()


SUCCESSORS = 8
"""A line of facts that took each other's place is followed so far."""


@dataclass(frozen=True, slots=True)
class _Legs:
    """What each leg found, by memory id: places among the words' hits from 1, and similarities."""

    ranks: dict[str, int]
    similar: dict[str, float]

    def why(self, memory_id: str) -> list[str]:
        reasons: list[str] = []
        if memory_id in self.ranks:
            reasons.append(f"words (rank {self.ranks[memory_id]})")
        if memory_id in self.similar:
            reasons.append(f"meaning ({self.similar[memory_id]:.2f})")
        return reasons


class Recaller:
    """Searches one store. ``holds_lock`` says whether this process's vector handle sees all writes;
    ``on_damage`` hears of a vector index that cannot be read. ``zone`` is where "yesterday" is."""

    def __init__(
        self,
        *,
        memories: MemoryTable,
        talk: Talk,
        lexical: LexicalIndex,
        vectors: VectorIndex,
        outbox: Outbox,
        embedding: EmbeddingService,
        holds_lock: Callable[[], bool],
        on_damage: Callable[[], None],
        clock: Callable[[], datetime],
        zone: str,
    ) -> None:
        self._memories = memories
        self._talk = talk
        self._lexical = lexical
        self._embedding = embedding
        self._meaning = Meaning(
            memories=memories,
            vectors=vectors,
            outbox=outbox,
            embedding=embedding,
            holds_lock=holds_lock,
            on_damage=on_damage,
        )
        self._clock = clock
        self._zone = zone

    async def recall(
        self, scope: Scope, query: str, *, limit: int, deadline_seconds: float, gated: bool
    ) -> list[Recalled]:
        """The best memories, best first, at most ``limit``. ``gated``: only those that are likely to
        matter. Past the deadline the vector leg is left out. A blank query or limit 0 gives []."""
        if limit < 1 or not query.strip():
            return []
        question = self._question(query, await self._talk.speakers(scope))
        if gated and question.span is None and not question.asked.named and not says_something(query):
            return []
        fetch = max(LIST_LENGTH, limit)
        lexical, near = await asyncio.gather(
            self._lexical.search(scope, question.asked.text, limit=fetch),
            self._meaning.nearest(scope, question.asked.text, limit=fetch, deadline_seconds=deadline_seconds),
        )
        legs = _Legs({hit.memory_id: rank for rank, hit in enumerate(lexical, start=1)}, near.similar)
        words = {hit.memory_id: hit.score for hit in lexical}
        own = own_strengths(words, near.similar, self._embedding.scale)
        strengths = await self._placed(scope, own, question, fetch)
        wanted = promising(strengths, question.asked, max(READ, limit + READ_BEYOND))
        read = await self._read(scope, wanted, strengths, limit)
        matches = _ranked(wanted, read, strengths, question, legs)
        ranked = await self._succeeded(scope, matches, question)
        if gated and await self._is_evident(scope, matches, question, near.similar, strengths, read):
            ranked = _kept(ranked, question)
        elif gated:
            ranked = [item for item in ranked if in_time(item.memory, question.span)]
        chosen = await self._different(scope, ranked, limit, near.vectors)
        return await self._with_context(scope, chosen, strengths, read)

    def _question(self, query: str, speakers: Sequence[str]) -> Question:
        now = self._clock()
        return Question(
            asked=asked_of(query, speakers),
            span=span_of(query, now, self._zone),
            when=ASKS_WHEN.search(query) is not None,
            past=LOOKS_BACK.search(query) is not None,
            now=now,
        )

    async def _placed(self, scope: Scope, own: Mapping[str, float], question: Question, count: int) -> Strengths:
        """Where the candidates stand in the talk: the strongest so many, the neighbours of the first of them, and
        what was said in the time asked for."""
        strongest = sorted(own, key=lambda memory_id: (-own[memory_id], memory_id))
        ids = set(strongest[:count])
        if question.span is not None:
            ids.update(await self._talk.said_between(scope, *question.span, limit=IN_TIME_LIMIT))
        leading = frozenset(strongest[:LEADING])
        return strengths_of(own, await self._talk.places(scope, sorted(ids), beside=leading))

    async def _read(self, scope: Scope, wanted: Sequence[str], strengths: Strengths, limit: int) -> dict[str, Memory]:
        """The memories and, to see whether they answer something, those before them; with all neighbours of those
        that will likely be chosen."""
        before = (strengths.places[memory_id].before or "" for memory_id in wanted)
        likely = (other for memory_id in wanted[: limit + LIKELY] for other in _beside(strengths.places[memory_id]))
        ids = dict.fromkeys([*wanted, *(other for other in before if other in strengths.own), *likely])
        return {memory.id: memory for memory in await self._memories.get(scope, list(ids))}

    async def _succeeded(self, scope: Scope, matches: list[Recalled], question: Question) -> list[Recalled]:
        """What took the place of something that would have been the answer stands where that would stand:
        "where do I live" has the words of the old home, and asks for the new one."""
        closed = [item for item in matches if item.memory.superseded_by]
        if not closed or question.past or question.span is not None:
            return matches
        latest = await self._latest(scope, [item.memory for item in closed])
        raised = {item.memory.id: item for item in matches}
        for item in closed:
            successor, score = latest.get(item.memory.id), item.score + CLOSED
            if successor is None or is_closed(successor, question.now):
                continue
            known = raised.get(successor.id)
            if known is None or known.score < score:
                why = ", ".join(filter(None, [known.why if known else "", "took the place of a match"]))
                raised[successor.id] = Recalled(successor, score, why, successor.source_ids)
        return sorted(raised.values(), key=lambda item: (-item.score, item.memory.id))

    async def _latest(self, scope: Scope, closed: Sequence[Memory]) -> dict[str, Memory]:
        """What stands at the end of each one's line of successors, by its id."""
        ends = {memory.id: memory for memory in closed}
        for _ in range(SUCCESSORS):
            wanted = {memory.superseded_by for memory in ends.values() if memory.superseded_by}
            found = {memory.id: memory for memory in await self._memories.get(scope, sorted(wanted))}
            if not found:
                break
            ends = {start: found.get(memory.superseded_by or "", memory) for start, memory in ends.items()}
        return {start: memory for start, memory in ends.items() if memory.state is MemoryState.ACTIVE}

    async def _is_evident(
        self,
        scope: Scope,
        matches: Sequence[Recalled],
        question: Question,
        similar: Mapping[str, float],
        strengths: Strengths,
        read: Mapping[str, Memory],
    ) -> bool:
        """Whether a memory clearly has to do with the question, one that holds no more too: its successor is
        shown then."""
        by_match = sorted(matches, key=lambda item: -_as_if_held(item, question))
        statements = [item.memory for item in by_match[:LOOKED_AT] if not asks(item.memory.text)]
        if not statements:
            return False
        # an answer has what its question says
        told = [[memory, *_question_before(memory.id, strengths, read)] for memory in statements]
        telling = await self._lexical.telling(scope, content_of(question.asked.text))
        words = words_shared((" ".join(memory.text for memory in some) for some in told), telling)
        near = [similar[memory.id] for some in told for memory in some if memory.id in similar]
        return is_evident(max(near, default=None), similar.values(), self._embedding.scale, words)

    async def _different(
        self, scope: Scope, ranked: Sequence[Recalled], limit: int, vectors: Mapping[str, bytes]
    ) -> list[Recalled]:
        """Of those that say the same the best: the same words, or facts that are near to each other in meaning
        and agree in numbers, names, negation and the order of their words."""
        told: set[str] = set()
        chosen: list[Recalled] = []
        for item in ranked:
            if len(chosen) >= limit + COMPARED:
                break  # comparing drops fewer than it compares
            words = normalised(item.memory.text)
            if words not in told:
                told.add(words)
                chosen.append(item)
        facts = [item.memory for item in chosen[:COMPARED] if item.memory.kind is MemoryKind.FACT]
        alike = [(a, b) for a, b in itertools.combinations(facts, 2) if may_say_the_same(a.text, b.text)]
        if alike:
            ids = [fact.id for fact in facts if any(fact in pair for pair in alike)]
            near = await self._meaning.same(scope, ids, vectors)
            again = {b.id for a, b in alike if (a.id, b.id) in near}
            chosen = [item for item in chosen if item.memory.id not in again]
        return chosen[:limit]

    async def _with_context(
        self, scope: Scope, chosen: Sequence[Recalled], strengths: Strengths, read: Mapping[str, Memory]
    ) -> list[Recalled]:
        beside = {item.memory.id: _beside(strengths.places.get(item.memory.id)) for item in chosen}
        missing = {other for others in beside.values() for other in others if other not in read}
        known = dict(read) | {memory.id: memory for memory in await self._memories.get(scope, sorted(missing))}
        found: list[Recalled] = []
        for item in chosen:
            near = [known[other].source_ids for other in beside[item.memory.id] if other in known]
            context_ids = tuple(entry_id for ids in near for entry_id in ids)
            found.append(Recalled(item.memory, item.score, item.why, item.source_ids, context_ids))
        return found


def _beside(place: TalkPlace | None) -> list[str]:
    return [other for other in (place.before, place.after) if other] if place else []


def _question_before(memory_id: str, strengths: Strengths, read: Mapping[str, Memory]) -> list[Memory]:
    """The message before, if it asks something and was read."""
    before = read.get(strengths.places[memory_id].before or "")
    return [before] if before is not None and asks(before.text) else []


def _as_if_held(item: Recalled, question: Question) -> float:
    """The score without what was taken for holding no more."""
    taken = is_closed(item.memory, question.now) and not question.past and not in_time(item.memory, question.span)
    return item.score + CLOSED if taken else item.score


def _kept(ranked: Sequence[Recalled], question: Question) -> list[Recalled]:
    """Of what automatic recall found those that are no noise beside the best, and hold or are asked for."""
    best = next((item.score for item in ranked if not asks(item.memory.text)), 0.0)
    return [
        item
        for item in ranked
        if item.score >= KEPT_SHARE * best
        and (in_time(item.memory, question.span) or question.past or not is_closed(item.memory, question.now))
    ]


def _ranked(
    wanted: Sequence[str],
    read: Mapping[str, Memory],
    strengths: Strengths,
    question: Question,
    legs: _Legs,
) -> list[Recalled]:
    """Best first; none that lives no more."""
    ranked: list[Recalled] = []
    for memory_id in wanted:
        memory = read.get(memory_id)
        if memory is None or memory.state is not MemoryState.ACTIVE:
            continue
        answers = bool(_question_before(memory_id, strengths, read))
        score, reasons = scored(memory, strengths, question, after_question=answers)
        ranked.append(Recalled(memory, score, ", ".join([*legs.why(memory_id), *reasons]), memory.source_ids))
    return sorted(ranked, key=lambda item: (-item.score, item.memory.id))
