"""How hosts reach the agent: `Agent` from ordinary code, `AsyncAgent` from coroutines.

Both hand their work to the library's own loop thread, so either works in scripts, threads, running
event loops and notebooks. Neither holds logic of its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from memagent.agent.consents import PendingCall
from memagent.agent.construction import Construction
from memagent.agent.data.faces import AsyncDataFace, DataFace
from memagent.agent.data.upkeep import Checkup
from memagent.agent.learning_control import Extraction
from memagent.agent.memory_story import MemoryStory
from memagent.agent.reading_back import Selection
from memagent.agent.replaying import Replay
from memagent.agent.reply import Reply
from memagent.context.assemble import Prompt
from memagent.context.explain import PromptDiff, Whereabouts
from memagent.context.manifest import Manifest
from memagent.context.view import Summary
from memagent.events import Compacted, Event
from memagent.memory.hits import HistoryHit
from memagent.memory.recall import Recalled
from memagent.tools.approval import Decision, answer_of
from stores.records import Memory, MemoryKind, MemoryState, Message, Session

T = TypeVar("T")


class Agent(Construction, DataFace):
    """A memory-centric agent, synchronous. Also a context manager. Safe to use from several threads; one
    message is answered at a time."""

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return self._thread.call(work)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(
        self,
        text: str,
        *,
        attachments: Sequence[str] = (),
        tool_choice: str | Mapping[str, Any] = "auto",
        remember: bool = True,
    ) -> Reply:
        """Answers a message. ``attachments``: images by path or URL. ``remember=False``: the exchange is
        journalled but nothing of it becomes a memory. Raises ModelError, PromptTooLargeError, StoreError;
        an interrupt stops the answer, keeps what was said, and reaches the caller."""
        return self._call(self._assistant.ask(text, attachments, tool_choice, remember))

    def stream(
        self,
        text: str,
        *,
        attachments: Sequence[str] = (),
        tool_choice: str | Mapping[str, Any] = "auto",
        remember: bool = True,
    ) -> Iterator[Event]:
        """Like `ask`, but gives each event as it happens; `Finished` is last. Leaving early cancels."""
        return self._thread.iterate(self._assistant.stream(text, attachments, tool_choice, remember))

    def pending(self) -> list[PendingCall]:
        """Calls with side effects that wait for a person, in all sessions of this user, oldest first (with
        ``approve="later"``, in this process or another)."""
        return self._call(self._assistant.pending())

    def decide(self, call: str, decision: Decision | bool | str, reason: str = "") -> Reply:
        """Decides about a waiting call, by its id or the model's: "yes", "no", "always" or a `Decision`. When all
        of its exchange are decided the exchange goes on, and this is its answer. The call runs at most once, and
        with the arguments that `pending` shows. Raises NotFoundError, MemagentError, ModelError, StoreError."""
        return self._call(self._assistant.decide(call, answer_of(decision, reason)))

    def preview(self, text: str, *, attachments: Sequence[str] = (), recall: bool = True) -> Prompt:
        """The prompt this message would be sent with. Calls no model, writes nothing, moves no counter."""
        return self._call(self._assistant.preview(text, attachments, recall))

    def last_manifest(self) -> Manifest | None:
        """The manifest of the session's last prompt; None before the first."""
        return self._call(self._assistant.last_manifest())

    def happened(self) -> list[Event]:
        """What was done in the background since it was last told, by this or by the events of an answer: compactions,
        proposals for the profile, and warnings of what failed. Oldest first."""
        return self._call(self._assistant.tell_happened())

    def cancel(self) -> bool:
        """Stops the answer that is being given in another thread. Says whether there was one."""
        return self._call(self._assistant.cancel())

    def settle(self, timeout_seconds: float | None = None, *, indexes_only: bool = False) -> list[str]:
        """Waits until background work is done and every index equals the journal; returns what is still
        open, [] when nothing is. ``indexes_only``: no matter what the model has still to learn from."""
        return self._call(self._assistant.settle(timeout_seconds, indexes_only=indexes_only))

    def ingest(self, messages: Sequence[Mapping[str, Any]], *, session: str | None = None) -> int:
        """Journals a transcript (dicts with role, content and optionally name, at, id, tool_calls,
        tool_call_id), any order of roles, and queues its indexing. Returns how many messages it holds.
        Messages with an id that the session has already are not added again."""
        return self._call(self._assistant.ingest(messages, session))

    def remember(self, text: str) -> Memory:
        """Keeps a fact. It is found from now on, in every session of this user."""
        return self._call(self._assistant.memory.remember(text))

    def recall(self, text: str, *, limit: int = 8) -> list[Recalled]:
        """The memories nearest to a text, best first."""
        return self._call(self._assistant.memory.recall(text, limit))

    def memories(
        self, state: MemoryState | str | None = None, *, kind: MemoryKind | str | None = MemoryKind.FACT
    ) -> list[Memory]:
        """Memories, newest first; ``state`` None: in any state; ``kind`` None: episodes too."""
        return self._call(self._assistant.memory.list(state, kind))

    def show(self, memory_id: str) -> MemoryStory:
        """A memory with the entries it came from, its earlier versions and what took whose place. Raises
        NotFoundError."""
        return self._call(self._assistant.memory.show(memory_id))

    def forget(self, memory_id: str) -> Memory:
        """Takes a memory out of recall and prompts; it can be restored. Raises NotFoundError."""
        return self._call(self._assistant.memory.set_state(memory_id, MemoryState.FORGOTTEN))

    def restore(self, memory_id: str) -> Memory:
        """Brings a forgotten memory back. Raises NotFoundError."""
        return self._call(self._assistant.memory.set_state(memory_id, MemoryState.ACTIVE))

    def approve(self, memory_id: str) -> Memory:
        """Makes a memory of what waited for the person's word; puts into the profile what was proposed for it.
        Raises NotFoundError, MemagentError."""
        return self._call(self._assistant.memory.approve(memory_id))

    def pin(self, memory_id: str) -> Memory:
        """Puts a fact into the profile, which stands in every prompt. Raises NotFoundError, MemagentError."""
        return self._call(self._assistant.memory.pin(memory_id))

    def unpin(self, memory_id: str) -> Memory:
        """Takes a fact out of the profile, or declines a proposal. Raises NotFoundError, MemagentError."""
        return self._call(self._assistant.memory.unpin(memory_id))

    def never(self, pattern: str) -> Sequence[Memory]:
        """From now on nothing becomes a memory that holds these words ("*": any letters, or any words). Returns
        the memories that do so already, newest first; they stay until they are erased. Raises MemagentError."""
        return self._call(self._assistant.memory.never(pattern))

    def never_list(self) -> Sequence[str]:
        """The patterns of what is never remembered, oldest first."""
        return self._call(self._assistant.memory.never_list())

    def allow(self, pattern: str) -> None:
        """Takes a pattern off the never-list. Raises NotFoundError."""
        self._call(self._assistant.memory.allow(pattern))

    def private(self, on: bool | None = None) -> bool:
        """Makes this session private from the next message on, or ends that: what is said in a private session
        stays in its history and nowhere else. None only asks. Returns whether it is private."""
        return self._call(self._assistant.learning.private(on))

    def extract(self, *, session: str | None = None, dry_run: bool = False) -> Extraction:
        """Queues a session (this one by default) to be learned from: facts of what the person said in it; `settle`
        waits for them. Returns what that takes; ``dry_run`` does no more. Raises NotFoundError, MemagentError."""
        return self._call(self._assistant.learning.extract(session, dry_run=dry_run))

    def history(self, session: str | None = None) -> list[Message]:
        """Everything that was said in a session (this one by default), oldest first, in the window or not."""
        return self._call(self._assistant.history(session))

    def compact(self, keep: str = "") -> Compacted | None:
        """Summarises all of this session but the newest exchange, with an eye on ``keep``; None if there is
        nothing to do. Nothing is lost, and `undo` takes it back. Raises ContextError."""
        return self._call(self._assistant.context.compact(keep))

    def undo(self) -> Compacted:
        """Shows the session as before the last compaction, edit or undo. Raises ContextError."""
        return self._call(self._assistant.context.undo())

    def summaries(self) -> list[Summary]:
        """The summaries that prompts of this session show, oldest first."""
        return self._call(self._assistant.context.summaries())

    def expand(self, summary_id: str) -> list[Message]:
        """The messages that a summary stands for, oldest first. Raises NotFoundError."""
        return self._call(self._assistant.past.expand(summary_id))

    def edit(self, wanted: str, text: str) -> Memory | Summary:
        """Rewords a memory or a summary that is shown, by its id; what it was is kept. A reworded memory is the
        person's own statement. Raises NotFoundError, MemagentError, ContextError."""
        return self._call(self._assistant.edit(wanted, text))

    def note(self, text: str) -> str:
        """A note of the host, not the person's words: it stands beside the next message. Returns its id."""
        return self._call(self._assistant.note(text))

    def search_history(self, query: str, *, session: str | None = None, limit: int = 8) -> list[HistoryHit]:
        """Places in what was said or returned by tools, word for word, best first: in this session (None), in
        the one with this id, or in "all" of them. Raises NotFoundError."""
        return self._call(self._assistant.past.search_history(query, session, limit))

    def read_output(
        self,
        ref: str,
        *,
        lines: str | None = None,
        chars: str | None = None,
        grep: str | None = None,
        json_path: str | None = None,
    ) -> str:
        """The text of a message by its id, also where only a preview is shown: all of it exactly, or the page
        of at most 1,000 tokens that a selector asks for ("41-80", "41-", "-40" for ``lines`` and ``chars``).
        Raises NotFoundError, StoreError."""
        return self._call(self._assistant.past.read_output(ref, Selection(lines, chars, grep, json_path)))

    def checkup(self, *, collect: bool = False, repair: bool = False) -> Checkup:
        """What is kept where, which of this user's stored outputs nothing refers to any more and why (``collect``
        removes those), and whether memories, words and vectors are what the journal says (``repair`` makes anew
        exactly what is not). Raises StoreError."""
        return self._call(self._assistant.data.checkup(collect, repair))

    def manifests(self, session: str | None = None, *, limit: int | None = 20) -> list[Manifest]:
        """The manifests of a session's newest prompts (this session's by default), newest first."""
        return self._call(self._assistant.explainer.manifests(session, limit=limit))

    def diff(self, first: int | None = None, second: int | None = None, *, session: str | None = None) -> PromptDiff:
        """What changed between two prompts of a session, by default the last two. Numbers count from 1, or
        from the end if negative. Raises NotFoundError."""
        return self._call(self._assistant.explainer.diff(first, second, session))

    def why(self, wanted: str, *, session: str | None = None) -> Whereabouts:
        """Where a journal entry, a summary or a memory is in the last prompt, or when and why it left. Raises
        NotFoundError."""
        return self._call(self._assistant.explainer.why(wanted, session))

    def replay(self, number: int, *, session: str | None = None) -> Replay:
        """A prompt that was sent, made again from what is kept, and whether it is the same. Raises NotFoundError."""
        return self._call(self._assistant.explainer.replay(number, session))

    def sessions(self) -> list[Session]:
        """This user's sessions, last used first."""
        return self._call(self._assistant.sessions())

    def resume(self, session: str) -> str:
        """Goes on in a session: its id, the beginning of one, or "last". Raises NotFoundError."""
        return self._call(self._assistant.resume(session))

    def new_session(self) -> str:
        """Begins a new session and returns its id."""
        return self._call(self._assistant.new_session())

    def model_name(self) -> str:
        """The model's name; waits until it is open. Raises ModelError."""
        return self._call(self._assistant.model()).profile.name

    def endpoint(self) -> str:
        """Where the model is; waits until it is open. Raises ModelError."""
        return self._call(self._assistant.model()).endpoint

    def close(self) -> None:
        """Stops and releases everything; what is not indexed yet is indexed at the next start."""
        self._call(self._assistant.close())


class AsyncAgent(Construction, AsyncDataFace):
    """A memory-centric agent for coroutines, in any event loop. Every method does what its namesake of
    `Agent` does."""

    async def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return await self._thread.await_(work)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def ask(
        self,
        text: str,
        *,
        attachments: Sequence[str] = (),
        tool_choice: str | Mapping[str, Any] = "auto",
        remember: bool = True,
    ) -> Reply:
        """See `Agent.ask`. Cancelling the task stops the answer and keeps what was said."""
        return await self._call(self._assistant.ask(text, attachments, tool_choice, remember))

    def stream(
        self,
        text: str,
        *,
        attachments: Sequence[str] = (),
        tool_choice: str | Mapping[str, Any] = "auto",
        remember: bool = True,
    ) -> AsyncIterator[Event]:
        """See `Agent.stream`."""
        return self._thread.aiterate(self._assistant.stream(text, attachments, tool_choice, remember))

    async def pending(self) -> list[PendingCall]:
        """See `Agent.pending`."""
        return await self._call(self._assistant.pending())

    async def decide(self, call: str, decision: Decision | bool | str, reason: str = "") -> Reply:
        """See `Agent.decide`."""
        return await self._call(self._assistant.decide(call, answer_of(decision, reason)))

    async def preview(self, text: str, *, attachments: Sequence[str] = (), recall: bool = True) -> Prompt:
        """See `Agent.preview`."""
        return await self._call(self._assistant.preview(text, attachments, recall))

    async def last_manifest(self) -> Manifest | None:
        """See `Agent.last_manifest`."""
        return await self._call(self._assistant.last_manifest())

    async def happened(self) -> list[Event]:
        """See `Agent.happened`."""
        return await self._call(self._assistant.tell_happened())

    async def cancel(self) -> bool:
        """See `Agent.cancel`."""
        return await self._call(self._assistant.cancel())

    async def settle(self, timeout_seconds: float | None = None, *, indexes_only: bool = False) -> list[str]:
        """See `Agent.settle`."""
        return await self._call(self._assistant.settle(timeout_seconds, indexes_only=indexes_only))

    async def ingest(self, messages: Sequence[Mapping[str, Any]], *, session: str | None = None) -> int:
        """See `Agent.ingest`."""
        return await self._call(self._assistant.ingest(messages, session))

    async def remember(self, text: str) -> Memory:
        """See `Agent.remember`."""
        return await self._call(self._assistant.memory.remember(text))

    async def recall(self, text: str, *, limit: int = 8) -> list[Recalled]:
        """See `Agent.recall`."""
        return await self._call(self._assistant.memory.recall(text, limit))

    async def memories(
        self, state: MemoryState | str | None = None, *, kind: MemoryKind | str | None = MemoryKind.FACT
    ) -> list[Memory]:
        """See `Agent.memories`."""
        return await self._call(self._assistant.memory.list(state, kind))

    async def show(self, memory_id: str) -> MemoryStory:
        """See `Agent.show`."""
        return await self._call(self._assistant.memory.show(memory_id))

    async def forget(self, memory_id: str) -> Memory:
        """See `Agent.forget`."""
        return await self._call(self._assistant.memory.set_state(memory_id, MemoryState.FORGOTTEN))

    async def restore(self, memory_id: str) -> Memory:
        """See `Agent.restore`."""
        return await self._call(self._assistant.memory.set_state(memory_id, MemoryState.ACTIVE))

    async def approve(self, memory_id: str) -> Memory:
        """See `Agent.approve`."""
        return await self._call(self._assistant.memory.approve(memory_id))

    async def pin(self, memory_id: str) -> Memory:
        """See `Agent.pin`."""
        return await self._call(self._assistant.memory.pin(memory_id))

    async def unpin(self, memory_id: str) -> Memory:
        """See `Agent.unpin`."""
        return await self._call(self._assistant.memory.unpin(memory_id))

    async def never(self, pattern: str) -> Sequence[Memory]:
        """See `Agent.never`."""
        return await self._call(self._assistant.memory.never(pattern))

    async def never_list(self) -> Sequence[str]:
        """See `Agent.never_list`."""
        return await self._call(self._assistant.memory.never_list())

    async def allow(self, pattern: str) -> None:
        """See `Agent.allow`."""
        await self._call(self._assistant.memory.allow(pattern))

    async def private(self, on: bool | None = None) -> bool:
        """See `Agent.private`."""
        return await self._call(self._assistant.learning.private(on))

    async def extract(self, *, session: str | None = None, dry_run: bool = False) -> Extraction:
        """See `Agent.extract`."""
        return await self._call(self._assistant.learning.extract(session, dry_run=dry_run))

    async def history(self, session: str | None = None) -> list[Message]:
        """See `Agent.history`."""
        return await self._call(self._assistant.history(session))

    async def compact(self, keep: str = "") -> Compacted | None:
        """See `Agent.compact`."""
        return await self._call(self._assistant.context.compact(keep))

    async def undo(self) -> Compacted:
        """See `Agent.undo`."""
        return await self._call(self._assistant.context.undo())

    async def summaries(self) -> list[Summary]:
        """See `Agent.summaries`."""
        return await self._call(self._assistant.context.summaries())

    async def expand(self, summary_id: str) -> list[Message]:
        """See `Agent.expand`."""
        return await self._call(self._assistant.past.expand(summary_id))

    async def edit(self, wanted: str, text: str) -> Memory | Summary:
        """See `Agent.edit`."""
        return await self._call(self._assistant.edit(wanted, text))

    async def note(self, text: str) -> str:
        """See `Agent.note`."""
        return await self._call(self._assistant.note(text))

    async def search_history(self, query: str, *, session: str | None = None, limit: int = 8) -> list[HistoryHit]:
        """See `Agent.search_history`."""
        return await self._call(self._assistant.past.search_history(query, session, limit))

    async def read_output(
        self,
        ref: str,
        *,
        lines: str | None = None,
        chars: str | None = None,
        grep: str | None = None,
        json_path: str | None = None,
    ) -> str:
        """See `Agent.read_output`."""
        return await self._call(self._assistant.past.read_output(ref, Selection(lines, chars, grep, json_path)))

    async def checkup(self, *, collect: bool = False, repair: bool = False) -> Checkup:
        """See `Agent.checkup`."""
        return await self._call(self._assistant.data.checkup(collect, repair))

    async def manifests(self, session: str | None = None, *, limit: int | None = 20) -> list[Manifest]:
        """See `Agent.manifests`."""
        return await self._call(self._assistant.explainer.manifests(session, limit=limit))

    async def diff(
        self, first: int | None = None, second: int | None = None, *, session: str | None = None
    ) -> PromptDiff:
        """See `Agent.diff`."""
        return await self._call(self._assistant.explainer.diff(first, second, session))

    async def why(self, wanted: str, *, session: str | None = None) -> Whereabouts:
        """See `Agent.why`."""
        return await self._call(self._assistant.explainer.why(wanted, session))

    async def replay(self, number: int, *, session: str | None = None) -> Replay:
        """See `Agent.replay`."""
        return await self._call(self._assistant.explainer.replay(number, session))

    async def sessions(self) -> list[Session]:
        """See `Agent.sessions`."""
        return await self._call(self._assistant.sessions())

    async def resume(self, session: str) -> str:
        """See `Agent.resume`."""
        return await self._call(self._assistant.resume(session))

    async def new_session(self) -> str:
        """See `Agent.new_session`."""
        return await self._call(self._assistant.new_session())

    async def model_name(self) -> str:
        """See `Agent.model_name`."""
        return (await self._call(self._assistant.model())).profile.name

    async def endpoint(self) -> str:
        """See `Agent.endpoint`."""
        return (await self._call(self._assistant.model())).endpoint

    async def close(self) -> None:
        """See `Agent.close`."""
        await self._call(self._assistant.close())
