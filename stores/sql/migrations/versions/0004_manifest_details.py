"""Manifests are numbered within their session and forget their details in time; so do the texts they refer to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Adds the columns, numbers what is there, and makes the indexes. Old manifests have no details."""
    op.add_column("manifests", sa.Column("session_number", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("manifests", sa.Column("at", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("manifests", sa.Column("details", sa.Text))
    op.add_column("manifest_texts", sa.Column("last_at", sa.BigInteger))
    op.execute(
        "UPDATE manifests SET session_number = (SELECT COUNT(*) FROM manifests AS before"
        " WHERE before.scope = manifests.scope AND before.session_id = manifests.session_id"
        " AND before.number <= manifests.number)"
    )
    op.drop_index("manifests_by_session", "manifests")
    op.create_index("manifests_by_session", "manifests", ["scope", "session_id", "session_number"], unique=True)
    detailed, in_time = sa.text("details IS NOT NULL"), sa.text("last_at IS NOT NULL")
    op.create_index(
        "manifests_detailed", "manifests", ["scope", "at"], sqlite_where=detailed, postgresql_where=detailed
    )
    op.create_index(
        "manifest_texts_in_time", "manifest_texts", ["scope", "last_at"], sqlite_where=in_time, postgresql_where=in_time
    )
