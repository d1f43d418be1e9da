"""Learning from talk, in the background: a durable queue of exchanges, and a model that reads them when nobody waits.

An exchange is queued before its message is journalled, so that no crash loses it. Some are read together, in
one request: when four wait, or a minute after they were said, or when the session is left. Until then the
window shows them and recall finds them as episodes, so that nothing is missed by waiting; each on its own would
cost four times the instructions. A kill costs only time: whoever holds a job holds it for two minutes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from memagent import prompts
from memagent.agent.composing import Composer
from memagent.agent.helper_calls import HelperFailedError, HelperModel, Task
from memagent.agent.learning_material import Batch, Reader
from memagent.agent.rooms import Rooms
from memagent.events import Event, Notice, ProfileProposed
from memagent.llm.profiles import ModelProfile
from memagent.memory.answers import UnusableAnswerError
from memagent.memory.extract import Sifted, material, sifted, worth_asking
from memagent.memory.never import NeverPatterns
from memagent.memory.writing import JudgeFailedError
from stores.errors import StoreError
from stores.records import Job, Scope

EXTRACT = "extract"
"""The kind of these jobs, and the role under which the ledger has the calls."""
RECONCILE = "reconcile"
TOGETHER = 4
"""So many exchanges are read in one request."""
WAIT = timedelta(seconds=60)
LEASE_SECONDS = 120.0
RENEW_SECONDS = 40.0
"""A slow model reads for longer than a lease: it is renewed meanwhile."""
POLL_SECONDS = 1.0
CLOSE_SECONDS = 5.0
"""How long closing waits for what is still to be learned: a request to a server takes about that long."""
BACK_OFF = (timedelta(minutes=1), timedelta(minutes=10))
"""After the first failure and the second; the third is the last."""
REPLY_TOKENS = 1_000
BYTES_PER_TOKEN = 3
"""At least so many, in any script: an estimate that is quick and cautious."""
REPLY_PERCENT = 25
"""Of the window, the most that an answer may take."""


@dataclass(frozen=True, slots=True)
class _Means:
    """What exists once a model is open and may be asked."""

    helper: HelperModel
    composer: Composer
    one_at_a_time: bool


class Learner:
    """Learns from what one person says. ``tell`` gets what the person should know.

    Works between exchanges only: `pause` before one, `resume` after it."""

    def __init__(self, rooms: Rooms, tell: Callable[[Event], None]) -> None:
        self._rooms = rooms
        self._tell = tell
        self._reader = Reader(rooms)
        self._means: _Means | None = None
        self._task: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._free = asyncio.Event()
        self._free.set()
        self._rested = asyncio.Event()
        self._held: list[Job] = []
        """Claimed and not done: what was interrupted, and what belongs to the next request."""
        self._waiting = 0
        self._hurry = False
        self._trouble = self._said = ""

    # --- the queue -----------------------------------------------------------------------------

    def start(self, helper: HelperModel, composer: Composer, profile: ModelProfile) -> None:
        """Begins to work with a model that was opened, unless the settings or the model's size forbid it."""
        wanted = self._rooms.settings.extract
        if wanted == "off" or (wanted == "auto" and not profile.extracts):
            return
        self._means = _Means(helper, composer, profile.one_at_a_time)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work(), name="memagent-learn")
            self._task.add_done_callback(self._tell_why)

    @property
    def active(self) -> bool:
        """Whether anything is learned from talk at all."""
        return self._means is not None

    async def queue(self, session_id: str, exchange_ids: Sequence[str]) -> int:
        """Exchanges to be read soon; says how many are new to the queue. Raises StoreError."""
        if not self.active:
            return 0
        at = self._rooms.clock() + WAIT
        added = 0
        for exchange_id in exchange_ids:
            payload = {"session": session_id, "exchange": exchange_id}
            key = f"{session_id}\n{exchange_id}"
            added += await self._rooms.stores.jobs.put(self._scope, EXTRACT, key, payload, at=at)
        self._waiting += added
        return added

    async def withdraw(self, session_id: str, exchange_id: str) -> None:
        """An exchange is not to be learned from after all. Raises StoreError."""
        jobs = self._rooms.stores.jobs
        for job in await jobs.list(self._scope, kind=EXTRACT):
            if job.payload == {"session": session_id, "exchange": exchange_id}:
                await jobs.done(job.number)

    @property
    def _scope(self) -> Scope:
        return self._rooms.scope

    # --- when it works -------------------------------------------------------------------------

    async def pause(self, *, interrupt: bool) -> None:
        """The person is being answered. ``interrupt``: the model does one thing at a time, so what is being read
        is broken off, and read again later."""
        self._free.clear()
        if interrupt and self._reading is not None and not self._reading.done():
            self._reading.cancel()
            await asyncio.wait([self._reading])

    def resume(self) -> None:
        """The person was answered."""
        self._free.set()
        self._wake.set()

    def hurry(self) -> None:
        """Nothing more is to come for now: a session was left, or somebody waits. What is there is read at once."""
        if self.active:
            self._hurry = True
            self._trouble = ""
            self._wake.set()

    async def drained(self) -> None:
        """Waits until nothing is left that can be read now."""
        if self._task is None or self._task.done():
            return
        self._rested.clear()
        self.hurry()
        rested = asyncio.ensure_future(self._rested.wait())
        try:
            await asyncio.wait([rested, self._task], return_when=asyncio.FIRST_COMPLETED)
        finally:
            rested.cancel()

    async def unfinished(self) -> list[str]:
        """What is still to be read, in words."""
        left = [job for job in await self._rooms.stores.jobs.list(self._scope, kind=EXTRACT) if not job.gave_up]
        if not left or not self.active:
            return []
        why = next((f": {job.error}" for job in left if job.error), "")
        return [f"{_messages(len(left))} still to be learned from{why}"]

    async def close(self) -> None:
        """Stops, after a moment for what is left; not where that would be begun in vain: a model that does one thing
        at a time is slow. What is not done is done by whoever comes next."""
        if self._means is not None and not self._means.one_at_a_time:
            with contextlib.suppress(TimeoutError, StoreError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self.drained()
        for task in (self._reading, self._task):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        with contextlib.suppress(StoreError):  # then the lease ends by itself
            for job in self._held:
                await self._rooms.stores.jobs.failed(job.number, job.error, retry_at=self._rooms.clock())
        self._held.clear()

    async def _work(self) -> None:
        while True:
            await self._free.wait()
            hurried, busy = self._hurry, False
            try:
                busy = await self._one_batch()
            except StoreError as error:
                self._say(f"nothing can be learned at the moment: {error}")
            if not busy:
                if hurried:  # else it may have been asked for just now
                    self._hurry = False
                    self._rested.set()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(POLL_SECONDS):
                        await self._wake.wait()
                self._wake.clear()

    async def _one_batch(self) -> bool:
        """Reads what is due; False if nothing was, or it failed."""
        jobs = await self._claimed()
        if not jobs or self._means is None:
            return False
        jobs, batch = await self._fitting(jobs, self._means)
        self._reading = asyncio.create_task(self._read(jobs, batch, self._means))
        while not (await asyncio.wait([self._reading], timeout=RENEW_SECONDS))[0]:
            for job in self._held:
                await self._rooms.stores.jobs.renew(job.number, at=self._rooms.clock(), lease_seconds=LEASE_SECONDS)
        if self._reading.cancelled():
            return False  # still held: read again once the model is free
        self._held = [job for job in self._held if job not in jobs]
        self._reading.result()
        return not self._trouble

    async def _claimed(self) -> list[Job]:
        """Jobs of one session, as many as are read together: the oldest, and of those held the first."""
        early = self._hurry or self._waiting >= TOGETHER
        at = self._rooms.clock() + (WAIT if early else timedelta())
        while len({str(job.payload["session"]) for job in self._held}) < 2 and len(self._held) < TOGETHER:
            job = await self._rooms.stores.jobs.claim([EXTRACT], at=at, lease_seconds=LEASE_SECONDS, scope=self._scope)
            if job is None:
                break
            self._held.append(job)
        self._waiting = 0 if early else self._waiting
        first = self._held[0].payload["session"] if self._held else None
        return [job for job in self._held if job.payload["session"] == first][:TOGETHER]

    async def _fitting(self, jobs: list[Job], means: _Means) -> tuple[list[Job], Batch]:
        """As many of the jobs as one request can hold, at least one (of which the middle may be left out)."""
        session_id = str(jobs[0].payload["session"])
        room = means.helper.room_raw(self._task_for(EXTRACT, session_id, means), means.composer.budget)
        while True:
            batch = await self._reader.batch(session_id, [str(job.payload["exchange"]) for job in jobs])
            if len(jobs) == 1 or len(material(batch.said, batch.earlier).encode()) <= room * BYTES_PER_TOKEN:
                return jobs, batch
            jobs = jobs[: len(jobs) // 2]

    # --- reading -------------------------------------------------------------------------------

    async def _read(self, jobs: Sequence[Job], batch: Batch, means: _Means) -> None:
        self._trouble = ""
        session_id = str(jobs[0].payload["session"])
        try:
            if worth_asking(batch.said):
                await self._learn(batch, session_id, means)
        except UnusableAnswerError as error:
            await self._failed(jobs, str(error), lasting=True)
        except HelperFailedError as error:
            await self._failed(jobs, str(error), lasting=False)
        else:
            self._said = ""
            for job in jobs:
                await self._rooms.stores.jobs.done(job.number)

    async def _learn(self, batch: Batch, session_id: str, means: _Means) -> None:
        rooms = self._rooms
        never = NeverPatterns(await rooms.stores.never.list(rooms.scope))
        found = await self._extracted(batch, session_id, means, never)

        async def judge(lines: str) -> str:
            try:
                return await means.helper.ask(
                    self._task_for(RECONCILE, session_id, means), lines, means.composer.budget
                )
            except HelperFailedError as error:
                raise JudgeFailedError(str(error)) from error

        written = await rooms.writer.write(rooms.scope, found.drafts, judge, self._reader.vet)
        rooms.indexer.wake()
        for note in written.notes:
            self._tell(Notice(text=note))
        for memory in written.proposed:
            self._tell(ProfileProposed(memory_id=memory.id, text=memory.text))

    async def _extracted(self, batch: Batch, session_id: str, means: _Means, never: NeverPatterns) -> Sifted:
        """What the model found. An answer that cannot be used is asked for once more. Raises HelperFailedError,
        UnusableAnswerError."""
        task, lines = self._task_for(EXTRACT, session_id, means), material(batch.said, batch.earlier)
        instructions = [task.text, prompts.text("system"), self._rooms.settings.instructions or ""]
        for last in (False, True):
            reply = await means.helper.ask(task, lines, means.composer.budget)
            try:
                return sifted(reply, batch.said, never=never, instructions=instructions)
            except UnusableAnswerError:
                if last:
                    raise
        raise AssertionError("the second attempt returns or raises")

    def _task_for(self, role: str, session_id: str, means: _Means) -> Task:
        text = prompts.text("extract_facts" if role == EXTRACT else "reconcile").strip()
        room = means.composer.budget.window_tokens * REPLY_PERCENT // 100
        return Task(role, text, min(REPLY_TOKENS, room), session_id)

    async def _failed(self, jobs: Sequence[Job], why: str, *, lasting: bool) -> None:
        """Tried again later, three times at most; a model that answers at all but not as asked is not asked again."""
        now = self._rooms.clock()
        gave_up = 0
        for job in jobs:
            tries = BACK_OFF[min(job.attempts, len(BACK_OFF)) - 1] if job.attempts else BACK_OFF[0]
            # attempts also count what a message of the person or a kill broke off
            last = lasting or (job.attempts > len(BACK_OFF) and bool(job.error))
            gave_up += last
            await self._rooms.stores.jobs.failed(job.number, why, retry_at=None if last else now + tries)
        later = "it is not tried again" if gave_up else "it is tried again later"
        self._say(f"nothing was learned from {_messages(len(jobs))} ({later}): {why}")

    def _tell_why(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            line = f"learning has stopped until the next start: {type(error).__name__}: {error}"
            self._tell(Notice(level="error", text=line))

    def _say(self, line: str) -> None:
        """Told once, as long as nothing else comes in between."""
        self._trouble = line
        if line != self._said:
            self._said = line
            self._tell(Notice(level="warning", text=line))


def _messages(count: int) -> str:
    return "one message" if count == 1 else f"{count} messages"
