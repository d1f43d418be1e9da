"""Manifests and the texts they refer to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, insert, select, text

from stores.records import Scope
from stores.sql.database import Database, batches
from stores.sql.schema import manifest_texts, manifests

_ADD = insert(manifests)
_LAST = (
    select(manifests.c.payload)
    .where(manifests.c.scope == bindparam("scope"), manifests.c.session_id == bindparam("session_id"))
    .order_by(manifests.c.number.desc())
    .limit(1)
)
_ADD_TEXT = text(
    "INSERT INTO manifest_texts (scope, hash, text) VALUES (:scope, :hash, :text) ON CONFLICT (scope, hash) DO NOTHING"
)
_TEXTS = select(manifest_texts.c.hash, manifest_texts.c.text).where(
    manifest_texts.c.scope == bindparam("scope"), manifest_texts.c.hash.in_(bindparam("hashes", expanding=True))
)


class SqlManifests:
    """Manifests over SQL. Hashes are SHA-256 in hex."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, scope: Scope, session_id: str, exchange_id: str, manifest_json: str) -> None:
        row = {"scope": scope, "session_id": session_id, "exchange_id": exchange_id, "payload": manifest_json}
        await self._database.write(lambda connection: connection.execute(_ADD, row))

    async def last(self, scope: Scope, session_id: str) -> str | None:
        given = {"scope": scope, "session_id": session_id}
        return await self._database.read(lambda connection: connection.execute(_LAST, given).scalar())

    async def put_text(self, scope: Scope, text: str) -> str:
        def work(connection: Connection) -> str:
            digest = hashlib.sha256(text.encode()).hexdigest()
            connection.execute(_ADD_TEXT, {"scope": scope, "hash": digest, "text": text})
            return digest

        return await self._database.write(work)

    async def texts(self, scope: Scope, hashes: Sequence[str]) -> dict[str, str]:
        def work(connection: Connection) -> dict[str, str]:
            found: dict[str, str] = {}
            for some in batches(hashes):
                rows = connection.execute(_TEXTS, {"scope": scope, "hashes": list(some)})
                found |= {row.hash: row.text for row in rows}
            return found

        return await self._database.read(work) if hashes else {}
