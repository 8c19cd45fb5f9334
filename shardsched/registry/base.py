"""The contract of a registry: a tree of small nodes with versions, sessions, transactions and watches.

Every implementation passes the same conformance suite (``tests/registry/contract.py``). Three results are always
told apart: *done* (a `Committed`), *refused* (a `Refused`: nothing happened) and *unknown*
(`RegistryUnavailableError`: it may have happened; read before acting).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from shardsched.errors import (
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    RegistryError,
    RegistryUnavailableError,
    VersionConflictError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future
    from datetime import datetime
    from types import TracebackType
    from typing import Self

MAX_VALUE_BYTES = 512 * 1024
"""Largest value of a node. ZooKeeper drops the connection at 1 MiB, and a retry would loop for ever."""

MAX_TRANSACTION_BYTES = 768 * 1024
"""Largest sum of paths and values of one transaction, for the same reason; callers chunk well below it."""

ANY_VERSION = -1
"""As a version in an operation: whatever the node's version is, but it must exist."""


class SessionState(StrEnum):
    """What is known of our session with the registry."""

    CONNECTED = "connected"
    """Answers come."""
    SUSPENDED = "suspended"
    """No answers at present; the session may or may not live. Start nothing new."""
    LOST = "lost"
    """The session is over and everything claimed under it is void. A new one follows with CONNECTED."""


@dataclass(frozen=True, slots=True)
class Node:
    """One node as it was read."""

    path: str
    """Absolute path."""
    value: bytes
    """At most `MAX_VALUE_BYTES`."""
    version: int
    """0 when created, then one more with every put."""
    created_id: int
    """Grows with every transaction of the registry that creates something: a node made anew has a larger one."""
    owner: str | None
    """The session of an ephemeral node (comparable to `Registry.session_id`), None for a persistent one."""
    created_at: datetime
    """When it was created, by the registry's clock; aware, UTC."""


@dataclass(frozen=True, slots=True)
class Check:
    """Refuse the transaction unless the node exists with this version."""

    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Create:
    """Create a node whose parent exists and is persistent."""

    path: str
    value: bytes = b""
    ephemeral: bool = False


@dataclass(frozen=True, slots=True)
class Put:
    """Replace the value of a node that exists with this version; its version grows by one."""

    path: str
    value: bytes
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a node that exists with this version and has no children."""

    path: str
    version: int = ANY_VERSION


Operation = Check | Create | Put | Delete


class Refusal(StrEnum):
    """Why a transaction was refused."""

    EXISTS = "exists"
    NO_NODE = "no_node"
    """The node, or the parent of one to be created, does not exist."""
    VERSION = "version"
    NOT_EMPTY = "not_empty"


_REFUSAL_ERRORS: Mapping[Refusal, type[RegistryError]] = {
    Refusal.EXISTS: NodeExistsError,
    Refusal.NO_NODE: NoNodeError,
    Refusal.VERSION: VersionConflictError,
    Refusal.NOT_EMPTY: NotEmptyError,
}


@dataclass(frozen=True, slots=True)
class Committed:
    """The transaction was done, all of it."""

    versions: tuple[int, ...]
    """For each operation the node's version afterwards: 0 for a create, -1 for a delete, as checked for a
    check (-1 where any version was accepted)."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The transaction was refused and nothing happened."""

    index: int
    """Which operation was the first that could not be done."""
    operation: Operation
    reason: Refusal

    def error(self) -> RegistryError:
        """Return the matching exception, for callers that cannot go on."""
        return _REFUSAL_ERRORS[self.reason](
            f"{type(self.operation).__name__.lower()} of {self.operation.path} was refused ({self.reason}); "
            "nothing was written: read it again"
        )


Outcome = Committed | Refused


@dataclass(frozen=True, slots=True)
class Changes:
    """What a watch reports: the state now of everything that may have changed below its prefix."""

    nodes: Mapping[str, Node | None] = field(default_factory=dict)
    """By path: the node as it is now, or None if it does not exist."""
    complete: bool = False
    """Whether `nodes` is all there is: after watching began and after every reconnect. What is missing from a
    complete report does not exist."""


class Subscription(ABC):
    """A watch or listener that can be ended."""

    @abstractmethod
    def cancel(self) -> None:
        """End it. No callback begins after this returns, except on the calling thread's own stack."""


class Registry(ABC):
    """A coordination store. One object is one client with at most one living session at a time.

    **Thread:** every method may be called from any thread, except from a session callback or a watch callback,
    where only `submit` may be called (not waited for). Callbacks of watches and of the session run one at a time
    on one thread of the registry's own, never on the connection's thread.
    """

    # Life

    @abstractmethod
    def open(self, timeout_s: float = 15.0) -> None:
        """Connect and begin a session; create a missing chroot or schema.

        Raises:
            RegistryUnavailableError: No server answered in time.
            RegistryAccessError: The credentials are refused.
            SettingsError: The server cannot serve us (version, schema), with what to do.
        """

    @abstractmethod
    def close(self) -> None:
        """End the session (its ephemeral nodes go at once, if the server can be reached) and all threads.

        Returns within a few seconds also when no server answers. Calling it again does nothing.
        """

    def __enter__(self) -> Self:
        """Open."""
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    # Session

    @property
    @abstractmethod
    def session_id(self) -> str:
        """Identity of the present session, equal to `Node.owner` of what it created. Changes after LOST."""

    @property
    @abstractmethod
    def session_timeout_s(self) -> float:
        """The time-out T in force (negotiated, not requested): after this long without word from us the registry
        may give our ephemeral nodes away.
        """

    @property
    @abstractmethod
    def tick_s(self) -> float:
        """How coarsely the registry looks at time-outs (ZooKeeper's tickTime); part of the lease's margin."""

    @property
    @abstractmethod
    def session_ticket(self) -> str:
        """A secret with which `end_session` ends the present session from another process."""

    @abstractmethod
    def end_session(self, ticket: str) -> None:
        """End another session, one left by a process known to be dead; its ephemeral nodes go at once.

        A ticket that is no longer valid, or unreadable, is no error.

        Raises:
            RegistryUnavailableError: No answer; the session may or may not have ended.
        """

    @abstractmethod
    def on_session(self, callback: Callable[[SessionState], None]) -> Subscription:
        """Call back with every change of the session's state, beginning with the present one."""

    @abstractmethod
    def renew(self, check: Check) -> Future[Outcome]:
        """Prove that the session lives, by a transaction of nothing but the check, and extend it.

        Where the registry is an ensemble, the answer comes from a quorum: a read would prove nothing.

        **Unknown:** the future raises RegistryUnavailableError, or SessionLostError.
        """

    @abstractmethod
    def reset_connection(self) -> None:
        """Drop the connection and make a new one in the same session, as after a heartbeat left unanswered."""

    # Writing

    @abstractmethod
    def submit(self, operations: Sequence[Operation]) -> Future[Outcome]:
        """Send a transaction without waiting, so that many can be under way (they are independent of each other).

        **Atomicity:** all operations or none; later operations see the effect of earlier ones.
        **Unknown:** the future raises RegistryUnavailableError (it may have happened) or SessionLostError (it may
        have happened before the session ended). A transaction is never sent again under a new session.
        **Thread:** the future's callbacks may run on the connection's thread and must not block.

        Raises:
            ValueTooLargeError: A value or the whole is over the limit; nothing was sent.
            RegistryAccessError: By the future: not allowed.
        """

    def transact(self, operations: Sequence[Operation], timeout_s: float = 15.0) -> Outcome:
        """Send a transaction and wait for its outcome.

        **Unknown:** RegistryUnavailableError also when no answer came within `timeout_s`.

        Raises:
            ValueTooLargeError: A value or the whole is over the limit; nothing was sent.
            RegistryUnavailableError: It may have happened.
            SessionLostError: The session ended; it may have happened before.
            RegistryAccessError: Not allowed.
        """
        return wait_for(self.submit(operations), timeout_s)

    # Reading

    @abstractmethod
    def read(self, paths: Sequence[str], *, fresh: bool = False) -> tuple[Node | None, ...]:
        """Return the nodes at these paths, None where there is none; many are read at about the cost of one.

        A read may lag behind writes of others (never behind one's own answered writes); with `fresh` it sees all
        that was committed before the call, by anyone.

        Raises:
            RegistryUnavailableError: No answer.
        """

    @abstractmethod
    def read_children(self, paths: Sequence[str], *, fresh: bool = False) -> tuple[tuple[str, ...] | None, ...]:
        """Return the sorted names of the children of each path, None where it does not exist.

        Raises:
            RegistryUnavailableError: No answer.
        """

    def get(self, path: str, *, fresh: bool = False) -> Node | None:
        """Return the node at a path, or None."""
        return self.read((path,), fresh=fresh)[0]

    def children(self, path: str, *, fresh: bool = False) -> tuple[str, ...]:
        """Return the sorted names of the children of a path; none if it does not exist."""
        return self.read_children((path,), fresh=fresh)[0] or ()

    @abstractmethod
    def watch(self, prefix: str, callback: Callable[[Changes], None]) -> Subscription:
        """Report the node at `prefix` and its direct children, now and whenever they may have changed.

        Level-triggered: after any change, and after every reconnect or new session, a report follows that is at
        least as new; several changes may become one report. For each path, reports never go back in time. The
        first report, and the one after each reconnect, is complete. The prefix need not exist.

        **Thread:** the callback runs on the registry's callback thread. An exception in it is logged and does not
        end the watch.
        """

    @abstractmethod
    def server_time(self) -> datetime:
        """Return the registry's wall-clock time (aware, UTC), as exact as one round trip allows.

        Raises:
            RegistryUnavailableError: No answer.
        """


def wait_for(future: Future[Outcome], timeout_s: float) -> Outcome:
    """Return a future's outcome, turning a wait that was too long into *unknown*.

    Raises:
        RegistryUnavailableError: No answer within `timeout_s`; it may have happened, or happen yet.
    """
    try:
        return future.result(timeout_s)
    except TimeoutError:
        message = f"the registry did not answer within {timeout_s:g} s; check the servers, then read before repeating"
        raise RegistryUnavailableError(message) from None
