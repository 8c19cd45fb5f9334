"""Which database a URL means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import SettingsError
from shardsched.registry.sql_postgres import Postgres
from shardsched.registry.sql_sqlite import Sqlite
from shardsched.registry.url import sqlite_path
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from shardsched.registry.sql_dialect import Dialect

_FILE_MODE = 0o600
"""Output and parameters of runs may hold what a crawler logs in with."""


def dialect_of(url: str, lock_wait_s: float, patience_s: float | None = None) -> Dialect:
    """Return the way to speak to the database of a URL.

    Args:
        url: ``sqlite:///…`` or ``postgresql://…``.
        lock_wait_s: How long SQLite waits for another writer.
        patience_s: How long a link to PostgreSQL is waited for; None for its own time.

    Raises:
        SettingsError: The URL cannot be read.
    """
    kind, mark, rest = url.partition("://")
    if mark and kind.lower() == "postgresql":
        return Postgres(f"postgresql://{rest}", patience_s=patience_s)
    path = sqlite_path(rest) if mark and kind.lower() == "sqlite" else None
    if path is None:
        raise SettingsError(
            Sentence(
                "the URL of the history database names none; write sqlite:///history.db, "
                "sqlite:////folder/history.db or postgresql://user:password@host/database"
            )
        )
    return Sqlite(path, SYSTEM_CLOCK, busy_timeout_s=lock_wait_s, mode=_FILE_MODE)
