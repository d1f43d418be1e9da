"""The tables. A change here goes with a new revision in ``migrations/versions`` and a new HEAD_REVISION.

Times that are sorted by are integer microseconds since 1970 (UTC). Records are kept whole as JSON
in ``payload``; the other columns are what queries need. Indexes and the lexical indexes
(``memory_terms``, ``passage_terms``) stand only in the migrations: each engine has its own kind, and naming them here
would load every engine's dialect.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import BigInteger, Boolean, Column, Integer, LargeBinary, MetaData, Table, Text, false

from stores.errors import StoreError

HEAD_REVISION = "0008"
"""The newest revision in ``migrations/versions``."""

# SQLite makes only a column declared INTEGER an alias of the rowid.
_BigKey = BigInteger().with_variant(Integer(), "sqlite")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

metadata = MetaData()

scopes = Table(
    "scopes",
    metadata,
    Column("number", _BigKey, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("cursor", BigInteger, nullable=False, server_default="0"),
    # How many memories are active: what the share of a term is taken of.
    Column("active_count", BigInteger, nullable=False, server_default="0"),
    # The largest outbox number of the scope whose row was dropped.
    Column("dropped_number", BigInteger, nullable=False, server_default="0"),
    # The journal position up to which passages have been added.
    Column("history_cursor", BigInteger, nullable=False, server_default="0"),
    Column("passage_count", BigInteger, nullable=False, server_default="0"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("scope", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("last_at", BigInteger, nullable=False),
    Column("message_count", BigInteger, nullable=False),
    Column("last_sequence", BigInteger, nullable=False),
    Column("last_position", BigInteger, nullable=False),
)

entries = Table(
    "entries",
    metadata,
    Column("position", _BigKey, primary_key=True, autoincrement=True),
    Column("scope", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    # The kind of a mark; null for a message.
    Column("what", Text),
    Column("payload", Text, nullable=False),
)

memories = Table(
    "memories",
    metadata,
    Column("number", _BigKey, primary_key=True, autoincrement=True),
    Column("scope", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("said_at", BigInteger, nullable=False),
    Column("payload", Text, nullable=False),
    Column("session_id", Text),
    Column("speaker", Text),
    # Of the text's words, the subject's and the attribute's (see stores.sameness); "" where there are none.
    Column("text_key", Text, nullable=False, server_default=""),
    Column("subject_key", Text, nullable=False, server_default=""),
    Column("attribute_key", Text, nullable=False, server_default=""),
    Column("pin", Text, nullable=False, server_default="none"),
)

memory_sources = Table(
    "memory_sources",
    metadata,
    Column("memory_number", BigInteger, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("session_id", Text, primary_key=True),
    Column("entry_id", Text, primary_key=True),
)

memory_versions = Table(
    "memory_versions",
    metadata,
    Column("memory_number", BigInteger, primary_key=True),
    Column("version", BigInteger, primary_key=True),
    Column("payload", Text, nullable=False),
)

jobs = Table(
    "jobs",
    metadata,
    Column("number", _BigKey, primary_key=True, autoincrement=True),
    Column("scope", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("not_before", BigInteger, nullable=False),
    # Until when a worker holds it; 0: nobody does.
    Column("held_until", BigInteger, nullable=False),
    Column("error", Text, nullable=False),
    Column("gave_up", Boolean, nullable=False),
)

never_patterns = Table(
    "never_patterns",
    metadata,
    Column("number", _BigKey, primary_key=True, autoincrement=True),
    Column("scope", Text, nullable=False),
    Column("pattern", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

# What a person is told once only.
told = Table(
    "told",
    metadata,
    Column("scope", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
)

# All scopes have the same embedder.
generations = Table(
    "generations",
    metadata,
    Column("name", Text, primary_key=True),
    # The vectors of fixed texts, by which the embedder is known again.
    Column("probe", LargeBinary, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("number", _BigKey, primary_key=True, autoincrement=True),
    Column("scope", Text, nullable=False),
    Column("memory_id", Text, nullable=False),
    Column("generation", Text),
    # How many vectors of equal length stand in ``vectors``; null until they are known.
    Column("chunks", Integer),
    Column("vectors", LargeBinary),
    Column("done", Boolean, nullable=False),
)

passages = Table(
    "passages",
    metadata,
    Column("number", _BigKey, primary_key=True),
    Column("scope_number", BigInteger, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("entry_id", Text, nullable=False),
    Column("start", BigInteger, nullable=False),
    Column("chars", Integer, nullable=False),
)

ledger = Table(
    "ledger",
    metadata,
    Column("number", _BigKey, primary_key=True, autoincrement=True),
    Column("scope", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("session_id", Text),
    Column("at", BigInteger, nullable=False),
    Column("payload", Text, nullable=False),
    Column("role", Text, nullable=False, server_default=""),
    Column("model", Text, nullable=False, server_default=""),
    Column("endpoint", Text, nullable=False, server_default=""),
    # Prompt and completion.
    Column("tokens", BigInteger, nullable=False, server_default="0"),
    # Whether the server's count of the prompt can be compared with ours.
    Column("is_sample", Boolean, nullable=False, server_default=false()),
)

manifests = Table(
    "manifests",
    metadata,
    Column("number", _BigKey, primary_key=True, autoincrement=True),
    Column("scope", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("exchange_id", Text, nullable=False),
    Column("payload", Text, nullable=False),
    # Counts from 1 within the session.
    Column("session_number", BigInteger, nullable=False, server_default="0"),
    Column("at", BigInteger, nullable=False, server_default="0"),
    # What a replay needs, as JSON; null once it has expired.
    Column("details", Text),
)

manifest_texts = Table(
    "manifest_texts",
    metadata,
    Column("scope", Text, primary_key=True),
    Column("hash", Text, primary_key=True),
    Column("text", Text, nullable=False),
    # When a manifest last referred to it; null: the journal refers to it, too.
    Column("last_at", BigInteger),
)


receipts = Table(
    "receipts",
    metadata,
    Column("number", _BigKey, primary_key=True, autoincrement=True),
    Column("scope", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("payload", Text, nullable=False),
)


def to_micros(at: datetime) -> int:
    """Microseconds since 1970. Raises StoreError for a time without zone."""
    if at.tzinfo is None:
        raise StoreError(f"the time {at} has no zone; use an aware datetime")
    return (at - _EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """The UTC time of `to_micros`."""
    return _EPOCH + timedelta(microseconds=micros)
