"""One session as a view of the journal: its window, kept in step with what is written by anyone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime

from memagent.context.budget import Budget
from memagent.context.manifest import Manifest
from memagent.context.render import ContextBlock, ContextLine, build_exchange
from memagent.context.window import ClosedExchange, Window, close_exchange
from memagent.llm.tokens import TokenCounter
from stores.base import Journal, Manifests, MemoryTable
from stores.records import Mark, MarkKind, MemoryState, Message, Scope


class SessionView:
    """The window of one session. `refresh` brings it up to date; all else reads it. May be called from
    several tasks; a call that was cancelled or failed is made good by the next `refresh`.

    ``open_exchange_id`` is the exchange that is being answered here and now: it is kept out of the window.
    """

    def __init__(
        self,
        *,
        scope: Scope,
        session_id: str,
        journal: Journal,
        manifests: Manifests,
        memories: MemoryTable,
        counter: TokenCounter,
        budget: Budget,
    ) -> None:
        self.scope = scope
        self.session_id = session_id
        self.window = Window()
        self.open_exchange_id: str | None = None
        self.forgotten: frozenset[str] = frozenset()
        self.last_at: datetime | None = None
        self.last_manifest: Manifest | None = None
        self._journal = journal
        self._manifests = manifests
        self._memories = memories
        self._counter = counter
        self._budget = budget
        self._entries: dict[str, list[Message | Mark]] = {}
        self._shown: dict[str, frozenset[str]] = {}
        """Which memories were shown beside which exchange; only of exchanges that have some."""
        self._closed: dict[str, ClosedExchange] = {}
        self._last_sequence = 0
        self._loaded = False
        self._one_at_a_time = asyncio.Lock()
        self._pending: dict[str, None] = {}
        """Exchanges whose newest entries the window does not show yet, in order."""
        self._cut_sequence = 0

    async def refresh(self) -> None:
        """Reads what is new in the journal, whoever wrote it, and what was forgotten or restored since.
        Whole even if the caller is cancelled."""
        await asyncio.shield(self._refresh())

    async def _refresh(self) -> None:
        async with self._one_at_a_time:
            if not self._loaded:
                await self._load()
            entries = await self._journal.read(self.scope, self.session_id, after_sequence=self._last_sequence)
            self._take(entries)
            await self._reconsider()
            await self._close([i for i in self._pending if i != self.open_exchange_id])
            if self._cut_sequence:
                self._drop_before(self._cut_sequence)
                self._cut_sequence = 0

    async def _load(self) -> None:
        cut = await self._journal.last_cut(self.scope, self.session_id)
        self._last_sequence = _from_sequence(cut) - 1 if cut else 0
        stored = await self._manifests.last(self.scope, self.session_id)
        self.last_manifest = Manifest.model_validate_json(stored) if stored else None
        self._loaded = True

    def _take(self, entries: Sequence[Message | Mark]) -> None:
        for entry in entries:
            self._last_sequence = entry.sequence
            if isinstance(entry, Mark) and entry.what is MarkKind.CUT:
                self._cut_sequence = _from_sequence(entry)
            else:
                self._entries.setdefault(entry.exchange_id, []).append(entry)
                self._pending[entry.exchange_id] = None
            if isinstance(entry, Message):
                self.last_at = entry.at

    async def _close(self, exchange_ids: Sequence[str]) -> None:
        if not exchange_ids:
            return
        blocks = await self._blocks(exchange_ids)
        grows_only = not any(exchange_id in self._closed for exchange_id in exchange_ids)
        for exchange_id in exchange_ids:
            self._pending.pop(exchange_id, None)
            exchange = build_exchange(self._entries[exchange_id], blocks.get(exchange_id, ContextBlock()))
            if exchange is None:
                continue
            closed = close_exchange(exchange, self._budget, self._counter)
            self._closed[exchange_id] = closed
            if grows_only:
                self.window.append(closed)
        if not grows_only:
            self._rebuild()

    def _rebuild(self) -> None:
        self.window = Window(self._closed.values())

    async def _blocks(self, exchange_ids: Iterable[str]) -> dict[str, ContextBlock]:
        """The context blocks as they were shown, from the texts kept by hash; without what is no longer
        active. An erased text leaves its line out."""
        marks = {
            exchange_id: entry
            for exchange_id in exchange_ids
            for entry in self._entries[exchange_id]
            if isinstance(entry, Mark) and entry.what is MarkKind.CONTEXT
        }
        items = [item for mark in marks.values() for item in _recalled_items(mark)]
        for exchange_id, mark in marks.items():
            if recalled := _recalled_items(mark):
                self._shown[exchange_id] = frozenset(memory_id for memory_id, _, _ in recalled)
        texts = await self._manifests.texts(self.scope, [digest for _, _, digest in items]) if items else {}
        inactive = await self._inactive(memory_id for memory_id, _, _ in items)
        self.forgotten |= inactive
        blocks: dict[str, ContextBlock] = {}
        for exchange_id, mark in marks.items():
            lines = [
                ContextLine(i, version, texts[digest])
                for i, version, digest in _recalled_items(mark)
                if digest in texts
            ]
            blocks[exchange_id] = ContextBlock(_moment(mark), tuple(lines)).without(inactive)
        return blocks

    async def finish_open(self) -> None:
        """The open exchange is over: it joins the window, rendered from the journal as any other."""
        self.open_exchange_id = None
        await self.refresh()

    async def _reconsider(self) -> None:
        """Blocks that showed what was forgotten or restored since, by anyone, are rendered anew."""
        inactive = await self._inactive(memory_id for ids in self._shown.values() for memory_id in ids)
        changed = inactive ^ self.forgotten
        if changed:
            self.forgotten = inactive
            self._pending |= {exchange_id: None for exchange_id, ids in self._shown.items() if ids & changed}

    async def _inactive(self, memory_ids: Iterable[str]) -> frozenset[str]:
        ids = list(set(memory_ids))
        states = {m.id: m.state for m in await self._memories.get(self.scope, ids)} if ids else {}
        return frozenset(i for i in ids if states.get(i) is not MemoryState.ACTIVE)

    def _drop_before(self, sequence: int) -> None:
        gone = [i for i, closed in self._closed.items() if closed.exchange.first_sequence < sequence]
        for exchange_id in gone:
            del self._closed[exchange_id], self._entries[exchange_id]
            self._shown.pop(exchange_id, None)
        if gone:
            self._rebuild()

    def cut_figures(self, count: int) -> tuple[int, int]:
        """The first sequence that stays when ``count`` exchanges leave, and the window's tokens then."""
        after_raw = self.window.tokens_raw(count)
        if first_kept := self.window.first_sequence(count):
            return first_kept, after_raw
        open_entries = self._entries.get(self.open_exchange_id or "")  # it stays, whole
        return (open_entries[0].sequence if open_entries else self._last_sequence + 1), after_raw

    @property
    def next_sequence(self) -> int:
        """The sequence that the next entry will get if nobody else writes first."""
        return self._last_sequence + 1

    @property
    def unanswered_exchange_id(self) -> str | None:
        """The newest exchange, if the person's message in it has no answer yet."""
        newest = next(reversed(self._closed.values()), None)
        return newest.exchange.id if newest and newest.exchange.user and newest.exchange.answer is None else None


def _from_sequence(cut: Mark) -> int:
    value = cut.data.get("from_sequence", 1)
    return value if isinstance(value, int) else 1


def _moment(mark: Mark) -> tuple[str, ...]:
    value = mark.data.get("moment")
    return tuple(str(line) for line in value) if isinstance(value, list) else ()


def _recalled_items(mark: Mark) -> list[tuple[str, int, str]]:
    """(memory id, version, hash of the line) as the mark holds them."""
    value = mark.data.get("recalled")
    items = value if isinstance(value, list) else []
    return [(str(item["id"]), int(str(item["version"])), str(item["hash"])) for item in items if isinstance(item, dict)]
