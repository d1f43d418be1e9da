"""Writing facts: each is compared with what is known, and one transaction stores what comes of it.

Nothing here asks a model by itself: the judge is handed in, and without one what is not the same by its
words stands side by side.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memagent.memory.answers import UnusableAnswerError
from memagent.memory.attributes import USER
from memagent.memory.extract import Draft
from memagent.memory.recall import Recaller
from memagent.memory.reconcile import (
    Decision,
    carried_out,
    confirmed,
    decisions,
    fact_of_draft,
    material,
    outranks,
    same_of,
)
from stores.base import Basis, MemoryFinder, MemoryTable
from stores.errors import StoreBusyError
from stores.records import Memory, MemoryKind, MemoryState, Pin, Scope

MOST_CANDIDATES = 8
"""So many known facts are shown to the judge beside one new fact."""
RECALLED = 24
RECALL_SECONDS = 3.0

MOST_ATTEMPTS = 50
"""So often what is to be stored is reckoned anew because others wrote meanwhile; each takes milliseconds."""

Vet = Callable[[Sequence[Draft]], Awaitable[tuple[list[Draft], Basis]]]
"""The facts that may be stored as things stand, the same objects, and what that rests on."""
Judge = Callable[[str], Awaitable[str]]
"""Shown the facts as lines, answers in JSON. Raises JudgeFailedError."""


class JudgeFailedError(Exception):
    """No verdict came. The text says why."""


@dataclass(slots=True)
class Written:
    """What came of some facts. ``proposed`` are new ones that the profile may want; ``notes`` are for the person."""

    stored: list[Memory] = field(default_factory=list[Memory])
    proposed: list[Memory] = field(default_factory=list[Memory])
    notes: list[str] = field(default_factory=list[str])


class FactWriter:
    """Writes the facts of one store. Any number of tasks and processes may write at once."""

    def __init__(
        self,
        memories: MemoryTable,
        finder: MemoryFinder,
        recaller: Recaller,
        *,
        new_id: Callable[[], str],
        clock: Callable[[], datetime],
    ) -> None:
        self._memories = memories
        self._finder = finder
        self._recaller = recaller
        self._new_id = new_id
        self._clock = clock

    async def write(self, scope: Scope, drafts: Sequence[Draft], judge: Judge | None, vet: Vet) -> Written:
        """Stores the facts; writing them again changes nothing. What others write meanwhile is looked at anew, and
        what was taken back, erased or forbidden while the judge thought is not stored. Raises StoreError."""
        written = Written()
        allowed, _ = await vet(drafts)
        new = {
            id(draft): fact_of_draft(draft, self._new_id(), self._clock())
            for draft in allowed
            if await self._known(scope, draft) is None
        }
        decided = await self._decided(scope, list(new.values()), judge, written)
        for _ in range(MOST_ATTEMPTS):
            allowed, basis = await vet(drafts)
            changed, basis = await self._compared(scope, allowed, new, decided, basis)
            if await self._memories.put(scope, list(changed.values()), basis=basis):
                break
        else:
            raise StoreBusyError("new facts could not be stored: others are writing without a pause; try again")
        made = {memory.id for memory in new.values()}
        written.stored = [memory for memory in changed.values() if memory.kind is MemoryKind.FACT]
        written.proposed = [m for m in written.stored if m.id in made and m.pin is Pin.PROPOSED]
        return written

    async def _compared(
        self,
        scope: Scope,
        drafts: Sequence[Draft],
        new: Mapping[int, Memory],
        decided: Mapping[str, Decision],
        basis: Basis,
    ) -> tuple[dict[str, Memory], Basis]:
        """What is to be stored of the drafts, by id, and what that rests on. ``new`` by the draft's identity."""
        changed: dict[str, Memory] = {}
        seen: dict[str, Memory] = {}
        same: dict[str, list[str]] = {}
        for draft in drafts:
            with_text = await self._finder.with_text(scope, draft.text)
            same[draft.text] = [memory.id for memory in with_text]
            known = same_of(draft, with_text)
            if known is not None:
                seen[known.id] = known
                changed[known.id] = confirmed(changed.get(known.id, known), draft)
            elif memory := new.get(id(draft)):
                decision = decided.get(memory.id, Decision("add"))
                named = {one.id: one for one in await self._memories.get(scope, decision.ids)}
                seen |= {one.id: one for one in named.values() if one.id not in seen}
                for result in carried_out(memory, decision, named | changed):
                    changed[result.id] = result
        related = await self._related(scope, changed)
        seen |= {one.id: one for one in (*basis.memories, *related) if one.id not in seen}
        changed |= {episode.id: episode for episode in _said_no_more(related, changed)}
        return changed, replace(basis, memories=list(seen.values()), same_words=same)

    async def _related(self, scope: Scope, changed: Mapping[str, Memory]) -> list[Memory]:
        """What came of the messages whose facts have been superseded."""
        closed = [memory for memory in changed.values() if memory.superseded_by]
        sources = list(dict.fromkeys(source for memory in closed for source in memory.sources))
        return await self._finder.from_entries(scope, sources) if sources else []

    async def _known(self, scope: Scope, draft: Draft) -> Memory | None:
        return same_of(draft, await self._finder.with_text(scope, draft.text))

    async def _decided(
        self, scope: Scope, new: Sequence[Memory], judge: Judge | None, written: Written
    ) -> dict[str, Decision]:
        """Verdicts by the new memory's id, as far as a judge gave some that can be used."""
        candidates = {memory.id: await self._candidates(scope, memory) for memory in new}
        asked = [memory for memory in new if candidates[memory.id]]
        if judge is None or not asked:
            return {}
        try:
            return decisions(await judge(material(asked, candidates)), asked, candidates)
        except (UnusableAnswerError, JudgeFailedError) as error:
            written.notes.append(f"new facts could not be compared with what is known, and stand beside it: {error}")
            return {}

    async def _candidates(self, scope: Scope, memory: Memory) -> list[Memory]:
        """Known facts that may be on the same matter: those that recall finds likely, by meaning and by words, and
        those about the same. What rests on a tool or a document is not compared: it waits for the person."""
        if memory.state is not MemoryState.ACTIVE:
            return []
        same_matter = await self._finder.about(scope, memory.subject, memory.attribute)
        recalled = await self._recaller.recall(
            scope, memory.text, limit=RECALLED, deadline_seconds=RECALL_SECONDS, gated=True
        )
        # of the person themselves a few facts more: what has changed often has other words
        about_user = await self._finder.about(scope, USER) if memory.subject == USER else []
        newest = sorted(about_user, key=lambda one: one.confirmed_at or one.said_at, reverse=True)
        found: dict[str, Memory] = {}
        for one in [*reversed(same_matter), *(item.memory for item in recalled), *newest[: MOST_CANDIDATES // 2]]:
            if one.kind is MemoryKind.FACT and _comparable(one, memory):
                found.setdefault(one.id, one)
        return list(found.values())[:MOST_CANDIDATES]


def _said_no_more(related: Sequence[Memory], changed: Mapping[str, Memory]) -> list[Memory]:
    """Episodes all of whose facts have been superseded: "I live in Berlin" is no answer any more to where the
    person lives, though it was said."""
    facts = [changed.get(one.id, one) for one in related if one.kind is MemoryKind.FACT]
    ended: list[Memory] = []
    for episode in related:
        if episode.kind is MemoryKind.EPISODE and episode.superseded_by is None:
            told = [fact for fact in facts if set(fact.sources) & set(episode.sources)]
            last = max(told, key=lambda fact: (fact.superseded_by is None, fact.recorded_at))
            if last.superseded_by is not None:
                changes = {"superseded_by": last.superseded_by, "valid_to": last.valid_to, "reason": last.reason}
                ended.append(episode.model_copy(update={**changes, "version": episode.version + 1}))
    return ended


def _comparable(known: Memory, new: Memory) -> bool:
    holds = known.state is MemoryState.ACTIVE and known.valid_to is None and known.id != new.id
    return holds and not outranks(known.trust, new.trust)
