"""The journal's entries and sessions."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from stores.errors import StoreError
from stores.records import JournalEntry, Mark, MarkKind, Message, MessageRole, Scope, Session
from stores.sql.database import Database, Turn, batches, take_turn
from stores.sql.schema import entries, from_micros, sessions, to_micros

TITLE_CHARS = 60

_COLUMNS = (entries.c.id, entries.c.kind, entries.c.sequence, entries.c.position, entries.c.payload)
_IN_SESSION = (entries.c.scope == bindparam("scope"), entries.c.session_id == bindparam("session_id"))

_READ = select(*_COLUMNS).where(*_IN_SESSION, entries.c.sequence > bindparam("after")).order_by(entries.c.sequence)
# The condition repeats the partial index's own words, so that the planner takes it.
_LAST_CUT = (
    select(*_COLUMNS)
    .where(*_IN_SESSION, entries.c.what == bindparam("cut", "cut", literal_execute=True))
    .order_by(entries.c.sequence.desc())
    .limit(1)
)
_OF_KIND = select(*_COLUMNS).where(*_IN_SESSION, entries.c.what == bindparam("what", literal_execute=True))
_LAST_MARK = _OF_KIND.order_by(entries.c.sequence.desc()).limit(1)
_MARKS = _OF_KIND.order_by(entries.c.sequence)
_SINCE = (
    select(*_COLUMNS)
    .where(entries.c.scope == bindparam("scope"), entries.c.position > bindparam("after"))
    .order_by(entries.c.position)
)
# Sorted in Python: SQLite would walk all the scope's entries by position rather than sort a few.
_WITH_IDS = select(*_COLUMNS).where(
    entries.c.scope == bindparam("scope"), entries.c.id.in_(bindparam("ids", expanding=True))
)
_IN_SESSION_WITH_IDS = _WITH_IDS.where(entries.c.session_id == bindparam("session_id"))
_SESSION = select(sessions).where(sessions.c.scope == bindparam("scope"), sessions.c.id == bindparam("session_id"))
_SESSIONS = (
    select(sessions)
    .where(sessions.c.scope == bindparam("scope"))
    .order_by(sessions.c.last_at.desc(), sessions.c.last_position.desc())
)
# Every overflowing message holds this text; most that hold it do overflow.
_OVERFLOWED = (
    select(*_COLUMNS)
    .where(entries.c.scope == bindparam("scope"), entries.c.position > bindparam("after"))
    .where(entries.c.payload.contains('"overflow":{', autoescape=True))
    .order_by(entries.c.position)
    .limit(500)
)
_ADD = insert(entries).returning(entries.c.position, sort_by_parameter_order=True)
_ADD_SESSION = insert(sessions)
_USE_SESSION = update(sessions).where(sessions.c.scope == bindparam("of"), sessions.c.id == bindparam("session_id"))


class SqlJournal:
    """Journal over SQL. Titles are the first 60 characters of the first user message, white space folded."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(self, scope: Scope, entries: Sequence[JournalEntry]) -> list[Message | Mark]:
        if not entries:
            return []
        if len({entry.session_id for entry in entries}) > 1:
            raise StoreError("one append holds entries of one session only; append once a session")
        return await self._database.write(lambda connection: append(connection, scope, entries))

    async def read(
        self, scope: Scope, session_id: str, *, after_sequence: int = 0, limit: int | None = None
    ) -> list[Message | Mark]:
        given = {"scope": scope, "session_id": session_id, "after": after_sequence}
        return await self._database.read(
            lambda connection: [entry_of(row) for row in connection.execute(_READ.limit(limit), given)]
        )

    async def last_cut(self, scope: Scope, session_id: str) -> Mark | None:
        given = {"scope": scope, "session_id": session_id}

        def work(connection: Connection) -> Mark | None:
            row = connection.execute(_LAST_CUT, given).first()
            found = entry_of(row) if row is not None else None
            return found if isinstance(found, Mark) else None

        return await self._database.read(work)

    async def last_mark(self, scope: Scope, session_id: str, what: MarkKind) -> Mark | None:
        given = {"scope": scope, "session_id": session_id, "what": what.value}

        def work(connection: Connection) -> Mark | None:
            row = connection.execute(_LAST_MARK, given).first()
            found = entry_of(row) if row is not None else None
            return found if isinstance(found, Mark) else None

        return await self._database.read(work)

    async def marks(self, scope: Scope, session_id: str, what: MarkKind) -> list[Mark]:
        given = {"scope": scope, "session_id": session_id, "what": what.value}

        def work(connection: Connection) -> list[Mark]:
            found = (entry_of(row) for row in connection.execute(_MARKS, given))
            return [entry for entry in found if isinstance(entry, Mark)]

        return await self._database.read(work)

    async def since(self, scope: Scope, position: int, *, limit: int = 500) -> list[Message | Mark]:
        given = {"scope": scope, "after": position}
        return await self._database.read(
            lambda connection: [entry_of(row) for row in connection.execute(_SINCE.limit(limit), given)]
        )

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Message | Mark]:
        """An id that several sessions of the scope hold gives each entry, oldest first."""

        return await self._database.read(lambda connection: entries_of(connection, scope, ids)) if ids else []

    async def sessions(self, scope: Scope, *, limit: int | None = None) -> list[Session]:
        """By the time of the newest entry, then by the order of writing."""
        return await self._database.read(
            lambda connection: [_session(row) for row in connection.execute(_SESSIONS.limit(limit), {"scope": scope})]
        )

    async def overflow_digests(self, scope: Scope) -> set[str]:
        found: set[str] = set()
        position = 0
        while True:
            given = {"scope": scope, "after": position}
            some = await self._database.read(
                lambda connection, given=given: [entry_of(row) for row in connection.execute(_OVERFLOWED, given)]
            )
            if not some:
                return found
            position = some[-1].position
            found |= {entry.overflow.digest for entry in some if isinstance(entry, Message) and entry.overflow}


def entries_of(connection: Connection, scope: Scope, ids: Sequence[str]) -> list[Message | Mark]:
    """The entries with these ids, in the order asked."""
    found: dict[str, dict[int, Message | Mark]] = {}
    for some in batches(ids):
        for row in connection.execute(_WITH_IDS, {"scope": scope, "ids": list(some)}):
            found.setdefault(row.id, {})[row.position] = entry_of(row)
    return [entry for id_ in ids for _, entry in sorted(found.get(id_, {}).items(), key=itemgetter(0))]


def append(connection: Connection, scope: Scope, given: Sequence[JournalEntry]) -> list[Message | Mark]:
    """Adds entries of one session, in a transaction, and returns them with their places."""
    take_turn(connection, Turn.JOURNAL)
    session_id = given[0].session_id
    session = connection.execute(_SESSION, {"scope": scope, "session_id": session_id}).first()
    known = _known(connection, scope, session_id, [entry.id for entry in given]) if session is not None else {}
    sequence: int = session.last_sequence if session is not None else 0
    fresh: dict[str, JournalEntry] = {}
    for entry in given:
        if entry.id not in known and entry.id not in fresh:
            sequence += 1
            fresh[entry.id] = entry.model_copy(update={"sequence": sequence})
    if fresh:
        rows = [_row(scope, entry) for entry in fresh.values()]
        positions = connection.execute(_ADD, rows).scalars().all()
        added = [
            entry.model_copy(update={"position": position})
            for entry, position in zip(fresh.values(), positions, strict=True)
        ]
        known |= {entry.id: entry for entry in added}
        _use_session(connection, scope, session, added)
    return [known[entry.id] for entry in given]


def _known(connection: Connection, scope: Scope, session_id: str, ids: Sequence[str]) -> dict[str, Message | Mark]:
    found: dict[str, Message | Mark] = {}
    for some in batches(ids):
        given = {"scope": scope, "session_id": session_id, "ids": list(some)}
        found |= {row.id: entry_of(row) for row in connection.execute(_IN_SESSION_WITH_IDS, given)}
    return found


def _use_session(
    connection: Connection, scope: Scope, session: Row[*tuple[Any, ...]] | None, added: Sequence[Message | Mark]
) -> None:
    times = [to_micros(entry.at) for entry in added]
    last = added[-1]
    values = {
        "title": (session.title if session is not None else "") or title_of(added),
        "last_at": max(times if session is None else [session.last_at, *times]),
        "message_count": (session.message_count if session is not None else 0)
        + sum(isinstance(entry, Message) for entry in added),
        "last_sequence": last.sequence,
        "last_position": last.position,
    }
    if session is None:
        made = {"scope": scope, "id": last.session_id, "created_at": times[0]}
        connection.execute(_ADD_SESSION, made | values)
    else:
        connection.execute(_USE_SESSION, {"of": scope, "session_id": last.session_id} | values)


def title_of(added: Sequence[Message | Mark]) -> str:
    """Of a session, by its entries in order: the beginning of its first user message, or ""."""
    for entry in added:
        if isinstance(entry, Message) and entry.role is MessageRole.USER:
            # Ten times the room is enough to fold white space in.
            title = " ".join(entry.content[: 10 * TITLE_CHARS].replace("\0", " ").split())[:TITLE_CHARS].rstrip()
            if title:
                return title
    return ""


def _row(scope: Scope, entry: JournalEntry) -> dict[str, Any]:
    return {
        "scope": scope,
        "session_id": entry.session_id,
        "sequence": entry.sequence,
        "id": entry.id,
        "kind": entry.kind,
        "what": entry.what.value if isinstance(entry, Mark) else None,
        "payload": payload_of(entry),
    }


def payload_of(entry: JournalEntry) -> str:
    """An entry as it is kept: the columns know its place."""
    return entry.model_dump_json(exclude={"sequence", "position"})


def entry_of(row: Row[*tuple[Any, ...]]) -> Message | Mark:
    """An entry from its row."""
    # The columns know sequence and position; written into the JSON text they are validated in one quick pass.
    payload = f'{row.payload[:-1]},"sequence":{row.sequence},"position":{row.position}}}'
    kind = Message if row.kind == "message" else Mark
    return kind.model_validate_json(payload)


def _session(row: Row[*tuple[Any, ...]]) -> Session:
    return Session(
        id=row.id,
        title=row.title,
        created_at=from_micros(row.created_at),
        last_at=from_micros(row.last_at),
        message_count=row.message_count,
    )
