"""Manifests and the texts they refer to."""

from __future__ import annotations

import builtins
import hashlib
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, func, insert, select, text, update

from stores.base import KeptManifest
from stores.records import Scope
from stores.sql.database import Database, Turn, batches, take_turn
from stores.sql.schema import from_micros, manifest_texts, manifests, to_micros

_ADD = insert(manifests)
_NEWEST = select(func.coalesce(func.max(manifests.c.session_number), 0)).where(
    manifests.c.scope == bindparam("scope"), manifests.c.session_id == bindparam("session_id")
)
_ADD_TEXT = text(
    "INSERT INTO manifest_texts (scope, hash, text, last_at) VALUES (:scope, :hash, :text, :at)"
    " ON CONFLICT (scope, hash) DO UPDATE SET last_at ="
    " CASE WHEN manifest_texts.last_at IS NULL OR excluded.last_at IS NULL THEN NULL"
    " WHEN manifest_texts.last_at > excluded.last_at THEN manifest_texts.last_at ELSE excluded.last_at END"
)
_TEXTS = select(manifest_texts.c.hash, manifest_texts.c.text).where(
    manifest_texts.c.scope == bindparam("scope"), manifest_texts.c.hash.in_(bindparam("hashes", expanding=True))
)


class SqlManifests:
    """Manifests over SQL. Hashes are SHA-256 in hex."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(
        self,
        scope: Scope,
        session_id: str,
        exchange_id: str,
        figures: str,
        *,
        details: str,
        at: datetime,
        texts: Sequence[str] = (),
    ) -> int:
        micros = to_micros(at)
        row = {"scope": scope, "session_id": session_id, "exchange_id": exchange_id}
        row |= {"payload": figures, "details": details, "at": micros}

        def work(connection: Connection) -> int:
            take_turn(connection, Turn.MANIFESTS)
            for one in texts:
                _put_text(connection, scope, one, micros)
            number = 1 + int(connection.execute(_NEWEST, {"scope": scope, "session_id": session_id}).scalar_one())
            connection.execute(_ADD, {**row, "session_number": number})
            return number

        return await self._database.write(work)

    async def list(
        self, scope: Scope, session_id: str, *, number: int | None = None, limit: int | None = None
    ) -> builtins.list[KeptManifest]:
        query = select(manifests).where(manifests.c.scope == scope, manifests.c.session_id == session_id)
        if number is not None:
            query = query.where(manifests.c.session_number == number)
        query = query.order_by(manifests.c.session_number.desc()).limit(limit)

        def work(connection: Connection) -> builtins.list[KeptManifest]:
            return [
                KeptManifest(row.session_number, row.exchange_id, from_micros(row.at), row.payload, row.details)
                for row in connection.execute(query)
            ]

        return await self._database.read(work)

    async def put_text(self, scope: Scope, text: str) -> str:
        return await self._database.write(lambda connection: _put_text(connection, scope, text, None))

    async def texts(self, scope: Scope, hashes: Sequence[str]) -> dict[str, str]:
        def work(connection: Connection) -> dict[str, str]:
            found: dict[str, str] = {}
            for some in batches(hashes):
                rows = connection.execute(_TEXTS, {"scope": scope, "hashes": [*some]})
                found |= {row.hash: row.text for row in rows}
            return found

        return await self._database.read(work) if hashes else {}

    async def expire(self, scope: Scope, *, before: datetime) -> int:
        micros = to_micros(before)
        old = update(manifests).where(
            manifests.c.scope == scope, manifests.c.details.is_not(None), manifests.c.at < micros
        )
        unused = delete(manifest_texts).where(
            manifest_texts.c.scope == scope, manifest_texts.c.last_at.is_not(None), manifest_texts.c.last_at < micros
        )

        def work(connection: Connection) -> int:
            connection.execute(unused)
            return connection.execute(old.values(details=None)).rowcount

        return await self._database.write(work)


def _put_text(connection: Connection, scope: Scope, text: str, at: int | None) -> str:
    digest = hashlib.sha256(text.encode()).hexdigest()
    connection.execute(_ADD_TEXT, {"scope": scope, "hash": digest, "text": text, "at": at})
    return digest
