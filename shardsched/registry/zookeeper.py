"""The registry on ZooKeeper, by kazoo 2.11.

What is promised, and by what:

- A transaction goes out under the session that was ours when it was submitted, or not at all: the session is compared
  on the connection's thread when the bytes are made (`zookeeper_link.BoundTransaction`). While there is no connection,
  transactions are refused at once. What remains: a caller that has not heard of LOST yet submits under the new session
  without knowing; hence every write of an executor begins with a check of its fence, which goes with the old session.
- An answer that was lost is *unknown*: nothing is ever sent again.
- Watches are one-shot watches behind a mirror that is read anew at every connection (`zookeeper_watch`).
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import RegistryUnavailableError, SessionLostError, SettingsError
from shardsched.registry.base import Registry, SessionState, wait_for
from shardsched.registry.callback import CallbackThread
from shardsched.registry.zookeeper_access import clock_write, prepare
from shardsched.registry.zookeeper_client import Client, check_hosts
from shardsched.registry.zookeeper_path import Chroot
from shardsched.registry.zookeeper_read import moment, read_names, read_nodes
from shardsched.registry.zookeeper_session import Session
from shardsched.registry.zookeeper_ticket import read_ticket, write_ticket
from shardsched.registry.zookeeper_tls import Tls
from shardsched.registry.zookeeper_transaction import Completion, check, request
from shardsched.registry.zookeeper_watchlist import WatchList
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from shardsched.clock import Clock
    from shardsched.registry.base import Changes, Check, Node, Operation, Outcome, Subscription

Answer = TypeVar("Answer")

__all__ = ["Tls", "ZooKeeperRegistry"]

READ_S = 15.0
"""How long a read waits for its answers."""
RECONNECT_S = 2.0
"""How long a read waits for a connection: one that broke is mostly back within some tenths of a second, and what is
read just then is what became of a write whose answer went with it."""
END_SESSION_S = 10.0
"""How long the end of another session may take."""


class ZooKeeperRegistry(Registry):
    """A registry on one ZooKeeper server or an ensemble.

    Args:
        hosts: ``host:port`` with commas, without chroot; the port may be left out.
        chroot: The node below which everything lies, such as ``/team/crawlers``; made when it is missing.
        session_timeout_s: The wanted time-out T; the servers may change it to 2 to 20 of their ticks.
        tick_s: The servers' tickTime, which they do not tell.
        credentials: ``user:password`` of the digest scheme; nodes are then made for whom the chroot is made.
        tls: How to encrypt; None: not at all.
        needs_write: Whether opening fails where we may only read.
        replace_after_s: How long without a connection until another client is tried (see `zookeeper_session`).
        clock: Measures the round trip of `server_time`.

    Raises:
        SettingsError: An argument is refused.
    """

    def __init__(
        self,
        hosts: str,
        *,
        chroot: str = "",
        session_timeout_s: float = 10.0,
        tick_s: float = 2.0,
        credentials: str | None = None,
        tls: Tls | None = None,
        needs_write: bool = True,
        replace_after_s: float = 60.0,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._hosts = check_hosts(hosts)
        if credentials is not None and not all(credentials.partition(":")):
            raise SettingsError(Sentence("the ZooKeeper credentials are refused; give them as user:password"))
        if session_timeout_s <= 0 or tick_s <= 0:
            raise SettingsError(Sentence("the session time-out and the tick must be more than 0 seconds"))
        self._chroot = Chroot(chroot)
        self._requested_s = session_timeout_s
        self._tick_s = tick_s
        self._credentials = credentials
        self._tls = tls
        self._clock = clock
        self._callbacks = CallbackThread("shardsched-zookeeper-callbacks")
        self._watches = WatchList(self._chroot, self._callbacks)
        made_ready = partial(prepare, chroot=self._chroot, needs_write=needs_write)
        self._session = Session(self._client, made_ready, self._watches, self._callbacks, replace_after_s)
        self._close_lock = threading.Lock()

    def __repr__(self) -> str:
        """Show where it is, without credentials."""
        return f"ZooKeeperRegistry({self._hosts!r}, chroot={self._chroot.root!r})"

    def open(self, timeout_s: float = 15.0) -> None:
        """Connect and begin a session; create a missing chroot.

        Raises:
            RegistryUnavailableError: No server answered in time.
            RegistryAccessError: The credentials do not allow us to read and write below the chroot.
        """
        self._session.open(timeout_s)
        self._callbacks.start()

    def close(self) -> None:
        """End the session and all threads, within 5 s whatever the servers do."""
        with self._close_lock:
            self._session.close()
            self._callbacks.stop(0.5)

    # Session

    @property
    def session_id(self) -> str:
        """Identity of the present session, or of the last one while there is none."""
        return self._session.name()

    @property
    def session_timeout_s(self) -> float:
        """The time-out in force, as negotiated with the server."""
        return self._session.standing().client.negotiated_s or self._requested_s

    @property
    def tick_s(self) -> float:
        """The servers' tickTime, as the operator told it."""
        return self._tick_s

    @property
    def session_ticket(self) -> str:
        """Id and password of the session: a secret."""
        return write_ticket(*self._session.standing().session)

    def end_session(self, ticket: str) -> None:
        """End another session, by a client that takes it over for a moment.

        Raises:
            RegistryUnavailableError: No answer; the session may or may not have ended.
        """
        session = read_ticket(ticket)
        if session is None:
            return
        client = self._client(lambda *_: None, session)
        client.start()
        connected = client.wait_until_connected(END_SESSION_S)
        # An ended session is replaced by a new one at once, which ends here too.
        if not client.stop(END_SESSION_S / 2) or not connected:
            raise RegistryUnavailableError(Sentence("ZooKeeper did not confirm the end of another session; try again"))

    def on_session(self, callback: Callable[[SessionState], None]) -> Subscription:
        """Call back with every change of the session's state, beginning with the present one."""
        return self._session.listen(callback)

    def renew(self, check: Check) -> Future[Outcome]:
        """Prove that the session lives, by a transaction of nothing but the check, which a quorum commits.

        **Unknown:** the future raises RegistryUnavailableError, or SessionLostError.
        """
        return self.submit((check,))

    def reset_connection(self) -> None:
        """Drop the connection; kazoo makes another one in the same session, on the next host."""
        self._session.standing().client.reset()

    def give_up_session(self) -> None:
        """End the session if the servers were asked to go on with it and did not answer."""
        self._session.standing().client.give_up()

    # Writing

    def submit(self, operations: Sequence[Operation]) -> Future[Outcome]:
        """Send a transaction without waiting.

        **Atomicity:** all operations or none; later operations see the effect of earlier ones.
        **Unknown:** the future raises RegistryUnavailableError (at once, and unsent, while there is no connection) or
        SessionLostError. A transaction is never sent again, and never under another session than that of its submit.
        A future that is cancelled before the transaction was sent keeps it from being sent.
        **Thread:** the future's callbacks run on the connection's thread and must not block; they may submit.

        Raises:
            ValueTooLargeError: A value or the whole is over the limit; nothing was sent.
            SettingsError: A path is refused; nothing was sent.
            RegistryAccessError: By the future: not allowed.
        """
        operations = tuple(operations)
        check(operations, self._chroot)
        standing = self._session.standing()
        requests = [request(one, self._chroot, standing.client.acl) for one in operations]
        future: Future[Outcome] = Future()
        if standing.state is SessionState.CONNECTED:
            take = Completion(future, operations)
            standing.client.commit(requests, standing.session[0], take, future.cancelled)
        elif standing.state is SessionState.LOST:
            future.set_exception(SessionLostError(Sentence("the session is lost and nothing was sent; begin anew")))
        else:
            away = Sentence("there is no connection to ZooKeeper and nothing was sent; try again")
            future.set_exception(RegistryUnavailableError(away))
        return future

    def transact(self, operations: Sequence[Operation], timeout_s: float = 15.0) -> Outcome:
        """Send a transaction and wait for its outcome; one not sent by then will not be.

        **Unknown:** RegistryUnavailableError also when no answer came within `timeout_s`.

        Raises:
            ValueTooLargeError: A value or the whole is over the limit; nothing was sent.
            RegistryUnavailableError: It may have happened.
            SessionLostError: The session ended; it may have happened before.
            RegistryAccessError: Not allowed.
        """
        future = self.submit(operations)
        try:
            return wait_for(future, timeout_s)
        finally:
            future.cancel()

    # Reading

    def read(self, paths: Sequence[str], *, fresh: bool = False) -> tuple[Node | None, ...]:
        """Return the nodes at these paths, None where there is none, read in a pipeline.

        A connection that is being made anew is waited for a little while.

        Raises:
            RegistryUnavailableError: No answer, or no connection.
        """
        pairs = self._pairs(paths)
        return self._read(lambda client: read_nodes(client, pairs, fresh=fresh, timeout_s=READ_S))

    def read_children(self, paths: Sequence[str], *, fresh: bool = False) -> tuple[tuple[str, ...] | None, ...]:
        """Return the sorted names of the children of each path, None where it does not exist.

        Raises:
            RegistryUnavailableError: No answer, or no connection.
        """
        pairs = self._pairs(paths)
        return self._read(lambda client: read_names(client, pairs, fresh=fresh, timeout_s=READ_S))

    def watch(self, prefix: str, callback: Callable[[Changes], None]) -> Subscription:
        """Report the node at `prefix` and its direct children, now and whenever they may have changed.

        Subscribers of one prefix share its watches. The last one to cancel takes them off the servers.

        **Thread:** the callback runs on the registry's callback thread.
        """
        return self._watches.subscribe(self._chroot.own(self._chroot.full(prefix)), callback)

    def server_time(self) -> datetime:
        """Return the wall-clock time of the ensemble's leader, taken in the middle of one round trip.

        The stamp is that of a write which leaves nothing behind (see `zookeeper_access.clock_write`).

        Raises:
            RegistryUnavailableError: No answer, or no connection.
        """
        return self._read(self._server_time)

    def _server_time(self, client: Client) -> datetime:
        sent_at = self._clock.boot()
        stamp = moment(clock_write(client, self._chroot))
        return stamp + timedelta(seconds=(self._clock.boot() - sent_at) / 2)

    def _client(
        self, on_state: Callable[[Client, SessionState], None], session: tuple[int, bytes] | None = None
    ) -> Client:
        return Client(
            self._hosts,
            session_timeout_s=self._requested_s,
            credentials=self._credentials,
            tls=self._tls,
            on_state=on_state,
            session=session,
        )

    def _read(self, ask: Callable[[Client], Answer]) -> Answer:
        client = self._session.connected_client(RECONNECT_S)
        asked_at = self._clock.boot()
        try:
            return ask(client)
        except RegistryUnavailableError:
            if self._clock.boot() - asked_at > RECONNECT_S:
                raise
        # The connection broke under it; what changes nothing can be asked again.
        return ask(self._session.connected_client(RECONNECT_S))

    def _pairs(self, paths: Sequence[str]) -> list[tuple[str, str]]:
        return [(path, self._chroot.full(path)) for path in paths]
