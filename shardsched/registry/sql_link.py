"""The way to the database: every transaction goes through here, with its retries and its errors."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy.exc import DBAPIError, InterfaceError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from shardsched.errors import RegistryAccessError, RegistryError, RegistryUnavailableError
from shardsched.registry.sql_dialect import WRITES, Trouble
from shardsched.sentence import Foreign, Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, Engine

    from shardsched.registry.sql_dialect import Dialect

Result = TypeVar("Result")

BUSY_PATIENCE_S = 30.0
"""How long a transaction is tried again because others are in the way."""
BUSY_PAUSE_S = 0.01
"""Between two tries; the database itself has waited before."""
REACH_PAUSE_S = 0.25
"""Between two attempts to reach a database that does not answer."""


class Link:
    """Connections to one database. **Thread:** any."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._engine: Engine = dialect.connect()
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._in_use: list[Any] = []

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """Return what is read.

        Raises:
            RegistryUnavailableError: No answer.
            RegistryAccessError: We may not, or the database is damaged.
        """
        return self._patiently(lambda: self._once(work, writes=False))

    def write(self, work: Callable[[Connection], Result], patience_s: float = BUSY_PATIENCE_S) -> Result:
        """Return the answer of work that writes, in one transaction; it is done again when others were in the way.

        **Unknown:** RegistryUnavailableError; it may have happened.

        Raises:
            RegistryUnavailableError: No answer.
            RegistryAccessError: We may not, or the database is damaged.
            RegistryError: Raised by the work itself: nothing happened.
        """
        return self._patiently(lambda: self._once(work, writes=True), patience_s)

    def write_when_reached(self, work: Callable[[Connection], Result], timeout_s: float) -> Result:
        """Do as `write` does, but keep trying for a while when the database does not answer.

        Raises:
            RegistryUnavailableError: No answer in time.
            RegistryAccessError: We may not, or the database is damaged.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                return self.write(work, timeout_s)
            except RegistryUnavailableError:
                if time.monotonic() > deadline or self._closed.wait(REACH_PAUSE_S):
                    raise

    @contextlib.contextmanager
    def hold(self) -> Iterator[Connection]:
        """Lend a connection for long, on which each statement stands alone.

        Raises:
            RegistryUnavailableError: The database gave no answer, here or in the body.
            RegistryAccessError: We may not, or the database is damaged.
        """
        with self._translated(), self._connection(**self.dialect.single_options) as connection:
            yield connection

    def sever(self) -> None:
        """End what is under way on all connections, which fails with RegistryUnavailableError, and make new ones."""
        with self._lock:
            drivers = list(self._in_use)
        for driver in drivers:
            self.dialect.sever(driver)
        self._discard()

    def stop_retrying(self) -> None:
        """Give up what waits for others."""
        self._closed.set()

    def close(self) -> None:
        """Close all connections: those in use when they are given back."""
        self._closed.set()
        self._discard()

    def _discard(self) -> None:
        with self._lock:
            pool = self._engine.pool
            self._engine.dispose(close=False)
            pool.dispose()

    def _once(self, work: Callable[[Connection], Result], *, writes: bool) -> Result:
        options = {WRITES: True} if writes else self.dialect.single_options
        with self._connection(**options) as connection, connection.begin():
            return work(connection)

    @contextlib.contextmanager
    def _connection(self, **options: Any) -> Iterator[Connection]:
        pool = self._engine.pool
        connection = self._engine.connect().execution_options(**options)
        driver = connection.connection.driver_connection
        with self._lock:
            self._in_use.append(driver)
        try:
            yield connection
        finally:
            with self._lock:
                self._in_use.remove(driver)
                if self._engine.pool is not pool:
                    # It would go back to a pool that was given up, and stay open there.
                    connection.invalidate()
                connection.close()

    def _patiently(self, attempt: Callable[[], Result], patience_s: float = BUSY_PATIENCE_S) -> Result:
        deadline = time.monotonic() + patience_s
        while True:
            try:
                with self._translated():
                    return attempt()
            except _BusyError as error:
                if time.monotonic() > deadline or self._closed.wait(BUSY_PAUSE_S):
                    raise RegistryUnavailableError(
                        Sentence(
                            "%(place)s was busy for %(seconds)g s and nothing was written; see who holds it",
                            place=self.dialect.place,
                            seconds=patience_s,
                        )
                    ) from error

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise self._translate(error) from error
        except PoolTimeoutError as error:
            raise RegistryUnavailableError(
                Sentence("too many threads use %(place)s at once; try again", place=self.dialect.place)
            ) from error
        except SQLAlchemyError as error:
            raise self._damaged(error) from error

    def _translate(self, error: DBAPIError) -> RegistryError:
        # A driver that finds its connection closed says so with an error of its own interface.
        if error.connection_invalidated or isinstance(error, InterfaceError):
            return self._unavailable(error)
        match self.dialect.trouble(error.orig if isinstance(error.orig, Exception) else error):
            case Trouble.BUSY:
                return _BusyError(str(error.orig))
            case Trouble.UNREACHABLE:
                return self._unavailable(error)
            case Trouble.DENIED:
                return RegistryAccessError(
                    Sentence(
                        "%(place)s refuses us (%(error)s); give the permission, or another URL",
                        place=self.dialect.place,
                        error=_first_line(error),
                    )
                )
            case Trouble.BROKEN:
                return self._damaged(error)

    def _unavailable(self, error: DBAPIError) -> RegistryError:
        return RegistryUnavailableError(
            Sentence(
                "%(place)s gave no answer (%(error)s); it may have happened: read before repeating",
                place=self.dialect.place,
                error=_first_line(error),
            )
        )

    def _damaged(self, error: SQLAlchemyError) -> RegistryError:
        return RegistryAccessError(
            Sentence(
                "%(place)s cannot be used as a registry (%(error)s); restore it, or give another URL",
                place=self.dialect.place,
                error=_first_line(error),
            )
        )


class _BusyError(RegistryError):
    """Raised when others were in the way and nothing happened; never seen outside."""


def _first_line(error: SQLAlchemyError) -> str:
    text = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    return Foreign(text.strip().partition("\n")[0])
