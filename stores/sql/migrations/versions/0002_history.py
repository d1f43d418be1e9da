"""A searchable history: where passages of journal entries stand, and their terms."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Makes the passages and the lexical index of the engine at hand. Both begin empty: what the journal
    holds already is added by whoever searches first."""
    op.add_column("scopes", sa.Column("history_cursor", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("scopes", sa.Column("passage_count", sa.BigInteger, nullable=False, server_default="0"))
    op.create_table(
        "passages",
        sa.Column("number", _KEY, primary_key=True, autoincrement=False),
        sa.Column("scope_number", sa.BigInteger, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("entry_id", sa.Text, nullable=False),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("chars", sa.Integer, nullable=False),
    )
    place = ["scope_number", "session_id", "entry_id", "start"]
    op.create_index("passages_by_place", "passages", place, unique=True)
    if op.get_bind().dialect.name == "sqlite":
        _make_sqlite_terms()
    else:
        _make_postgres_terms()


def _make_sqlite_terms() -> None:
    # Contentless: the terms of a passage can be looked for, not read back. The tokenizer is that of
    # memory_terms. The session's own term has no weight: it only narrows.
    op.execute(
        "CREATE VIRTUAL TABLE passage_terms USING fts5(terms, session, content='', tokenize=\"ascii tokenchars '_'\")"
    )
    op.execute("INSERT INTO passage_terms (passage_terms, rank) VALUES ('rank', 'bm25(1.0, 0.0)')")
    op.execute("CREATE VIRTUAL TABLE passage_term_counts USING fts5vocab(passage_terms, row)")


def _make_postgres_terms() -> None:
    op.execute(
        "CREATE TABLE passage_terms ("
        "number BIGINT PRIMARY KEY REFERENCES passages (number) ON DELETE CASCADE, terms TSVECTOR NOT NULL)"
    )
    op.execute("CREATE INDEX passage_terms_by_term ON passage_terms USING gin (terms) WITH (fastupdate = off)")
