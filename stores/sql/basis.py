"""Whether what somebody has seen still holds, asked in the transaction that rests on it."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, select

from stores.base import Basis
from stores.records import Memory, MemoryKind, Message, Scope
from stores.sameness import words_key
from stores.sql.database import Turn, batches, take_turn
from stores.sql.finding import NO_EPISODE
from stores.sql.journal import entries_of
from stores.sql.never import patterns_of
from stores.sql.schema import memories, scopes

_PAYLOADS = select(memories.c.payload).where(
    memories.c.scope == bindparam("scope"), memories.c.id.in_(bindparam("ids", expanding=True))
)
_SAME_WORDS = select(memories.c.id).where(
    memories.c.scope == bindparam("scope"),
    memories.c.text_key == bindparam("text_key"),
    memories.c.kind == MemoryKind.FACT.value,
    NO_EPISODE,
)
_CURSOR = select(scopes.c.cursor).where(scopes.c.name == bindparam("scope"))


def take_turns(connection: Connection, *, journal: bool) -> None:
    """Nobody else writes memories, nor (``journal``) entries, until the transaction ends; always in this order."""
    if journal:
        take_turn(connection, Turn.JOURNAL)
    take_turn(connection, Turn.MEMORIES)


def still_holds(connection: Connection, scope: Scope, basis: Basis) -> bool:
    """See `stores.base.Basis`. The turns have been taken."""
    return (
        _same_cursor(connection, scope, basis)
        and (basis.never is None or list(basis.never) == patterns_of(connection, scope))
        and _same_memories(connection, scope, basis)
        and _same_words(connection, scope, basis)
        and _all_kept(connection, scope, basis)
    )


def _same_cursor(connection: Connection, scope: Scope, basis: Basis) -> bool:
    if basis.cursor is None:
        return True
    return (connection.execute(_CURSOR, {"scope": scope}).scalar() or 0) == basis.cursor


def _same_memories(connection: Connection, scope: Scope, basis: Basis) -> bool:
    seen = {memory.id: memory for memory in basis.memories}
    found: dict[str, Memory] = {}
    for some in batches(list(seen)):
        for payload in connection.execute(_PAYLOADS, {"scope": scope, "ids": list(some)}).scalars():
            memory = Memory.model_validate_json(payload)
            found[memory.id] = memory
    return found == seen


def _same_words(connection: Connection, scope: Scope, basis: Basis) -> bool:
    for text, ids in basis.same_words.items():
        key = words_key(text)
        if key and set(connection.execute(_SAME_WORDS, {"scope": scope, "text_key": key}).scalars()) != set(ids):
            return False
    return True


def _all_kept(connection: Connection, scope: Scope, basis: Basis) -> bool:
    wanted = {(source.session_id, source.entry_id) for source in basis.sources}
    found = entries_of(connection, scope, list(dict.fromkeys(source.entry_id for source in basis.sources)))
    kept = {(e.session_id, e.id) for e in found if not e.erased and not (isinstance(e, Message) and not e.remember)}
    return wanted <= kept
