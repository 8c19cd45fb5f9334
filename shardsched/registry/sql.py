"""The registry in an SQL database: SQLite for one machine, PostgreSQL for many.

- A session is a row with an expiry. The one thread that writes (`sql_worker`) extends it; anyone may remove one that is
  over, together with its nodes. Everything that writes looks for its own session first, in the same transaction, so
  that a process that was frozen for longer than the time-out finds itself lost and writes nothing.
- Changes are numbered in the order in which they were committed; one thread (`sql_watch`) follows them for all watches.
- A read sees all that was committed before it, so every read is a fresh one.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import RegistryError, RegistryUnavailableError, SettingsError
from shardsched.registry.base import Registry, SessionState, wait_for
from shardsched.registry.callback import CallbackThread
from shardsched.registry.sql_link import Link
from shardsched.registry.sql_session import Session, read_ticket
from shardsched.registry.sql_store import Store
from shardsched.registry.sql_tree import names_below, nodes_at
from shardsched.registry.sql_watch import Watcher
from shardsched.registry.sql_worker import Order, Worker
from shardsched.registry.tree import check_operations, check_path
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from shardsched.clock import Clock
    from shardsched.registry.base import Changes, Check, Node, Operation, Outcome, Subscription
    from shardsched.registry.sql_dialect import Dialect

Result = TypeVar("Result")

LOOKS_PER_TIMEOUT = 10
"""How often each client looks for sessions that are over, within its own time-out; at least once a second."""


class SqlRegistry(Registry):
    """A registry in one database.

    Args:
        dialect: Which database, and where (see `shardsched.registry.url`).
        session_timeout_s: The time-out T.
        tick_s: How often this client looks for sessions that are over; a tenth of T, but at most 1 s, unless told.
        clock: Measures when the session has to be extended.

    Raises:
        SettingsError: An argument is refused.
    """

    def __init__(
        self,
        dialect: Dialect,
        *,
        session_timeout_s: float = 10.0,
        tick_s: float | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._tick_s = min(1.0, session_timeout_s / LOOKS_PER_TIMEOUT) if tick_s is None else tick_s
        if session_timeout_s <= 0 or self._tick_s <= 0:
            raise SettingsError(Sentence("the session time-out and the tick must be more than 0 seconds"))
        self._dialect = dialect
        self._timeout_s = session_timeout_s
        self._clock = clock
        self._life = threading.Lock()
        self._is_used = False
        self._link: Link | None = None
        self._watcher: Watcher
        self._worker: Worker
        self._store = Store(dialect)
        self._callbacks = CallbackThread("shardsched-sql-callbacks")
        self._session = Session(self._callbacks)

    def __repr__(self) -> str:
        """Show where it is, without a password."""
        return f"SqlRegistry({self._dialect.place!r})"

    # Life

    def open(self, timeout_s: float = 15.0) -> None:
        """Connect, create missing tables, and begin a session.

        Raises:
            RegistryUnavailableError: The database did not answer in time.
            RegistryAccessError: The database refuses us, or is none, or damaged.
            SettingsError: The driver is missing, the folder cannot be made, or the tables are of a later version.
        """
        with self._life:
            if self._is_used:
                raise RegistryUnavailableError(Sentence("this registry was opened or closed before; make a new one"))
            link = Link(self._dialect)
            watcher = Watcher(link, self._store, self._callbacks, self._look, self._look_if_mine)
            worker = Worker(link, self._store, self._session, watcher, self._clock, self._timeout_s, self._tick_s)
            try:
                link.write_when_reached(self._store.prepare, timeout_s)
                worker.begin_session()
            except BaseException:
                watcher.stop(0.0)
                link.close()
                raise
            self._is_used = True
            self._link, self._watcher, self._worker = link, watcher, worker
        self._callbacks.start()
        watcher.start()
        worker.start()

    def close(self) -> None:
        """End the session and all threads, within about 5 s whatever the database does."""
        with self._life:
            self._is_used = True
            link, self._link = self._link, None
        if link is None:
            return
        if not self._worker.stop(2.5):
            link.stop_retrying()
            link.sever()
            self._worker.stop(1.0)
        self._watcher.stop(0.5)
        link.sever()
        self._watcher.stop(0.5)
        self._callbacks.stop(0.5)
        link.close()

    # Session

    @property
    def session_id(self) -> str:
        """Identity of the present session, or of the last one while there is none."""
        return self._session.identity.name

    @property
    def session_timeout_s(self) -> float:
        """The time-out in force, which is the one asked for."""
        return self._timeout_s

    @property
    def tick_s(self) -> float:
        """How often sessions that are over are looked for."""
        return self._tick_s

    @property
    def session_ticket(self) -> str:
        """Name and secret of the session."""
        return self._session.identity.ticket

    def end_session(self, ticket: str) -> None:
        """End another session.

        Raises:
            RegistryUnavailableError: No answer; the session may or may not have ended.
            RegistryAccessError: We may not.
        """
        identity = read_ticket(ticket)
        if identity is not None:
            link = self._reached()
            link.write(lambda connection: self._store.end(connection, identity.name, identity.secret))
            self._watcher.look()

    def on_session(self, callback: Callable[[SessionState], None]) -> Subscription:
        """Call back with the present state, then with every change."""
        return self._session.listen(callback)

    def renew(self, check: Check) -> Future[Outcome]:
        """Prove that the session lives, by a transaction of nothing but the check, and extend it.

        From the first call on nothing else extends the session.

        **Unknown:** the future raises RegistryUnavailableError, or SessionLostError.
        """
        check_operations((check,))
        return self._order((check,), Worker.renew)

    def reset_connection(self) -> None:
        """Drop all connections, also those that wait for an answer, and make new ones in the same session."""
        link = self._link
        if link is not None:
            link.sever()
            self._watcher.begin_anew(reconnect=True)
            self._worker.look()

    def give_up_session(self) -> None:
        """Do nothing: only requests that are answered extend a session here."""

    # Writing

    def submit(self, operations: Sequence[Operation]) -> Future[Outcome]:
        """Have a transaction done by the thread that writes.

        **Atomicity:** all operations or none; later operations see the effect of earlier ones.
        **Unknown:** the future raises RegistryUnavailableError (at once, and unsent, while the database does not
        answer) or SessionLostError (nothing was done). A future that is cancelled before its transaction was begun
        keeps it from being done.
        **Thread:** the future's callbacks run on the thread that writes and must not block; they may submit.

        Raises:
            ValueTooLargeError: A value or the whole is over the limit; nothing was sent.
            SettingsError: A path is refused; nothing was sent.
            RegistryAccessError: By the future: not allowed.
        """
        operations = tuple(operations)
        check_operations(operations)
        return self._order(operations, Worker.submit)

    def transact(self, operations: Sequence[Operation], timeout_s: float = 15.0) -> Outcome:
        """Have a transaction done and wait for its outcome; one not begun by then will not be.

        **Unknown:** RegistryUnavailableError also when no answer came within `timeout_s`.

        Raises:
            ValueTooLargeError: A value or the whole is over the limit; nothing was sent.
            RegistryUnavailableError: It may have happened.
            SessionLostError: The session ended; nothing was done.
            RegistryAccessError: Not allowed.
        """
        future = self.submit(operations)
        try:
            return wait_for(future, timeout_s)
        finally:
            future.cancel()

    # Reading

    def read(self, paths: Sequence[str], *, fresh: bool = False) -> tuple[Node | None, ...]:
        """Return the nodes at these paths, None where there is none, by one query for 500 of them."""
        checked = [check_path(path) for path in paths]
        nodes = self._read(lambda connection: nodes_at(connection, checked))
        return tuple(nodes.get(path) for path in checked)

    def read_children(self, paths: Sequence[str], *, fresh: bool = False) -> tuple[tuple[str, ...] | None, ...]:
        """Return the sorted names of the children of each path, None where it does not exist."""
        checked = [check_path(path) for path in paths]
        names = self._read(lambda connection: names_below(connection, checked))
        return tuple(names.get(path) for path in checked)

    def watch(self, prefix: str, callback: Callable[[Changes], None]) -> Subscription:
        """Report the node at `prefix` and its direct children, now and whenever they may have changed.

        **Thread:** the callback runs on the registry's callback thread.

        Raises:
            RegistryUnavailableError: The registry is not open.
        """
        check_path(prefix)
        self._opened()
        return self._watcher.subscribe(prefix, callback)

    def server_time(self) -> datetime:
        """Return the database's wall-clock time, taken in the middle of one round trip."""
        sent_at = time.monotonic()
        stamp = self._read(self._dialect.server_time)
        return stamp + timedelta(seconds=(time.monotonic() - sent_at) / 2)

    def _order(self, operations: tuple[Operation, ...], put: Callable[[Worker, Order], None]) -> Future[Outcome]:
        try:
            order = Order(self._session.bind(), operations)
        except RegistryError as error:
            future: Future[Outcome] = Future()
            future.set_exception(error)
            return future
        put(self._worker, order)
        return order.future

    def _read(self, work: Callable[[Connection], Result]) -> Result:
        try:
            return self._reached().read(work)
        except RegistryUnavailableError:
            self._look()
            raise

    def _opened(self) -> Link:
        if self._link is None:
            raise RegistryUnavailableError(Sentence("the registry is not open; open it first"))
        return self._link

    def _reached(self) -> Link:
        link = self._opened()
        if self._session.state is SessionState.SUSPENDED:
            raise RegistryUnavailableError(Sentence("the database does not answer at present; try again"))
        return link

    def _look(self) -> None:
        if self._link is not None:
            self._worker.look()

    def _look_if_mine(self, session: str) -> None:
        if session == self.session_id:
            self._look()
