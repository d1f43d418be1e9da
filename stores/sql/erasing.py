"""Taking things away for good. Rows go in transactions; `SqlEraser.purge` then makes the files anew, since
engines leave the bytes of deleted rows where they were."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, and_, bindparam, delete, insert, select, text, update

from stores.errors import StoreBusyError
from stores.records import JournalEntry, Mark, MemoryState, Message, Scope
from stores.sql.database import Database, Turn, batches, take_turn
from stores.sql.history import passage_terms_of, remove_passages
from stores.sql.journal import entry_of, payload_of, title_of
from stores.sql.lexical import Terms, terms_of
from stores.sql.schema import (
    entries,
    jobs,
    ledger,
    manifest_texts,
    manifests,
    memories,
    memory_sources,
    memory_versions,
    metadata,
    never_patterns,
    outbox,
    receipts,
    scopes,
    sessions,
)

_BATCH = 500
_STORED = select(
    entries.c.id, entries.c.kind, entries.c.what, entries.c.sequence, entries.c.position, entries.c.payload
).where(
    entries.c.scope == bindparam("scope"),
    entries.c.session_id == bindparam("session_id"),
    entries.c.id.in_(bindparam("ids", expanding=True)),
)
_OVERWRITE = update(entries).where(entries.c.position == bindparam("at_position")).values(payload=bindparam("content"))
_MESSAGES = (
    select(entries.c.id, entries.c.kind, entries.c.sequence, entries.c.position, entries.c.payload)
    .where(
        entries.c.scope == bindparam("scope"),
        entries.c.session_id == bindparam("session_id"),
        entries.c.kind == "message",
        entries.c.sequence > bindparam("after"),
    )
    .order_by(entries.c.sequence)
    .limit(_BATCH)
)
_SESSION = and_(sessions.c.scope == bindparam("of"), sessions.c.id == bindparam("session_id"))
_RENAME = update(sessions).where(_SESSION).values(title=bindparam("new_title"))
_COUNT_LESS = update(sessions).where(_SESSION).values(message_count=sessions.c.message_count - bindparam("less"))
_MEMORIES = select(memories.c.number, memories.c.scope, memories.c.id, memories.c.state).where(
    memories.c.scope.in_(select(scopes.c.name)),  # the index is by scope
    memories.c.id.in_(bindparam("ids", expanding=True)),
)
_REMOVE_TEXTS = delete(manifest_texts).where(
    manifest_texts.c.scope == bindparam("of"), manifest_texts.c.hash.in_(bindparam("hashes", expanding=True))
)
_DETAILS = (
    update(manifests)
    .where(
        manifests.c.scope == bindparam("of"),
        manifests.c.session_id == bindparam("session"),
        manifests.c.session_number == bindparam("session_count"),
    )
    .values(details=bindparam("content"))
)
_TEXT_COLUMNS = (
    entries.c.payload,
    sessions.c.title,
    memories.c.payload,
    memory_versions.c.payload,
    manifest_texts.c.text,
    manifests.c.payload,
    manifests.c.details,
    jobs.c.payload,
    jobs.c.error,
    never_patterns.c.pattern,
    ledger.c.payload,
    receipts.c.payload,
)
"""Where texts stand."""
_INDEXES = ("memory_terms", "passage_terms")


class SqlEraser:
    """Eraser over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._terms = terms_of(database)
        self._passages = passage_terms_of(database)

    async def overwrite(self, scope: Scope, entries: Sequence[JournalEntry]) -> int:
        def work(connection: Connection) -> int:
            take_turn(connection, Turn.JOURNAL)
            changed = [
                pair
                for session_id, some in _by_session(entries).items()
                for pair in _overwrite(connection, scope, session_id, some)
            ]
            messages = [(old, new) for old, new in changed if isinstance(old, Message) and isinstance(new, Message)]
            places = [(old.session_id, old.id) for old, _ in messages]
            remove_passages(connection, self._passages, scope, places)
            for session_id in {session_id for session_id, _ in places}:
                gone = [old for old, new in messages if new.erased and not old.erased and old.session_id == session_id]
                _amend_session(connection, scope, session_id, len(gone))
            return len(changed)

        return await self._database.write(work) if entries else 0

    async def remove_memories(self, scope: Scope, ids: Collection[str], *, history_of: Collection[str] = ()) -> int:
        def work(connection: Connection) -> int:
            take_turn(connection, Turn.MEMORIES)
            for some in batches(sorted(set(history_of))):
                numbers = select(memories.c.number).where(memories.c.scope == scope, memories.c.id.in_(list(some)))
                connection.execute(delete(memory_versions).where(memory_versions.c.memory_number.in_(numbers)))
            return sum(_remove_memories(connection, self._terms, scope, some) for some in batches(sorted(set(ids))))

        return await self._database.write(work) if ids or history_of else 0

    async def remove_texts(
        self, scope: Scope, hashes: Collection[str], *, details: Mapping[tuple[str, int], str] | None = None
    ) -> int:
        rows = [
            {"of": scope, "session": session_id, "session_count": number, "content": content}
            for (session_id, number), content in (details or {}).items()
        ]

        def work(connection: Connection) -> int:
            take_turn(connection, Turn.MANIFESTS)
            if rows:
                connection.execute(_DETAILS, rows)
            return sum(
                connection.execute(_REMOVE_TEXTS, {"of": scope, "hashes": list(some)}).rowcount
                for some in batches(sorted(set(hashes)))
            )

        return await self._database.write(work)

    async def hashes_of(self, scope: Scope, holds: Callable[[str], bool]) -> list[str]:
        query = select(manifest_texts.c.hash, manifest_texts.c.text).where(manifest_texts.c.scope == scope)
        return await self._database.read(
            lambda connection: [digest for digest, kept in connection.execute(query) if holds(kept)]
        )

    async def anywhere(self, holds: Callable[[str], bool]) -> bool:
        def work(connection: Connection) -> bool:
            for column in _TEXT_COLUMNS:
                rows = connection.execution_options(yield_per=_BATCH).execute(select(column).where(column.is_not(None)))
                if any(holds(value) for value in rows.scalars()):
                    return True
            return False

        return await self._database.read(work)

    async def purge(self) -> None:
        if self._database.dialect == "sqlite":
            await self._database.write(_optimize)
            await self._database.alone(_vacuum_sqlite)
        else:
            await self._database.alone(_vacuum_postgres)


def _by_session(given: Sequence[JournalEntry]) -> dict[str, dict[str, JournalEntry]]:
    found: dict[str, dict[str, JournalEntry]] = {}
    for entry in given:
        found.setdefault(entry.session_id, {})[entry.id] = entry
    return found


def _overwrite(
    connection: Connection, scope: Scope, session_id: str, given: Mapping[str, JournalEntry]
) -> list[tuple[JournalEntry, JournalEntry]]:
    """The entries that were changed, as they were and as they are."""
    changed: list[tuple[JournalEntry, JournalEntry]] = []
    rows: list[dict[str, Any]] = []
    for some in batches(list(given)):
        place = {"scope": scope, "session_id": session_id, "ids": list(some)}
        for row in connection.execute(_STORED, place):
            new = given[row.id]
            what = new.what.value if isinstance(new, Mark) else None
            content = payload_of(new)
            if (new.kind, what) == (row.kind, row.what) and content != row.payload:
                changed.append((entry_of(row), new))
                rows.append({"at_position": row.position, "content": content})
    if rows:
        connection.execute(_OVERWRITE, rows)
    return changed


def _amend_session(connection: Connection, scope: Scope, session_id: str, less: int) -> None:
    place = {"of": scope, "session_id": session_id}
    connection.execute(_COUNT_LESS, {**place, "less": less})
    title, after = "", 0
    while not title:
        given = {"scope": scope, "session_id": session_id, "after": after}
        said = [entry_of(row) for row in connection.execute(_MESSAGES, given)]
        if not said:
            break
        title, after = title_of([entry for entry in said if not entry.erased]), said[-1].sequence
    connection.execute(_RENAME, {**place, "new_title": title})


def _remove_memories(connection: Connection, terms: Terms, scope: Scope, ids: Sequence[str]) -> int:
    rows = connection.execute(_MEMORIES, {"ids": list(ids)}).all()
    ours = [row for row in rows if row.scope == scope]
    numbers = [row.number for row in ours]
    active = [row.number for row in ours if row.state == MemoryState.ACTIVE.value]
    for number in active:
        terms.remove(connection, number)
    for table in (memory_sources, memory_versions):
        connection.execute(delete(table).where(table.c.memory_number.in_(numbers)))
    connection.execute(delete(outbox).where(outbox.c.scope == scope, outbox.c.memory_id.in_(list(ids))))
    connection.execute(delete(memories).where(memories.c.number.in_(numbers)))
    less = scopes.c.active_count - len(active)
    connection.execute(update(scopes).where(scopes.c.name == scope).values(active_count=less))
    wanted = [*((scope, id_) for id_ in ids), *((row.scope, row.id) for row in rows if row.scope != scope)]
    tasks = [{"scope": of, "memory_id": id_, "done": False} for of, id_ in wanted]
    connection.execute(insert(outbox), tasks)
    return len(ours)


def _optimize(connection: Connection) -> None:
    for index in _INDEXES:  # merges all there is: what was removed is then in none of its pages
        connection.exec_driver_sql(f"INSERT INTO {index} ({index}) VALUES ('optimize')")


def _vacuum_sqlite(engine: Engine) -> None:
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute("VACUUM")
        # The old pages stand in the file until the log is written back over them.
        busy, *_ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.close()
    if busy:
        raise StoreBusyError("another process reads an older state of the database for too long; try again")


def _vacuum_postgres(engine: Engine) -> None:
    names = [*metadata.tables, *_INDEXES]
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for name in names:
            connection.execute(text(f"VACUUM FULL {name}"))
