"""The tables of a registry in an SQL database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, Table, Text, insert, inspect, select
from sqlalchemy.dialects import postgresql

from shardsched.errors import SettingsError
from shardsched.registry.tree import ROOT
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from sqlalchemy import Connection

SCHEMA_VERSION = 1
"""Grows when the tables change; a database of a later one is left alone."""

METADATA = MetaData()

# Compared letter by letter, whatever the database's language; nothing is sorted by the database.
_TEXT = Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")

REGISTRY = Table(
    "shardsched_registry",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("schema_version", Integer, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("pruned", BigInteger, nullable=False),
)
"""One row. ``sequence`` is that of the last transaction, and ``pruned`` the last one missing in the changes."""

NODES = Table(
    "shardsched_nodes",
    METADATA,
    Column("path", _TEXT, primary_key=True),
    Column("parent", _TEXT, nullable=False),
    Column("value", LargeBinary, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("created_id", BigInteger, nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("owner", _TEXT),
)
"""The tree. ``created_id`` is the sequence of the transaction that created the node."""

Index("shardsched_nodes_parent", NODES.c.parent)
Index(
    "shardsched_nodes_owner",
    NODES.c.owner,
    sqlite_where=NODES.c.owner.is_not(None),
    postgresql_where=NODES.c.owner.is_not(None),
)

SESSIONS = Table(
    "shardsched_sessions",
    METADATA,
    Column("id", _TEXT, primary_key=True),
    Column("secret", _TEXT, nullable=False),
    Column("era", _TEXT, nullable=False),
    Column("timeout_us", BigInteger, nullable=False),
    Column("expires_us", BigInteger, nullable=False),
)
"""The living sessions. ``era`` says to which run of the clock ``expires_us`` belongs; one of another era is over."""

CHANGES = Table(
    "shardsched_changes",
    METADATA,
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("path", _TEXT, primary_key=True),
)
"""Which transaction touched which node; see `SESSION_MARK` for the other rows."""

SESSION_MARK = "session "
"""Before a session's id, in place of a path: it has ended. No path begins so."""


def prepare(connection: Connection, wall_us: int) -> None:
    """Create what is missing, within the connection's transaction.

    Raises:
        SettingsError: The tables are of a later version.
    """
    if not inspect(connection).has_table(REGISTRY.name):
        METADATA.create_all(connection)
        connection.execute(insert(REGISTRY), {"id": 1, "schema_version": SCHEMA_VERSION, "sequence": 0, "pruned": 0})
        root = {"path": ROOT, "parent": "", "value": b"", "version": 0, "created_id": 0, "created_us": wall_us}
        connection.execute(insert(NODES), root)
        return
    version = connection.execute(select(REGISTRY.c.schema_version)).scalar()
    if version != SCHEMA_VERSION:
        raise SettingsError(
            Sentence(
                "the registry's tables are of version %(version)a, and this shardsched knows version "
                "%(known)s; install the version that made them, or give another database",
                version=version,
                known=SCHEMA_VERSION,
            )
        )
