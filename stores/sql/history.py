"""Words of the whole history. Terms, scopes and shares as in `stores.sql.lexical`, but over passages of
journal entries, whose texts are not kept a second time: on SQLite the FTS5 table is contentless."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Connection, bindparam, delete, func, insert, select, text, update

from stores.indexes import Passage, PassageHit
from stores.records import Scope
from stores.sql.database import Database, Turn, batches, take_turn
from stores.sql.lexical import COMMON_SHARE, CONSIDERED_TERMS, QUERY_TERMS, choose_terms, tsvector_of
from stores.sql.schema import passages, scopes
from stores.terms import document_terms, query_terms

COMMON_FROM_PASSAGES = 100
"""In scopes of at least so many passages, terms in more than COMMON_SHARE of them find nothing by themselves …"""
HELPING_SHARE = 0.25
"""… but those in no more than this share still count where a rarer term was found …"""
HELPING_TERMS = 8
"""… the rarest so many."""
REMOVED_AT_ONCE = 2_000
"""Each walk of the whole index removes so many passages."""
ALL_OF_TERMS = 8
"""A query of at most so many terms first finds the passages that have all of them: BM25 would rather have a short
passage with some than a long one with all."""

_SCOPE = select(scopes.c.number, scopes.c.history_cursor, scopes.c.passage_count).where(
    scopes.c.name == bindparam("scope")
)
_ADD_SCOPE = text("INSERT INTO scopes (name) VALUES (:scope) ON CONFLICT (name) DO NOTHING")
_LAST_NUMBER = select(func.coalesce(func.max(passages.c.number), 0))
_KNOWN = select(passages.c.session_id, passages.c.entry_id, passages.c.start).where(
    passages.c.scope_number == bindparam("scope_number"),
    passages.c.session_id == bindparam("session_id"),
    passages.c.entry_id.in_(bindparam("ids", expanding=True)),
)
_NUMBERS = _KNOWN.with_only_columns(passages.c.number)
_ADD = insert(passages)
_DROP = delete(passages).where(passages.c.number == bindparam("at_number"))
_GROW = (
    update(scopes)
    .where(scopes.c.number == bindparam("at_number"))
    .values(history_cursor=bindparam("to"), passage_count=scopes.c.passage_count + bindparam("more"))
)


class Wanted(NamedTuple):
    """What is looked for: passages with any of ``finding`` (with in how many passages each occurs), ranked by
    these and by ``helping``."""

    finding: Mapping[str, int]
    helping: Mapping[str, int]
    every: bool = False
    """Only passages with all of ``finding``."""


class PassageTerms(Protocol):
    """One engine's index, inside a transaction."""

    def put(
        self, connection: Connection, scope_number: int, rows: Sequence[tuple[int, Passage, Sequence[str]]]
    ) -> None: ...

    def remove(self, connection: Connection, numbers: Sequence[int]) -> None: ...

    def counts(self, connection: Connection, scope_number: int, terms: Sequence[str], most: int) -> Mapping[str, int]:
        """In how many passages of the scope each term occurs, without those that occur nowhere. An engine
        may stop counting after ``most`` + 1."""
        ...

    def search(
        self, connection: Connection, scope_number: int, session_id: str | None, wanted: Wanted, total: int, limit: int
    ) -> Sequence[PassageHit]: ...


class SqlitePassageTerms:
    """FTS5. Its table is contentless: what is to be removed must be given again, exactly, so it is read from
    the index itself, all of which is walked for it."""

    _put = text("INSERT INTO passage_terms (rowid, terms, session) VALUES (:number, :terms, :session)")
    _remove = text(
        "INSERT INTO passage_terms (passage_terms, rowid, terms, session) VALUES ('delete', :number, :terms, :session)"
    )
    _instances = (
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.passage_instances USING fts5vocab(main, passage_terms, instance)"
    )
    _indexed = text(
        "SELECT doc, col, term FROM temp.passage_instances WHERE doc IN (SELECT value FROM json_each(:numbers))"
        ' ORDER BY doc, "offset"'
    )
    _counts = text("SELECT term, doc FROM passage_term_counts WHERE term IN :terms").bindparams(
        bindparam("terms", expanding=True)
    )
    _search = text(
        "SELECT entry_id, session_id, start, chars, -found.rank AS score FROM"
        " (SELECT rowid, rank FROM passage_terms WHERE passage_terms MATCH :expression"
        " ORDER BY rank, rowid DESC LIMIT :limit) AS found"
        " JOIN passages ON passages.number = found.rowid"
        " WHERE :session_id IS NULL OR session_id = :session_id"
        " ORDER BY found.rank, found.rowid DESC"
    )

    def put(
        self, connection: Connection, scope_number: int, rows: Sequence[tuple[int, Passage, Sequence[str]]]
    ) -> None:
        connection.execute(
            self._put,
            [
                {
                    "number": number,
                    "terms": " ".join(f"{scope_number}_{term}" for term in terms),
                    "session": _session_term(scope_number, passage.session_id),
                }
                for number, passage, terms in rows
            ],
        )

    def remove(self, connection: Connection, numbers: Sequence[int]) -> None:
        connection.exec_driver_sql(self._instances)
        for some in batches(numbers, REMOVED_AT_ONCE):
            found: dict[int, dict[str, list[str]]] = {number: {"terms": [], "session": []} for number in some}
            for doc, column, term in connection.execute(self._indexed, {"numbers": json.dumps(list(some))}):
                found[doc][column].append(term)
            rows = [{"number": n, **{column: " ".join(t) for column, t in of.items()}} for n, of in found.items()]
            connection.execute(self._remove, rows)

    def counts(self, connection: Connection, scope_number: int, terms: Sequence[str], most: int) -> Mapping[str, int]:
        joined = {f"{scope_number}_{term}": term for term in terms}
        rows = connection.execute(self._counts, {"terms": list(joined)})
        return {joined[term]: count for term, count in rows}

    def search(
        self, connection: Connection, scope_number: int, session_id: str | None, wanted: Wanted, total: int, limit: int
    ) -> Sequence[PassageHit]:
        finding = _joined(scope_number, wanted.finding, " AND " if wanted.every else " OR ")
        # What stands on the right changes no match, only the rank: FTS5 has no optional terms.
        ranking = _joined(scope_number, {**wanted.finding, **wanted.helping}, " OR ")
        expression = f"terms : ({finding}) AND terms : ({ranking})" if wanted.helping else f"terms : ({finding})"
        if session_id is not None:
            expression = f'session : "{_session_term(scope_number, session_id)}" AND {expression}'
        given = {"expression": expression, "limit": limit, "session_id": session_id}
        return [PassageHit(*row) for row in connection.execute(self._search, given)]


def _joined(scope_number: int, terms: Mapping[str, int], operator: str) -> str:
    # Quoted, so that no term is read as an operator; terms hold no quotes.
    return operator.join(f'"{scope_number}_{term}"' for term in terms)


def _session_term(scope_number: int, session_id: str) -> str:
    # Session ids are any text; a term is one word.
    return f"{scope_number}_{blake2b(session_id.encode(), digest_size=8).hexdigest()}"


class PostgresPassageTerms:
    """A tsvector. ts_rank knows no rarity, so each term's rank is weighted by it here."""

    _put = text("INSERT INTO passage_terms (number, terms) VALUES (:number, CAST(:terms AS tsvector))")
    _remove = text("DELETE FROM passage_terms WHERE number = :number")
    _count = text(
        "SELECT count(*) FROM (SELECT 1 FROM passage_terms WHERE terms @@ CAST(:term AS tsquery) LIMIT :most) AS found"
    )

    def put(
        self, connection: Connection, scope_number: int, rows: Sequence[tuple[int, Passage, Sequence[str]]]
    ) -> None:
        connection.execute(
            self._put, [{"number": number, "terms": tsvector_of(scope_number, terms)} for number, _, terms in rows]
        )

    def remove(self, connection: Connection, numbers: Sequence[int]) -> None:
        connection.execute(self._remove, [{"number": number} for number in numbers])

    def counts(self, connection: Connection, scope_number: int, terms: Sequence[str], most: int) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for term in terms:
            given = {"term": f"'{scope_number}_{term}'", "most": most + 1}
            count = connection.execute(self._count, given).scalar_one()
            if count:
                found[term] = count
        return found

    def search(
        self, connection: Connection, scope_number: int, session_id: str | None, wanted: Wanted, total: int, limit: int
    ) -> Sequence[PassageHit]:
        given: dict[str, Any] = {"limit": limit, "session_id": session_id}
        ranks: list[str] = []
        for number, (term, count) in enumerate({**wanted.finding, **wanted.helping}.items()):
            given |= {f"t{number}": f"'{scope_number}_{term}'", f"w{number}": math.log(1 + total / max(count, 1))}
            # 1: a long passage has more words by chance
            ranks.append(f":w{number} * ts_rank(passage_terms.terms, CAST(:t{number} AS tsquery), 1)")
        given["expression"] = (" & " if wanted.every else " | ").join(
            f"'{scope_number}_{term}'" for term in wanted.finding
        )
        in_session = " AND passages.session_id = :session_id" if session_id is not None else ""
        rows = connection.execute(
            text(
                f"SELECT entry_id, session_id, start, chars, {' + '.join(ranks)} AS score FROM passage_terms"
                " JOIN passages ON passages.number = passage_terms.number"
                f" WHERE passage_terms.terms @@ CAST(:expression AS tsquery){in_session}"
                " ORDER BY score DESC, passages.number DESC LIMIT :limit"
            ),
            given,
        )
        return [PassageHit(*row) for row in rows]


def passage_terms_of(database: Database) -> PassageTerms:
    """The index of the database's engine."""
    return SqlitePassageTerms() if database.dialect == "sqlite" else PostgresPassageTerms()


class SqlHistoryIndex:
    """HistoryIndex over the engine's own full-text search."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._terms = passage_terms_of(database)

    async def cursor(self, scope: Scope) -> int:
        def work(connection: Connection) -> int:
            row = connection.execute(_SCOPE, {"scope": scope}).first()
            return row.history_cursor if row is not None else 0

        return await self._database.read(work)

    async def add(self, scope: Scope, passages: Sequence[Passage], *, cursor: int) -> None:
        # Here and not in the writer's thread: making terms is most of the work, and others wait to write.
        terms = await asyncio.to_thread(lambda: [_terms_of(passage) for passage in passages])

        def work(connection: Connection) -> None:
            take_turn(connection, Turn.HISTORY)
            connection.execute(_ADD_SCOPE, {"scope": scope})
            row = connection.execute(_SCOPE, {"scope": scope}).one()
            more = _add(connection, self._terms, row.number, list(zip(passages, terms, strict=True)))
            given = {"at_number": row.number, "to": max(cursor, row.history_cursor), "more": more}
            connection.execute(_GROW, given)

        await self._database.write(work)

    async def search(self, scope: Scope, query: str, *, limit: int, session_id: str | None = None) -> list[PassageHit]:
        """Shares are of the scope's passages, from 100 passages on."""
        if limit <= 0 or not query:
            return []

        def work(connection: Connection) -> list[PassageHit]:
            terms = query_terms(query)[:CONSIDERED_TERMS]
            row = connection.execute(_SCOPE, {"scope": scope}).first()
            if not terms or row is None or not row.passage_count:
                return []
            total: int = row.passage_count
            common, helping = _bounds(total)
            counts = self._terms.counts(connection, row.number, terms, helping)
            for attempts in _attempts(counts, common, helping, narrowed=session_id is not None):
                found = [self._terms.search(connection, row.number, session_id, w, total, limit) for w in attempts]
                if any(found):
                    return _one_list(found)[:limit]
            return []

        return await self._database.read(work)


def _terms_of(passage: Passage) -> list[str]:
    return document_terms(f"{passage.text}\n{passage.context}" if passage.context else passage.text)


def _bounds(total: int) -> tuple[int, int]:
    if total < COMMON_FROM_PASSAGES:
        return total, total
    return int(total * COMMON_SHARE), int(total * HELPING_SHARE)


def _attempts(counts: Mapping[str, int], common: int, helping: int, *, narrowed: bool) -> list[list[Wanted]]:
    """What to look for, the best first, and what to look for if all that finds nothing."""
    if not counts:
        return []
    chosen = choose_terms(counts, common)
    finding = {term: counts[term] for term in chosen}
    others = sorted((term for term in counts if term not in finding), key=counts.__getitem__)
    helpful = {t: counts[t] for t in others[:HELPING_TERMS] if counts[t] <= helping}
    first = [Wanted(finding, helpful)]
    if 1 < len(finding) + len(helpful) <= ALL_OF_TERMS:
        first.insert(0, Wanted(finding | helpful, {}, every=True))
    if narrowed and others:
        return [first, [Wanted({term: counts[term] for term in others[:QUERY_TERMS]}, {})]]
    return [first]


def _one_list(found: Sequence[Sequence[PassageHit]]) -> list[PassageHit]:
    """Hits of several searches, those of the first one first, each place once, with scores that say so."""
    hits: dict[tuple[str, str, int], PassageHit] = {}
    above = 0.0
    for some in reversed(found):
        hits = {(hit.session_id, hit.entry_id, hit.start): hit._replace(score=hit.score + above) for hit in some} | {
            place: hit
            for place, hit in hits.items()
            if place not in {(h.session_id, h.entry_id, h.start) for h in some}
        }
        above = max((hit.score for hit in hits.values()), default=0.0)
    return list(hits.values())


def _add(
    connection: Connection, index: PassageTerms, scope_number: int, given: Sequence[tuple[Passage, Sequence[str]]]
) -> int:
    """Adds what is not there yet and says how much that was."""
    known = _known(connection, scope_number, [passage for passage, _ in given])
    number: int = connection.execute(_LAST_NUMBER).scalar_one()
    rows: list[tuple[int, Passage, Sequence[str]]] = []
    for passage, terms in given:
        place = (passage.session_id, passage.entry_id, passage.start)
        if place not in known:
            known.add(place)
            number += 1
            rows.append((number, passage, terms))
    if rows:
        values = [
            {
                "number": number,
                "scope_number": scope_number,
                "session_id": passage.session_id,
                "entry_id": passage.entry_id,
                "start": passage.start,
                "chars": len(passage.text),
            }
            for number, passage, _ in rows
        ]
        connection.execute(_ADD, values)
        index.put(connection, scope_number, rows)
    return len(rows)


def _known(connection: Connection, scope_number: int, given: Sequence[Passage]) -> set[tuple[str, str, int]]:
    by_session: dict[str, dict[str, None]] = {}
    for passage in given:
        by_session.setdefault(passage.session_id, {})[passage.entry_id] = None
    found: set[tuple[str, str, int]] = set()
    for session_id, entry_ids in by_session.items():
        for some in batches(list(entry_ids)):
            place = {"scope_number": scope_number, "session_id": session_id, "ids": list(some)}
            found |= {(row.session_id, row.entry_id, row.start) for row in connection.execute(_KNOWN, place)}
    return found


def remove_passages(
    connection: Connection, index: PassageTerms, scope: Scope, places: Sequence[tuple[str, str]]
) -> None:
    """Takes the passages of entries, named by session and id, out of the index, inside a transaction."""
    take_turn(connection, Turn.HISTORY)
    row = connection.execute(_SCOPE, {"scope": scope}).first()
    if row is None:
        return
    by_session: dict[str, list[str]] = {}
    for session_id, entry_id in places:
        by_session.setdefault(session_id, []).append(entry_id)
    numbers: list[int] = []
    for session_id, ids in by_session.items():
        for some in batches(ids):
            given = {"scope_number": row.number, "session_id": session_id, "ids": list(some)}
            numbers += connection.execute(_NUMBERS, given).scalars()
    if not numbers:
        return
    index.remove(connection, numbers)
    connection.execute(_DROP, [{"at_number": number} for number in numbers])
    connection.execute(_GROW, {"at_number": row.number, "to": row.history_cursor, "more": -len(numbers)})
