"""What a person is told once only, over SQL."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import text

from stores.records import Scope
from stores.sql.database import Database
from stores.sql.schema import to_micros

_ADD = text("INSERT INTO told (scope, key, at) VALUES (:scope, :key, :at) ON CONFLICT (scope, key) DO NOTHING")


class SqlTold:
    """Told over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def first(self, scope: Scope, key: str, *, at: datetime) -> bool:
        values = {"scope": scope, "key": key, "at": to_micros(at)}
        return await self._database.write(lambda connection: connection.execute(_ADD, values).rowcount == 1)
