"""Memories by who said them, when, and after what."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, select, text

from stores.base import TalkPlace
from stores.records import MemoryState, Scope
from stores.sql.database import Database, batches
from stores.sql.schema import memories, to_micros

_NEXT_TO = (
    "(SELECT other.id FROM memories AS other WHERE other.scope = memories.scope"
    " AND other.session_id = memories.session_id AND other.kind = 'episode' AND other.state = 'active'"
    " AND other.number {side} memories.number ORDER BY other.number {order} LIMIT 1)"
)
_PLACES = text(
    "SELECT id, session_id, speaker,"
    f" CASE kind WHEN 'episode' THEN {_NEXT_TO.format(side='<', order='DESC')} END AS before,"
    f" CASE kind WHEN 'episode' THEN {_NEXT_TO.format(side='>', order='ASC')} END AS after"
    " FROM memories WHERE scope = :scope AND state = 'active' AND id IN :ids"
).bindparams(bindparam("ids", expanding=True))

# Leaps from one name to the next: SELECT DISTINCT would read the whole index.
_SPEAKERS = text(
    "WITH RECURSIVE named(name) AS ("
    " SELECT min(speaker) FROM memories WHERE scope = :scope"
    " UNION ALL"
    " SELECT (SELECT min(speaker) FROM memories WHERE scope = :scope AND speaker > named.name)"
    " FROM named WHERE named.name IS NOT NULL"
    ") SELECT name FROM named WHERE name IS NOT NULL LIMIT :limit"
)


def _places(connection: Connection, scope: Scope, ids: Sequence[str]) -> list[TalkPlace]:
    return [
        TalkPlace(*row)
        for some in batches(ids)
        for row in connection.execute(_PLACES, {"scope": scope, "ids": list(some)}).all()
    ]


class SqlTalk:
    """Talk over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def places(self, scope: Scope, ids: Sequence[str], *, beside: Collection[str] = ()) -> list[TalkPlace]:
        def work(connection: Connection) -> list[TalkPlace]:
            places = _places(connection, scope, ids)
            leading = (place for place in places if place.memory_id in beside)
            near = {other for place in leading for other in (place.before, place.after) if other}
            return places + _places(connection, scope, sorted(near - {place.memory_id for place in places}))

        return await self._database.read(work) if ids else []

    async def speakers(self, scope: Scope, *, limit: int = 200) -> list[str]:
        def work(connection: Connection) -> list[str]:
            return list(connection.execute(_SPEAKERS, {"scope": scope, "limit": limit}).scalars())

        return await self._database.read(work)

    async def said_between(self, scope: Scope, since: datetime, until: datetime, *, limit: int) -> list[str]:
        query = (
            select(memories.c.id)
            .where(
                memories.c.scope == scope,
                memories.c.said_at >= to_micros(since),
                memories.c.said_at < to_micros(until),
                memories.c.state == MemoryState.ACTIVE.value,
            )
            .order_by(memories.c.said_at.desc(), memories.c.number.desc())
            .limit(limit)
        )
        found = await self._database.read(lambda connection: list(connection.execute(query).scalars()))
        return found[::-1]
