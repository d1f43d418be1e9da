"""Every model call."""

from __future__ import annotations

import builtins
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select, text

from stores.records import LedgerEntry, Scope
from stores.sql.database import Database
from stores.sql.schema import ledger, to_micros

_ADD = text(
    "INSERT INTO ledger (scope, id, session_id, at, payload, role, model, endpoint, tokens, is_sample)"
    " VALUES (:scope, :id, :session_id, :at, :payload, :role, :model, :endpoint, :tokens, :is_sample)"
    " ON CONFLICT (scope, id) DO NOTHING"
)


class SqlLedger:
    """Ledger over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, scope: Scope, entry: LedgerEntry) -> None:
        """An id that is already there is not added again."""
        await self._database.write(lambda connection: connection.execute(_ADD, _row(scope, entry)))

    async def list(
        self, scope: Scope, *, session_id: str | None = None, limit: int | None = None
    ) -> builtins.list[LedgerEntry]:
        """By the time of the call, then by the order of adding, newest first."""
        query = select(ledger.c.payload).where(ledger.c.scope == scope)
        if session_id is not None:
            query = query.where(ledger.c.session_id == session_id)
        return await self._newest(query, limit)

    async def recent(self, scope: Scope, *, model: str, endpoint: str, limit: int = 200) -> builtins.list[LedgerEntry]:
        query = select(ledger.c.payload).where(
            ledger.c.scope == scope,
            ledger.c.model == model,
            ledger.c.endpoint == endpoint,
            ledger.c.is_sample.is_(True),
        )
        return await self._newest(query, limit)

    async def tokens_since(self, scope: Scope, *, role: str, since: datetime) -> int:
        query = select(func.coalesce(func.sum(ledger.c.tokens), 0)).where(
            ledger.c.scope == scope, ledger.c.role == role, ledger.c.at >= to_micros(since)
        )
        return await self._database.read(lambda connection: int(connection.execute(query).scalar_one()))

    async def _newest(self, query: Select[Any], limit: int | None) -> builtins.list[LedgerEntry]:
        newest = query.order_by(ledger.c.at.desc(), ledger.c.number.desc()).limit(limit)
        return await self._database.read(
            lambda connection: [
                LedgerEntry.model_validate_json(payload) for payload in connection.execute(newest).scalars()
            ]
        )


def _row(scope: Scope, entry: LedgerEntry) -> dict[str, Any]:
    return {
        "scope": scope,
        "id": entry.id,
        "session_id": entry.session_id,
        "at": to_micros(entry.at),
        "payload": entry.model_dump_json(),
        "role": entry.role,
        "model": entry.model,
        "endpoint": entry.endpoint,
        "tokens": entry.prompt_tokens + entry.completion_tokens,
        "is_sample": not entry.estimated and entry.text_only and entry.raw_tokens > 0 and entry.prompt_tokens > 0,
    }
