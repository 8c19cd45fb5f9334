"""Which version the tables of a database have, and how they come to have ours.

A newer release brings the tables up to its own version when it first meets them; an older one that meets them then
leaves them alone and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Column, MetaData, String, Table, inspect, select

from shardsched.errors import HistorySchemaError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

HEAD = "0003"
"""The version that this release reads and writes: the last of its migrations."""
VERSION = Table("shardsched_history_version", MetaData(), Column("version_num", String(32), primary_key=True))
"""One row, kept by Alembic."""


def stored_version(connection: Connection) -> str | None:
    """Return the version of the tables, or None if there are none."""
    if not inspect(connection).has_table(VERSION.name):
        return None
    version: str | None = connection.execute(select(VERSION.c.version_num)).scalar()
    return version


def load_steps() -> Callable[[Connection, str], None]:
    """Load the migrations and the library that runs them, which takes a while; return what takes the missing ones.

    That brings the tables up to our version, within a connection's transaction that writes and while nobody else does
    so, and raises HistorySchemaError if they are of a release that this one does not know. It is given the connection,
    and where the database is, for messages.
    """
    from alembic import command  # noqa: PLC0415 - only where tables are really to be changed
    from alembic.config import Config  # noqa: PLC0415 - likewise
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - likewise

    config = Config()
    config.set_main_option("script_location", "shardsched.history:migrations")
    known = {step.revision for step in ScriptDirectory.from_config(config).walk_revisions()}

    def take(connection: Connection, place: str) -> None:
        version = stored_version(connection)
        if version is not None and version not in known:
            raise newer(place, version)
        if version != HEAD:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    return take


def newer(place: str, version: str | None) -> HistorySchemaError:
    """Return the error for tables of a version that is not ours."""
    return HistorySchemaError(
        Sentence(
            "the tables of %(place)s are of version %(version)a, and this shardsched knows version "
            "%(known)s; upgrade it, or give another history database",
            place=place,
            version=str(version)[:32],
            known=HEAD,
        )
    )
