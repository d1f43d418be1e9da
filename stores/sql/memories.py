"""Memories, kept in one transaction with their lexical entries, sources, earlier versions and outbox rows."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, insert, select, text, update

from stores.base import Basis
from stores.records import Mark, Memory, MemoryKind, MemoryState, Scope, Source
from stores.sameness import words_key
from stores.sql.basis import still_holds, take_turns
from stores.sql.database import Database, batches
from stores.sql.journal import append
from stores.sql.lexical import Terms, index_texts, terms_of
from stores.sql.schema import memories, outbox, scopes, to_micros

_WITH_IDS = select(memories.c.number, memories.c.id, memories.c.payload).where(
    memories.c.scope == bindparam("scope"), memories.c.id.in_(bindparam("ids", expanding=True))
)
_ADD = insert(memories).returning(memories.c.number, sort_by_parameter_order=True)
_CHANGE = update(memories).where(memories.c.number == bindparam("at_number"))
_ADD_TASK = insert(outbox)
_SCOPE = select(scopes.c.number, scopes.c.cursor).where(scopes.c.name == bindparam("scope"))
_ADD_SCOPE = text("INSERT INTO scopes (name) VALUES (:scope) ON CONFLICT (name) DO NOTHING")
_COUNT = (
    update(scopes)
    .where(scopes.c.number == bindparam("at_number"))
    .values(active_count=scopes.c.active_count + bindparam("more"))
)
_ADD_VERSION = text(
    "INSERT INTO memory_versions VALUES (:number, :version, :payload) ON CONFLICT (memory_number, version) DO NOTHING"
)
_ADD_SOURCE = text("INSERT INTO memory_sources VALUES (:number, :scope, :session_id, :entry_id)")
_DROP_SOURCE = text(
    "DELETE FROM memory_sources WHERE memory_number = :number AND session_id = :session_id AND entry_id = :entry_id"
)
_MOVE_CURSOR = update(scopes).where(scopes.c.number == bindparam("at_number")).values(cursor=bindparam("to"))


class _Stored(NamedTuple):
    number: int
    payload: str


class SqlMemoryTable:
    """MemoryTable over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._terms = terms_of(database)

    async def put(
        self, scope: Scope, memories: Sequence[Memory], *, told: Mark | None = None, basis: Basis | None = None
    ) -> bool:
        def work(connection: Connection) -> bool:
            take_turns(connection, journal=told is not None or basis is not None)
            if basis is not None and not still_holds(connection, scope, basis):
                return False
            if told is not None:
                append(connection, scope, [told])
            _put(connection, self._terms, scope, memories)
            return True

        return await self._database.write(work) if memories else True

    async def get(self, scope: Scope, ids: Sequence[str]) -> builtins.list[Memory]:
        def work(connection: Connection) -> builtins.list[Memory]:
            stored = _stored(connection, scope, ids)
            return [Memory.model_validate_json(stored[id_].payload) for id_ in ids if id_ in stored]

        return await self._database.read(work) if ids else []

    async def count(self, scope: Scope) -> int:
        query = (
            select(func.count())
            .select_from(memories)
            .where(memories.c.scope == scope, memories.c.state == MemoryState.ACTIVE.value)
        )
        return await self._database.read(lambda connection: connection.execute(query).scalar_one())

    async def list(
        self,
        scope: Scope,
        *,
        kind: MemoryKind | None = None,
        state: MemoryState | None = None,
        limit: int | None = None,
    ) -> builtins.list[Memory]:
        query = select(memories.c.payload).where(memories.c.scope == scope)
        if kind is not None:
            query = query.where(memories.c.kind == kind.value)
        if state is not None:
            query = query.where(memories.c.state == state.value)
        query = query.order_by(memories.c.said_at.desc(), memories.c.number.desc()).limit(limit)
        return await self._database.read(
            lambda connection: [Memory.model_validate_json(payload) for payload in connection.execute(query).scalars()]
        )

    async def cursor(self, scope: Scope) -> int:
        def work(connection: Connection) -> int:
            row = connection.execute(_SCOPE, {"scope": scope}).first()
            return row.cursor if row is not None else 0

        return await self._database.read(work)

    async def put_episodes(
        self, scope: Scope, episodes: Sequence[Memory], *, cursor: int, basis: Basis | None = None
    ) -> bool:
        def work(connection: Connection) -> bool:
            take_turns(connection, journal=basis is not None)
            if basis is not None and not still_holds(connection, scope, basis):
                return False
            known = _stored(connection, scope, [episode.id for episode in episodes])
            fresh: dict[str, Memory] = {}
            for episode in episodes:
                if episode.id not in known:
                    fresh.setdefault(episode.id, episode)
            connection.execute(_ADD_SCOPE, {"scope": scope})
            row = connection.execute(_SCOPE, {"scope": scope}).one()
            if fresh:
                _add(connection, self._terms, scope, row.number, list(fresh.values()))
            if cursor > row.cursor:
                connection.execute(_MOVE_CURSOR, {"at_number": row.number, "to": cursor})
            return True

        return await self._database.write(work)


def _add(connection: Connection, terms: Terms, scope: Scope, scope_number: int, fresh: Sequence[Memory]) -> None:
    """Adds memories that are not there yet: the same as `_put`, a statement for all of them."""
    rows = [{"scope": scope, "id": memory.id} | _values(memory) for memory in fresh]
    added = list(zip(connection.execute(_ADD, rows).scalars().all(), fresh, strict=True))
    active = [(number, memory) for number, memory in added if _is_active(memory)]
    index_texts(terms, connection, scope_number, [(number, memory.text) for number, memory in active])
    if sources := [row for number, memory in added for row in _source_rows(scope, number, memory.sources)]:
        connection.execute(_ADD_SOURCE, sources)
    if active:
        connection.execute(_COUNT, {"at_number": scope_number, "more": len(active)})
    connection.execute(_ADD_TASK, [{"scope": scope, "memory_id": memory.id, "done": False} for memory in fresh])


def _put(connection: Connection, terms: Terms, scope: Scope, given: Sequence[Memory]) -> None:
    connection.execute(_ADD_SCOPE, {"scope": scope})
    scope_number: int = connection.execute(_SCOPE, {"scope": scope}).one().number
    stored = dict(_stored(connection, scope, [memory.id for memory in given]))
    tasks: list[dict[str, Any]] = []
    more = 0
    for memory in given:
        before = stored.get(memory.id)
        old = Memory.model_validate_json(before.payload) if before is not None else None
        if memory == old:
            continue
        number = _write(connection, scope, memory, before)
        stored[memory.id] = _Stored(number, memory.model_dump_json())
        _index(connection, terms, scope_number, number, old, memory)
        more += _is_active(memory) - _is_active(old)
        _keep_version(connection, number, old, memory)
        _source(connection, scope, number, old, memory)
        if old is None or _is_active(old) != _is_active(memory) or (_is_active(memory) and old.text != memory.text):
            tasks.append({"scope": scope, "memory_id": memory.id, "done": False})
    if tasks:
        connection.execute(_ADD_TASK, tasks)
    if more:
        connection.execute(_COUNT, {"at_number": scope_number, "more": more})


def _write(connection: Connection, scope: Scope, memory: Memory, before: _Stored | None) -> int:
    if before is None:
        return connection.execute(_ADD, {"scope": scope, "id": memory.id} | _values(memory)).scalar_one()
    connection.execute(_CHANGE, {"at_number": before.number} | _values(memory))
    return before.number


def _values(memory: Memory) -> dict[str, Any]:
    return {
        "kind": memory.kind.value,
        "state": memory.state.value,
        "said_at": to_micros(memory.said_at),
        "payload": memory.model_dump_json(),
        "session_id": memory.session_id,
        "speaker": memory.speaker,
        "text_key": words_key(memory.text),
        "subject_key": words_key(memory.subject),
        "attribute_key": words_key(memory.attribute),
        "pin": memory.pin.value,
    }


def _keep_version(connection: Connection, number: int, old: Memory | None, new: Memory) -> None:
    if old is not None and old.version != new.version:
        connection.execute(_ADD_VERSION, {"number": number, "version": old.version, "payload": old.model_dump_json()})


def _source(connection: Connection, scope: Scope, number: int, old: Memory | None, new: Memory) -> None:
    known = set(old.sources) if old is not None else set[Source]()
    for source in known - set(new.sources):
        connection.execute(_DROP_SOURCE, {"number": number, **source.model_dump()})
    if rows := _source_rows(scope, number, [source for source in new.sources if source not in known]):
        connection.execute(_ADD_SOURCE, rows)


def _source_rows(scope: Scope, number: int, sources: Sequence[Source]) -> builtins.list[dict[str, Any]]:
    return [{"number": number, "scope": scope, **source.model_dump()} for source in dict.fromkeys(sources)]


def _index(
    connection: Connection, terms: Terms, scope_number: int, number: int, old: Memory | None, new: Memory
) -> None:
    if _is_active(old) and old is not None:
        if _is_active(new) and new.text == old.text:
            return
        terms.remove(connection, number)
    if _is_active(new):
        index_texts(terms, connection, scope_number, [(number, new.text)])


def _is_active(memory: Memory | None) -> bool:
    return memory is not None and memory.state is MemoryState.ACTIVE


def _stored(connection: Connection, scope: Scope, ids: Sequence[str]) -> Mapping[str, _Stored]:
    found: dict[str, _Stored] = {}
    for some in batches(ids):
        rows = connection.execute(_WITH_IDS, {"scope": scope, "ids": list(some)})
        found |= {row.id: _Stored(row.number, row.payload) for row in rows}
    return found
