"""SQLite: a registry in one file, for the processes of one machine.

Every transaction that writes begins with ``BEGIN IMMEDIATE``: one that read first and wrote then would fail with
"database is locked" whatever its time-out. The write-ahead log lets readers go on meanwhile. A process frozen in the
middle of a write holds up all the others until it goes on, which no time-out of ours can change; a write takes a few
milliseconds.

Sessions are measured with the machine's boot clock, which runs on while it sleeps. The boot's identity is the era:
after a restart all sessions are over.
"""

from __future__ import annotations

import contextlib
import os
import select
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, create_engine, event, literal
from sqlalchemy.pool import QueuePool

from shardsched.errors import SettingsError
from shardsched.registry.sql_dialect import WRITES, Bell, Dialect, Trouble
from shardsched.sentence import Foreign, Sentence

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Engine

    from shardsched.clock import Clock

BUSY_TIMEOUT_S = 1.0
"""How long SQLite itself waits for others. Longer waits are made of several, between which a closing registry is seen;
SQLite also asks more seldom the longer it waits, and so loses to those who come later."""
POLL_S = 0.05
"""How often a watcher looks; it costs about 20 microseconds."""
POOL_SIZE = 4
MAX_OVERFLOW = 60
"""For as many threads as may read at once."""

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

_TROUBLES = {
    sqlite3.SQLITE_BUSY: Trouble.BUSY,
    sqlite3.SQLITE_LOCKED: Trouble.BUSY,
    sqlite3.SQLITE_READONLY: Trouble.DENIED,
    sqlite3.SQLITE_PERM: Trouble.DENIED,
    sqlite3.SQLITE_AUTH: Trouble.DENIED,
    sqlite3.SQLITE_CANTOPEN: Trouble.DENIED,
    sqlite3.SQLITE_NOTADB: Trouble.BROKEN,
    sqlite3.SQLITE_CORRUPT: Trouble.BROKEN,
    sqlite3.SQLITE_SCHEMA: Trouble.BROKEN,
    sqlite3.SQLITE_ERROR: Trouble.BROKEN,
}
"""By primary result code; others (disk full, input and output) are taken as no answer."""


class Sqlite(Dialect):
    """One file.

    Args:
        path: The file; it and its folder are made when they are missing.
        clock: The machine's clocks.
        busy_timeout_s: How long SQLite itself waits for others.
        mode: The permissions with which a missing file is made; None for what the process's mask leaves.
    """

    # Without a BEGIN each statement stands alone; asking SQLAlchemy for it would undo our way of opening.
    single_options: Mapping[str, Any] = {}

    def __init__(
        self, path: Path, clock: Clock, *, busy_timeout_s: float = BUSY_TIMEOUT_S, mode: int | None = None
    ) -> None:
        self.path = path
        self.place = Sentence("SQLite file %(path)s", path=path)
        self.era = boot_identity()
        self._clock = clock
        self._busy_timeout_s = busy_timeout_s
        self._mode = mode

    def connect(self, **options: Any) -> Engine:
        """Return a pool of connections.

        Raises:
            SettingsError: The folder is missing and cannot be made.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(
                Sentence(
                    "the folder of %(place)s cannot be made (%(error)s); give another file or make the folder",
                    place=self.place,
                    error=Foreign(error.strerror),
                )
            ) from error
        pool = {"pool_size": POOL_SIZE, "max_overflow": MAX_OVERFLOW, "pool_timeout": 10.0} | options
        engine = create_engine("sqlite+pysqlite://", creator=self._open, poolclass=QueuePool, **pool)
        event.listen(engine, "begin", _begin)
        return engine

    def _open(self) -> sqlite3.Connection:
        if self._mode is not None:
            # SQLite gives the files of its log the permissions of this one.
            with contextlib.suppress(OSError):
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, self._mode))
        # Without an isolation level the module leaves transactions to us.
        connection = sqlite3.connect(
            self.path, timeout=self._busy_timeout_s, isolation_level=None, check_same_thread=False
        )
        try:
            # A commit survives the death of any process; only a power failure, after which no session lives, can
            # undo the last ones.
            connection.execute("PRAGMA synchronous=NORMAL")
            if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def prepare(self, connection: Connection) -> None:
        """Nothing more than the transaction that holds the lock."""

    def session_us(self) -> ColumnElement[int]:
        """Return the boot clock, as it is now."""
        return literal(int(self._clock.boot() * 1e6), BigInteger)

    def wall_us(self) -> ColumnElement[int]:
        """Return the wall clock, as it is now."""
        return literal(int(self._clock.now().timestamp() * 1e6), BigInteger)

    def announce(self, connection: Connection) -> None:
        """Nothing: watchers see that the file changed."""

    def bell(self, connection: Connection) -> Bell:
        """Return a bell that polls."""
        return _DataVersion(connection)

    def server_time(self, connection: Connection) -> datetime:
        """Return the machine's wall-clock time, once the file has answered."""
        connection.exec_driver_sql("SELECT 1")
        return self._clock.now()

    def sever(self, driver: Any) -> None:
        """Nothing: there is no link that could be dead, and whoever waits for others goes on in time."""

    def trouble(self, error: Exception) -> Trouble:
        """Return what an error means, by its primary result code."""
        code = getattr(error, "sqlite_errorcode", None)
        return Trouble.UNREACHABLE if code is None else _TROUBLES.get(code & 0xFF, Trouble.UNREACHABLE)


class _DataVersion(Bell):
    """Asks SQLite whether another connection has committed since, without reading anything."""

    def __init__(self, connection: Connection) -> None:
        self._driver: Any = connection.connection.driver_connection
        self._version = self._ask()

    def wait(self, wake: socket.socket) -> bool:
        """Wait for a wake-up or the next poll."""
        select.select([wake], [], [], POLL_S)
        before, self._version = self._version, self._ask()
        return bool(before != self._version)

    def _ask(self) -> Any:
        return self._driver.execute("PRAGMA data_version").fetchone()


def _begin(connection: Connection) -> None:
    if connection.get_execution_options().get(WRITES):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def boot_identity() -> str:
    """Return what tells this run of the machine from every other, as far as the system knows."""
    with contextlib.suppress(OSError):
        return _BOOT_ID.read_text().strip()
    if sys.platform == "darwin":
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            command = ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"]
            return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5).stdout.strip()
    return f"unknown-{os.uname().nodename}"
