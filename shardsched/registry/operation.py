"""What a registry holds, what can be asked of it, and what it answers: the values of the contract."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from shardsched.errors import (
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    RegistryError,
    VersionConflictError,
)
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

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
            Sentence(
                "%(operation)s of %(path)s was refused (%(reason)s); nothing was written: read it again",
                operation=type(self.operation).__name__.lower(),
                path=self.operation.path,
                reason=self.reason,
            )
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
