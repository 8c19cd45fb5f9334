"""The rules of the tree: which paths and sizes are taken, and what a transaction does to the nodes it touches."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from shardsched.errors import SettingsError, ValueTooLargeError
from shardsched.registry.base import (
    ANY_VERSION,
    MAX_TRANSACTION_BYTES,
    MAX_VALUE_BYTES,
    Check,
    Committed,
    Create,
    Delete,
    Put,
    Refusal,
    Refused,
)
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from shardsched.registry.base import Operation, Outcome

ROOT = "/"
"""The node at the top, which always exists."""


def path_fault(path: str) -> str | None:
    """Return what is wrong with an absolute path, or None.

    What ZooKeeper does not take is refused everywhere, so that a fleet can move to it.
    """
    if not path.startswith("/"):
        return Sentence("it does not begin with '/'")
    if path == ROOT:
        return None
    if any(part in {"", ".", ".."} for part in path[1:].split("/")):
        return Sentence("a part of it is empty, '.' or '..'")
    for character in path:
        code = ord(character)
        if code < 0x20 or 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xF8FF or code >= 0xFFF0:
            return Sentence("it has the character %(character)a, which no registry takes", character=character)
    return None


@lru_cache(maxsize=16384)
def check_path(path: str) -> str:
    """Return the path if it may be one.

    Raises:
        SettingsError: With what is wrong.
    """
    fault = path_fault(path)
    if fault:
        raise SettingsError(
            Sentence("the path %(path)a is refused: %(fault)s; give another name", path=path, fault=fault)
        )
    return path


def parent_path(path: str) -> str:
    """Return the path of the node above; the root's is empty."""
    return path.rpartition("/")[0] or (ROOT if path != ROOT else "")


def touched_prefixes(paths: Iterable[str]) -> set[str]:
    """Return the prefixes whose watches have to be told of changes at these paths."""
    return {prefix for path in paths for prefix in (path, parent_path(path))}


def check_operations(operations: Sequence[Operation]) -> None:
    """Refuse a transaction that no registry can take, before anything else is done with it.

    Raises:
        ValueTooLargeError: A value or the whole is over its limit.
        SettingsError: A path is refused.
    """
    total = 0
    for operation in operations:
        size = len(operation.value) if isinstance(operation, Create | Put) else 0
        if size > MAX_VALUE_BYTES:
            raise ValueTooLargeError(
                Sentence(
                    "the value of %(path)a has %(size)s bytes; at most %(most)s can be stored",
                    path=operation.path,
                    size=size,
                    most=MAX_VALUE_BYTES,
                )
            )
        total += size + len(operation.path.encode(errors="surrogatepass"))
    if total > MAX_TRANSACTION_BYTES:
        raise ValueTooLargeError(
            Sentence(
                "a transaction of %(count)s operations has %(total)s bytes; at most %(most)s can be sent: split it",
                count=len(operations),
                total=total,
                most=MAX_TRANSACTION_BYTES,
            )
        )
    for operation in operations:
        check_path(operation.path)
        if operation.path == ROOT and isinstance(operation, Delete):
            raise SettingsError(Sentence("the root of a registry cannot be deleted; delete what is below it"))


@dataclass(frozen=True, slots=True)
class Stub:
    """As much of a node as a transaction has to know."""

    version: int
    """Its version."""
    is_ephemeral: bool
    """Whether it goes with its session, and so can have no children."""
    value: bytes | None = None
    """What the transaction puts there; None: it leaves the value alone."""
    is_new: bool = False
    """Whether the transaction creates it."""


class Draft:
    """One transaction, tried on what it touches; the caller writes `touched` down when it is committed.

    Args:
        find: Returns the node at a path before the transaction, or None.
        count_children: Returns how many children a path has before the transaction.

    Attributes:
        touched: Every node created, changed or (None) deleted, as it is afterwards; parents that are new come
            before their children.
        removed: The nodes of before that were deleted, also if others stand in their place afterwards.
    """

    def __init__(self, find: Callable[[str], Stub | None], count_children: Callable[[str], int]) -> None:
        self._find = find
        self._count_children = count_children
        self._grown: Counter[str] = Counter()
        self.touched: dict[str, Stub | None] = {}
        self.removed: set[str] = set()

    def apply(self, operations: Sequence[Operation]) -> Outcome:
        """Try the operations one after the other, each on what the earlier ones did."""
        versions: list[int] = []
        for index, operation in enumerate(operations):
            answer = self._create(operation) if isinstance(operation, Create) else self._other(operation)
            if isinstance(answer, Refusal):
                return Refused(index, operation, answer)
            versions.append(answer)
        return Committed(tuple(versions))

    def stub(self, path: str) -> Stub | None:
        """Return the node as it is after what was applied so far."""
        return self.touched[path] if path in self.touched else self._find(path)

    def _create(self, operation: Create) -> int | Refusal:
        above = parent_path(operation.path)
        parent = self.stub(above) if above else None
        if self.stub(operation.path) is not None:
            return Refusal.EXISTS
        if parent is None or parent.is_ephemeral:
            return Refusal.NO_NODE
        # At the end of the order: a parent made anew comes before what is made below it.
        self.touched.pop(operation.path, None)
        self.touched[operation.path] = Stub(0, operation.ephemeral, operation.value, is_new=True)
        self._grown[above] += 1
        return 0

    def _other(self, operation: Check | Put | Delete) -> int | Refusal:
        stub = self.stub(operation.path)
        if stub is None:
            return Refusal.NO_NODE
        if operation.version not in {ANY_VERSION, stub.version}:
            return Refusal.VERSION
        if isinstance(operation, Check):
            return operation.version
        if isinstance(operation, Delete):
            return self._delete(operation.path)
        self.touched[operation.path] = replace(stub, version=stub.version + 1, value=operation.value)
        return stub.version + 1

    def _is_made_here(self, path: str) -> bool:
        stub = self.touched.get(path)
        return stub is not None and stub.is_new

    def _delete(self, path: str) -> int | Refusal:
        if self._count_children(path) + self._grown[path] > 0:
            return Refusal.NOT_EMPTY
        if not self._is_made_here(path):
            self.removed.add(path)
        self.touched[path] = None
        # Growth is told against the store as it was; a node made anew begins without children.
        self._grown[parent_path(path)] -= 1
        return ANY_VERSION
