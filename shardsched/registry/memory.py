"""The registry in memory: for tests, simulations and a fleet that lives in one process.

A `MemoryStore` is the servers; each `MemoryRegistry` is one client of it. Nothing expires by itself: sessions end when
`MemoryStore.expire_sessions` is called, by the store's clock, so that a test decides when the servers look.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING

from shardsched.errors import RegistryError, RegistryUnavailableError, SettingsError
from shardsched.registry.base import Registry, SessionState
from shardsched.registry.callback import CallbackQueue, CallbackThread, Listener
from shardsched.registry.memory_store import MemoryStore
from shardsched.registry.report import Report
from shardsched.registry.tree import check_operations, check_path, parent_path, touched_prefixes
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from shardsched.registry.base import Changes, Check, Node, Operation, Outcome, Subscription

    Fault = Callable[[str, Sequence[Operation]], None]

__all__ = ["MemoryRegistry", "MemoryStore"]


class MemoryRegistry(Registry):
    """One client of a `MemoryStore`.

    A session is heard of by every request of its client that arrives. Between requests nothing keeps it: see
    `MemoryStore.expire_sessions`.

    Args:
        store: The servers.
        session_timeout_s: The time-out T.
        tick_s: How coarsely the servers look at time-outs; exactly, unless told.
        inline: Run no thread: callbacks wait until `pump` runs them.

    Attributes:
        fault: Called at ``"request"`` (before a transaction is applied), ``"reply"`` (after it) and ``"read"``, each
            time with the operations, none for a read. What it raises is the request's result: a
            `RegistryUnavailableError` at the request is a lost request, at the reply a lost reply. It may call other
            clients of the store, since no lock is held.
    """

    fault: Fault | None

    def __init__(
        self, store: MemoryStore, *, session_timeout_s: float = 10.0, tick_s: float = 0.0, inline: bool = False
    ) -> None:
        if session_timeout_s <= 0 or tick_s < 0:
            raise SettingsError(
                Sentence("the session time-out must be more than 0 seconds, and the tick not less than 0")
            )
        self.fault = None
        self._store = store
        self._timeout_s = session_timeout_s
        self._tick_s = tick_s
        self._callbacks = CallbackQueue() if inline else CallbackThread("shardsched-memory-callbacks")
        self._state: SessionState | None = None
        self._is_closed = False
        self._is_unanswered = False
        self._session_id = ""
        self._listeners: list[Listener[SessionState]] = []
        self._reports: dict[str, list[Report]] = {}

    # Life

    def open(self, timeout_s: float = 15.0) -> None:
        """Begin a session.

        Raises:
            RegistryUnavailableError: It was opened or closed before.
        """
        with self._store.lock:
            if self._is_closed or self._state is not None:
                raise RegistryUnavailableError(Sentence("this registry was opened or closed before; make a new one"))
            self._callbacks.start()
            self._enter()

    def close(self) -> None:
        """End the session and the callback thread."""
        with self._store.lock:
            is_open, self._state, self._is_closed = self._state is not None, None, True
            self._store.leave(self)
            self._store.end(self._session_id)
        if is_open:
            self._callbacks.stop(2.0)

    def pump(self) -> int:
        """Run the callbacks that are due, of a registry made with ``inline``; return how many."""
        return self._callbacks.pump()

    def disconnect(self) -> None:
        """Cut the link, until `reconnect`: requests are answered with RegistryUnavailableError."""
        with self._store.lock:
            if self._state is SessionState.CONNECTED:
                self._tell(SessionState.SUSPENDED)

    def reconnect(self) -> None:
        """Heal the link: the session goes on, or is found to be lost and another begins."""
        with self._store.lock:
            if self._state is not SessionState.SUSPENDED:
                return
            if self._store.has(self._session_id):
                self._store.hear(self._session_id)
                self._resume()
            else:
                self._tell(SessionState.LOST)
                self._enter()

    # Session

    @property
    def session_id(self) -> str:
        """Identity of the present session, or of the last one."""
        return self._session_id

    @property
    def session_timeout_s(self) -> float:
        """The time-out T in force."""
        return self._timeout_s

    @property
    def tick_s(self) -> float:
        """How coarsely time-outs are looked at."""
        return self._tick_s

    @property
    def session_ticket(self) -> str:
        """Name and secret of the session."""
        return self._store.ticket(self._session_id)

    def end_session(self, ticket: str) -> None:
        """End another session.

        Raises:
            RegistryUnavailableError: The link is cut, or `fault` says so.
        """
        self._meet("request", ())
        self._check_link()
        self._store.end_by_ticket(ticket)
        self._meet("reply", ())

    def on_session(self, callback: Callable[[SessionState], None]) -> Subscription:
        """Call back with the present state, then with every change."""
        listener = Listener(callback, lambda: self._listeners.remove(listener))
        with self._store.lock:
            state = self._state or SessionState.SUSPENDED
            self._listeners.append(listener)
            self._callbacks.post(lambda: listener.deliver(state))
        return listener

    def renew(self, check: Check) -> Future[Outcome]:
        """Prove that the session lives, by a transaction of nothing but the check."""
        return self.submit((check,))

    def reset_connection(self) -> None:
        """Drop the connection and make a new one in the same session, unless the link is cut."""
        with self._store.lock:
            if self._state is SessionState.CONNECTED:
                self.disconnect()
                self.reconnect()

    def give_up_session(self) -> None:
        """End the session if the last transaction got no answer though the link is not cut."""
        with self._store.lock:
            if self._is_unanswered and self._state is SessionState.CONNECTED:
                self._store.end(self._session_id)

    # Writing

    def submit(self, operations: Sequence[Operation]) -> Future[Outcome]:
        """Do a transaction on the calling thread; the future is done when this returns.

        Raises:
            ValueTooLargeError: A value or the whole is over the limit.
            SettingsError: A path is refused.
        """
        operations = tuple(operations)
        check_operations(operations)
        # Bound now: while the request is under way the session may be replaced.
        session_id = self._session_id
        future: Future[Outcome] = Future()
        try:
            self._meet("request", operations)
            self._check_link()
            outcome = self._store.apply(session_id, operations)
            self._meet("reply", operations)
        except RegistryError as error:
            self._is_unanswered = True
            future.set_exception(error)
        else:
            self._is_unanswered = False
            future.set_result(outcome)
        return future

    # Reading

    def read(self, paths: Sequence[str], *, fresh: bool = False) -> tuple[Node | None, ...]:
        """Return the nodes at these paths, all as at one moment."""
        checked = [check_path(path) for path in paths]
        self._arrive()
        with self._store.lock:
            return tuple(self._store.find(path) for path in checked)

    def read_children(
        self,
        paths: Sequence[str],
        *,
        fresh: bool = False,
    ) -> tuple[tuple[str, ...] | None, ...]:
        """Return the sorted names of the children of each path."""
        checked = [check_path(path) for path in paths]
        self._arrive()
        with self._store.lock:
            return tuple(self._store.names(path) for path in checked)

    def watch(self, prefix: str, callback: Callable[[Changes], None]) -> Subscription:
        """Report the node at `prefix` and its direct children, now and whenever they change."""
        report = Report(check_path(prefix), callback, self._forget, self._callbacks)
        with self._store.lock:
            self._reports.setdefault(prefix, []).append(report)
            if self._state is SessionState.CONNECTED:
                report.replace(self._store.around(prefix))
        return report

    def server_time(self) -> datetime:
        """Return the store's wall-clock time."""
        self._arrive()
        return self._store.clock.now()

    # Called by the store, under its lock

    def session_ended(self) -> None:
        """Learn that the session is over, now or, where the link is cut, when it heals."""
        if self._state is SessionState.CONNECTED:
            self._tell(SessionState.LOST)
            self._enter()

    def changed(self, paths: Iterable[str]) -> None:
        """Report nodes that were written."""
        if self._state is not SessionState.CONNECTED or not self._reports:
            return
        paths = tuple(paths)
        for prefix in touched_prefixes(paths) & self._reports.keys():
            nodes = {path: self._store.find(path) for path in paths if prefix in {path, parent_path(path)}}
            for report in self._reports[prefix]:
                report.add(nodes)

    def _enter(self) -> None:
        self._session_id = self._store.begin(self, self._timeout_s)
        self._resume()

    def _resume(self) -> None:
        self._tell(SessionState.CONNECTED)
        for prefix, reports in self._reports.items():
            for report in reports:
                report.replace(self._store.around(prefix))

    def _tell(self, state: SessionState) -> None:
        self._state = state
        for listener in tuple(self._listeners):
            self._callbacks.post(lambda one=listener: one.deliver(state))  # type: ignore[misc]  # bound for the loop

    def _forget(self, report: Report) -> None:
        with self._store.lock:
            reports = self._reports[report.prefix]
            reports.remove(report)
            if not reports:
                del self._reports[report.prefix]

    def _meet(self, moment: str, operations: Sequence[Operation]) -> None:
        if self.fault is not None:
            self.fault(moment, operations)

    def _arrive(self) -> None:
        self._meet("read", ())
        with self._store.lock:
            self._check_link()
            self._store.hear(self._session_id)

    def _check_link(self) -> None:
        if self._state is None:
            raise RegistryUnavailableError(Sentence("the registry is not open; open it first"))
        if self._state is not SessionState.CONNECTED:
            raise RegistryUnavailableError(Sentence("there is no connection to the registry at present; try again"))
