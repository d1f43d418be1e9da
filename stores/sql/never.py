"""What a person does not want remembered, over SQL."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, delete, select, text

from stores.records import Scope
from stores.sql.database import Database, Turn, take_turn
from stores.sql.schema import never_patterns, to_micros

_ADD = text(
    "INSERT INTO never_patterns (scope, pattern, at) VALUES (:scope, :pattern, :at)"
    " ON CONFLICT (scope, pattern) DO NOTHING"
)


class SqlNeverList:
    """NeverList over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, scope: Scope, pattern: str, *, at: datetime) -> bool:
        values = {"scope": scope, "pattern": pattern, "at": to_micros(at)}

        def work(connection: Connection) -> bool:
            take_turn(connection, Turn.MEMORIES)  # who writes one now has seen the list, or looks again
            return connection.execute(_ADD, values).rowcount == 1

        return await self._database.write(work)

    async def remove(self, scope: Scope, pattern: str) -> bool:
        def work(connection: Connection) -> bool:
            named = (never_patterns.c.scope == scope, never_patterns.c.pattern == pattern)
            return connection.execute(delete(never_patterns).where(*named)).rowcount == 1

        return await self._database.write(work)

    async def list(self, scope: Scope) -> list[str]:
        return await self._database.read(lambda connection: patterns_of(connection, scope))


def patterns_of(connection: Connection, scope: Scope) -> list[str]:
    """A scope's patterns, oldest first."""
    query = select(never_patterns.c.pattern).where(never_patterns.c.scope == scope).order_by(never_patterns.c.number)
    return list(connection.execute(query).scalars())
