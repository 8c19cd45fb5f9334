"""One client of ZooKeeper: kazoo's, bounded in everything that it waits for.

Paths here are the server's; the client knows no chroot. This module and `zookeeper_link` are the only ones that reach
into kazoo's privates (kazoo 2.11).
"""

# ruff: noqa: SLF001 - kazoo has no public way to these; all such places are here

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient
from kazoo.hosts import collect_hosts
from kazoo.protocol.states import KazooState, KeeperState
from kazoo.security import CREATOR_ALL_ACL, OPEN_ACL_UNSAFE

from shardsched.errors import RegistryUnavailableError, SessionLostError, SettingsError
from shardsched.registry.base import SessionState
from shardsched.registry.zookeeper_link import BoundTransaction, Link, LinkHandler, RemoveWatches
from shardsched.registry.zookeeper_reply import Reply
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shardsched.registry.zookeeper_reply import Done
    from shardsched.registry.zookeeper_tls import Tls

logger = logging.getLogger(__name__)

_kazoo_logger = logging.getLogger(f"{__name__}.kazoo")
# kazoo tells every attempt to reconnect, and below INFO every request, credentials included.
_kazoo_logger.setLevel(logging.ERROR)
_kazoo_logger.addFilter(lambda record: record.levelno >= logging.ERROR)

RETRY = {"max_tries": -1, "delay": 0.1, "backoff": 1.5, "max_delay": 1.0}
"""kazoo's own schedule backs off to an hour, and without max_tries=-1 the first failure closes the client for good."""

GOODBYE_S = 2.0
"""How long a connected client waits for the end of its session to be confirmed before it drops the connection."""

_STATES = {
    KazooState.CONNECTED: SessionState.CONNECTED,
    KazooState.SUSPENDED: SessionState.SUSPENDED,
    KazooState.LOST: SessionState.LOST,
}


class Client:
    """One connection to an ensemble, reconnecting by itself.

    **Thread:** `on_state` and all answers come on the connection's thread and must not block. `call` never blocks.

    Args:
        hosts: ``host:port`` with commas.
        session_timeout_s: The wanted time-out.
        credentials: ``user:password`` of the digest scheme, or None.
        tls: How to encrypt, or None.
        on_state: Called with this client and every new state.
        session: Id and password of a session to go on with; None: begin a new one.
    """

    def __init__(
        self,
        hosts: str,
        *,
        session_timeout_s: float,
        credentials: str | None,
        tls: Tls | None,
        on_state: Callable[[Client, SessionState], None],
        session: tuple[int, bytes] | None = None,
    ) -> None:
        self.has_credentials = bool(credentials)
        self.acl = CREATOR_ALL_ACL if credentials else OPEN_ACL_UNSAFE
        self._kazoo = KazooClient(
            hosts,
            timeout=session_timeout_s,
            client_id=session,
            handler=LinkHandler(min(max(session_timeout_s / 5, 0.5), 2.0), tls.context() if tls else None),
            auth_data=[("digest", credentials)] if credentials else None,
            connection_retry=RETRY,
            logger=_kazoo_logger,
        )
        self._link = Link(
            self._kazoo, self._kazoo._conn_retry.copy(), min(max(session_timeout_s / 3, 1.0), 5.0), _kazoo_logger
        )
        self._kazoo._connection = self._link
        self._kazoo.add_listener(self._on_kazoo_state)
        self._on_state = on_state
        self._lock = threading.Lock()
        self._waiting: set[Reply] = set()
        self._pid = os.getpid()

    @property
    def is_connected(self) -> bool:
        """Whether it has a connection with a living session."""
        return bool(self._kazoo.connected)

    @property
    def is_finished(self) -> bool:
        """Whether it will never connect again, by `stop` or because its connection thread ended."""
        return self._kazoo.client_state in {KeeperState.CLOSED, KeeperState.AUTH_FAILED}

    @property
    def session(self) -> tuple[int, bytes]:
        """Id and password of the present session."""
        return self._kazoo._session_id or 0, self._kazoo._session_passwd

    @property
    def negotiated_s(self) -> float:
        """The session time-out in force."""
        return self._link.negotiated_s

    @property
    def last_error(self) -> str:
        """Why the last attempt to connect failed; empty if it did not."""
        return self._link.last_error

    def start(self) -> None:
        """Begin to connect."""
        self._kazoo.start_async()

    def wait_until_connected(self, timeout_s: float) -> bool:
        """Say whether it connected in time."""
        return bool(self._kazoo._live.wait(timeout_s))

    def call(self, request: Any, done: Done) -> None:
        """Send a request of kazoo's when connected; the answer is given to `done`, once."""
        self._submit(request, Reply(done))

    def commit(
        self,
        operations: Sequence[Any],
        session_id: int,
        done: Done,
        is_withdrawn: Callable[[], bool] = lambda: False,
    ) -> None:
        """Send a transaction under this session; under any other, or when withdrawn, it is not sent but fails."""
        reply = Reply(
            lambda result, error: done(result, _stale_error() if reply.stale else error), session_id, is_withdrawn
        )
        request = BoundTransaction(tuple(operations)).bind(lambda: reply.admit(self._kazoo._session_id or 0))
        self._submit(request, reply)

    def unwatch(self, path: str, kind: int, watcher: Callable[[Any], None]) -> None:
        """Remove the watches on a path, and kazoo's record of this watcher."""

        def forget(_: Any, __: Exception | None) -> None:
            # On the connection's thread, since kazoo goes through these tables there without a lock.
            for table in (self._kazoo._data_watchers, self._kazoo._child_watchers):
                watchers = table.get(path)
                if watchers is not None:
                    watchers.discard(watcher)
                    if not watchers:
                        del table[path]

        self.call(RemoveWatches(path, kind), forget)

    def reset(self) -> None:
        """Drop the connection if there is one, so that it is made anew.

        An attempt to make one is left alone: it ends by itself, and cut short again and again would never end
        unanswered, which is what a session is given up for.
        """
        if self.is_connected:
            self._drop()

    def _drop(self) -> None:
        connection = self._link._socket
        if connection is not None:
            # Not the method of a TLS socket, which is not safe to be called while another thread reads.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def give_up(self) -> None:
        """End the session if the servers were asked to go on with it and did not answer; another one is begun."""
        self._link.give_up()

    def stop(self, timeout_s: float) -> bool:
        """End the session and the threads; say whether the server confirmed it.

        Returns within `timeout_s` in any case; a thread that still waits for a name server is left behind.
        """
        thread = threading.Thread(target=self._stop, name="shardsched-zookeeper-stop", daemon=True)
        goodbye_s = min(GOODBYE_S, timeout_s / 2) if self.is_connected else 0.1
        thread.start()
        thread.join(goodbye_s)
        if thread.is_alive():
            self._drop()
            thread.join(timeout_s - goodbye_s)
        with self._lock:
            waiting = list(self._waiting)
        for reply in waiting:
            reply.set_exception(RegistryUnavailableError(Sentence("the registry was closed; read before repeating")))
        return self._link.session_ended

    def _stop(self) -> None:
        try:
            self._kazoo.stop()
            self._kazoo.close()
        except Exception:  # top of a thread; kazoo raises bare Exceptions here, and there is nothing left to save
            logger.debug("a ZooKeeper client could not be stopped cleanly", exc_info=True)

    def _submit(self, request: Any, reply: Reply) -> None:
        if os.getpid() != self._pid:
            reply.set_exception(
                RegistryUnavailableError(Sentence("a registry cannot be used after a fork; open a new one"))
            )
            return
        reply.forget = self._forget
        with self._lock:
            self._waiting.add(reply)
        self._kazoo._call(request, reply)

    def _forget(self, reply: Reply) -> None:
        with self._lock:
            self._waiting.discard(reply)

    def _on_kazoo_state(self, state: str) -> None:
        if state == KazooState.CONNECTED:
            self._fail_stale()
        self._on_state(self, _STATES[state])

    def _fail_stale(self) -> None:
        # A request appended while kazoo exchanged its queues at an expiry is lost in the old queue.
        session_id = self._kazoo._session_id
        with self._lock:
            stale = [one for one in self._waiting if not one.sent and one.session_id not in {None, session_id}]
        for reply in stale:
            reply.set_exception(_stale_error())


def _stale_error() -> SessionLostError:
    return SessionLostError(Sentence("the session ended before the transaction was sent; nothing happened: begin anew"))


def check_hosts(hosts: str) -> str:
    """Return the hosts as kazoo takes them.

    Raises:
        SettingsError: They are no hosts with ports.
    """
    parts = [part.strip() for part in hosts.split(",")]
    try:
        known = all(parts) and not any(mark in hosts for mark in "/@ \n") and all(map(collect_hosts, parts))
    except ValueError:
        known = False
    if not known:
        raise SettingsError(
            Sentence("the ZooKeeper hosts %(hosts)a are refused; write them as host1:2181,host2:2181", hosts=hosts)
        )
    return ",".join(parts)
