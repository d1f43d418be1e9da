"""Memories are found by who said them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Adds the column, fills it from the records, and makes its index."""
    op.add_column("memories", sa.Column("speaker", sa.Text))
    sqlite = op.get_bind().dialect.name == "sqlite"
    speaker = "json_extract(payload, '$.speaker')" if sqlite else "CAST(payload AS json) ->> 'speaker'"
    op.execute(f"UPDATE memories SET speaker = {speaker}")
    op.create_index("memories_by_speaker", "memories", ["scope", "speaker"])
