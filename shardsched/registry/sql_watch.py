"""The watches of a registry in a database: one thread, which reads what changed and reports it."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from typing import TYPE_CHECKING

from shardsched.core.events import Event
from shardsched.errors import RegistryError
from shardsched.registry.report import Report
from shardsched.registry.sql_table import SESSION_MARK
from shardsched.registry.sql_tree import nodes_around, nodes_at
from shardsched.registry.tree import parent_path, touched_prefixes

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from shardsched.registry.base import Changes, Subscription
    from shardsched.registry.callback import CallbackQueue
    from shardsched.registry.sql_link import Link
    from shardsched.registry.sql_store import Store

logger = logging.getLogger(__name__)

RETRY_S = 0.5
"""Between two attempts to reach the database."""


class Watcher:
    """Follows the changes for all watches of one client.

    Args:
        link: The way to the database.
        store: Its statements.
        callbacks: Where reports are delivered.
        on_trouble: Called on the watching thread when the database cannot be reached.
        on_session_end: Called on the watching thread with each session that was seen to end.
    """

    def __init__(
        self,
        link: Link,
        store: Store,
        callbacks: CallbackQueue,
        on_trouble: Callable[[], None],
        on_session_end: Callable[[str], None],
    ) -> None:
        self._link = link
        self._store = store
        self._callbacks = callbacks
        self._on_trouble = on_trouble
        self._on_session_end = on_session_end
        self._lock = threading.Lock()
        self._reports: dict[str, list[Report]] = {}
        self._incomplete: set[Report] = set()
        self._must_reconnect = False
        self._stopping = threading.Event()
        self._wake, self._woken = socket.socketpair()
        self._wake.setblocking(False)
        self._woken.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="shardsched-sql-watch", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def stop(self, timeout_s: float) -> None:
        """Follow no longer; return when the thread has ended, or the time is over."""
        self._stopping.set()
        self.look()
        if self._thread.ident is None:
            self._close_sockets()
        else:
            self._thread.join(timeout_s)

    def _close_sockets(self) -> None:
        self._wake.close()
        self._woken.close()

    def look(self) -> None:
        """Have the changes read now."""
        # Full: it will wake up anyway. Closed: so is the watcher.
        with contextlib.suppress(OSError):
            self._wake.send(b"!")

    def begin_anew(self, *, reconnect: bool = False) -> None:
        """Report everything completely, over a new connection if so wished."""
        with self._lock:
            self._must_reconnect |= reconnect
            self._incomplete |= {report for reports in self._reports.values() for report in reports}
        self.look()

    def subscribe(self, prefix: str, callback: Callable[[Changes], None]) -> Subscription:
        """Report what is at a prefix, now and whenever it changes."""
        report = Report(prefix, callback, self._forget, self._callbacks)
        with self._lock:
            self._reports.setdefault(prefix, []).append(report)
            self._incomplete.add(report)
        self.look()
        return report

    def _forget(self, report: Report) -> None:
        with self._lock:
            self._incomplete.discard(report)
            reports = self._reports[report.prefix]
            reports.remove(report)
            if not reports:
                del self._reports[report.prefix]

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with self._link.hold() as connection:
                    self._follow(connection)
            except RegistryError:
                self._meet_trouble()
            except Exception:  # top of a thread: watches must go on, whatever it was
                logger.exception("following the changes failed", extra={"event": Event.REGISTRY_STUCK})
                self._meet_trouble()
        self._close_sockets()

    def _meet_trouble(self) -> None:
        if not self._stopping.is_set():
            self._on_trouble()
            self._stopping.wait(RETRY_S)

    def _follow(self, connection: Connection) -> None:
        # First the bell, then the place from which it counts: what happens in between rings.
        bell = self._link.dialect.bell(connection)
        with self._lock:
            self._must_reconnect = False
        position = self._report(connection, None)
        while not self._stopping.is_set() and not self._must_reconnect:
            may_have_changed = bell.wait(self._woken)
            with contextlib.suppress(BlockingIOError):
                may_have_changed |= bool(self._woken.recv(4096))
            if may_have_changed:
                position = self._report(connection, position)

    def _report(self, connection: Connection, position: int | None) -> int:
        news = self._store.news(connection, position)
        if news.paths is None:
            with self._lock:
                self._incomplete |= {report for reports in self._reports.values() for report in reports}
        else:
            self._report_changes(connection, news.paths)
        with self._lock:
            incomplete = self._incomplete
            self._incomplete = set()
        try:
            for prefix in {report.prefix for report in incomplete}:
                nodes = nodes_around(connection, prefix)
                for report in incomplete:
                    if report.prefix == prefix:
                        report.replace(nodes)
        except BaseException:
            with self._lock:
                self._incomplete |= incomplete
            raise
        return news.sequence

    def _report_changes(self, connection: Connection, touched: frozenset[str]) -> None:
        paths = {path for path in touched if not path.startswith(SESSION_MARK)}
        for mark in touched - paths:
            self._on_session_end(mark.removeprefix(SESSION_MARK))
        with self._lock:
            reports = {
                prefix: tuple(self._reports[prefix]) for prefix in touched_prefixes(paths) & self._reports.keys()
            }
        wanted = {path for path in paths if path in reports or parent_path(path) in reports}
        nodes = nodes_at(connection, wanted)
        for prefix, some in reports.items():
            changes = {path: nodes.get(path) for path in wanted if prefix in {path, parent_path(path)}}
            for report in some:
                if report not in self._incomplete:
                    report.add(changes)
