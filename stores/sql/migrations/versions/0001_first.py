"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Makes all tables and the lexical index of the engine at hand."""
    _make_scopes()
    _make_journal()
    _make_memories()
    _make_outbox()
    _make_accounts()
    if op.get_bind().dialect.name == "sqlite":
        _make_sqlite_lexical()
    else:
        _make_postgres_lexical()


def _make_scopes() -> None:
    op.create_table(
        "scopes",
        sa.Column("number", _KEY, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("cursor", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("active_count", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("dropped_number", sa.BigInteger, nullable=False, server_default="0"),
    )


def _make_journal() -> None:
    op.create_table(
        "sessions",
        sa.Column("scope", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("last_at", sa.BigInteger, nullable=False),
        sa.Column("message_count", sa.BigInteger, nullable=False),
        sa.Column("last_sequence", sa.BigInteger, nullable=False),
        sa.Column("last_position", sa.BigInteger, nullable=False),
    )
    op.create_index("sessions_by_use", "sessions", ["scope", "last_at", "last_position"])
    op.create_table(
        "entries",
        sa.Column("position", _KEY, primary_key=True, autoincrement=True),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("what", sa.Text),
        sa.Column("payload", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("entries_by_sequence", "entries", ["scope", "session_id", "sequence"], unique=True)
    op.create_index("entries_by_id", "entries", ["scope", "id", "session_id"], unique=True)
    op.create_index("entries_by_position", "entries", ["scope", "position"])
    cuts = sa.text("what = 'cut'")
    op.create_index(
        "entries_cuts", "entries", ["scope", "session_id", "sequence"], sqlite_where=cuts, postgresql_where=cuts
    )


def _make_memories() -> None:
    op.create_table(
        "memories",
        sa.Column("number", _KEY, primary_key=True, autoincrement=True),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("said_at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("memories_by_id", "memories", ["scope", "id"], unique=True)
    op.create_index("memories_by_time", "memories", ["scope", "said_at", "number"])


def _make_outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("number", _KEY, primary_key=True, autoincrement=True),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("memory_id", sa.Text, nullable=False),
        sa.Column("generation", sa.Text),
        sa.Column("chunks", sa.Integer),
        sa.Column("vectors", sa.LargeBinary),
        sa.Column("done", sa.Boolean, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "outbox_open",
        "outbox",
        ["number", "scope"],
        sqlite_where=sa.text("done = 0"),
        postgresql_where=sa.text("NOT done"),
    )
    op.create_index("outbox_by_scope", "outbox", ["scope", "number"])


def _make_accounts() -> None:
    op.create_table(
        "ledger",
        sa.Column("number", _KEY, primary_key=True, autoincrement=True),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
    )
    op.create_index("ledger_by_id", "ledger", ["scope", "id"], unique=True)
    op.create_index("ledger_by_time", "ledger", ["scope", "at", "number"])
    op.create_index("ledger_by_session", "ledger", ["scope", "session_id", "at", "number"])
    op.create_table(
        "manifests",
        sa.Column("number", _KEY, primary_key=True, autoincrement=True),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("exchange_id", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
    )
    op.create_index("manifests_by_session", "manifests", ["scope", "session_id", "number"])
    op.create_table(
        "manifest_texts",
        sa.Column("scope", sa.Text, primary_key=True),
        sa.Column("hash", sa.Text, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
    )


def _make_sqlite_lexical() -> None:
    # The terms come ready-made and separated by spaces. The ascii tokenizer keeps every character above
    # 127 (unicode61 would drop letters newer than its tables); "_" joins a scope's number to its terms.
    op.execute("CREATE VIRTUAL TABLE memory_terms USING fts5(terms, tokenize=\"ascii tokenchars '_'\")")
    op.execute("CREATE VIRTUAL TABLE memory_term_counts USING fts5vocab(memory_terms, row)")


def _make_postgres_lexical() -> None:
    op.execute(
        "CREATE TABLE memory_terms ("
        "number BIGINT PRIMARY KEY REFERENCES memories (number) ON DELETE CASCADE, terms TSVECTOR NOT NULL)"
    )
    op.execute("CREATE INDEX memory_terms_by_term ON memory_terms USING gin (terms) WITH (fastupdate = off)")
