"""Writing facts: each is compared with what is known, and one transaction stores what comes of it.

Nothing here asks a model by itself: the judge is handed in, and without one what is not the same by its
words stands side by side.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memagent.memory.answers import UnusableAnswerError
from memagent.memory.attributes import USER
from memagent.memory.extract import Draft
from memagent.memory.never import NeverPatterns
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
from stores.base import MemoryFinder, MemoryTable
from stores.records import Memory, MemoryKind, MemoryState, Pin, Scope

MOST_CANDIDATES = 8
"""So many known facts are shown to the judge beside one new fact."""
RECALLED = 24
RECALL_SECONDS = 3.0

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
    """Writes the facts of one store, one call at a time."""

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
        self.turn = asyncio.Lock()
        """Held while facts are compared and stored, so that the same fact told twice at once is one."""

    async def write(self, scope: Scope, drafts: Sequence[Draft], judge: Judge | None, never: NeverPatterns) -> Written:
        """Stores the facts; writing them again changes nothing. Raises StoreError."""
        written = Written()
        allowed = [draft for draft in drafts if never.matching(draft.text) is None]
        new = {
            index: fact_of_draft(draft, self._new_id(), self._clock())
            for index, draft in enumerate(allowed)
            if await self._known(scope, draft) is None
        }
        # judged without the turn: a model takes its time, and a person who has something remembered does not wait
        decided = await self._decided(scope, list(new.values()), judge, written)
        async with self.turn:
            changed: dict[str, Memory] = {}
            for index, draft in enumerate(allowed):
                known = await self._known(scope, draft)
                if known is not None:
                    changed[known.id] = confirmed(changed.get(known.id, known), draft)
                elif memory := new.get(index):
                    decision = decided.get(memory.id, Decision("add"))
                    named = await self._memories.get(scope, decision.ids)
                    for result in carried_out(memory, decision, {one.id: one for one in named} | changed):
                        changed[result.id] = result
            await self._memories.put(scope, list(changed.values()))
        written.stored = list(changed.values())
        made = {memory.id for memory in new.values()}
        written.proposed = [m for m in written.stored if m.id in made and m.pin is Pin.PROPOSED]
        return written

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


def _comparable(known: Memory, new: Memory) -> bool:
    holds = known.state is MemoryState.ACTIVE and known.valid_to is None and known.id != new.id
    return holds and not outranks(known.trust, new.trust)
