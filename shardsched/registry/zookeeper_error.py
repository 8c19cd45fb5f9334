"""What ZooKeeper's errors mean to us: the only table from kazoo's errors to ours (kazoo 2.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kazoo import exceptions as kazoo
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.retry import InterruptedError as KazooInterruptedError
from kazoo.retry import RetryFailedError

from shardsched.errors import (
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    RegistryAccessError,
    RegistryError,
    RegistryUnavailableError,
    SessionLostError,
    VersionConflictError,
)
from shardsched.registry.base import Refusal
from shardsched.sentence import Foreign, Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

REFUSALS: Mapping[type[Exception], Refusal] = {
    kazoo.NoNodeError: Refusal.NO_NODE,
    # The parent exists but is ephemeral; to the caller it is as good as no parent.
    kazoo.NoChildrenForEphemeralsError: Refusal.NO_NODE,
    kazoo.NodeExistsError: Refusal.EXISTS,
    kazoo.BadVersionError: Refusal.VERSION,
    kazoo.NotEmptyError: Refusal.NOT_EMPTY,
}
"""The answers to an operation of a transaction that are a refusal."""

BYSTANDERS: tuple[type[Exception], ...] = (kazoo.RolledBackError, kazoo.RuntimeInconsistency)
"""What the other operations of a refused transaction are answered: those before the culprit, those after it."""

PLACES: tuple[tuple[type[Exception], type[RegistryError]], ...] = (
    # Closing is a kind of expiry to kazoo; to us it says nothing about what became of the request.
    (kazoo.ConnectionClosedError, RegistryUnavailableError),
    (kazoo.SessionExpiredError, SessionLostError),
    (kazoo.UnknownSessionError, SessionLostError),
    (kazoo.NoNodeError, NoNodeError),
    (kazoo.NoChildrenForEphemeralsError, NoNodeError),
    (kazoo.NodeExistsError, NodeExistsError),
    (kazoo.BadVersionError, VersionConflictError),
    (kazoo.NotEmptyError, NotEmptyError),
    (kazoo.NoAuthError, RegistryAccessError),
    (kazoo.AuthFailedError, RegistryAccessError),
    (kazoo.InvalidACLError, RegistryAccessError),
    (kazoo.SASLException, RegistryAccessError),
    (kazoo.SessionClosedRequireSaslError, RegistryAccessError),
    (kazoo.QuotaExceededError, RegistryAccessError),
    (kazoo.EphemeralOnLocalSessionError, RegistryAccessError),
    (kazoo.ConnectionLoss, RegistryUnavailableError),
    (kazoo.ConnectionDropped, RegistryUnavailableError),
    (kazoo.OperationTimeoutError, RegistryUnavailableError),
    (kazoo.RequestTimeoutError, RegistryUnavailableError),
    (kazoo.ThrottledOpError, RegistryUnavailableError),
    (kazoo.SessionMovedError, RegistryUnavailableError),
    (kazoo.NotReadOnlyCallError, RegistryUnavailableError),
    (kazoo.RolledBackError, RegistryUnavailableError),
    (kazoo.RuntimeInconsistency, RegistryUnavailableError),
    (kazoo.DataInconsistency, RegistryUnavailableError),
    (kazoo.SystemZookeeperError, RegistryUnavailableError),
    (kazoo.NewConfigNoQuorumError, RegistryUnavailableError),
    (kazoo.ReconfigInProcessError, RegistryUnavailableError),
    (kazoo.CancelledError, RegistryUnavailableError),
    (kazoo.ZookeeperStoppedError, RegistryUnavailableError),
    (kazoo.WriterNotClosedException, RegistryUnavailableError),
    (kazoo.LockTimeout, RegistryUnavailableError),
    (KazooInterruptedError, RegistryUnavailableError),
    (RetryFailedError, RegistryUnavailableError),
    (KazooTimeoutError, RegistryUnavailableError),
    # The request was not understood; sending it again would not help.
    (kazoo.MarshallingError, RegistryError),
    (kazoo.UnimplementedError, RegistryError),
    (kazoo.BadArgumentsError, RegistryError),
    (kazoo.InvalidCallbackError, RegistryError),
    (kazoo.NoWatcherError, RegistryError),
    (kazoo.ReconfigDisabledError, RegistryError),
    (kazoo.APIError, RegistryError),
    (kazoo.ConfigurationError, RegistryError),
    # The bases, should a newer kazoo have kinds that are not listed: then nothing is known.
    (kazoo.ZookeeperError, RegistryUnavailableError),
    (kazoo.KazooException, RegistryUnavailableError),
)
"""Each kind of error with its place in our tree, the most specific first."""

_CURES: Mapping[type[RegistryError], str] = {
    RegistryUnavailableError: Sentence("it may have happened; check the servers, and read before repeating"),
    SessionLostError: Sentence("every claim of the session is void; begin anew under the next one"),
    RegistryAccessError: Sentence("check the credentials and the nodes' ACLs"),
}


def translate(error: Exception, what: str) -> RegistryError:
    """Return our error for one of kazoo's, with the cause to be set by ``raise … from``.

    Args:
        error: What kazoo raised or answered.
        what: What was being done, such as ``the read of /jobs``.
    """
    if isinstance(error, RegistryError):
        return error
    kind = next((ours for theirs, ours in PLACES if isinstance(error, theirs)), RegistryUnavailableError)
    cure = _CURES.get(kind, Sentence("read it again, or check the version of the servers"))
    name = Foreign(type(error).__name__)
    return kind(Sentence("ZooKeeper answered %(what)s with %(error)s: %(cure)s", what=what, error=name, cure=cure))


def fail(error: Exception, what: str) -> NoReturn:
    """Raise our error for one of kazoo's.

    Raises:
        RegistryError: As `translate` says.
    """
    ours = translate(error, what)
    raise ours from (None if ours is error else error)
