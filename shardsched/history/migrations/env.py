"""Runs steps on the connection that `shardsched.history.schema` lends, within its transaction."""

from __future__ import annotations

from alembic import context

from shardsched.history.schema import VERSION

context.configure(
    connection=context.config.attributes["connection"],
    version_table=VERSION.name,
    # Both databases undo changes of tables with their transaction; Alembic takes it that SQLite does not.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
