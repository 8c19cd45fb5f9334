"""The history database of troubled fleets, which can be made to fail as well."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

from tests.registry.postgres_server import PostgresMissingError, PostgresServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WANTED = os.environ.get("FAULTS_HISTORY", "")
"""``postgres`` or ``sqlite``; empty for PostgreSQL where there is one, else SQLite."""


class Archive:
    """One history database: in a PostgreSQL server of its own, or in a SQLite file.

    Attributes:
        url: The database, as executors are given it.

    Args:
        file: Where a SQLite file is to be.
        server: The server; it runs, and does so again when a fault is healed. None for a SQLite file.
    """

    def __init__(self, file: Path, server: PostgresServer | None = None) -> None:
        self.server = server
        self._lock: sqlite3.Connection | None = None
        self._file = file
        self.url = f"sqlite:///{file}" if server is None else server.url(server.new_schema())

    @property
    def is_postgres(self) -> bool:
        """Whether it is in a PostgreSQL server."""
        return self.server is not None

    def stop(self) -> None:
        """End the server and all connections."""
        assert self.server is not None
        self.server.stop()

    def start(self) -> None:
        """Start the server again."""
        assert self.server is not None
        self.server.start()

    def end_backends(self) -> None:
        """End all connections, as an administrator would."""
        assert self.server is not None
        with self.server.connect() as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )

    def lock(self) -> None:
        """Keep everybody else from writing to the file."""
        self._lock = sqlite3.connect(self._file, isolation_level=None, timeout=30)
        self._lock.execute("BEGIN EXCLUSIVE")

    def unlock(self) -> None:
        """Let everybody write again."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.close()


@contextlib.contextmanager
def archive_server(wanted: str = WANTED) -> Iterator[PostgresServer | None]:
    """Give a running PostgreSQL server, and end it afterwards; None if there is none, or SQLite is wanted."""
    if wanted == "sqlite":
        yield None
        return
    try:
        server = PostgresServer()
    except PostgresMissingError:
        if wanted:
            raise
        yield None
        return
    try:
        server.start()
        yield server
    finally:
        server.close()
