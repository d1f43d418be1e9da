"""Comparing the lexical indexes with what they are made of, and setting them right."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, not_, select, text, update
from sqlalchemy.exc import DatabaseError

from stores.indexes import IndexState
from stores.records import Memory, MemoryState, Scope
from stores.sql.database import Database, Turn, batches, take_turn
from stores.sql.history import passage_terms_of
from stores.sql.lexical import index_texts, terms_of
from stores.sql.schema import memories, outbox, passages, scopes

_ACTIVE = memories.c.state == MemoryState.ACTIVE.value
_SCOPE = select(scopes.c.number, scopes.c.active_count).where(scopes.c.name == bindparam("scope"))


class SqlUpkeep:
    """Upkeep over SQL. Which rows an index has: on SQLite FTS5's own table of sizes tells."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._terms = terms_of(database)
        self._passages = passage_terms_of(database)
        sqlite = database.dialect == "sqlite"
        self._checks = sqlite
        self._memory_rows = "SELECT id FROM memory_terms_docsize" if sqlite else "SELECT number FROM memory_terms"
        self._passage_rows = "SELECT id FROM passage_terms_docsize" if sqlite else "SELECT number FROM passage_terms"

    async def memory_words(self, scope: Scope) -> IndexState:
        def work(connection: Connection) -> IndexState:
            wanted = _count(connection, select(func.count()).select_from(memories).where(_of(scope), _ACTIVE))
            missing = len(self._missing_memories(connection, scope))
            return IndexState(wanted, missing, len(self._extra_memories(connection)))

        state = await self._database.read(work)
        return state._replace(broken=await self._is_broken("memory_terms"))

    async def repair_memory_words(self, scope: Scope) -> None:
        broken = await self._is_broken("memory_terms")

        def work(connection: Connection) -> None:
            take_turn(connection, Turn.MEMORIES)
            if broken:
                connection.exec_driver_sql("INSERT INTO memory_terms (memory_terms) VALUES ('rebuild')")
            for number in self._extra_memories(connection):
                self._terms.remove(connection, number)
            row = connection.execute(_SCOPE, {"scope": scope}).first()
            for number in self._missing_memories(connection, scope) if row is not None else ():
                payload = connection.execute(select(memories.c.payload).where(memories.c.number == number)).scalar_one()
                content = Memory.model_validate_json(payload).text
                index_texts(self._terms, connection, row.number, [(number, content)])  # pyright: ignore[reportOptionalMemberAccess]
            active = select(func.count()).select_from(memories).where(_of(scope), _ACTIVE).scalar_subquery()
            connection.execute(update(scopes).where(scopes.c.name == scope).values(active_count=active))

        await self._database.write(work)

    async def history_words(self, scope: Scope) -> IndexState:
        def work(connection: Connection) -> IndexState:
            row = connection.execute(_SCOPE, {"scope": scope}).first()
            if row is None:
                return IndexState(0, 0, 0)
            mine = "FROM passages WHERE scope_number = :scope_number"
            given = {"scope_number": row.number}
            wanted = connection.execute(text(f"SELECT count(*) {mine}"), given).scalar_one()
            lacking = text(f"SELECT count(*) {mine} AND number NOT IN ({self._passage_rows})")
            missing = connection.execute(lacking, given).scalar_one()
            extra = text(f"SELECT count(*) FROM ({self._passage_rows} EXCEPT SELECT number FROM passages) AS extra")
            return IndexState(int(wanted), int(missing), int(connection.execute(extra).scalar_one()))

        state = await self._database.read(work)
        return state._replace(broken=await self._is_broken("passage_terms"))

    async def with_passages(self, scope: Scope, places: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        sessions = sorted({session_id for session_id, _ in places})

        def work(connection: Connection) -> set[tuple[str, str]]:
            found: set[tuple[str, str]] = set()
            for session_id in sessions:
                ids = [entry_id for of, entry_id in places if of == session_id]
                query = select(passages.c.entry_id).join(scopes, scopes.c.number == passages.c.scope_number)
                query = query.where(scopes.c.name == scope, passages.c.session_id == session_id)
                for some in batches(ids):
                    rows = connection.execute(query.where(passages.c.entry_id.in_(list(some)))).scalars()
                    found |= {(session_id, entry_id) for entry_id in rows}
            return found

        return await self._database.read(work)

    async def forget_history_words(self, scope: Scope) -> None:
        all_scopes = await self._is_broken("passage_terms")

        def work(connection: Connection) -> None:
            take_turn(connection, Turn.HISTORY)
            whose = scopes.c.name != "" if all_scopes else scopes.c.name == scope
            numbers = list(connection.execute(select(scopes.c.number).where(whose)).scalars())
            mine = passages.c.scope_number.in_(numbers)
            if all_scopes:
                connection.exec_driver_sql("INSERT INTO passage_terms (passage_terms) VALUES ('delete-all')")
            else:
                gone = list(connection.execute(select(passages.c.number).where(mine)).scalars())
                known = set(connection.exec_driver_sql(self._passage_rows).scalars())
                extra = known - set(connection.execute(select(passages.c.number)).scalars())
                rows = [number for number in (*gone, *extra) if number in known]
                if rows:
                    self._passages.remove(connection, rows)
            connection.execute(delete(passages).where(mine))
            connection.execute(
                update(scopes).where(scopes.c.number.in_(numbers)).values(history_cursor=0, passage_count=0)
            )

        await self._database.write(work)

    async def active_ids(self, scope: Scope) -> set[str]:
        open_task = exists().where(
            outbox.c.scope == memories.c.scope, outbox.c.memory_id == memories.c.id, not_(outbox.c.done)
        )
        query = select(memories.c.id).where(_of(scope), _ACTIVE, not_(open_task))
        return await self._database.read(lambda connection: set(connection.execute(query).scalars()))

    async def requeue(self, scope: Scope, ids: Collection[str]) -> None:
        def work(connection: Connection) -> None:
            take_turn(connection, Turn.MEMORIES)
            for some in batches(sorted(ids)):
                tasks = [{"scope": scope, "memory_id": id_, "done": False} for id_ in some]
                connection.execute(insert(outbox), tasks)

        if ids:
            await self._database.write(work)

    def _missing_memories(self, connection: Connection, scope: Scope) -> Sequence[int]:
        query = text(
            "SELECT number FROM memories WHERE scope = :scope AND state = 'active'"
            f" AND number NOT IN ({self._memory_rows})"
        )
        return connection.execute(query, {"scope": scope}).scalars().all()

    def _extra_memories(self, connection: Connection) -> Sequence[int]:
        query = f"{self._memory_rows} EXCEPT SELECT number FROM memories WHERE state = 'active'"
        return connection.execute(text(query)).scalars().all()

    async def _is_broken(self, index: str) -> bool:
        """Whether FTS5 finds a fault in its own tables; PostgreSQL keeps its indexes whole."""
        if not self._checks:
            return False

        def work(connection: Connection) -> bool:
            try:
                connection.exec_driver_sql(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")
            except DatabaseError:
                return True
            return False

        return await self._database.write(work)


def _of(scope: Scope) -> Any:
    return memories.c.scope == scope


def _count(connection: Connection, query: Any) -> int:
    return int(connection.execute(query).scalar_one())
