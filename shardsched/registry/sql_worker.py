"""The one thread that writes for a client: transactions, renewals, and whatever keeps the session."""

from __future__ import annotations

import logging
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shardsched.core.events import Event
from shardsched.errors import RegistryError, RegistryUnavailableError, SessionLostError
from shardsched.registry.base import SessionState
from shardsched.registry.sql_session import new_identity
from shardsched.sentence import Foreign, Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from shardsched.clock import Clock
    from shardsched.registry.base import Check, Operation, Outcome
    from shardsched.registry.sql_link import Link
    from shardsched.registry.sql_session import Identity, Session
    from shardsched.registry.sql_store import Store
    from shardsched.registry.sql_watch import Watcher

logger = logging.getLogger(__name__)

MAX_TOGETHER = 64
"""Transactions done in one of the database, which costs about as much as one alone; others wait that long."""
KEEP_ALIVES_PER_TIMEOUT = 3
"""How often a session that nobody renews is extended within its time-out."""
RETRY_S = 0.25
"""Between two attempts to reach a database that does not answer."""
END_PATIENCE_S = 1.0
"""How long the end of the session may be held up by others when a registry closes."""


@dataclass(slots=True, eq=False)
class Order:
    """One transaction to be done."""

    identity: Identity
    operations: Sequence[Operation]
    future: Future[Outcome] = field(default_factory=Future)


class Worker:
    """Does what is ordered, and looks after the session in between.

    A session is extended by `renew` alone from its first renewal on: whoever renews means to lose it when he cannot.
    Before, it is extended here, such as while an executor still waits for its name.

    Args:
        link: The way to the database.
        store: Its statements.
        session: Changed by this thread only, once it runs.
        watcher: Told of connections and of our own writes.
        clock: Measures when a session needs to be extended.
        timeout_s: The session time-out.
        look_s: How often it is seen to that sessions which are over go, and whether ours is one.
    """

    def __init__(
        self,
        link: Link,
        store: Store,
        session: Session,
        watcher: Watcher,
        clock: Clock,
        timeout_s: float,
        look_s: float,
    ) -> None:
        self._link = link
        self._store = store
        self._session = session
        self._watcher = watcher
        self._clock = clock
        self._timeout_s = timeout_s
        self._look_s = look_s
        self._changed = threading.Condition()
        self._renewals: deque[Order] = deque()
        self._orders: deque[Order] = deque()
        self._must_look = False
        self._is_renewed = False
        self._stopping = False
        self._look_at = 0.0
        self._extend_at = 0.0
        self._thread = threading.Thread(target=self._run, name="shardsched-sql-write", daemon=True)

    def begin_session(self) -> None:
        """Begin a session, before or on the thread."""
        identity = new_identity()
        self._link.write(
            lambda connection: self._store.begin(connection, identity.name, identity.secret, self._timeout_s)
        )
        self._is_renewed = False
        self._extend_at = self._clock.boot() + self._timeout_s / KEEP_ALIVES_PER_TIMEOUT
        self._session.begin(identity)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def submit(self, order: Order) -> None:
        """Have a transaction done."""
        self._put(self._orders, order)

    def renew(self, order: Order) -> None:
        """Have the session extended and a check done, before any transaction that waits."""
        self._put(self._renewals, order)

    def look(self) -> None:
        """Have it seen now whether the database answers and the session lives."""
        with self._changed:
            self._must_look = True
            self._changed.notify_all()

    def stop(self, timeout_s: float) -> bool:
        """End the session and the thread; say whether it ended in time."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _put(self, orders: deque[Order], order: Order) -> None:
        with self._changed:
            if not self._stopping:
                orders.append(order)
                self._changed.notify_all()
                return
        order.future.set_exception(RegistryUnavailableError(Sentence("the registry is closed and nothing was sent")))

    # On the thread

    def _run(self) -> None:
        while (work := self._next()) is not None:
            try:
                self._turn(*work)
            except SessionLostError as error:
                self._session.lose()
                self._must_look = True
                self._drop(work, error)
            except RegistryUnavailableError as error:
                self._session.suspend()
                self._drop(work, error)
            except RegistryError as error:
                # Not allowed, or damaged. The session goes on as long as it can be extended.
                _fail([*work[0], *work[1]], error)
            except Exception as error:  # top of a thread: without it nobody would ever be answered again
                logger.exception("writing to the registry failed", extra={"event": Event.REGISTRY_STUCK})
                self._drop(
                    work,
                    RegistryUnavailableError(
                        Sentence("writing failed unexpectedly (%(error)s); read before repeating", error=Foreign(error))
                    ),
                )
        self._end()

    def _next(self) -> tuple[list[Order], list[Order]] | None:
        is_connected = self._session.state is SessionState.CONNECTED
        with self._changed:
            if not self._is_due():
                self._changed.wait_for(self._is_due, self._look_s if is_connected else RETRY_S)
            if self._stopping:
                return None
            renewals, self._renewals = list(self._renewals), deque()
            orders = [self._orders.popleft() for _ in range(min(len(self._orders), MAX_TOGETHER))]
        return _not_cancelled(renewals), _not_cancelled(orders)

    def _is_due(self) -> bool:
        return self._stopping or self._must_look or bool(self._renewals or self._orders)

    def _turn(self, renewals: list[Order], orders: list[Order]) -> None:
        if self._session.state is not SessionState.CONNECTED:
            self._recover()
        present = self._session.identity
        late = [order for order in [*renewals, *orders] if order.identity != present]
        _fail(late, SessionLostError(Sentence("the session was lost before this was sent; begin anew")))
        for order in renewals:
            if order not in late:
                self._renew(order, present)
        orders = [order for order in orders if order not in late]
        if orders:
            self._transact(orders, present)
        self._look_after(present)

    def _recover(self) -> None:
        self._must_look = False
        if self._session.state is SessionState.SUSPENDED:
            name = self._session.identity.name
            if self._link.read(lambda connection: self._store.is_alive(connection, name)):
                self._session.resume()
                self._watcher.begin_anew()
                return
            self._session.lose()
        self.begin_session()
        self._watcher.begin_anew()

    def _renew(self, order: Order, present: Identity) -> None:
        check: Check = order.operations[0]  # type: ignore[assignment]  # a renewal is nothing but a check
        outcome = self._link.write(lambda connection: self._store.renew(connection, present.name, check))
        self._is_renewed = True
        order.future.set_result(outcome)

    def _transact(self, orders: list[Order], present: Identity) -> None:
        transactions = [order.operations for order in orders]

        def work(connection: Connection) -> tuple[list[Outcome], bool]:
            outcomes, is_written = self._store.transact(connection, present.name, transactions)
            if not is_written:
                # The count is taken back: nobody has to look at what did not happen.
                connection.rollback()
            return outcomes, is_written

        outcomes, is_written = self._link.write(work)
        for order, outcome in zip(orders, outcomes, strict=True):
            order.future.set_result(outcome)
        if is_written:
            self._watcher.look()

    def _look_after(self, present: Identity) -> None:
        now = self._clock.boot()
        if not self._is_renewed and now >= self._extend_at:
            self._link.write(lambda connection: self._store.extend(connection, present.name))
            self._extend_at = now + self._timeout_s / KEEP_ALIVES_PER_TIMEOUT
        if not self._must_look and now < self._look_at:
            return
        self._must_look = False
        self._look_at = now + self._look_s
        if self._link.read(self._store.has_expired):
            self._link.write(self._store.reap)
            self._watcher.look()
        if not self._link.read(lambda connection: self._store.is_alive(connection, present.name)):
            raise SessionLostError(Sentence("the session has ended; begin anew"))

    def _drop(self, work: tuple[list[Order], list[Order]], error: RegistryError) -> None:
        with self._changed:
            waiting = [*self._renewals, *self._orders]
            self._renewals.clear()
            self._orders.clear()
        _fail([*work[0], *work[1], *_not_cancelled(waiting)], error)

    def _end(self) -> None:
        identity = self._session.identity
        was_connected = self._session.state is SessionState.CONNECTED
        self._session.close()
        self._drop(([], []), RegistryUnavailableError(Sentence("the registry was closed before this was sent")))
        if not was_connected:
            return
        try:
            self._link.write(
                lambda connection: self._store.end(connection, identity.name, identity.secret), END_PATIENCE_S
            )
        except RegistryError as error:
            logger.warning(
                "the session could not be ended and will expire: %s", error, extra={"event": Event.SESSION_SUSPENDED}
            )


def _not_cancelled(orders: Sequence[Order]) -> list[Order]:
    return [order for order in orders if order.future.set_running_or_notify_cancel()]


def _fail(orders: Sequence[Order], error: RegistryError) -> None:
    for order in orders:
        if not order.future.done():
            order.future.set_exception(error)
