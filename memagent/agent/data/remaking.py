"""Summaries of what was erased, made anew of what is left: by code at once, by a model after the next reply."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from memagent import prompts
from memagent.agent.rooms import Rooms
from memagent.context.material import Source as Material
from memagent.context.material import exchange_unit, sources
from memagent.context.render import ContextBlock, build_exchange
from memagent.context.summary import extract_leaf, leaf_limit
from memagent.context.view import Summary, summary_of
from memagent.llm.tokens import TokenCounter
from memagent.memory.erase import ErasePlan
from stores.records import Mark, Message

MOST_RAW = 200
"""What an extract may take even where the summary took less."""
_ANY_ROOM = 1 << 40


class Remaker:
    """Remakes summaries of the rooms' scope. The compactor replaces an extract once a model answers."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def remake(self, plan: ErasePlan) -> None:
        """Puts an extract in the place of each summary of the plan; an empty text where nothing is left, and no
        prompt shows it then."""
        if not plan.summaries:
            return
        counter = await asyncio.to_thread(TokenCounter)
        wanted = set(plan.summaries)
        for entry in await self._rooms.stores.journal.get(self._rooms.scope, [place.entry_id for place in wanted]):
            if isinstance(entry, Mark) and entry.data and any(p.session_id == entry.session_id for p in wanted):
                summary = await self._extract(entry, summary_of(entry), counter)
                data = summary.model_dump(mode="json", exclude={"id"})
                changed = entry.model_copy(update={"data": data, "erased": plan.receipt_id})
                await self._rooms.stores.eraser.overwrite(self._rooms.scope, [changed])

    async def _extract(self, mark: Mark, summary: Summary, counter: TokenCounter) -> Summary:
        first, last = summary.first_sequence, summary.last_sequence
        entries = await self._rooms.stores.journal.read(
            self._rooms.scope, mark.session_id, after_sequence=first - 1, limit=last - first + 1
        )
        by_exchange: dict[str, list[Message | Mark]] = {}
        for entry in entries:
            if not (isinstance(entry, Message) and entry.erased):
                by_exchange.setdefault(entry.exchange_id, []).append(entry)
        units: list[Material] = []
        for some in by_exchange.values():
            exchange = build_exchange(some, ContextBlock())
            if exchange is not None:
                unit = exchange_unit(exchange, 0, counter)
                units.append(replace(unit, tokens_raw=counter.text(unit.text)))
        if not units:
            return summary.model_copy(update={"text": "", "tokens": 0, "made_by": "model"})
        (source,) = sources(units, _ANY_ROOM, counter)
        limit_raw = max(summary.tokens, leaf_limit(source.tokens_raw, MOST_RAW)) + counter.text(prompts.text("extract"))
        text = await asyncio.to_thread(extract_leaf, source, limit_raw, counter.text)
        return summary.model_copy(update={"text": text, "tokens": counter.text(text), "made_by": "extract"})
