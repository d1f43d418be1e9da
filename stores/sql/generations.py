"""Embedding generations, over SQL."""

from __future__ import annotations

from sqlalchemy import Connection, select, text

from stores.sql.database import Database
from stores.sql.schema import generations

_ADD = text("INSERT INTO generations (name, probe) VALUES (:name, :probe) ON CONFLICT (name) DO NOTHING")


class SqlGenerations:
    """Generations over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self) -> dict[str, bytes]:
        query = select(generations.c.name, generations.c.probe)
        return await self._database.read(
            lambda connection: {row.name: bytes(row.probe) for row in connection.execute(query)}
        )

    async def add(self, name: str, probe: bytes) -> bytes:
        def work(connection: Connection) -> bytes:
            connection.execute(_ADD, {"name": name, "probe": probe})
            kept = select(generations.c.probe).where(generations.c.name == name)
            return bytes(connection.execute(kept).scalar_one())

        return await self._database.write(work)
