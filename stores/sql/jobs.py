"""Background jobs over SQL. A claim is a row lock on PostgreSQL and the one writer's turn on SQLite."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Connection, Row, delete, insert, not_, select, update

from stores.records import Job, Scope
from stores.sql.database import Database, Turn, take_turn
from stores.sql.schema import from_micros, jobs, to_micros

_MICROS = 1_000_000


class SqlJobs:
    """Jobs over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(
        self, scope: Scope, kind: str, key: str, payload: Mapping[str, JsonValue] | None = None, *, at: datetime
    ) -> bool:
        named = (jobs.c.scope == scope, jobs.c.kind == kind, jobs.c.key == key)
        fresh: dict[str, Any] = {
            "payload": json.dumps(payload or {}, ensure_ascii=False),
            "attempts": 0,
            "not_before": to_micros(at),
            "held_until": 0,
            "error": "",
            "gave_up": False,
        }

        def work(connection: Connection) -> bool:
            take_turn(connection, Turn.JOBS)
            known = connection.execute(select(jobs.c.gave_up).where(*named)).first()
            if known is None:
                connection.execute(insert(jobs).values(scope=scope, kind=kind, key=key, **fresh))
            elif known.gave_up:
                connection.execute(update(jobs).where(*named).values(**fresh))
            return known is None or bool(known.gave_up)

        return await self._database.write(work)

    async def claim(
        self, kinds: Sequence[str], *, at: datetime, lease_seconds: float, scope: Scope | None = None
    ) -> Job | None:
        now = to_micros(at)
        due = (
            select(jobs)
            .where(jobs.c.kind.in_(kinds), jobs.c.not_before <= now, jobs.c.held_until <= now, not_(jobs.c.gave_up))
            .order_by(jobs.c.number)
            .limit(1)
        )
        if scope is not None:
            due = due.where(jobs.c.scope == scope)

        def work(connection: Connection) -> Job | None:
            row = connection.execute(due.with_for_update(skip_locked=True)).first()
            if row is None:
                return None
            values = {"attempts": row.attempts + 1, "held_until": now + int(lease_seconds * _MICROS)}
            connection.execute(update(jobs).where(jobs.c.number == row.number).values(**values))
            return _job(row).model_copy(update={"attempts": row.attempts + 1})

        # looked for without the writer's turn first: an empty queue is asked again and again
        if await self._database.read(lambda connection: connection.execute(due).first()) is None:
            return None
        return await self._database.write(work)

    async def renew(self, number: int, *, at: datetime, lease_seconds: float) -> None:
        until = to_micros(at) + int(lease_seconds * _MICROS)
        change = update(jobs).where(jobs.c.number == number).values(held_until=until)
        await self._database.write(lambda connection: _run(connection, change))

    async def done(self, number: int) -> None:
        await self._database.write(lambda connection: _run(connection, delete(jobs).where(jobs.c.number == number)))

    async def failed(self, number: int, error: str, *, retry_at: datetime | None) -> None:
        values: dict[str, Any] = {"error": error, "held_until": 0, "gave_up": retry_at is None}
        if retry_at is not None:
            values["not_before"] = to_micros(retry_at)
        change = update(jobs).where(jobs.c.number == number).values(**values)
        await self._database.write(lambda connection: _run(connection, change))

    async def list(self, scope: Scope, *, kind: str | None = None) -> list[Job]:
        query = select(jobs).where(jobs.c.scope == scope).order_by(jobs.c.number)
        if kind is not None:
            query = query.where(jobs.c.kind == kind)
        return await self._database.read(lambda connection: [_job(row) for row in connection.execute(query)])


def _run(connection: Connection, statement: Any) -> None:
    connection.execute(statement)


def _job(row: Row[*tuple[Any, ...]]) -> Job:
    return Job(
        number=row.number,
        scope=Scope(row.scope),
        kind=row.kind,
        key=row.key,
        payload=json.loads(row.payload),
        attempts=row.attempts,
        not_before=from_micros(row.not_before),
        error=row.error,
        gave_up=bool(row.gave_up),
    )
