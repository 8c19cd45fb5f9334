"""The way to the history database: every transaction goes through here, with its schema and its errors.

Nothing here waits longer than the database's own time-outs, and nothing is tried again: who writes has a spool, and
who reads has a person waiting. Who has many people waiting has patience: with it time-outs are short, and after a
failure the database is left alone for a while (`shardsched.history.outage`).
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import HistoryError, HistorySchemaError, HistoryUnavailableError, SettingsError
from shardsched.history.outage import REST_S, Breaker
from shardsched.history.place import dialect_of
from shardsched.history.schema import HEAD, VERSION, load_steps, newer, stored_version
from shardsched.registry.sql_dialect import WRITES, Trouble
from shardsched.registry.sql_sqlite import Sqlite
from shardsched.sentence import Foreign, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

    from shardsched.clock import Clock
    from shardsched.history.outage import Outage

LOCK_WAIT_S = 30.0
"""How long SQLite waits for another writer; four processes that write all the time needed 2.4 s at most."""
PATIENCE_S = 3.0
"""How long people wait for a database that is perhaps not there."""


class Database:
    """One database, connected to when it is first needed. **Thread:** any.

    Args:
        url: ``sqlite:///…`` or ``postgresql://…``.
        connection_count: How many connections are kept; as many threads more may have one for a while.
        lock_wait_s: How long SQLite waits for another writer.
        patience_s: How long people wait for a link or a lock; after that the database counts as away, and whoever asks
            is told so at once. Without it the time-outs are those of who has nobody waiting, and everybody asks.
        makes_file: Whether an SQLite file is made if there is none.
        clock: Tells how long ago it failed.

    Raises:
        SettingsError: The URL cannot be read.
    """

    def __init__(
        self,
        url: str,
        *,
        connection_count: int = 2,
        lock_wait_s: float = LOCK_WAIT_S,
        patience_s: float | None = None,
        makes_file: bool = True,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._dialect = dialect_of(url, lock_wait_s if patience_s is None else patience_s, patience_s)
        self.place = self._dialect.place
        """Where it is, without a password."""
        self._connection_count = connection_count
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._file: tuple[int, int] | None = None
        self._is_ready = False
        self._failure: tuple[float, HistoryError] | None = None
        self._makes_file = makes_file
        self._has_patience = patience_s is not None
        rest_s = REST_S if self._has_patience else 0.0
        self._reads, self._writes = Breaker(clock, rest_s), Breaker(clock, rest_s)

    @property
    def reading_outage(self) -> Outage | None:
        """Since when nothing can be read, None while it can as far as is known."""
        return self._reads.outage

    @property
    def writing_outage(self) -> Outage | None:
        """Since when nothing can be written, None while it can as far as is known."""
        return self._reads.outage or self._writes.outage

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Lend a connection to read with.

        Raises:
            HistoryUnavailableError: No answer, or we are turned away.
            HistorySchemaError: The tables are not ours.
        """
        self._reads.ask()
        with self._lent_to_read() as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """Lend a connection in a transaction that is committed at the end of the body.

        **Atomicity:** all of the body or nothing, also if it raises. **Unknown:** HistoryUnavailableError; it may
        have happened.

        Raises:
            HistoryUnavailableError: No answer, or we are turned away.
            HistorySchemaError: The tables are not ours; nothing was written.
            HistoryError: A value cannot be stored; nothing was written.
        """
        self._reads.ask()
        self._writes.ask()
        with self._lent_to_write() as connection:
            yield connection

    def probe(self) -> None:
        """Ask whether it can be read and written, also while it is left alone.

        Raises:
            HistoryError: Not so.
        """
        for lent in (self._lent_to_read, self._lent_to_write):
            with lent() as connection:
                connection.execute(select(VERSION.c.version_num)).scalar()

    @contextlib.contextmanager
    def _lent_to_read(self) -> Iterator[Connection]:
        with self._reads.judging():
            engine = self._ready_engine()
            with (
                self._translated(),
                engine.connect().execution_options(**self._dialect.single_options) as connection,
            ):
                yield connection

    @contextlib.contextmanager
    def _lent_to_write(self) -> Iterator[Connection]:
        with self._writes.judging():
            engine = self._ready_engine()
            with (
                self._translated(),
                engine.connect().execution_options(**{WRITES: True}) as connection,
                connection.begin(),
            ):
                # Another process may have brought the tables to its own version since we looked.
                version = connection.execute(select(VERSION.c.version_num)).scalar()
                if version != HEAD:
                    self._is_ready = False
                    raise newer(self.place, version)
                yield connection

    def prepare(self) -> None:
        """Connect, and make or upgrade the tables.

        Raises:
            HistoryUnavailableError: No answer, or we are turned away.
            HistorySchemaError: The tables are of a newer release.
        """
        self._ready_engine()

    def version(self) -> str:
        """Return the version of the tables.

        Raises:
            HistoryUnavailableError: No answer, or we are turned away.
            HistorySchemaError: The tables are not ours.
        """
        with self.reading() as connection:
            return str(connection.execute(select(VERSION.c.version_num)).scalar())

    def close(self) -> None:
        """Close the connections: those in use when they are given back."""
        with self._lock:
            self._forget()

    def _ready_engine(self) -> Engine:
        asked_at = SYSTEM_CLOCK.boot()
        with self._lock:
            if self._failure is not None and self._failure[0] > asked_at:
                # Others have just waited for it in vain; a queue of threads must not do so one after the other.
                raise self._failure[1]
            try:
                with self._translated():
                    return self._connected_engine()
            except HistoryError as error:
                self._failure = (SYSTEM_CLOCK.boot(), error)
                raise

    def _connected_engine(self) -> Engine:
        if self._is_gone():
            # A new file would have no users, and people would take it for the first start.
            self._forget()
            raise HistoryUnavailableError(
                Sentence("%(place)s is gone; put it back, or restart the console for a new one", place=self.place)
            )
        if self._is_ready and self._is_moved():
            self._forget()
        if self._engine is None:
            self._engine = self._dialect.connect(
                pool_size=self._connection_count,
                max_overflow=self._connection_count,
                pool_pre_ping=True,
            )
        if not self._is_ready:
            self._prepare(self._engine)
            self._is_ready = True
            self._file = self._identity()
        return self._engine

    def _prepare(self, engine: Engine) -> None:
        # First without writing, since whoever only reads need not be allowed to.
        with engine.connect().execution_options(**self._dialect.single_options) as connection:
            if stored_version(connection) == HEAD:
                return
        take = load_steps()
        with engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
            self._dialect.prepare(connection)
            take(connection, self.place)

    def _forget(self) -> None:
        engine, self._engine, self._is_ready = self._engine, None, False
        if engine is not None:
            engine.dispose()

    def _is_gone(self) -> bool:
        """Whether there is no file where one must be, as it was there or somebody else makes it."""
        must_be = not self._makes_file or (self._has_patience and self._file is not None)
        return must_be and isinstance(self._dialect, Sqlite) and not self._dialect.path.exists()

    def _identity(self) -> tuple[int, int] | None:
        if not isinstance(self._dialect, Sqlite):
            return None
        with contextlib.suppress(OSError):
            stat = self._dialect.path.stat()
            return (stat.st_dev, stat.st_ino)
        return None

    def _is_moved(self) -> bool:
        # SQLite would go on with a file that somebody deleted or replaced, and nobody would ever see the rows.
        return self._identity() != self._file

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except SettingsError as error:
            raise HistoryUnavailableError(str(error)) from error
        except PoolTimeoutError as error:
            raise HistoryUnavailableError(
                Sentence("too many threads use %(place)s at once; try again", place=self.place)
            ) from error
        except (DataError, IntegrityError) as error:
            raise HistoryError(
                Sentence("%(place)s cannot store a value (%(error)s)", place=self.place, error=_first_line(error))
            ) from error
        except DBAPIError as error:
            raise self._translate(error) from error
        except SQLAlchemyError as error:
            raise HistoryError(
                Sentence("%(place)s cannot do what was asked (%(error)s)", place=self.place, error=_first_line(error))
            ) from error

    def _translate(self, error: DBAPIError) -> HistoryError:
        # What comes back after a failure may be another database: look at its tables again.
        self._is_ready = False
        reason = _first_line(error)
        match self._dialect.trouble(error.orig if isinstance(error.orig, Exception) else error):
            case Trouble.BUSY:
                return HistoryUnavailableError(
                    Sentence("%(place)s was busy (%(reason)s); try again", place=self.place, reason=reason)
                )
            case Trouble.UNREACHABLE:
                return HistoryUnavailableError(
                    Sentence("%(place)s gave no answer (%(reason)s); see that it runs", place=self.place, reason=reason)
                )
            case Trouble.DENIED:
                return HistoryUnavailableError(
                    Sentence(
                        "%(place)s refuses us (%(reason)s); give the permission, or another history database",
                        place=self.place,
                        reason=reason,
                    )
                )
            case Trouble.BROKEN:
                return HistorySchemaError(
                    Sentence(
                        "%(place)s cannot be used for history (%(reason)s); restore it, or give another one",
                        place=self.place,
                        reason=reason,
                    )
                )


def _first_line(error: SQLAlchemyError) -> str:
    text = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    return Foreign(text.strip().partition("\n")[0])
