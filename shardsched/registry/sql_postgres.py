"""PostgreSQL: a registry for many machines, by psycopg 3.

Sessions are measured with the database's own clock, and watchers are woken by ``NOTIFY``. A process frozen in the
middle of a write loses its connection after a few seconds, so that it does not hold up the others.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import select as polling
import socket
from datetime import UTC
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, cast, create_engine, extract, func, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from shardsched.errors import SettingsError
from shardsched.registry.sql_dialect import Bell, Dialect, Trouble
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Engine

CHANNEL = "shardsched_changes"
PREPARE_LOCK = 0x5AD5C4ED
"""Key of the advisory lock under which tables are made; any number that others are unlikely to use."""
POLL_S = 1.0
"""How often a watcher looks when no notification came: one may be lost on the way through a proxy."""
POOL_SIZE = 3
MAX_OVERFLOW = 12
"""A server has 100 connections for everyone unless told otherwise."""

SERVER_OPTIONS = "-c idle_in_transaction_session_timeout=5s -c lock_timeout=10s -c statement_timeout=15s"
"""What a frozen process may hold up others for, and how long an answer may take."""
LINK_OPTIONS: Mapping[str, Any] = {
    "connect_timeout": 5,
    # A dead link is noticed within about 10 s, rather than two hours.
    "keepalives_idle": 4,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "application_name": "shardsched",
}
"""Unless the URL says otherwise."""

_TROUBLES = {
    "40001": Trouble.BUSY,  # serialisation failure
    "40P01": Trouble.BUSY,  # deadlock
    "55P03": Trouble.BUSY,  # lock not available
    "28": Trouble.DENIED,
    "42501": Trouble.DENIED,  # insufficient privilege
    "42": Trouble.BROKEN,  # tables or columns that are missing
    "3D": Trouble.BROKEN,
    "3F": Trouble.BROKEN,
    "22": Trouble.BROKEN,
    "23": Trouble.BROKEN,
    "XX001": Trouble.BROKEN,  # corrupted
    "XX002": Trouble.BROKEN,
}
"""By SQLSTATE, or its class; others are taken as no answer."""
_PASSING = ("starting up", "shutting down", "recovery", "too many", "connection slots", "terminating")
"""In what a server says when it turns a connection away for now."""


class Postgres(Dialect):
    """One database.

    Args:
        url: Its URL, beginning with ``postgresql://``.
        patience_s: How long a link is waited for, at least 2 s; None for ours.

    Raises:
        SettingsError: The URL cannot be read.
    """

    # One clock for all sessions, which runs on whatever becomes of the server.
    era = "postgresql"
    single_options: Mapping[str, Any] = {"isolation_level": "AUTOCOMMIT"}

    def __init__(self, url: str, *, patience_s: float | None = None) -> None:
        self._link_options = dict(LINK_OPTIONS)
        if patience_s is not None:
            wait_s = max(2, math.ceil(patience_s))  # libpq takes no less
            self._link_options |= {"connect_timeout": wait_s, "tcp_user_timeout": wait_s * 1000}
        try:
            self._url = make_url(url).set(drivername="postgresql+psycopg")
        except (ArgumentError, ValueError):
            # Without the cause, which may show a password.
            raise SettingsError(
                Sentence("the PostgreSQL URL cannot be read; write it as postgresql://user:password@host:5432/database")
            ) from None
        host = self._url.host or self._url.query.get("host") or "this machine"
        name = self._url.database or "of the user"
        self.place = Sentence("PostgreSQL database %(name)r on %(host)s", name=name, host=host)

    def connect(self, **options: Any) -> Engine:
        """Return a pool of connections.

        Raises:
            SettingsError: The driver is missing.
        """
        if importlib.util.find_spec("psycopg") is None:
            raise SettingsError(
                Sentence("PostgreSQL needs the driver psycopg; install it with pip install 'shardsched[postgres]'")
            )
        query = dict(self._url.query)
        own = query.pop("options", "")
        arguments = {key: value for key, value in self._link_options.items() if key not in query}
        pool = {"pool_size": POOL_SIZE, "max_overflow": MAX_OVERFLOW, "pool_timeout": 10.0} | options
        return create_engine(
            self._url.set(query=query),
            connect_args={**arguments, "options": f"{SERVER_OPTIONS} {own if isinstance(own, str) else ' '.join(own)}"},
            isolation_level="READ COMMITTED",
            **pool,
        )

    def prepare(self, connection: Connection) -> None:
        """Hold off others until the end of the transaction.

        Raises:
            SettingsError: The database cannot hold names of every script.
        """
        connection.execute(select(func.pg_advisory_xact_lock(PREPARE_LOCK)))
        encoding = connection.execute(text("SHOW server_encoding")).scalar()
        if encoding != "UTF8":
            raise SettingsError(
                Sentence(
                    "%(place)s has the encoding %(encoding)s; give a database with the encoding UTF8",
                    place=self.place,
                    encoding=encoding,
                )
            )

    def session_us(self) -> ColumnElement[int]:
        """Return the database's clock."""
        return _clock_us()

    def wall_us(self) -> ColumnElement[int]:
        """Return the database's clock."""
        return _clock_us()

    def announce(self, connection: Connection) -> None:
        """Notify all listeners at the commit."""
        connection.execute(select(func.pg_notify(CHANNEL, "")))

    def bell(self, connection: Connection) -> Bell:
        """Return a bell that is rung by notifications."""
        return _Notifications(connection)

    def server_time(self, connection: Connection) -> datetime:
        """Return the database's wall-clock time."""
        now: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
        return now.astimezone(UTC)

    def sever(self, driver: Any) -> None:
        """Shut the connection's socket down, on a descriptor of our own: the other thread may close its one."""
        # Whatever is wrong with it, it does not answer any more.
        with contextlib.suppress(Exception), socket.socket(fileno=os.dup(driver.fileno())) as link:
            link.shutdown(socket.SHUT_RDWR)

    def trouble(self, error: Exception) -> Trouble:
        """Return what an error means, by its SQLSTATE; a connection that was turned away has none, only a message."""
        state = getattr(error, "sqlstate", None)
        if state is not None:
            return _TROUBLES.get(state) or _TROUBLES.get(state[:2]) or Trouble.UNREACHABLE
        message = str(error)
        if "FATAL:" in message and not any(passing in message for passing in _PASSING):
            return Trouble.DENIED
        return Trouble.UNREACHABLE


class _Notifications(Bell):
    """Waits for notifications, which may also arrive with the answer to a query."""

    def __init__(self, connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        self._driver = driver
        self._is_rung = False
        driver.add_notify_handler(self._ring)
        connection.execute(text(f"LISTEN {CHANNEL}"))

    def wait(self, wake: socket.socket) -> bool:
        """Wait for a notification, a wake-up or the next poll; a poll is worth a look."""
        if not self._is_rung:
            ready, _, _ = polling.select([wake, self._driver], [], [], POLL_S)
            if ready == [wake]:
                return False
            self._drain()
        self._is_rung = False
        return True

    def _drain(self) -> None:
        link = self._driver.pgconn
        link.consume_input()
        while link.notifies() is not None:
            pass

    def _ring(self, _: object) -> None:
        self._is_rung = True


def _clock_us() -> ColumnElement[int]:
    return cast(extract("epoch", func.clock_timestamp()) * 1_000_000, BigInteger)
