"""Our operations as ZooKeeper's, and ZooKeeper's results as our outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kazoo.protocol import serialization as kazoo

from shardsched.errors import RegistryError, RegistryUnavailableError, ValueTooLargeError
from shardsched.registry.base import (
    ANY_VERSION,
    Check,
    Committed,
    Create,
    Delete,
    Put,
    Refused,
)
from shardsched.registry.tree import check_operations
from shardsched.registry.zookeeper_error import BYSTANDERS, REFUSALS, fail, translate
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from shardsched.registry.base import Operation, Outcome
    from shardsched.registry.zookeeper_path import Chroot

MAX_FRAME_BYTES = 1_000_000
"""Largest request, a little below the 1,048,575 bytes (jute.maxbuffer) at which a server drops the connection."""
OPERATION_BYTES = 64
"""More than ZooKeeper adds to the path and value of an operation: its header, lengths, version and ACL."""

EPHEMERAL = 1


def check(operations: Sequence[Operation], chroot: Chroot) -> None:
    """Refuse what no registry takes, and what the servers would drop the connection for.

    Raises:
        ValueTooLargeError: A value or the whole is over its limit.
        SettingsError: A path is refused.
    """
    check_operations(operations)
    sizes = (len(one.path.encode()) + len(getattr(one, "value", b"")) for one in operations)
    total = sum(sizes) + len(operations) * (OPERATION_BYTES + len(chroot.root.encode()))
    if total > MAX_FRAME_BYTES:
        raise ValueTooLargeError(
            Sentence(
                "a transaction of %(count)s operations makes a request of %(total)s bytes; at most "
                "%(most)s can be sent to ZooKeeper: split it",
                count=len(operations),
                total=total,
                most=MAX_FRAME_BYTES,
            )
        )


def request(operation: Operation, chroot: Chroot, acl: list[Any]) -> Any:
    """Return kazoo's request for one operation."""
    path = chroot.full(operation.path)
    match operation:
        case Check(version=version):
            return kazoo.CheckVersion(path, version)
        case Create(value=value, ephemeral=ephemeral):
            return kazoo.Create(path, value, acl, EPHEMERAL if ephemeral else 0)
        case Put(value=value, version=version):
            return kazoo.SetData(path, value, version)
        case Delete(version=version):
            return kazoo.Delete(path, version)


def outcome(operations: Sequence[Operation], results: Sequence[Any]) -> Outcome:
    """Return what became of a transaction; kazoo raises nothing when one is refused.

    Raises:
        RegistryError: The servers' answer is neither done nor a refusal (not allowed, or not understood).
    """
    culprit = next(
        (
            (index, result)
            for index, result in enumerate(results)
            if isinstance(result, Exception) and not isinstance(result, BYSTANDERS)
        ),
        None,
    )
    if culprit is not None:
        return _refused(operations, *culprit)
    if len(results) != len(operations) or any(isinstance(result, Exception) for result in results):
        raise RegistryUnavailableError(
            Sentence("ZooKeeper's answer to a transaction is incomplete; read before repeating")
        )
    return Committed(tuple(map(_version, operations, results)))


def _refused(operations: Sequence[Operation], index: int, error: Exception) -> Outcome:
    operation = operations[index]
    reason = next((ours for theirs, ours in REFUSALS.items() if isinstance(error, theirs)), None)
    if reason is None:
        name = type(operation).__name__.lower()
        fail(error, Sentence("the %(operation)s of %(path)s", operation=name, path=operation.path))
    return Refused(index, operation, reason)


def _version(operation: Operation, result: Any) -> int:
    match operation:
        case Check(version=version):
            return version
        case Create():
            return 0
        case Put():
            return int(result.version)
        case Delete():
            return ANY_VERSION


class Completion:
    """Puts the answer to a transaction into its future (on the connection's thread)."""

    def __init__(self, future: Future[Outcome], operations: tuple[Operation, ...]) -> None:
        self._future = future
        self._operations = operations

    def __call__(self, results: Any, error: Exception | None) -> None:
        """Take kazoo's results, or its error."""
        if not self._future.set_running_or_notify_cancel():
            return
        try:
            if error is not None:
                self._future.set_exception(translate(error, "a transaction"))
            else:
                self._future.set_result(outcome(self._operations, results))
        except RegistryError as refusal:
            self._future.set_exception(refusal)
