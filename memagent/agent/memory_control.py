"""What a person, a host or the model may do with memories."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from memagent.agent.memory_story import MemoryStory, story_of
from memagent.agent.privacy import Privacy
from memagent.agent.rooms import Rooms
from memagent.context.directives.sentences import sentences
from memagent.errors import MemagentError, NotFoundError
from memagent.memory.episodes import fact_of
from memagent.memory.extract import Draft
from memagent.memory.never import NeverPatterns, checked_pattern
from memagent.memory.recall import Recalled
from memagent.memory.reconcile import confirmed, same_of
from memagent.memory.sayings import best_source, ended_with, forgotten_with, restored_with
from memagent.memory.worth import GROUNDED, content, share
from memagent.sanitize import clean_text
from stores.base import Basis
from stores.records import Mark, MarkKind, Memory, MemoryKind, MemoryState, Pin, Source, Trust

MOST_ATTEMPTS = 50
"""So often a change is made anew because others changed the same meanwhile."""


class MemoryControl:
    """Keeping, finding, listing, changing, forgetting. All within the rooms' scope.

    ``begin`` raises AgentClosedError, and begins indexing; ``refresh`` brings what the window shows up to date;
    ``index_soon`` hears that something was written."""

    def __init__(
        self,
        rooms: Rooms,
        privacy: Privacy,
        *,
        session_id: Callable[[], str],
        check_open: Callable[[], None],
        begin: Callable[[], None],
        refresh: Callable[[], Awaitable[None]],
        index_soon: Callable[[], None],
    ) -> None:
        self._rooms = rooms
        self._privacy = privacy
        self._session_id = session_id
        self._check_open = check_open
        self._begin = begin
        self._refresh = refresh
        self._index_soon = index_soon

    # --- keeping -------------------------------------------------------------------------------

    async def remember(self, text: str) -> Memory:
        """Keeps a fact that the person states. Raises MemagentError, see `keep`."""
        self._check_open()
        return await self.keep(text, Trust.USER)

    async def keep_for_model(self, text: str, said: Sequence[tuple[str, str]]) -> Memory:
        """Keeps a fact that the model wants kept: at once if it is in the words that the person ``said`` lately (id
        and words of each message, oldest first), else it waits for them to approve it: the model may have been
        talked into it by what it read. Its source is the message that says it, if one does."""
        own = content(" ".join(sentence.text for _, words in said for sentence in sentences(words)))
        theirs = share(content(text), own) >= GROUNDED
        source = best_source(text, said)
        return await self.keep(
            text, Trust.ASSISTANT, MemoryState.ACTIVE if theirs else MemoryState.QUARANTINED, said_in=source
        )

    async def keep(
        self, text: str, trust: Trust, state: MemoryState = MemoryState.ACTIVE, said_in: str | None = None
    ) -> Memory:
        """Keeps a fact and returns it; one with the same words is the same, told once more. ``said_in``: the message
        of this session that says it. Raises MemagentError for a blank text, one that matches a never-pattern, and in
        a private session."""
        text, session_id = clean_text(text).strip(), self._session_id()
        if not text:
            raise MemagentError("there is nothing to remember: the text is empty")
        if await self._privacy.holds(session_id):
            raise MemagentError("nothing is remembered in a private session; end it first (/private off)")
        for _ in range(MOST_ATTEMPTS):
            if kept := await self._try_keep(session_id, text, trust, state, said_in):
                self._index_soon()
                return kept
        raise MemagentError("this could not be remembered: the message that says it is no longer kept")

    async def _try_keep(
        self, session_id: str, text: str, trust: Trust, state: MemoryState, said_in: str | None
    ) -> Memory | None:
        """None if somebody else wrote a fact with the same words meanwhile, or a pattern."""
        scope, stores = self._rooms.scope, self._rooms.stores
        entry_id, now, zone = self._rooms.new_id(), self._rooms.clock(), self._rooms.zone
        source = Source(session_id=session_id, entry_id=said_in or entry_id)
        draft = Draft(text=text, trust=trust, sources=(source,), said_at=now, zone=zone)
        patterns = await self._check_never(text)
        same = await stores.finder.with_text(scope, text)
        known = same_of(draft, same)
        data = {"text": text, "memory_id": known.id if known else self._rooms.new_id(), "trust": trust.value}
        if state is not MemoryState.ACTIVE:
            data["state"] = state.value
        if said_in is not None:
            data["said_in"] = said_in
        mark = Mark(
            id=entry_id,
            session_id=session_id,
            exchange_id=entry_id,
            at=now,
            zone=zone,
            what=MarkKind.REMEMBERED,
            data={**data},
        )
        fact = fact_of(mark, now) if known is None else _told_again(known, draft)
        basis = Basis(
            memories=[known] if known else [],
            same_words={text: [memory.id for memory in same]},
            sources=[source] if said_in else [],
            never=patterns,
        )
        written = await stores.memories.put(scope, [fact], told=mark, basis=basis)
        return fact if written else None

    async def _check_never(self, text: str) -> list[str]:
        """The patterns, none of which matches. Raises MemagentError."""
        patterns = await self._rooms.stores.never.list(self._rooms.scope)
        if pattern := NeverPatterns(patterns).matching(text):
            raise MemagentError(f"this is not remembered: the pattern {pattern!r} is on the never-list")
        return patterns

    # --- finding -------------------------------------------------------------------------------

    async def recall(self, text: str, limit: int) -> list[Recalled]:
        """The best memories, best first; [] for a blank text. What was said a moment ago is found."""
        self._begin()
        await self._rooms.indexer.catch_up(self._rooms.scope)
        return await self._rooms.recaller.recall(
            self._rooms.scope,
            clean_text(text),
            limit=limit,
            deadline_seconds=self._rooms.settings.recall_deadline_seconds,
            gated=False,
        )

    async def list(self, state: MemoryState | str | None, kind: MemoryKind | str | None) -> list[Memory]:
        """Memories, newest first. Raises MemagentError for a state or kind that does not exist."""
        self._check_open()
        try:
            wanted_kind, wanted_state = kind and MemoryKind(kind), state and MemoryState(state)
        except ValueError as error:
            known = ", ".join([*MemoryState, *MemoryKind])
            raise MemagentError(f"{error}; states and kinds are {known}") from error
        return await self._rooms.stores.memories.list(
            self._rooms.scope, kind=wanted_kind or None, state=wanted_state or None
        )

    async def find(self, memory_id: str) -> Memory | None:
        """The memory with this id, if this user has it."""
        self._check_open()
        found = await self._rooms.stores.memories.get(self._rooms.scope, [clean_text(memory_id)])
        return found[0] if found else None

    # --- changing ------------------------------------------------------------------------------

    async def show(self, memory_id: str) -> MemoryStory:
        """A memory with its sources and its history. Raises NotFoundError."""
        self._check_open()
        return await story_of(self._rooms, memory_id)

    async def set_state(self, memory_id: str, state: MemoryState) -> Memory:
        """Forgets or restores a memory, with the messages that said nothing else, also where the window shows it.
        Raises NotFoundError for an id this user does not have, or one that is in that state already."""

        def change(memory: Memory) -> Memory:
            if memory.state is state:
                raise _no_such(memory_id, state)
            return memory.model_copy(update={"state": state})

        if await self.find(memory_id) is None:
            raise _no_such(memory_id, state)
        beside = forgotten_with if state is MemoryState.FORGOTTEN else restored_with
        return await self._change(memory_id, change, beside)

    async def approve(self, memory_id: str) -> Memory:
        """What waited is a memory from now on; what was proposed for the profile stands in it. Raises NotFoundError,
        and MemagentError where there is nothing to approve."""

        def change(memory: Memory) -> Memory:
            if memory.state is MemoryState.QUARANTINED:
                return memory.model_copy(update={"state": MemoryState.ACTIVE, "reason": "the person approved it"})
            if memory.pin is Pin.PROPOSED:
                return _pinned(memory)
            raise MemagentError(f"memory {memory.id} does not wait for approval: it is {memory.state.value}")

        return await self._change(memory_id, change)

    async def edit(self, memory_id: str, text: str) -> Memory:
        """Rewords a fact: it is the person's statement from now on, and what it was is among its versions. Raises
        NotFoundError, MemagentError."""
        words = clean_text(text).strip()
        if not words:
            raise MemagentError("a memory cannot be empty; forget it instead")
        fact = _fact(await self._existing(memory_id))
        patterns = await self._check_never(words)
        same = [one.id for one in await self._rooms.stores.finder.with_text(self._rooms.scope, words)]
        if twins := [one for one in same if one != fact.id]:
            raise MemagentError(f"memory {twins[0]} says this already; forget {fact.id} instead of rewording it")

        def change(memory: Memory) -> Memory:
            state = MemoryState.ACTIVE if memory.state is MemoryState.QUARANTINED else memory.state
            changes = {"text": words, "trust": Trust.USER, "state": state, "reason": "the person reworded it"}
            return _fact(memory).model_copy(update=changes)

        def ended(memory: Memory, related: Sequence[Memory]) -> Sequence[Memory]:
            return ended_with(memory, related, self._rooms.clock())

        basis = Basis(same_words={words: same}, never=patterns)
        return await self._change(memory_id, change, ended if fact.text != words else None, basis)

    async def pin(self, memory_id: str) -> Memory:
        """Puts a fact into the profile, which stands in every prompt. Raises NotFoundError, MemagentError."""
        return await self._change(memory_id, _pinned)

    async def unpin(self, memory_id: str) -> Memory:
        """Takes a fact out of the profile, or declines that it be put there. Raises NotFoundError."""
        return await self._change(memory_id, lambda memory: _fact(memory).model_copy(update={"pin": Pin.NONE}))

    async def _change(
        self,
        memory_id: str,
        change: Callable[[Memory], Memory],
        beside: Callable[[Memory, Sequence[Memory]], Sequence[Memory]] | None = None,
        basis: Basis | None = None,
    ) -> Memory:
        """Changes a memory as it stands, and with ``beside`` what came of the same messages; anew if somebody else
        changed one of them meanwhile. Raises what ``change`` does, and MemagentError if ``basis`` holds no more."""
        stores, scope = self._rooms.stores, self._rooms.scope
        for _ in range(MOST_ATTEMPTS):
            memory = await self._existing(memory_id)
            changed = change(memory)
            if changed == memory:
                return memory
            changed = changed.model_copy(update={"version": memory.version + 1})
            related = await stores.finder.from_entries(scope, memory.sources) if beside and memory.sources else []
            also = list(beside(memory, related)) if beside else []
            seen = {one.id: one for one in (*related, memory)}
            if await stores.memories.put(
                scope, [changed, *also], basis=replace(basis or Basis(), memories=list(seen.values()))
            ):
                self._index_soon()
                await self._refresh()
                return changed
        raise MemagentError(f"memory {memory_id} was not changed: others are changing the same; try again")

    async def _existing(self, memory_id: str) -> Memory:
        memory = await self.find(memory_id)
        if memory is None:
            raise NotFoundError(f"there is no memory {memory_id!r}; `memagent memory list` shows the ids")
        return memory

    # --- never ---------------------------------------------------------------------------------

    async def never(self, pattern: str) -> Sequence[Memory]:
        """Nothing that matches the pattern becomes a memory from now on. Returns the memories that match it
        already, newest first: they stay until the person erases them. Raises MemagentError for a pattern without
        a word."""
        self._check_open()
        kept = checked_pattern(clean_text(pattern))
        await self._rooms.stores.never.add(self._rooms.scope, kept, at=self._rooms.clock())
        forms = NeverPatterns([kept])
        await self._rooms.indexer.catch_up(self._rooms.scope)
        return [m for m in await self._rooms.stores.memories.list(self._rooms.scope) if forms.matching(m.text)]

    async def never_list(self) -> Sequence[str]:
        """The patterns, oldest first."""
        self._check_open()
        return await self._rooms.stores.never.list(self._rooms.scope)

    async def allow(self, pattern: str) -> None:
        """Takes a pattern off the never-list. Raises NotFoundError."""
        self._check_open()
        kept = " ".join(clean_text(pattern).split())
        if not await self._rooms.stores.never.remove(self._rooms.scope, kept):
            raise NotFoundError(f"the pattern {kept!r} is not on the never-list")


def _fact(memory: Memory) -> Memory:
    """Raises MemagentError for what is no fact."""
    if memory.kind is not MemoryKind.FACT:
        raise MemagentError(f"{memory.id!r} is no fact but an {memory.kind.value}: what was said stays as it was said")
    return memory


def _pinned(memory: Memory) -> Memory:
    if _fact(memory).state is not MemoryState.ACTIVE:
        raise MemagentError(f"memory {memory.id} is {memory.state.value}; only active facts can be pinned")
    if memory.valid_to is not None or memory.superseded_by is not None:
        raise MemagentError(f"memory {memory.id} holds no more; pin what took its place (`memagent memory show`)")
    return memory.model_copy(update={"pin": Pin.PINNED})


def _no_such(memory_id: str, state: MemoryState) -> NotFoundError:
    wanted = "active" if state is MemoryState.FORGOTTEN else "forgotten"
    return NotFoundError(f"there is no {wanted} memory {memory_id!r}; `memagent memory list` shows the ids")


def _told_again(known: Memory, draft: Draft) -> Memory:
    """A fact with the same words. One that was forgotten comes back only by the person's own word."""
    if known.state is not MemoryState.FORGOTTEN:
        return confirmed(known, draft)
    if draft.trust is not Trust.USER:
        raise MemagentError("the person had this forgotten: only they can have it remembered again")
    changes = {"state": MemoryState.ACTIVE, "version": known.version + 1, "reason": "the person said it again"}
    return confirmed(known.model_copy(update=changes), draft)
