"""Errors of the registry."""

from __future__ import annotations

from typing import ClassVar

from shardsched.errors.base import ShardschedError
from shardsched.sentence import Sentence


class RegistryError(ShardschedError):
    """Raised when the registry cannot do what was asked.

    Attributes:
        retryable: Whether the same call may succeed later without anybody's doing.
    """

    retryable: ClassVar[bool] = False


class NodeExistsError(RegistryError):
    """Raised when a node is to be created that exists; nothing happened."""


class NoNodeError(RegistryError):
    """Raised when a node that must exist does not; nothing happened."""


class VersionConflictError(RegistryError):
    """Raised when a node has another version than expected; nothing happened."""


class NotEmptyError(RegistryError):
    """Raised when a node with children is to be deleted; nothing happened."""


class ValueTooLargeError(RegistryError):
    """Raised before anything is sent when a value or transaction is over the size limit."""


class RegistryUnavailableError(RegistryError):
    """Raised when the registry gave no answer: what was asked may have happened or not.

    Read before acting.
    """

    retryable: ClassVar[bool] = True


class SessionLostError(RegistryError):
    """Raised when our session with the registry is over; every ephemeral claim of it is void."""


class RegistryAccessError(RegistryError):
    """Raised when the registry refuses our credentials; repeating does not help."""


class CorruptNodeError(RegistryError):
    """Raised when the bytes at a path are not a record of ours.

    Attributes:
        path: The node's path.
        reason: What is wrong with its value.
    """

    def __init__(self, *, path: str, reason: str) -> None:
        super().__init__(
            Sentence(
                "the record at %(path)s cannot be used: %(reason)s; 'shardsched doctor' says what to do",
                path=path,
                reason=reason,
            )
        )
        self.path = path
        self.reason = reason
