"""Memories are found by their words, their subject and their sources, and keep their earlier versions;
background jobs; what is never to be remembered; embedding generations."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from stores.sameness import words_key

revision = "0005"
down_revision = "0004"

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_BATCH = 1_000


def upgrade() -> None:
    """Adds columns and tables, and rewrites what is there: sources name their session now."""
    op.add_column("memories", sa.Column("session_id", sa.Text))
    for name in ("text_key", "subject_key", "attribute_key"):
        op.add_column("memories", sa.Column(name, sa.Text, nullable=False, server_default=""))
    op.add_column("memories", sa.Column("pin", sa.Text, nullable=False, server_default="none"))
    op.create_table(
        "memory_sources",
        sa.Column("memory_number", sa.BigInteger, primary_key=True),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("entry_id", sa.Text, primary_key=True),
    )
    op.create_table(
        "memory_versions",
        sa.Column("memory_number", sa.BigInteger, primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True),
        sa.Column("payload", sa.Text, nullable=False),
    )
    _make_jobs()
    _rewrite()
    op.create_index("memory_sources_by_entry", "memory_sources", ["scope", "entry_id", "session_id"])
    op.create_index("memories_by_session", "memories", ["scope", "session_id", "number"])
    facts = sa.text("kind <> 'episode'")
    by_text, by_subject = ["scope", "text_key"], ["scope", "subject_key", "attribute_key"]
    op.create_index("memories_by_text", "memories", by_text, sqlite_where=facts, postgresql_where=facts)
    op.create_index("memories_by_subject", "memories", by_subject, sqlite_where=facts, postgresql_where=facts)
    private = sa.text("what = 'private'")
    place = ["scope", "session_id", "sequence"]
    op.create_index("entries_private", "entries", place, sqlite_where=private, postgresql_where=private)
    pinned = sa.text("pin <> 'none'")
    op.create_index("memories_pinned", "memories", ["scope", "pin"], sqlite_where=pinned, postgresql_where=pinned)


def _make_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("number", _KEY, primary_key=True, autoincrement=True),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("not_before", sa.BigInteger, nullable=False),
        sa.Column("held_until", sa.BigInteger, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("gave_up", sa.Boolean, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("jobs_by_key", "jobs", ["scope", "kind", "key"], unique=True)
    op.create_table(
        "never_patterns",
        sa.Column("number", _KEY, primary_key=True, autoincrement=True),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("pattern", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_index("never_patterns_once", "never_patterns", ["scope", "pattern"], unique=True)
    op.create_table(
        "told",
        sa.Column("scope", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "generations",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("probe", sa.LargeBinary, nullable=False),
    )


def _rewrite() -> None:
    connection = op.get_bind()
    some = sa.text("SELECT number, scope, payload FROM memories WHERE number > :after ORDER BY number LIMIT :most")
    change = sa.text(
        "UPDATE memories SET payload = :payload, session_id = :session_id, text_key = :text_key WHERE number = :number"
    )
    add = sa.text("INSERT INTO memory_sources VALUES (:number, :scope, :session_id, :entry_id) ON CONFLICT DO NOTHING")
    after = 0
    while rows := connection.execute(some, {"after": after, "most": _BATCH}).all():
        after = rows[-1].number
        changes: list[dict[str, Any]] = []
        sources: list[dict[str, Any]] = []
        for row in rows:
            memory = json.loads(row.payload)
            session_id = memory["session_id"]
            own = [{"session_id": session_id, "entry_id": entry_id} for entry_id in memory.pop("source_ids", ())]
            memory["sources"] = own
            changes.append(
                {
                    "number": row.number,
                    "payload": json.dumps(memory, ensure_ascii=False),
                    "session_id": session_id,
                    "text_key": words_key(memory["text"]),
                }
            )
            sources += [{"number": row.number, "scope": row.scope, **source} for source in own]
        connection.execute(change, changes)
        if sources:
            connection.execute(add, sources)
