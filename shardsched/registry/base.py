"""The contract of a registry: a tree of small nodes with versions, sessions, transactions and watches.

Every implementation passes the same conformance suite (``tests/registry/contract.py``). Three results are always
told apart: *done* (a `Committed`), *refused* (a `Refused`: nothing happened) and *unknown*
(`RegistryUnavailableError`: it may have happened; read before acting).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from shardsched.errors import RegistryUnavailableError
from shardsched.registry.operation import (
    ANY_VERSION,
    MAX_TRANSACTION_BYTES,
    MAX_VALUE_BYTES,
    Changes,
    Check,
    Committed,
    Create,
    Delete,
    Node,
    Operation,
    Outcome,
    Put,
    Refusal,
    Refused,
    SessionState,
)
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from datetime import datetime
    from types import TracebackType
    from typing import Self

__all__ = [
    "ANY_VERSION",
    "MAX_TRANSACTION_BYTES",
    "MAX_VALUE_BYTES",
    "Changes",
    "Check",
    "Committed",
    "Create",
    "Delete",
    "Node",
    "Operation",
    "Outcome",
    "Put",
    "Refusal",
    "Refused",
    "Registry",
    "SessionState",
    "Subscription",
    "wait_for",
]


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
        """The time-out T in force, in seconds: negotiated, not requested.

        After this long without word from us the registry may give our ephemeral nodes away.
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

    @abstractmethod
    def give_up_session(self) -> None:
        """Have a session end that its lease has outlived, if requests which are not answered may be keeping it alive.

        Does nothing while requests are answered or refused. To be called again and again while the session stands: once
        it is given up, LOST is told and another session is begun, as after any other loss.
        """

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
        message = Sentence(
            "the registry did not answer within %(seconds)g s; check the servers, then read before repeating",
            seconds=timeout_s,
        )
        raise RegistryUnavailableError(message) from None
