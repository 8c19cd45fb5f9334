"""Our session with ZooKeeper: which client has it, what state it is in, and who is told.

kazoo tells SUSPENDED, then CONNECTED with the same session or LOST and CONNECTED with a new one, and reconnects by
itself. Two things it never gets over: servers that came back with older data than the client has seen (they refuse it
for ever), and the end of its connection thread. Both are cured by a new client. When no connection was had for a while,
another client is tried beside the first. Only if the servers take that one and still not the first is the first given
up, so that an outage of all servers, however long, costs no session.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from shardsched.core.events import Event
from shardsched.errors import RegistryError, RegistryUnavailableError
from shardsched.registry.base import SessionState
from shardsched.registry.callback import CallbackThread, Listener
from shardsched.registry.zookeeper_read import session_name
from shardsched.sentence import Foreign, Sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.registry.base import Subscription
    from shardsched.registry.zookeeper_client import Client

logger = logging.getLogger(__name__)

LOOK_S = 0.1
"""How soon someone who waits for a connection learns that it is no longer wanted."""
TRIAL_S = 10.0
"""How long the servers have to take a second client."""
GRACE_S = 4.0
"""How long the first client then has to connect too: it tries every second, over all hosts."""
TRIAL_PAUSE_S = 15.0
"""Between two trials."""
STOP_S = 3.0
"""How long the end of a client may take."""


class Follower(Protocol):
    """Who must know of connections before anyone else; called on the connection's thread."""

    def connected(self, client: Client) -> None:
        """Note that requests can be made."""

    def disconnected(self) -> None:
        """Note that watches are gone."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where we stand, read as one."""

    client: Client
    """Who sends our requests."""
    state: SessionState
    """What is known of the session."""
    session: tuple[int, bytes] = field(repr=False)
    """Id and password of the present session, or of the last one."""


class Session:
    """Keeps one session going, and tells its changes.

    **Thread:** listeners are called on the callback thread.

    Args:
        make_client: Makes a client that calls back with its states.
        prepare: Makes a new session's tree usable (the chroot), or raises.
        follower: Told of connections first.
        callbacks: Where listeners are called.
        replace_after_s: How long without a connection until a second client is tried.
    """

    def __init__(
        self,
        make_client: Callable[[Callable[[Client, SessionState], None]], Client],
        prepare: Callable[[Client], None],
        follower: Follower,
        callbacks: CallbackThread,
        replace_after_s: float,
    ) -> None:
        self._make_client = make_client
        self._prepare = prepare
        self._follower = follower
        self._callbacks = callbacks
        self._replace_after_s = replace_after_s
        self._changed = threading.Condition(threading.RLock())
        self._standing: Standing | None = None
        self._listeners: list[Listener[SessionState]] = []
        self._outage: threading.Thread | None = None
        self._closed = False

    def open(self, timeout_s: float) -> None:
        """Connect and prepare the tree.

        Raises:
            RegistryUnavailableError: No server answered in time.
            RegistryAccessError: We may not use the tree.
        """
        client = self._make_client(self._on_state)
        with self._changed:
            if self._closed or self._standing is not None:
                raise RegistryUnavailableError(Sentence("this registry was opened or closed before; make a new one"))
            self._standing = Standing(client, SessionState.SUSPENDED, (0, b""))
        try:
            self._connect(client, timeout_s)
            self._prepare(client)
        except BaseException:
            with self._changed:
                self._standing = None
                self._outage = None
                self._changed.notify_all()
            client.stop(STOP_S)
            raise

    def _connect(self, client: Client, timeout_s: float) -> None:
        client.start()
        for _ in range(max(int(timeout_s / LOOK_S), 1)):
            if client.wait_until_connected(LOOK_S):
                return
            if self._closed:
                raise RegistryUnavailableError(Sentence("the registry was closed while it was opened"))
        values = {"seconds": timeout_s, "error": Foreign(client.last_error)}
        raise RegistryUnavailableError(
            Sentence(
                "no ZooKeeper server answered within %(seconds)g s (%(error)s); check the servers and the URL", **values
            )
            if client.last_error
            else Sentence("no ZooKeeper server answered within %(seconds)g s; check the servers and the URL", **values)
        )

    def standing(self) -> Standing:
        """Return where we stand.

        Raises:
            RegistryUnavailableError: It is not open.
        """
        standing = self._standing
        if standing is None:
            raise RegistryUnavailableError(Sentence("the registry is not open; open it first"))
        return standing

    def connected_client(self, timeout_s: float) -> Client:
        """Return the client as soon as it is connected.

        Raises:
            RegistryUnavailableError: It is not within the time, or the registry is not open.
        """
        with self._changed:
            self._changed.wait_for(self._is_decided, timeout_s)
            standing = self.standing()
            if self._closed or standing.state is not SessionState.CONNECTED:
                raise RegistryUnavailableError(Sentence("there is no connection to ZooKeeper at present; try again"))
            return standing.client

    def _is_decided(self) -> bool:
        return self._closed or self._standing is None or self._standing.state is SessionState.CONNECTED

    def name(self) -> str:
        """Return the identity of the present session."""
        return session_name(self.standing().session[0])

    def listen(self, callback: Callable[[SessionState], None]) -> Subscription:
        """Call back with the present state, then with every change."""
        listener = Listener(callback, lambda: self._listeners.remove(listener))
        with self._changed:
            state = self._standing.state if self._standing else SessionState.SUSPENDED
            self._listeners.append(listener)
            self._callbacks.post(lambda: listener.deliver(state))
        return listener

    def close(self) -> None:
        """End the session and its threads, within `STOP_S` and a little."""
        with self._changed:
            first = not self._closed
            self._closed = True
            outage, self._outage = self._outage, None
            self._changed.notify_all()
            client = self._standing.client if self._standing else None
        if first and client is not None:
            client.stop(STOP_S)
        if outage is not None and outage is not threading.current_thread():
            outage.join(1.0)

    def _on_state(self, client: Client, state: SessionState) -> None:
        with self._changed:
            standing = self._standing
            if self._closed or standing is None or client is not standing.client:
                return
            if state is SessionState.CONNECTED:
                self._enter(client)
            else:
                self._leave(standing, state)
            self._changed.notify_all()

    def _enter(self, client: Client) -> None:
        self._standing = Standing(client, SessionState.CONNECTED, client.session)
        self._outage = None
        self._follower.connected(client)
        self._tell(SessionState.CONNECTED)

    def _leave(self, standing: Standing, state: SessionState) -> None:
        self._standing = Standing(standing.client, state, standing.session)
        self._follower.disconnected()
        self._tell(state)
        if self._outage is None:
            self._outage = threading.Thread(target=self._supervise, name="shardsched-zookeeper-outage", daemon=True)
            self._outage.start()

    def _tell(self, state: SessionState) -> None:
        for listener in tuple(self._listeners):
            self._callbacks.post(lambda one=listener: one.deliver(state))  # type: ignore[misc]  # bound for the loop

    # One thread for each outage, at work only when it lasts.

    def _is_over(self) -> bool:
        return self._outage is not threading.current_thread()

    def _wait(self, timeout_s: float) -> bool:
        """Wait for the end of the outage; say whether it came."""
        with self._changed:
            return self._changed.wait_for(self._is_over, timeout_s)

    def _needs_help(self) -> bool:
        return self._is_over() or (self._standing is not None and self._standing.client.is_finished)

    def _supervise(self) -> None:
        with self._changed:
            self._changed.wait_for(self._needs_help, self._replace_after_s)
        if self._is_over():
            return
        logger.error(
            "no connection to ZooKeeper for a long time, or the client broke down: another client is tried",
            extra={"event": Event.REGISTRY_STUCK},
        )
        while not self._is_over():
            trial = self._make_client(self._on_state)
            if self._is_taken(trial) and self._adopt(trial):
                return
            trial.stop(STOP_S)
            self._wait(TRIAL_PAUSE_S)

    def _is_taken(self, trial: Client) -> bool:
        trial.start()
        for _ in range(int(TRIAL_S / LOOK_S)):
            if trial.is_connected or self._wait(LOOK_S):
                break
        if not trial.is_connected or self._is_over():
            return False
        return self.standing().client.is_finished or not self._wait(GRACE_S)

    def _adopt(self, trial: Client) -> bool:
        try:
            self._prepare(trial)
        except RegistryError:
            return False
        with self._changed:
            standing = self._standing
            if self._closed or self._is_over() or standing is None or not trial.is_connected:
                return False
            if standing.state is not SessionState.LOST:
                self._tell(SessionState.LOST)
            self._enter(trial)
            self._changed.notify_all()
        logger.warning("the ZooKeeper client was replaced: the session is lost", extra={"event": Event.REGISTRY_STUCK})
        standing.client.stop(STOP_S)
        return True
