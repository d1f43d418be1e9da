"""Memories by what they hold: their words, their subject, their sources."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, bindparam, literal_column, select

from stores.records import Memory, MemoryKind, MemoryState, Pin, Scope, Source
from stores.sameness import words_key
from stores.sql.database import Database, batches
from stores.sql.schema import memories, memory_sources, memory_versions

# Literals, as the partial indexes have them: SQLite uses those only where it can prove their condition, which it
# cannot with parameters.
NO_EPISODE = memories.c.kind != literal_column("'episode'")
_IN_PROFILE = memories.c.pin != literal_column("'none'")
_OF_ENTRIES = (
    select(memories.c.number, memories.c.said_at, memories.c.payload, memory_sources.c.session_id)
    .add_columns(memory_sources.c.entry_id)
    .join(memory_sources, memory_sources.c.memory_number == memories.c.number)
    .where(
        memory_sources.c.scope == bindparam("scope"),
        memory_sources.c.entry_id.in_(bindparam("entry_ids", expanding=True)),
    )
)


class SqlMemoryFinder:
    """MemoryFinder over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def with_text(self, scope: Scope, text: str, *, kind: MemoryKind = MemoryKind.FACT) -> list[Memory]:
        key = words_key(text)
        if not key:
            return []
        same = memories.c.text_key == key
        kinds = memories.c.kind == kind.value
        return await self._found(scope, same, kinds if kind is MemoryKind.EPISODE else kinds & NO_EPISODE)

    async def about(self, scope: Scope, subject: str, attribute: str | None = None) -> list[Memory]:
        subject_key, attribute_key = words_key(subject), words_key(attribute or "")
        if not subject_key or (attribute is not None and not attribute_key):
            return []
        conditions = [memories.c.subject_key == subject_key, NO_EPISODE, memories.c.kind == MemoryKind.FACT.value]
        if attribute is not None:
            conditions.append(memories.c.attribute_key == attribute_key)
        return await self._found(scope, *conditions)

    async def pinned(self, scope: Scope, pin: Pin = Pin.PINNED) -> list[Memory]:
        return await self._found(
            scope,
            memories.c.pin == pin.value,
            _IN_PROFILE,
            memories.c.state == MemoryState.ACTIVE.value,
        )

    async def from_entries(self, scope: Scope, sources: Sequence[Source]) -> list[Memory]:
        wanted = {(source.session_id, source.entry_id) for source in sources}

        def work(connection: Connection) -> list[Memory]:
            found: dict[tuple[int, int], str] = {}
            for some in batches(sorted({entry_id for _, entry_id in wanted})):
                for row in connection.execute(_OF_ENTRIES, {"scope": scope, "entry_ids": list(some)}):
                    if (row.session_id, row.entry_id) in wanted:
                        found[row.said_at, row.number] = row.payload
            return [Memory.model_validate_json(found[place]) for place in sorted(found)]

        return await self._database.read(work) if wanted else []

    async def versions(self, scope: Scope, memory_id: str) -> list[Memory]:
        query = (
            select(memory_versions.c.payload)
            .join(memories, memories.c.number == memory_versions.c.memory_number)
            .where(memories.c.scope == scope, memories.c.id == memory_id)
            .order_by(memory_versions.c.version)
        )
        return await self._database.read(
            lambda connection: [Memory.model_validate_json(payload) for payload in connection.execute(query).scalars()]
        )

    async def _found(self, scope: Scope, *conditions: ColumnElement[bool]) -> list[Memory]:
        # sorted here: asked for an order, SQLite walks the whole scope by time instead of using the narrow index
        query = select(memories.c.said_at, memories.c.number, memories.c.payload).where(
            memories.c.scope == scope, *conditions
        )

        def work(connection: Connection) -> list[Memory]:
            rows = sorted(connection.execute(query), key=lambda row: (row.said_at, row.number))
            return [Memory.model_validate_json(row.payload) for row in rows]

        return await self._database.read(work)
