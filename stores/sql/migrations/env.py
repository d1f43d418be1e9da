"""Alembic's entry: runs the revisions on the connection that `stores.sql.migrate` hands over."""

from __future__ import annotations

from alembic import context

from stores.sql.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
