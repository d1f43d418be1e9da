"""Words: the lexical index, written by the memory table's transactions.

Each engine's index holds terms that `stores.terms` has made. On SQLite (FTS5, BM25) a scope's
number is joined to each of its terms, so that no scope ever meets another's postings: counts are
per scope, and time depends on the scope's own size. Averages of BM25 (number of rows, their length)
are over all scopes. On PostgreSQL (GIN, ts_rank) the same terms stand in a tsvector.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Protocol

from sqlalchemy import Connection, bindparam, select, text

from stores.indexes import LexicalHit
from stores.records import Scope
from stores.sql.database import Database
from stores.sql.schema import scopes
from stores.terms import document_terms, query_terms

COMMON_SHARE = 0.05
"""Terms in more than this share of a scope's memories are dropped while rarer ones remain …"""
COMMON_FROM_MEMORIES = 100
"""… in scopes of at least so many active memories."""
QUERY_TERMS = 32
"""Of a longer query the rarest terms are used …"""
CONSIDERED_TERMS = 256
"""… among its first so many …"""
POSTINGS = 25_000
"""… as long as they occur in no more memories together (FTS5 takes some microseconds to score each) …"""
LEAST_TERMS = 2
"""… but always so many."""
TSVECTOR_BYTES = 700_000
"""PostgreSQL keeps at most 1 MB a tsvector: a longer text is found by its first terms only."""


class Terms(Protocol):
    """One engine's index, inside a transaction. ``scope_number`` is `scopes.number`, ``number`` `memories.number`."""

    def put(self, connection: Connection, scope_number: int, given: Sequence[tuple[int, Sequence[str]]]) -> None: ...

    def remove(self, connection: Connection, number: int) -> None: ...

    def counts(self, connection: Connection, scope_number: int, terms: Sequence[str], most: int) -> Mapping[str, int]:
        """In how many memories of the scope each term occurs, without those that occur nowhere. An
        engine may stop counting after ``most`` + 1."""
        ...

    def search(
        self, connection: Connection, scope_number: int, scope: Scope, terms: Sequence[str], limit: int
    ) -> Sequence[tuple[str, float]]: ...


class SqliteTerms:
    """FTS5."""

    _put = text("INSERT INTO memory_terms (rowid, terms) VALUES (:number, :terms)")
    _remove = text("DELETE FROM memory_terms WHERE rowid = :number")
    # The counts of fts5vocab would be read from each term's whole list: 50 ms for one that a million texts have.
    _counts = text(
        "SELECT value, (SELECT count(*) FROM (SELECT 1 FROM memory_terms"
        """ WHERE memory_terms MATCH '"' || each.value || '"' LIMIT :most)) FROM json_each(:terms) AS each"""
    )
    _search = text(
        "SELECT memories.id, -memory_terms.rank FROM memory_terms JOIN memories ON memories.number = memory_terms.rowid"
        " WHERE memory_terms MATCH :expression AND memories.scope = :scope AND memories.state = 'active'"
        " ORDER BY memory_terms.rank LIMIT :limit"
    )

    def put(self, connection: Connection, scope_number: int, given: Sequence[tuple[int, Sequence[str]]]) -> None:
        rows = [
            {"number": number, "terms": " ".join(f"{scope_number}_{term}" for term in terms)} for number, terms in given
        ]
        connection.execute(self._put, rows)

    def remove(self, connection: Connection, number: int) -> None:
        connection.execute(self._remove, {"number": number})

    def counts(self, connection: Connection, scope_number: int, terms: Sequence[str], most: int) -> Mapping[str, int]:
        joined = {f"{scope_number}_{term}": term for term in terms}
        rows = connection.execute(self._counts, {"terms": json.dumps(list(joined)), "most": most + 1})
        return {joined[term]: count for term, count in rows if count}

    def search(
        self, connection: Connection, scope_number: int, scope: Scope, terms: Sequence[str], limit: int
    ) -> Sequence[tuple[str, float]]:
        # Quoted, so that no term is read as an operator; terms hold no quotes.
        expression = " OR ".join(f'"{scope_number}_{term}"' for term in terms)
        rows = connection.execute(self._search, {"expression": expression, "scope": scope, "limit": limit})
        return [(id_, score) for id_, score in rows.all()]


class PostgresTerms:
    """A tsvector, built here rather than by a text search parser, which would split terms anew."""

    _put = text("INSERT INTO memory_terms (number, terms) VALUES (:number, CAST(:terms AS tsvector))")
    _remove = text("DELETE FROM memory_terms WHERE number = :number")
    _count = text(
        "SELECT count(*) FROM (SELECT 1 FROM memory_terms WHERE terms @@ CAST(:term AS tsquery) LIMIT :most) AS found"
    )
    _search = text(
        "SELECT memories.id, ts_rank(memory_terms.terms, CAST(:expression AS tsquery), 1) AS score"
        " FROM memory_terms JOIN memories ON memories.number = memory_terms.number"
        " WHERE memory_terms.terms @@ CAST(:expression AS tsquery)"
        " AND memories.scope = :scope AND memories.state = 'active'"
        " ORDER BY score DESC, memories.number LIMIT :limit"
    )

    def put(self, connection: Connection, scope_number: int, given: Sequence[tuple[int, Sequence[str]]]) -> None:
        rows = [{"number": number, "terms": tsvector_of(scope_number, terms)} for number, terms in given]
        connection.execute(self._put, rows)

    def remove(self, connection: Connection, number: int) -> None:
        connection.execute(self._remove, {"number": number})

    def counts(self, connection: Connection, scope_number: int, terms: Sequence[str], most: int) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for term in terms:
            given = {"term": f"'{scope_number}_{term}'", "most": most + 1}
            count = connection.execute(self._count, given).scalar_one()
            if count:
                found[term] = count
        return found

    def search(
        self, connection: Connection, scope_number: int, scope: Scope, terms: Sequence[str], limit: int
    ) -> Sequence[tuple[str, float]]:
        expression = " | ".join(f"'{scope_number}_{term}'" for term in terms)
        rows = connection.execute(self._search, {"expression": expression, "scope": scope, "limit": limit})
        return [(id_, score) for id_, score in rows.all()]


def tsvector_of(scope_number: int, terms: Sequence[str]) -> str:
    """The terms of one text, joined to a scope's number, as PostgreSQL reads a tsvector."""
    # PostgreSQL keeps 255 places a term, and none above 16,383.
    places: dict[str, list[int]] = {}
    size = 0
    for place, term in enumerate(terms, start=1):
        found = places.get(term)
        if found is None:
            size += len(f"{scope_number}_{term}".encode()) + 8
            if size > TSVECTOR_BYTES:
                break
            found = places[term] = []
        if len(found) < 255:
            size += 2
            found.append(min(place, 16_383))
    return " ".join(f"'{scope_number}_{term}':" + ",".join(map(str, found)) for term, found in places.items())


def terms_of(database: Database) -> Terms:
    """The index of the database's engine."""
    return SqliteTerms() if database.dialect == "sqlite" else PostgresTerms()


_SCOPE = select(scopes.c.number, scopes.c.active_count).where(scopes.c.name == bindparam("scope"))


class SqlLexicalIndex:
    """LexicalIndex over the engine's own full-text search."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._terms = terms_of(database)

    async def search(self, scope: Scope, query: str, *, limit: int) -> list[LexicalHit]:
        """Shares are per scope, of its active memories, from 100 memories on."""
        if limit <= 0 or not query:
            return []

        def work(connection: Connection) -> list[LexicalHit]:
            terms = query_terms(query)[:CONSIDERED_TERMS]
            row = connection.execute(_SCOPE, {"scope": scope}).first()
            if not terms or row is None:
                return []
            common = _common(row.active_count)
            chosen = choose_terms(self._terms.counts(connection, row.number, terms, int(common)), common)
            if not chosen:
                return []
            rows = self._terms.search(connection, row.number, scope, chosen, limit)
            return [LexicalHit(id_, score) for id_, score in rows]

        return await self._database.read(work)

    async def telling(self, scope: Scope, text: str) -> frozenset[str]:
        def work(connection: Connection) -> frozenset[str]:
            terms = query_terms(text)[:CONSIDERED_TERMS]
            row = connection.execute(_SCOPE, {"scope": scope}).first()
            if not terms or row is None:
                return frozenset()
            most = _common(row.active_count)
            counts = self._terms.counts(connection, row.number, terms, int(most))
            return frozenset(term for term, count in counts.items() if count <= most)

        return await self._database.read(work)


def _common(active_count: int) -> float:
    """In how many memories a term may occur and still be rare."""
    return active_count * COMMON_SHARE if active_count >= COMMON_FROM_MEMORIES else active_count


def choose_terms(counts: Mapping[str, int], common: float) -> list[str]:
    """Which terms to search by, rarest first: the rare ones (count ≤ ``common``), or all if none is; at most 32, and
    none that would make the search long."""
    rare = [term for term, count in counts.items() if count <= common]
    chosen: list[str] = []
    postings = 0
    for term in sorted(rare or counts, key=counts.__getitem__)[:QUERY_TERMS]:
        postings += counts[term]
        if postings > POSTINGS and len(chosen) >= LEAST_TERMS:
            break
        chosen.append(term)
    return chosen


def index_texts(terms: Terms, connection: Connection, scope_number: int, contents: Sequence[tuple[int, str]]) -> None:
    """Adds memories' texts, by their numbers, to the index."""
    if contents:
        terms.put(connection, scope_number, [(number, document_terms(content)) for number, content in contents])
