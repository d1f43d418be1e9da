"""Where a memory comes from and how it became what it is."""

from __future__ import annotations

from dataclasses import dataclass

from memagent.agent.rooms import Rooms
from memagent.errors import NotFoundError
from memagent.sanitize import clean_text
from stores.records import Mark, MarkKind, Memory, Message


@dataclass(frozen=True, slots=True)
class Origin:
    """An entry that a memory came from. ``role`` is who speaks, "kept" for a text that was to be remembered."""

    entry_id: str
    session_id: str
    said_at: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class MemoryStory:
    """A memory with its sources (oldest first), its earlier versions (oldest first), the one that took its
    place and those whose place it took."""

    memory: Memory
    origins: tuple[Origin, ...]
    before: tuple[Memory, ...]
    superseded_by: Memory | None
    supersedes: tuple[Memory, ...]


async def story_of(rooms: Rooms, memory_id: str) -> MemoryStory:
    """The story of one memory of this user. Raises NotFoundError."""
    scope, stores = rooms.scope, rooms.stores
    found = await stores.memories.get(scope, [clean_text(memory_id)])
    if not found:
        raise NotFoundError(f"there is no memory {memory_id!r}; `memagent memory list` shows the ids")
    [memory] = found
    sources = set(memory.sources)
    entries = [
        entry
        for entry in await stores.journal.get(scope, list(dict.fromkeys(memory.source_ids)))
        if any(source.entry_id == entry.id and source.session_id == entry.session_id for source in sources)
    ]
    later = await stores.memories.get(scope, [memory.superseded_by]) if memory.superseded_by else []
    alike = await stores.finder.about(scope, memory.subject) if memory.subject else []
    return MemoryStory(
        memory=memory,
        origins=tuple(_origin(entry) for entry in sorted(entries, key=lambda entry: entry.position)),
        before=tuple(await stores.finder.versions(scope, memory.id)),
        superseded_by=later[0] if later else None,
        supersedes=tuple(other for other in alike if other.superseded_by == memory.id),
    )


def _origin(entry: Message | Mark) -> Origin:
    if isinstance(entry, Message):
        role, text = entry.role.value, entry.content
    else:
        role, text = "kept", str(entry.data.get("text", "")) if entry.what is MarkKind.REMEMBERED else ""
    return Origin(entry.id, entry.session_id, entry.at.isoformat(), role, text)
