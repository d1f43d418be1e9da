"""The ledger can be asked by role, model and endpoint."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_BATCH = 500


def upgrade() -> None:
    """Adds the columns, fills them from the calls kept so far, and makes their indexes."""
    for name in ("role", "model", "endpoint"):
        op.add_column("ledger", sa.Column(name, sa.Text, nullable=False, server_default=""))
    op.add_column("ledger", sa.Column("tokens", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("ledger", sa.Column("is_sample", sa.Boolean, nullable=False, server_default=sa.false()))
    _fill()
    op.create_index(
        "ledger_samples",
        "ledger",
        ["scope", "model", "endpoint", "at", "number"],
        sqlite_where=sa.text("is_sample = 1"),
        postgresql_where=sa.text("is_sample"),
    )
    op.create_index("ledger_spent", "ledger", ["scope", "role", "at", "tokens"])


def _fill() -> None:
    connection = op.get_bind()
    query = sa.text("SELECT number, payload FROM ledger WHERE number > :last ORDER BY number LIMIT :most")
    change = sa.text(
        "UPDATE ledger SET role = :role, model = :model, endpoint = :endpoint, tokens = :tokens,"
        " is_sample = :is_sample WHERE number = :number"
    )
    last = 0
    while rows := connection.execute(query, {"last": last, "most": _BATCH}).all():
        connection.execute(change, [{"number": row.number, **_columns(json.loads(row.payload))} for row in rows])
        last = rows[-1].number


def _columns(call: dict[str, Any]) -> dict[str, Any]:
    """As the ledger wrote them when this revision was made."""
    return {
        "role": call["role"],
        "model": call["model"],
        "endpoint": call["endpoint"],
        "tokens": call["prompt_tokens"] + call["completion_tokens"],
        "is_sample": (
            not call["estimated"]
            and call.get("text_only", True)
            and call.get("raw_tokens", 0) > 0
            and call["prompt_tokens"] > 0
        ),
    }
