"""Our session with a registry in a database: what state it is in, and who is told.

    (none) --begin--> CONNECTED --suspend--> SUSPENDED --resume--> CONNECTED
    CONNECTED, SUSPENDED --lose--> LOST --begin--> CONNECTED

What is submitted is bound to the session that stands then, and is done under that one or not at all.
"""

from __future__ import annotations

import re
import secrets
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardsched.errors import RegistryError, RegistryUnavailableError, SessionLostError
from shardsched.registry.base import SessionState
from shardsched.registry.callback import Listener

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.registry.base import Subscription
    from shardsched.registry.callback import CallbackQueue

_TICKET = re.compile(r"([0-9a-f]{16}):([0-9a-f]{32})")


@dataclass(frozen=True, slots=True)
class Identity:
    """A session's name, and the secret with which it is ended from elsewhere."""

    name: str
    secret: str

    @property
    def ticket(self) -> str:
        """Both as one text."""
        return f"{self.name}:{self.secret}"


def new_identity() -> Identity:
    """Return an identity that no other session has."""
    return Identity(secrets.token_hex(8), secrets.token_hex(16))


def read_ticket(ticket: str) -> Identity | None:
    """Return whose ticket it is, None if it cannot be one."""
    match = _TICKET.fullmatch(ticket)
    return Identity(*match.groups()) if match else None


class Session:
    """The present session. **Thread:** any may ask; the worker changes it."""

    def __init__(self, callbacks: CallbackQueue) -> None:
        self._callbacks = callbacks
        self._lock = threading.Lock()
        self._state: SessionState | None = None
        self._identity = Identity("", "")
        self._listeners: list[Listener[SessionState]] = []

    @property
    def state(self) -> SessionState | None:
        """What is known of it; None while the registry is not open."""
        return self._state

    @property
    def identity(self) -> Identity:
        """The present session, or the last one."""
        return self._identity

    def bind(self) -> Identity:
        """Return the session that a request is to be done under.

        Raises:
            SessionLostError: It is over, and there is no other yet.
            RegistryUnavailableError: There is no connection at present, or none yet, or no longer.
        """
        with self._lock:
            if self._state is SessionState.CONNECTED:
                return self._identity
            raise self._refusal()

    def _refusal(self) -> RegistryError:
        if self._state is None:
            return RegistryUnavailableError("the registry is not open; open it first")
        if self._state is SessionState.LOST:
            return SessionLostError("the session is lost and nothing was sent; begin anew")
        return RegistryUnavailableError("the database does not answer at present and nothing was sent; try again")

    def begin(self, identity: Identity) -> None:
        """Take note of a new session."""
        with self._lock:
            self._identity = identity
            self._turn(SessionState.CONNECTED)

    def suspend(self) -> None:
        """Take note that no answers come."""
        with self._lock:
            if self._state is SessionState.CONNECTED:
                self._turn(SessionState.SUSPENDED)

    def resume(self) -> None:
        """Take note that answers come again, and the session lives."""
        with self._lock:
            if self._state is SessionState.SUSPENDED:
                self._turn(SessionState.CONNECTED)

    def lose(self) -> None:
        """Take note that the session is over."""
        with self._lock:
            if self._state is not SessionState.LOST:
                self._turn(SessionState.LOST)

    def close(self) -> None:
        """Take note that the registry is closed; nobody is told."""
        with self._lock:
            self._state = None

    def listen(self, callback: Callable[[SessionState], None]) -> Subscription:
        """Call back with the present state, then with every change."""
        listener = Listener(callback, lambda: self._listeners.remove(listener))
        with self._lock:
            state = self._state or SessionState.SUSPENDED
            self._listeners.append(listener)
            self._callbacks.post(lambda: listener.deliver(state))
        return listener

    def _turn(self, state: SessionState) -> None:
        self._state = state
        for listener in tuple(self._listeners):
            self._callbacks.post(lambda one=listener: one.deliver(state))  # type: ignore[misc]  # bound for the loop
