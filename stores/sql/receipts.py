"""Receipts of erasures, over SQL."""

from __future__ import annotations

import builtins
from datetime import datetime

from sqlalchemy import select, text

from stores.records import Scope
from stores.sql.database import Database
from stores.sql.schema import receipts, to_micros

_PUT = text(
    "INSERT INTO receipts (scope, id, at, payload) VALUES (:scope, :id, :at, :payload)"
    " ON CONFLICT (scope, id) DO UPDATE SET at = excluded.at, payload = excluded.payload"
)


class SqlReceipts:
    """Receipts over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, scope: Scope, receipt_id: str, payload: str, *, at: datetime) -> None:
        row = {"scope": scope, "id": receipt_id, "at": to_micros(at), "payload": payload}
        await self._database.write(lambda connection: connection.execute(_PUT, row))

    async def list(self, scope: Scope) -> builtins.list[str]:
        query = (
            select(receipts.c.payload)
            .where(receipts.c.scope == scope)
            .order_by(receipts.c.at.desc(), receipts.c.number.desc())
        )
        return await self._database.read(lambda connection: list(connection.execute(query).scalars()))
