"""One session as a view of the journal: its window, kept in step with what is written by anyone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from memagent.context.manifest import Manifest, kept_manifest
from memagent.context.render import ContextBlock, ContextLine, build_exchange
from memagent.context.summary import Background, background
from memagent.context.view import Summary, View, summary_of, view_of
from memagent.context.window import ClosedExchange, Window, close_exchange
from memagent.llm.tokens import TokenCounter
from memagent.memory.profile import Profile, made_of
from stores.base import Journal, Manifests, MemoryFinder, MemoryTable
from stores.records import Mark, MarkKind, MemoryState, Message, MessageRole, Scope

_CHANGES_VIEW = (
    MarkKind.CUT,
    MarkKind.SUMMARY,
    MarkKind.COMPACTION_FAILED,
    MarkKind.PRIVATE,
    MarkKind.ERASED,
)


class SessionView:
    """The window of one session. `refresh` brings it up to date; all else reads it. May be called from
    several tasks; a call that was cancelled or failed is made good by the next `refresh`.

    ``open_exchange_id`` is the exchange that is being answered here and now: it is kept out of the window.
    ``shown`` says what is shown of the past, ``cut_id`` is its mark ("" without one), ``background`` the end
    of the system message, ``profile`` the person's facts in it: at most ``profile_raw`` tokens of those that
    ``finder`` has (without one there is none). ``failures`` counts summaries that failed in a row,
    ``since_failure`` the messages of the person since. ``notes`` are the host's since the person's last message.
    ``private``: what the journal says of it since the view begins, None if nothing.
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
        window_tokens: int,
        finder: MemoryFinder | None = None,
        profile_raw: int = 0,
    ) -> None:
        self.scope = scope
        self.session_id = session_id
        self.window = Window()
        self.open_exchange_id: str | None = None
        self.forgotten: frozenset[str] = frozenset()
        self.last_at: datetime | None = None
        self.last_manifest: Manifest | None = None
        self.shown = View()
        self.cut_id = ""
        self.summaries: tuple[Summary, ...] = ()
        self.background = Background()
        self.profile = Profile()
        self.failures = self.since_failure = 0
        self.notes: list[Message] = []
        self.private: bool | None = None
        self.erased: set[str] = set()
        """The receipts of the erasures that took something of what is shown."""
        self._journal = journal
        self._manifests = manifests
        self._memories = memories
        self._counter = counter
        self._window_tokens = window_tokens
        self._finder = finder
        self._profile_raw = profile_raw
        self._entries: dict[str, list[Message | Mark]] = {}
        self._shown: dict[str, frozenset[str]] = {}
        """Which memories were shown beside which exchange; only of exchanges that have some."""
        self._closed: dict[str, ClosedExchange] = {}
        self._last_sequence = 0
        self._loaded = False
        self._one_at_a_time = asyncio.Lock()
        self._pending: dict[str, None] = {}
        """Exchanges whose newest entries the window does not show yet, in order."""
        self._new_cut: Mark | None = None
        self._stale = False
        """Something was erased: what was read of the session is no longer what is kept."""
        self._until: int | None = None
        self.lost_texts = False
        """A recalled line that was shown is kept no more: it was erased."""

    async def refresh(self) -> None:
        """Reads what is new in the journal, whoever wrote it, and what was forgotten or restored since.
        Whole even if the caller is cancelled."""
        await asyncio.shield(self._refresh())

    async def take_in(self, written: Sequence[Message | Mark]) -> None:
        """Shows what was just appended to the journal here. If others wrote before it that is read, too."""
        async with self._one_at_a_time:
            follows = range(self._last_sequence + 1, self._last_sequence + 1 + len(written))
            if self._loaded and [entry.sequence for entry in written] == list(follows):
                self._loaded = False
                self._take(written)
                await self._close_all()
                self._loaded = True
                return
        await self.refresh()

    async def _refresh(self) -> None:
        async with self._one_at_a_time:
            loaded, self._loaded = self._loaded, False  # what fails half-way is begun anew the next time
            if not loaded:
                await self._load()
            await self._read_new()
            if self._stale:
                await self._begin_at(await self._journal.last_cut(self.scope, self.session_id))
            if self._new_cut is not None:
                await self._adopt(self._new_cut)
            await self._reconsider()
            await self._look_at_profile()
            await self._close_all()
            self._loaded = True

    @property
    def steady(self) -> asyncio.Lock:
        """To be held while a prompt is made, so that no refresh has changed only half of what it shows."""
        return self._one_at_a_time

    async def _load(self) -> None:
        stored = await self._manifests.list(self.scope, self.session_id, limit=1)
        self.last_manifest = kept_manifest(stored[0]) if stored else None
        cut = await self._journal.last_cut(self.scope, self.session_id)
        await self._begin_at(cut)

    async def load_at(
        self, cut: Mark | None, *, until: int | None = None, forgotten: frozenset[str] | None = None
    ) -> None:
        """Shows the session as that mark says, instead of as the newest one does: to see what an older view
        would take. With ``until`` only entries up to that sequence are known, with ``forgotten`` these
        memories count as forgotten. Not to be refreshed."""
        self._until = until
        await self._begin_at(cut)
        await self._look_at_profile()
        self._new_cut = None
        if forgotten is None:
            await self._reconsider()
        else:
            self.forgotten = forgotten
        await self._close_all()

    async def _begin_at(self, cut: Mark | None) -> None:
        """Forgets what was read and reads from where the view begins."""
        for kept in (self._entries, self._shown, self._closed, self._pending):
            kept.clear()
        self.notes.clear()
        self.erased.clear()
        self.window = Window()
        await self._show(cut)
        if self.shown.head_ids:
            head = await self._journal.get(self.scope, self.shown.head_ids)
            self._take([entry for entry in head if entry.session_id == self.session_id])
        self._last_sequence = self.shown.from_sequence - 1
        await self._read_new()
        self._stale = False

    async def _show(self, cut: Mark | None) -> None:
        shown = view_of(cut)
        marks = await self._journal.get(self.scope, shown.summary_ids) if shown.summary_ids else []
        self.shown, self.cut_id = shown, cut.id if cut else ""
        self.erased |= {mark.erased for mark in (*marks, *([cut] if cut else [])) if mark.erased}
        self.summaries = tuple(summary_of(m) for m in marks if isinstance(m, Mark) and m.session_id == self.session_id)
        self._lay_background()

    def _lay_background(self) -> None:
        self.background = background(self.summaries, self.shown.instructions, self.profile.text)

    async def _look_at_profile(self) -> None:
        """The facts that the person has pinned by now, whoever wrote them."""
        if self._finder is None:
            return
        pinned = await self._finder.pinned(self.scope)
        self.profile = made_of(pinned, self._profile_raw, self._counter.text)
        self._lay_background()

    def show_profile(self, text: str) -> None:
        """Shows this profile and no other: a prompt is made again as it was."""
        self.profile = Profile(text)
        self._lay_background()

    async def _read_new(self) -> None:
        after = self._last_sequence
        if self._until is None:
            self._take(await self._journal.read(self.scope, self.session_id, after_sequence=after))
        elif self._until > after:
            limit = self._until - after  # there are no gaps
            self._take(await self._journal.read(self.scope, self.session_id, after_sequence=after, limit=limit))

    def _take(self, entries: Sequence[Message | Mark]) -> None:
        for entry in entries:
            self._last_sequence = entry.sequence
            if isinstance(entry, Mark) and self._noted(entry):
                continue
            # of an exchange that began before the view nothing is shown but what the view names
            if entry.id != entry.exchange_id and entry.exchange_id not in self._entries:
                continue
            self.erased |= {entry.erased} if entry.erased else set()
            self._entries.setdefault(entry.exchange_id, []).append(entry)
            self._pending[entry.exchange_id] = None
            if isinstance(entry, Message):
                self._heard(entry)
            elif entry.what is MarkKind.CONTEXT and (recalled := recalled_items(entry)):
                self._shown[entry.exchange_id] = frozenset(memory_id for memory_id, _, _ in recalled)

    def _noted(self, mark: Mark) -> bool:
        """Takes in a mark about the session itself; False for one about an exchange."""
        if mark.what is MarkKind.ERASED:
            self._stale = True
        elif mark.what is MarkKind.CUT:
            self._new_cut = mark
            self.failures = view_of(mark).failures
        elif mark.what is MarkKind.COMPACTION_FAILED:
            failures = mark.data.get("failures")
            self.failures, self.since_failure = failures if isinstance(failures, int) else 1, 0
        elif mark.what is MarkKind.PRIVATE:
            self.private = bool(mark.data.get("on"))
        return mark.what in _CHANGES_VIEW

    def _heard(self, message: Message) -> None:
        self.last_at = message.at
        if message.role is MessageRole.NOTE:
            self.notes += [] if message.erased else [message]
        elif message.role is MessageRole.USER:
            self.notes.clear()
            self.since_failure += 1

    async def _adopt(self, cut: Mark) -> None:
        """Shows what a newer mark says."""
        self._new_cut = None
        if cut.id == self.cut_id:
            return
        before = self.shown
        if view_of(cut).from_sequence < before.from_sequence:
            await self._begin_at(cut)
            return
        await self._show(cut)
        self._drop_before(self.shown.from_sequence)
        if changed := frozenset(before.freed) ^ frozenset(self.shown.freed):
            self._pending |= {i: None for i, closed in self._closed.items() if closed.entry_ids & changed}

    def trimmed(self, entries: Sequence[Message | Mark]) -> list[Message | Mark]:
        """Of an exchange's entries those that the view shows. All of them if it begins before the view and this
        does not name it: then another process made the view, while the exchange was being answered here."""
        start, head = self.shown.from_sequence, self.shown.head_ids
        if entries and entries[0].sequence < start and entries[0].id not in head:
            return list(entries)
        return [entry for entry in entries if entry.sequence >= start or entry.id in head]

    async def _close_all(self) -> None:
        await self._close([i for i in self._pending if i != self.open_exchange_id])

    async def _close(self, exchange_ids: Sequence[str]) -> None:
        if not exchange_ids:
            return
        blocks = await self._blocks(exchange_ids)
        newest = next(reversed(self._closed.values()), None)  # they are in order
        firsts = [
            newest.exchange.first_sequence if newest else 0,
            *(self._entries[exchange_id][0].sequence for exchange_id in exchange_ids),
        ]
        grows_only = all(one < two for one, two in pairwise(firsts))
        for exchange_id in exchange_ids:
            self._pending.pop(exchange_id, None)
            exchange = build_exchange(self._entries[exchange_id], blocks.get(exchange_id, ContextBlock()))
            if exchange is None:
                continue
            closed = close_exchange(exchange, self._window_tokens, self._counter, frozenset(self.shown.freed))
            self._closed[exchange_id] = closed
            if grows_only:
                self.window.append(closed)
        if not grows_only:
            self._rebuild()

    def _rebuild(self) -> None:
        """In the order of their first entries, whoever wrote them and whenever they ended."""
        self._closed = dict(sorted(self._closed.items(), key=lambda item: item[1].exchange.first_sequence))
        self.window = Window(self._closed.values())

    async def _blocks(self, exchange_ids: Iterable[str]) -> dict[str, ContextBlock]:
        marks = {
            exchange_id: entry
            for exchange_id in exchange_ids
            for entry in self._entries[exchange_id]
            if isinstance(entry, Mark) and entry.what is MarkKind.CONTEXT
        }
        return await self.blocks(marks)

    async def blocks(self, marks: Mapping[str, Mark]) -> dict[str, ContextBlock]:
        """The context blocks that CONTEXT marks tell of, from the texts kept by hash; without what was
        forgotten. An erased text leaves its line out."""
        items = [item for mark in marks.values() for item in recalled_items(mark)]
        texts = await self._manifests.texts(self.scope, [digest for _, _, digest in items]) if items else {}
        self.lost_texts |= any(digest not in texts for _, _, digest in items)
        blocks: dict[str, ContextBlock] = {}
        for exchange_id, mark in marks.items():
            lines = [
                ContextLine(i, version, texts[digest]) for i, version, digest in recalled_items(mark) if digest in texts
            ]
            blocks[exchange_id] = ContextBlock(_moment(mark), tuple(lines)).without(self.forgotten)
        return blocks

    @property
    def newest_entries(self) -> list[Message | Mark]:
        """The entries of the newest exchange that the view shows, in order; [] if there is none."""
        newest = next(reversed(self._closed), None)
        return list(self._entries[newest]) if newest is not None else []

    async def reopen(self, exchange_id: str) -> tuple[list[Message | Mark], ContextBlock]:
        """The exchange goes on: it leaves the window until `finish_open`. Returns its entries that are shown, in
        order, and what stands beside its message; ([], …) if the view does not show it."""
        async with self._one_at_a_time:
            self.open_exchange_id = exchange_id
            entries = list(self._entries.get(exchange_id, ()))
            self._closed.pop(exchange_id, None)
            self._pending[exchange_id] = None
            self._rebuild()
            return entries, (await self._blocks([exchange_id] if entries else [])).get(exchange_id, ContextBlock())

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
        head = set(self.shown.head_ids)
        for exchange_id, entries in list(self._entries.items()):
            if entries[0].sequence >= sequence:
                continue
            if head & {entry.id for entry in entries}:
                self._entries[exchange_id] = self.trimmed(entries)
                self._pending[exchange_id] = None
                continue
            del self._entries[exchange_id]
            for kept in (self._closed, self._shown, self._pending):
                kept.pop(exchange_id, None)
        self._rebuild()

    def first_kept(self, count: int) -> int:
        """The sequence that the window begins at once the oldest ``count`` exchanges have left."""
        if count == 0:
            return self.shown.from_sequence
        if first := self.window.first_sequence(count):
            return first
        open_entries = self._entries.get(self.open_exchange_id or "")  # it stays, whole
        return open_entries[0].sequence if open_entries else self._last_sequence + 1

    @property
    def last_sequence(self) -> int:
        """The newest entry that it knows of."""
        return self._last_sequence

    @property
    def next_sequence(self) -> int:
        """The sequence that the next entry will get if nobody else writes first."""
        return self._last_sequence + 1

    @property
    def unanswered_exchange_id(self) -> str | None:
        """The newest exchange, if the person's message in it has no answer yet."""
        newest = next(reversed(self._closed.values()), None)
        return newest.exchange.id if newest and newest.exchange.user and newest.exchange.answer is None else None


def _moment(mark: Mark) -> tuple[str, ...]:
    value = mark.data.get("moment")
    return tuple(str(line) for line in value) if isinstance(value, list) else ()


def recalled_items(mark: Mark) -> list[tuple[str, int, str]]:
    """(memory id, version, hash of the line) as the mark holds them."""
    value = mark.data.get("recalled")
    items = value if isinstance(value, list) else []
    return [(str(item["id"]), int(str(item["version"])), str(item["hash"])) for item in items if isinstance(item, dict)]
