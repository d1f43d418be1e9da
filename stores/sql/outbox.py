"""Which memories' vectors have still to reach the vector index, and the write epoch."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, literal, not_, select, update

from stores.errors import StoreError
from stores.records import IndexTask, MemoryState, Scope
from stores.sql.database import Database, Turn, batches, take_turn
from stores.sql.schema import memories, outbox, scopes

KEPT_NUMBERS = 2_000
"""Done tasks, with their vectors, are kept for so many numbers."""

_OPEN = not_(outbox.c.done)
_PENDING = select(outbox).where(_OPEN).order_by(outbox.c.number)
_FIRST_OPEN = select(func.min(outbox.c.number)).where(_OPEN)
_LAST = select(func.max(outbox.c.number))
_EMBED = (
    update(outbox)
    .where(outbox.c.number == bindparam("at_number"))
    .values(generation=bindparam("by"), chunks=bindparam("how_many"), vectors=bindparam("bytes"))
)
_FINISH = update(outbox).where(outbox.c.number.in_(bindparam("numbers", expanding=True))).values(done=True)
_OLD = (outbox.c.done, outbox.c.number < bindparam("before"))
# Grouped in Python: SQLite would walk the whole table by scope rather than its old end by number.
_DROPPED = select(outbox.c.scope, outbox.c.number).where(*_OLD).order_by(outbox.c.number)
_DROP = delete(outbox).where(*_OLD)
_NOTE_DROPPED = update(scopes).where(scopes.c.name == bindparam("of")).values(dropped_number=bindparam("last"))
_DROPPED_NUMBER = select(scopes.c.dropped_number).where(scopes.c.name == bindparam("scope"))
_NEWER = (
    select(outbox)
    .where(outbox.c.scope == bindparam("scope"), outbox.c.number > bindparam("after"))
    .order_by(outbox.c.number)
)
_REQUEUE = (
    insert(outbox)
    .from_select(
        ["scope", "memory_id", "done"],
        select(memories.c.scope, memories.c.id, literal(False))
        .where(memories.c.scope == bindparam("of"), memories.c.state == MemoryState.ACTIVE.value)
        .order_by(memories.c.number),
    )
    .returning(outbox.c.number)
)


class SqlOutbox:
    """Outbox over SQL. Done tasks more than 2,000 numbers old are dropped whole, not only their vectors."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def pending(self, *, limit: int = 256, unembedded_only: bool = False) -> list[IndexTask]:
        query = _PENDING.where(outbox.c.chunks.is_(None)) if unembedded_only else _PENDING
        return await self._database.read(
            lambda connection: [_task(row) for row in connection.execute(query.limit(max(limit, 0)))]
        )

    async def embedded(self, generation: str, vectors: Mapping[int, Sequence[bytes]]) -> None:
        rows = [
            {"at_number": number, "by": generation, "how_many": len(chunks), "bytes": _joined(chunks)}
            for number, chunks in vectors.items()
        ]
        if rows:
            await self._database.write(lambda connection: _execute(connection, rows))

    async def done(self, numbers: Sequence[int]) -> None:
        def work(connection: Connection) -> None:
            for some in batches(numbers):
                connection.execute(_FINISH, {"numbers": list(some)})
            before = (connection.execute(_LAST).scalar() or 0) - KEPT_NUMBERS
            last = {row.scope: row.number for row in connection.execute(_DROPPED, {"before": before})}
            for scope, number in last.items():
                connection.execute(_NOTE_DROPPED, {"of": scope, "last": number})
            connection.execute(_DROP, {"before": before})

        if numbers:
            await self._database.write(work)

    async def newer(self, scope: Scope, number: int | None = None) -> list[IndexTask] | None:
        def work(connection: Connection) -> list[IndexTask] | None:
            if number is None:
                rows = connection.execute(_NEWER, {"scope": scope, "after": _epoch(connection)})
                return [_task(row) for row in rows]
            if (connection.execute(_DROPPED_NUMBER, {"scope": scope}).scalar() or 0) > number:
                return None
            return [_task(row) for row in connection.execute(_NEWER, {"scope": scope, "after": number})]

        return await self._database.read(work)

    async def epoch(self) -> int:
        return await self._database.read(_epoch)

    async def open_count(self, scope: Scope | None = None, *, memory_ids: Collection[str] | None = None) -> int:
        query = select(func.count()).select_from(outbox).where(_OPEN)
        if scope is not None:
            query = query.where(outbox.c.scope == scope)
        if memory_ids is None:
            return await self._database.read(lambda connection: connection.execute(query).scalar_one())
        parts = [query.where(outbox.c.memory_id.in_(list(some))) for some in batches(sorted(set(memory_ids)))]
        return await self._database.read(
            lambda connection: sum(connection.execute(part).scalar_one() for part in parts)
        )

    async def requeue(self, scope: Scope | None = None) -> int:
        def work(connection: Connection) -> int:
            take_turn(connection, Turn.MEMORIES)
            wanted = connection.execute(select(scopes.c.name)).scalars().all() if scope is None else [scope]
            return sum(len(connection.execute(_REQUEUE, {"of": name}).all()) for name in wanted)

        return await self._database.write(work)


def _epoch(connection: Connection) -> int:
    first: int | None = connection.execute(_FIRST_OPEN).scalar()
    if first is not None:
        return first - 1
    return connection.execute(_LAST).scalar() or 0


def _execute(connection: Connection, rows: list[dict[str, Any]]) -> None:
    connection.execute(_EMBED, rows)


def _joined(chunks: Sequence[bytes]) -> bytes:
    if len({len(chunk) for chunk in chunks}) > 1:
        raise StoreError("the vectors of one memory must have one length; embed it anew")
    return b"".join(chunks)


def _task(row: Row[*tuple[Any, ...]]) -> IndexTask:
    vectors: tuple[bytes, ...] | None = None
    if row.chunks is not None:
        size = len(row.vectors) // row.chunks if row.chunks else 0
        vectors = tuple(row.vectors[index * size : (index + 1) * size] for index in range(row.chunks))
    return IndexTask(
        number=row.number,
        scope=Scope(row.scope),
        memory_id=row.memory_id,
        generation=row.generation,
        vectors=vectors,
        done=bool(row.done),
    )
