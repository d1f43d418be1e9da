"""Planning an erasure: what it begins with, what came of that, and where memagent itself copied it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field

from memagent.agent.rooms import Rooms
from memagent.agent.sessions import Sessions
from memagent.errors import MemagentError, NotFoundError
from memagent.memory.erase import (
    ErasePlan,
    Match,
    Needles,
    any_of,
    asks_for,
    covers,
    holds_json,
    is_echo,
    is_remembered,
    memory_texts,
    tells_of,
    texts_of,
)
from memagent.sanitize import clean_text
from stores.errors import BlobMissingError, StoreCorruptError
from stores.records import Mark, MarkKind, Memory, MemoryKind, Message, Source

BATCH = 500
_WORDLESS = (MarkKind.ERASED, MarkKind.PRIVATE, MarkKind.NOT_REMEMBERED)
"""Marks that hold no words, and say what is to hold for the session from then on."""
ERASE = "erase"
"""The kind of the job."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be erased: exactly one of a text, a memory, an entry (``session`` says of which, where several
    have one with this id), or a whole session."""

    text: str | None = None
    memory_id: str | None = None
    entry_id: str | None = None
    session: str | None = None

    def checked(self) -> Target:
        """Itself. Raises MemagentError when it says too little or too much."""
        given = [name for name in ("text", "memory_id", "entry_id") if getattr(self, name) is not None]
        if len(given) > 1 or not (given or self.session) or (self.session and given not in ([], ["entry_id"])):
            raise MemagentError(
                "say what to erase by one of text, memory_id, entry_id and session (an entry_id may go with a session)"
            )
        if self.text is not None and not clean_text(self.text).strip():
            raise MemagentError("there is nothing to erase: the text is empty")
        return self

    @property
    def words(self) -> str:
        """What was asked, without telling the text."""
        if self.text is not None:
            return f"a text of {len(self.text):,} characters"
        if self.memory_id is not None:
            return f"memory {self.memory_id}"
        return f"entry {self.entry_id}" if self.entry_id is not None else f"session {self.session}"


@dataclass(slots=True)
class Planned:
    """A plan, what it is shown as, and the texts that are to be found nowhere afterwards. ``asked``: the text
    that was asked for, or ""."""

    plan: ErasePlan
    matches: list[Match]
    texts: list[str]
    asked: str


@dataclass(slots=True)
class _Found:
    """What goes. Entries by session and id, each with why."""

    entries: dict[Source, tuple[Message | Mark, str]] = field(default_factory=dict[Source, tuple[Message | Mark, str]])
    memories: dict[str, tuple[Memory, str]] = field(default_factory=dict[str, tuple[Memory, str]])
    texts: list[str] = field(default_factory=list[str])
    calls: list[Source] = field(default_factory=list[Source])
    marks: list[Source] = field(default_factory=list[Source])
    summaries: list[Source] = field(default_factory=list[Source])
    hashes: set[str] = field(default_factory=set[str])
    also_in: list[str] = field(default_factory=list[str])

    def take(self, entry: Message | Mark, why: str) -> None:
        self.entries.setdefault(place_of(entry), (entry, why))


def place_of(entry: Message | Mark) -> Source:
    """Where an entry stands."""
    return Source(session_id=entry.session_id, entry_id=entry.id)


class ErasePlanner:
    """Plans within the rooms' scope. Reads only."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._stores = rooms.stores
        self._scope = rooms.scope

    async def plan(self, target: Target) -> Planned:
        """What must go for this. Raises NotFoundError when nothing has that id, MemagentError for a target that
        is none."""
        asked = clean_text(target.checked().text or "")
        found = _Found()
        await self._begin(target, asked, found)
        await self._follow(found)
        needles = Needles(found.texts, asked)
        await self._copies(needles, asked, found)
        jobs = await self._stores.jobs.list(self._scope)
        plan = ErasePlan(
            receipt_id=self._rooms.new_id(),
            at=self._rooms.clock(),
            asked=target.words,
            entries=tuple(found.entries),
            calls=tuple(found.calls),
            marks=tuple(found.marks),
            summaries=tuple(found.summaries),
            memories=tuple(found.memories),
            reasons=tuple(await self._reasons(needles, found)),
            hashes=tuple(sorted(found.hashes | set(await self._stores.eraser.hashes_of(self._scope, needles.are_in)))),
            digests=tuple(
                dict.fromkeys(
                    e.overflow.digest for e, _ in found.entries.values() if isinstance(e, Message) and e.overflow
                )
            ),
            jobs=tuple(
                job.number
                for job in jobs
                if job.kind != ERASE and (needles.are_in(job.error) or holds_json(needles, job.model_dump_json()))
            ),
            also_in=tuple(found.also_in),
        )
        return Planned(plan, _matches(found), [asked, *found.texts] if asked else found.texts, asked)

    # --- beginning -----------------------------------------------------------------------------

    async def _begin(self, target: Target, asked: str, found: _Found) -> None:
        if asked:
            await self._with_text(asked, found)
        elif target.memory_id is not None:
            memories = await self._stores.memories.get(self._scope, [clean_text(target.memory_id)])
            if not memories:
                raise NotFoundError(f"there is no memory {target.memory_id!r}; `memagent memory list` shows the ids")
            found.memories[memories[0].id] = (memories[0], "asked for")
        elif target.entry_id is not None:
            found.take(await self._entry(target.entry_id, target.session), "asked for")
        else:
            session_id = await Sessions(self._rooms).find(target.session or "")
            for entry in await self._stores.journal.read(self._scope, session_id):
                if not (isinstance(entry, Mark) and entry.what in _WORDLESS):
                    found.take(entry, "of the session")

    async def _entry(self, entry_id: str, session: str | None) -> Message | Mark:
        entries = await self._stores.journal.get(self._scope, [clean_text(entry_id)])
        if session:
            session_id = await Sessions(self._rooms).find(session)
            entries = [entry for entry in entries if entry.session_id == session_id]
        if not entries:
            raise NotFoundError(f"there is no entry {entry_id!r}; `memagent history search` shows the ids")
        if len(entries) > 1:
            names = ", ".join(repr(entry.session_id) for entry in entries)
            raise MemagentError(f"several sessions have an entry {entry_id!r}: {names}; say in which one")
        return entries[0]

    async def _with_text(self, asked: str, found: _Found) -> None:
        needles = Needles([], asked)
        async for entry in self._journal():
            if isinstance(entry, Message):
                if await self._says(entry, needles):
                    found.take(entry, "holds the text")
            elif entry.what is MarkKind.REMEMBERED and any(map(needles.are_in, texts_of(entry))):
                found.take(entry, "holds the text")
        for memory in await self._facts():
            versions = await self._versions(memory)
            if any(needles.are_in(text) for one in (memory, *versions) for text in memory_texts(one)):
                found.memories[memory.id] = (memory, "holds the text")

    async def _says(self, entry: Message, needles: Needles) -> bool:
        if any(needles.are_in(text) for text in texts_of(entry)):
            return True
        return entry.overflow is not None and needles.are_in(await self._stored(entry))

    async def _stored(self, entry: Message) -> str:
        """The whole text of an overflowed entry; "" when it is gone."""
        if entry.overflow is None:
            return ""
        try:
            content = await self._stores.blobs.get(self._scope, entry.overflow.digest)
        except (BlobMissingError, StoreCorruptError):
            return ""
        return content.decode("utf-8", "replace")

    # --- following -----------------------------------------------------------------------------

    async def _follow(self, found: _Found) -> None:
        """From memories up to the entries they came from, then from all entries down to all that came from them."""
        sources: dict[Source, str] = {}
        for memory, _ in found.memories.values():
            for one in (memory, *await self._versions(memory)):
                sources |= dict.fromkeys(one.sources, f"memory {memory.id} came from it")
        for entry in await self._stores.journal.get(self._scope, list({source.entry_id for source in sources})):
            if (why := sources.get(place_of(entry))) is not None:
                found.take(entry, why)
        for memory in await self._stores.finder.from_entries(self._scope, list(found.entries)):
            found.memories.setdefault(memory.id, (memory, "came from an entry that goes"))
        for entry, _ in found.entries.values():
            if isinstance(entry, Message):
                stored = await self._stored(entry)
                found.texts += [*texts_of(entry), *([stored] if stored else [])]
            elif entry.what is MarkKind.REMEMBERED:
                found.texts += texts_of(entry)
        for memory, _ in found.memories.values():
            for one in (memory, *await self._versions(memory)):
                found.texts += memory_texts(one)
        found.texts = list(dict.fromkeys(found.texts))

    async def _versions(self, memory: Memory) -> list[Memory]:
        return await self._stores.finder.versions(self._scope, memory.id) if memory.version > 1 else []

    async def _facts(self) -> list[Memory]:
        memories = self._stores.memories
        facts = await memories.list(self._scope, kind=MemoryKind.FACT)
        return [*facts, *await memories.list(self._scope, kind=MemoryKind.EXPERIENCE)]

    # --- copies --------------------------------------------------------------------------------

    async def _copies(self, needles: Needles, asked: str, found: _Found) -> None:
        """One walk through the journal for what memagent itself copied."""
        ids: dict[str, set[str]] = {}
        sequences: dict[str, set[int]] = {}
        for place, (entry, _) in found.entries.items():
            ids.setdefault(place.session_id, set()).add(place.entry_id)
            sequences.setdefault(place.session_id, set()).add(entry.sequence)
        references = any_of({place.entry_id for place in found.entries} | set(found.memories))
        async for entry in self._journal():
            place = place_of(entry)
            if place in found.entries:
                continue
            if isinstance(entry, Mark):
                self._copied_in_mark(entry, needles, ids.get(entry.session_id, set()), sequences, found)
            elif is_echo(entry, needles, references):
                found.take(entry, "a result of memagent's own tools that repeats it")
            elif asks_for(entry, needles):
                found.calls.append(place)
            elif not asked and not entry.erased and any(map(needles.are_said_in, texts_of(entry))):
                found.also_in.append(entry.id)

    def _copied_in_mark(
        self, mark: Mark, needles: Needles, ids: set[str], sequences: dict[str, set[int]], found: _Found
    ) -> None:
        memory_ids = found.memories.keys()
        found.hashes |= {
            str(item["hash"])
            for item in _items(mark.data.get("recalled"))
            if item.get("id") in memory_ids and "hash" in item
        }
        quotes = any(needles.are_in(text) for text in texts_of(mark))
        if mark.what is MarkKind.ERASED:
            return
        if mark.what is MarkKind.SUMMARY:
            if quotes or covers(mark, sequences.get(mark.session_id, set())):
                found.summaries.append(place_of(mark))
        elif is_remembered(mark, memory_ids) or (quotes and not tells_of(mark, ids, memory_ids)):
            found.take(mark, "memagent noted it")
        elif tells_of(mark, ids, memory_ids):
            found.marks.append(place_of(mark))

    async def _reasons(self, needles: Needles, found: _Found) -> list[str]:
        """Memories that stay, but tell of what goes in what is said of why they are as they are."""
        telling: list[str] = []
        for memory in await self._facts():
            if memory.id not in found.memories and memory.reason:
                of = [memory, *await self._versions(memory)]
                if any(needles.are_in(one.reason) for one in of):
                    telling.append(memory.id)
        return telling

    async def _journal(self) -> AsyncIterator[Message | Mark]:
        position = 0
        while entries := await self._stores.journal.since(self._scope, position, limit=BATCH):
            for entry in entries:
                yield entry
            position = entries[-1].position


def _items(value: object) -> Iterable[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _matches(found: _Found) -> list[Match]:
    """In the order of the journal, then the memories that are no message's copy."""
    made = [
        _entry_match(entry, why) for entry, why in sorted(found.entries.values(), key=lambda item: item[0].position)
    ]
    for memory, why in found.memories.values():
        if memory.kind is not MemoryKind.EPISODE:
            made.append(Match(what="memory", id=memory.id, session_id=memory.session_id, text=memory.text, why=why))
    return [match for match in made if match is not None]


def _entry_match(entry: Message | Mark, why: str) -> Match | None:
    if isinstance(entry, Message):
        text = entry.content or "; ".join(texts_of(entry))
        return Match(what="message", id=entry.id, session_id=entry.session_id, text=text, why=why)
    if entry.what is not MarkKind.REMEMBERED:
        return None
    return Match(what="mark", id=entry.id, session_id=entry.session_id, text=str(entry.data.get("text", "")), why=why)


def sorted_places(places: Sequence[Source]) -> dict[str, set[str]]:
    """Entry ids by session."""
    found: dict[str, set[str]] = {}
    for place in places:
        found.setdefault(place.session_id, set()).add(place.entry_id)
    return found
