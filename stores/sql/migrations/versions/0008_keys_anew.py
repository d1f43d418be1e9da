"""Texts are compared by what is seen of them, in whatever form of Unicode: the keys are reckoned anew."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

from stores.sameness import words_key

revision = "0008"
down_revision = "0007"

_BATCH = 1_000


def upgrade() -> None:
    """Changes the keys of those texts that have another one now."""
    connection = op.get_bind()
    some = sa.text("SELECT number, payload FROM memories WHERE number > :after ORDER BY number LIMIT :most")
    change = sa.text(
        "UPDATE memories SET text_key = :text, subject_key = :subject, attribute_key = :attribute"
        " WHERE number = :number"
    )
    after = 0
    while rows := connection.execute(some, {"after": after, "most": _BATCH}).all():
        after = rows[-1].number
        changes: list[dict[str, str | int]] = []
        for row in rows:
            memory = json.loads(row.payload)
            texts = {name: str(memory.get(name, "")) for name in ("text", "subject", "attribute")}
            if not all(text.isascii() for text in texts.values()):
                changes.append({"number": row.number, **{name: words_key(text) for name, text in texts.items()}})
        if changes:
            connection.execute(change, changes)
