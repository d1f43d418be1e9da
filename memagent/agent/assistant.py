"""The agent itself, async, living in the library's loop thread. `facade` is how hosts reach it."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memagent.agent.attaching import image_parts
from memagent.agent.background import Background
from memagent.agent.consents import PendingCall, decided_event, waits_text
from memagent.agent.context_control import ContextControl
from memagent.agent.data.control import DataControl
from memagent.agent.deciding import Deciding
from memagent.agent.explaining import Explainer
from memagent.agent.ingesting import host_note, ingested
from memagent.agent.learning import Learner
from memagent.agent.learning_control import LearningControl
from memagent.agent.looking_back import LookingBack
from memagent.agent.loop import Answer, ExchangeRun, Question, Resumption
from memagent.agent.memory_control import MemoryControl
from memagent.agent.opened import Opened
from memagent.agent.opening import open_with
from memagent.agent.privacy import Privacy
from memagent.agent.reply import Reply
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import SessionView
from memagent.agent.sessions import LAST, Sessions
from memagent.agent.toolbox import history_tools, memory_tools, reading_tool
from memagent.context.assemble import Prompt
from memagent.context.directives.discretion import discretion
from memagent.context.manifest import Manifest
from memagent.context.render import build_exchange
from memagent.context.view import Summary
from memagent.errors import AgentClosedError, MemagentError, NotFoundError
from memagent.events import Event, Finished, Notice, Usage
from memagent.llm.client import ChatModel
from memagent.memory.recall import Recalled
from memagent.sanitize import checked_name, clean_text
from memagent.tools.approval import Decision
from memagent.tools.definition import Tool
from stores.errors import StoreError
from stores.records import (
    ImagePart,
    Memory,
    Message,
    MessageRole,
    Session,
)

RECALL_TOOL_ITEMS = 8
CLOSE_DRAIN_SECONDS = 2.0
SETTLE_POLL_SECONDS = 0.05
HAPPENED_KEPT = 50
SAID_LATELY = 10
"""The model may keep what the person said in so many exchanges of the window."""
NOT_KEPT = "as you ask, nothing of this message is remembered in other sessions"


class Assistant:
    """One user's agent on one data folder, in one session at a time."""

    def __init__(self, rooms: Rooms, session_id: str | None, *, private: bool = False) -> None:
        self._rooms = rooms
        self._session_id = session_id or rooms.new_id()
        self._opening: asyncio.Task[Opened] | None = None
        self._view: SessionView | None = None
        self._imported: SessionView | None = None
        """Of the session that lines were imported into last, where that is not shown."""
        self._one_at_a_time = asyncio.Lock()
        self._running: ExchangeRun | None = None
        self._no_memory = False
        """The exchange that is being answered is not to be remembered."""
        self._background = Background(notify=rooms.notices.append, index=self._index)
        self._compacting: asyncio.Task[None] | None = None
        self._happened: deque[Event] = deque(maxlen=HAPPENED_KEPT)
        """What was done in the background; the next exchange delivers it."""
        self._indexing = False
        self._closed = False
        self._privacy = Privacy(rooms, begin_private=private)
        self._learner = Learner(rooms, self._happened.append)
        self.memory = MemoryControl(
            rooms,
            self._privacy,
            session_id=lambda: self._session_id,
            check_open=self._check_open,
            begin=self._begin,
            refresh=self._refresh_view,
            index_soon=self._background.index_soon,
        )
        self.context = ContextControl(self._ready, self._one_at_a_time, self._happened.append)
        self._sessions = Sessions(rooms)
        self.learning = LearningControl(
            self._privacy,
            self._learner,
            self._sessions,
            session_id=lambda: self._session_id,
            check_open=self._check_open,
            opened=self._opened,
        )
        self.past = LookingBack(
            rooms,
            session_id=lambda: self._session_id,
            begin=self._begin,
            ready=self._ready,
            asking=self._asking,
        )
        self.data = DataControl(rooms, begin=self._check_open, quiet=self._quiet, settle=self._settle_indexes)
        self.explainer = Explainer(rooms, session_id=lambda: self._session_id, begin=self._check_open)
        self._tools = self._own_tools()
        self._deciding = Deciding(rooms, rooms.host_tools)

    def _own_tools(self) -> dict[str, Tool]:
        """memagent's own tools, most useful first: a small window offers only the first."""
        recall, remember = memory_tools(self._remember_for_model, self._recall_for_model)
        search, expand = history_tools(self.past.search_for_model, self.past.expand_for_model)
        read = reading_tool(self.past.read_for_model)
        return {t.name: t for t in (recall, read, search, expand, remember)}

    def _asking(self) -> frozenset[str]:
        return frozenset({self._running.exchange_id} if self._running else ())

    def warm_up(self) -> None:
        """Begins what takes seconds, the model, the embedder and the indexes, in the background. Calls that
        need one of them begin it themselves."""
        self._begin_indexing()
        self._begin_opening()

    def _begin(self) -> None:
        self._check_open()
        self._begin_indexing()

    def _begin_indexing(self) -> None:
        if not self._indexing:
            self._indexing = True
            self._rooms.indexer.start()
            self._background.start(self._rooms.indexer.catch_up(self._rooms.scope))
            self._background.start(self.data.resume())

    def _begin_opening(self) -> asyncio.Task[Opened]:
        """The task that opens the model; a new one when the last failed: a server may have come up."""
        task = self._opening
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._opening = asyncio.create_task(open_with(self._rooms, self._tools, self._learner))
            task.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        return task

    # --- talking -------------------------------------------------------------------------------

    async def stream(
        self, text: str, attachments: Sequence[str], tool_choice: str | Mapping[str, Any], remember: bool
    ) -> AsyncGenerator[Event]:
        """Answers one message; events as they happen, `Finished` last."""
        question = await self._question(text, attachments, tool_choice, remember)
        async with contextlib.aclosing(self._events(question)) as items:
            async for item in items:
                if not isinstance(item, Answer):
                    yield item

    async def ask(
        self, text: str, attachments: Sequence[str], tool_choice: str | Mapping[str, Any], remember: bool
    ) -> Reply:
        """Answers one message."""
        return await self._reply(self._events(await self._question(text, attachments, tool_choice, remember)))

    async def _reply(self, given: AsyncGenerator[Event | Answer], *before: Event) -> Reply:
        events: list[Event] = [*before]
        answer: Answer | None = None
        async with contextlib.aclosing(given) as items:
            async for item in items:
                if isinstance(item, Answer):
                    answer = item
                else:
                    events.append(item)
        assert answer is not None
        manifest = answer.prompt.manifest if answer.prompt else None
        return Reply(answer.text, answer.finish_reason, answer.usage, manifest, tuple(events))

    async def pending(self) -> list[PendingCall]:
        """This user's calls that wait for a person, oldest first."""
        self._check_open()
        return await self._deciding.pending()

    async def decide(self, wanted: str, decision: Decision) -> Reply:
        """Decides about a waiting call; once all of its exchange are decided that goes on."""
        self._check_open()
        decided = await self._deciding.decide(wanted, decision)
        call, session_id = decided.call, decided.session_id
        told = decided_event(call.call_id, call.name, decision)
        if decided.resumption is None:
            left = [c for c in await self.pending() if c.exchange_id == call.exchange_id]
            return Reply(waits_text([(c.name, c.arguments) for c in left]), "approval", Usage(), None, (told,))
        return await self._reply(self._events(decided.resumption, session_id), told)

    async def _events(self, task: Question | Resumption, session_id: str = "") -> AsyncGenerator[Event | Answer]:
        """Of an exchange of this session, or of another one of the user's."""
        async with self._one_at_a_time:
            opened, view = await self._ready()
            self._check_open()  # it may have been closed while the model was being opened
            if session_id and session_id != view.session_id:
                view = opened.composer.new_view(session_id)
            queue: asyncio.Queue[Event | None] = asyncio.Queue()
            if isinstance(task, Question) and await self._privacy.begins_exchange(view):
                task = replace(task, remember=False)
            self._no_memory = not task.remember
            await self._learner.pause(interrupt=opened.model.profile.one_at_a_time)
            if opened.model.profile.one_at_a_time:
                await self._stop_compacting()
            for happened in await self.tell_happened():
                yield happened
            if isinstance(task, Question) and task.asked_for_discretion:
                yield Notice(text=NOT_KEPT)
            run = ExchangeRun(self._rooms, view, opened, task, queue.put_nowait)
            answering = run.start()
            answering.add_done_callback(lambda _: queue.put_nowait(None))
            self._running = run
            try:
                while (event := await queue.get()) is not None:
                    yield event
                answer = answering.result()
                yield Finished(
                    text=answer.text,
                    finish_reason=answer.finish_reason,
                    usage=answer.usage,
                    session_id=view.session_id,
                    exchange_id=run.exchange_id,
                )
                yield answer
            finally:
                await run.stopped()
                self._running = None
                self._learner.resume()
                self._background.index_soon()
                self._compact_later(opened, view)

    async def tell_happened(self) -> list[Event]:
        """What was done in the background and nobody heard of yet, oldest first; afterwards it is told."""
        notices = [Notice(level="warning", text=text) for text in self._rooms.notices]
        events = [*notices, *self._happened]
        self._rooms.notices.clear()
        self._happened.clear()
        return events

    def _compact_later(self, opened: Opened, view: SessionView) -> None:
        """After a reply: older talk makes room if it is time, while the person reads and writes."""

        async def run() -> None:
            try:
                done = await opened.compactor.when_due(view, self._happened.append)
            except StoreError as error:
                self._rooms.notices.append(f"older talk could not be summarised: {error}")
            else:
                self._happened.extend([done] if done else [])

        if self._compacting is None or self._compacting.done():
            self._compacting = asyncio.create_task(run())

    async def _stop_compacting(self) -> None:
        """A model that does one thing at a time is the person's now; what was begun is done again later."""
        if self._compacting is not None and not self._compacting.done():
            self._compacting.cancel()
            await asyncio.wait([self._compacting])

    @contextlib.asynccontextmanager
    async def _quiet(self) -> AsyncGenerator[None]:
        async with self._one_at_a_time:
            await self._stop_compacting()
            await self._learner.pause(interrupt=True)
            await self._background.finished()
            try:
                yield
            finally:
                self._learner.resume()
                await self._refresh_view()

    async def cancel(self) -> bool:
        """Stops the answer that is being given, if any; what was said is kept. Says whether there was one."""
        return self._running is not None and self._running.cancel()

    async def preview(self, text: str, attachments: Sequence[str], recall: bool) -> Prompt:
        """The prompt that this message would be sent with. Calls no model, writes nothing."""
        question = await self._question(text, attachments, "auto", True)
        opened, view = await self._ready()
        await view.refresh()
        last_at = view.last_at or await opened.composer.last_talk()
        block, candidates = await opened.composer.recall(view, question.text, "", last_at, search=recall)
        message = Message(
            id="preview",
            session_id=view.session_id,
            exchange_id="preview",
            at=self._rooms.clock(),
            zone=self._rooms.zone,
            role=MessageRole.USER,
            content=question.text,
            images=question.images,
        )
        current = build_exchange([message], block)
        assert current is not None
        async with view.steady:
            return opened.composer.prompt(view, replace(current, first_sequence=view.next_sequence), candidates)

    async def last_manifest(self) -> Manifest | None:
        """The manifest of the session's last prompt."""
        self._check_open()
        found = await self.explainer.manifests(None, limit=1)
        return found[0] if found else None

    # --- memory --------------------------------------------------------------------------------

    async def _remember_for_model(self, text: str) -> Memory:
        if self._no_memory:
            raise MemagentError("the person asked that nothing of this exchange be remembered")
        shown = self._view.window.exchanges[-SAID_LATELY:] if self._view else ()
        said = [(user.id, user.content) for closed in shown if (user := closed.exchange.user) and user.remember]
        asked = [(self._running.exchange_id, self._running.asked)] if self._running else []
        return await self.memory.keep_for_model(text, [*said, *asked])

    async def _recall_for_model(self, query: str) -> Sequence[Recalled]:
        return await self.memory.recall(query, RECALL_TOOL_ITEMS)

    async def edit(self, wanted: str, text: str) -> Memory | Summary:
        """Rewords a memory, or a summary that is shown. Raises NotFoundError, MemagentError."""
        if await self.memory.find(wanted) is not None:
            return await self.memory.edit(wanted, text)
        return await self.context.edit(wanted, text)

    async def _refresh_view(self) -> None:
        if self._view is not None:
            await self._view.refresh()

    async def settle(self, timeout_seconds: float | None, *, indexes_only: bool = False) -> list[str]:
        """Waits until every index equals the journal and what was said was learned from. Returns what is still
        open, [] when nothing is."""
        self._check_open()
        return await self._settle(timeout_seconds, indexes_only=indexes_only)

    async def _settle_indexes(self, timeout_seconds: float | None) -> list[str]:
        return await self._settle(timeout_seconds, indexes_only=True)

    async def _settle(self, timeout_seconds: float | None, *, indexes_only: bool = False) -> list[str]:
        self._begin_indexing()
        indexer, scope = self._rooms.indexer, self._rooms.scope
        unsearched: list[str] = []
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                await self._background.finished()
                try:
                    await self._rooms.history.catch_up(scope)
                except StoreError as error:
                    unsearched = [f"what was said cannot be searched word for word yet: {error}"]
                if self._compacting is not None:
                    await asyncio.wait([self._compacting])  # running out of time must not stop it
                if not indexes_only:
                    await self._learner.drained()
                indexer.try_again()
                while await indexer.settled(scope):
                    if not indexer.working or indexer.trouble:
                        break
                    await asyncio.sleep(SETTLE_POLL_SECONDS)
        left = await indexer.unfinished(scope) + ([indexer.trouble] if indexer.trouble else [])
        left += unsearched
        return left if indexes_only else left + await self._learner.unfinished()

    # --- sessions ------------------------------------------------------------------------------

    @property
    def session_id(self) -> str:
        return self._session_id

    async def history(self, session_id: str | None) -> list[Message]:
        """Everything that was said in a session, oldest first. Raises NotFoundError for an unknown one."""
        self._check_open()
        return await self._sessions.history(await self._sessions.find(session_id) if session_id else self._session_id)

    async def sessions(self) -> list[Session]:
        """This user's sessions in which something was said, last used first."""
        self._check_open()
        return await self._sessions.list()

    async def resume(self, wanted: str) -> str:
        """Goes on in a session: its id, the beginning of one, or "last"."""
        self._check_open()
        async with self._one_at_a_time:
            self._session_id, self._view = await self._sessions.find(wanted), None
            self._learner.hurry()
            return self._session_id

    async def resume_last(self) -> None:
        """Goes on in the session used last; in a new one if there is none."""
        with contextlib.suppress(NotFoundError):
            await self.resume(LAST)

    async def new_session(self) -> str:
        """Begins a new session; it is listed once something is said in it."""
        self._check_open()
        async with self._one_at_a_time:
            self._session_id, self._view = self._rooms.new_id(), None
            self._learner.hurry()
            return self._session_id

    async def note(self, text: str) -> str:
        """Journals a host's note, which stands beside the person's next message. Returns its id."""
        self._check_open()
        note = host_note(self._rooms, self._session_id, text)
        await self._rooms.stores.journal.append(self._rooms.scope, [note])
        return note.id

    async def ingest(self, messages: Sequence[Mapping[str, Any]], session_id: str | None) -> int:
        """Journals a transcript and queues its indexing; no model. Returns how many messages it holds."""
        self._check_open()
        target = checked_name("session", session_id) or self._session_id
        async with self._one_at_a_time:
            view = self._view if target == self._session_id else None
            if view is None and self._imported is not None and self._imported.session_id == target:
                view = self._imported  # a line at a time, the session is not read anew for each
            if view is None:
                view = self._imported = (await self._opened()).composer.new_view(target)
            private = await self._privacy.holds(target)
            count = await ingested(self._rooms, await self._opened(), view, messages, private=private)
        self._background.index_soon(count)
        return count

    # --- opening and closing -------------------------------------------------------------------

    async def model(self) -> ChatModel:
        """The model, once it is open. Raises a ModelError."""
        return (await self._opened()).model

    async def close(self) -> None:
        """Stops the answer, gives the indexes a moment, releases everything. Again does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._running is not None:
            await self._running.stopped()
        await self._stop_compacting()
        await self.context.stop()
        self._learner.resume()
        await self._learner.close()
        if self._rooms.embedding.generation is not None:
            with contextlib.suppress(StoreError):  # whoever comes next indexes what is left
                await self._settle(CLOSE_DRAIN_SECONDS, indexes_only=True)
        await self._background.finished()
        await self._rooms.indexer.close()
        self._rooms.embedding.close()
        await self._close_model()
        await self._rooms.stores.close()

    async def _close_model(self) -> None:
        if self._opening is None:
            return
        if not self._opening.done():
            self._opening.cancel()
        await asyncio.wait([self._opening])
        if not self._opening.cancelled() and self._opening.exception() is None:
            await self._opening.result().model.close()

    async def _opened(self) -> Opened:
        self._check_open()
        opening = self._begin_opening()
        await asyncio.wait([opening])
        if opening.cancelled():
            self._check_open()
        return opening.result()

    async def _ready(self) -> tuple[Opened, SessionView]:
        self._begin_indexing()
        opened = await self._opened()
        if self._view is None:
            self._view = opened.composer.new_view(self._session_id)
        return opened, self._view

    async def _question(
        self, text: str, attachments: Sequence[str], tool_choice: str | Mapping[str, Any], remember: bool
    ) -> Question:
        self._check_open()
        images: tuple[ImagePart, ...] = await asyncio.to_thread(image_parts, attachments) if attachments else ()
        words = clean_text(text)
        if not words.strip() and not images:
            raise MemagentError("there is nothing to answer: the message is empty")
        asked = discretion(words)
        return Question(
            words, images, tool_choice, remember and asked == "none", asked != "none", takes_back=asked == "previous"
        )

    async def _index(self) -> None:
        await self._rooms.indexer.catch_up(self._rooms.scope)
        self._rooms.indexer.wake()
        await self._rooms.history.catch_up(self._rooms.scope)

    def _check_open(self) -> None:
        if self._closed:
            raise AgentClosedError("this agent is closed; make a new one with the same data_dir to go on")
