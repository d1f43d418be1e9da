"""Every model call."""

from __future__ import annotations

import builtins

from sqlalchemy import select, text

from stores.records import LedgerEntry, Scope
from stores.sql.database import Database
from stores.sql.schema import ledger, to_micros

_ADD = text(
    "INSERT INTO ledger (scope, id, session_id, at, payload) VALUES (:scope, :id, :session_id, :at, :payload)"
    " ON CONFLICT (scope, id) DO NOTHING"
)


class SqlLedger:
    """Ledger over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, scope: Scope, entry: LedgerEntry) -> None:
        """An id that is already there is not added again."""
        await self._database.write(
            lambda connection: connection.execute(
                _ADD,
                {
                    "scope": scope,
                    "id": entry.id,
                    "session_id": entry.session_id,
                    "at": to_micros(entry.at),
                    "payload": entry.model_dump_json(),
                },
            )
        )

    async def list(
        self, scope: Scope, *, session_id: str | None = None, limit: int | None = None
    ) -> builtins.list[LedgerEntry]:
        """By the time of the call, then by the order of adding, newest first."""
        query = select(ledger.c.payload).where(ledger.c.scope == scope)
        if session_id is not None:
            query = query.where(ledger.c.session_id == session_id)
        query = query.order_by(ledger.c.at.desc(), ledger.c.number.desc()).limit(limit)
        return await self._database.read(
            lambda connection: [
                LedgerEntry.model_validate_json(payload) for payload in connection.execute(query).scalars()
            ]
        )
