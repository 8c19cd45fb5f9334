"""Where a registry's paths lie on the servers."""

from __future__ import annotations

from dataclasses import dataclass

from shardsched.errors import SettingsError
from shardsched.registry.tree import check_path, path_fault


@dataclass(frozen=True, slots=True)
class Chroot:
    """The node below which everything of a registry lies.

    Attributes:
        root: Its path on the servers; empty for the root of the tree.
    """

    root: str = ""

    def __post_init__(self) -> None:
        """Take off slashes at the end, and refuse what cannot be a path."""
        root = self.root.rstrip("/")
        fault = path_fault(root) if root else None
        if fault:
            raise SettingsError(f"the chroot {self.root!a} is refused: {fault}; write it as /a/b")
        if root.split("/")[1:2] == ["zookeeper"]:
            raise SettingsError("the chroot /zookeeper is refused: ZooKeeper keeps its own nodes there; give another")
        object.__setattr__(self, "root", root)

    @property
    def levels(self) -> tuple[str, ...]:
        """The nodes from the top to the chroot itself, all of which must exist."""
        parts = self.root.split("/")
        return tuple("/".join(parts[:count]) for count in range(2, len(parts) + 1))

    def full(self, path: str) -> str:
        """Return the path on the servers.

        Raises:
            SettingsError: It cannot be a path.
        """
        return (self.root + check_path(path).rstrip("/")) or "/"

    def own(self, full: str) -> str:
        """Return the registry's path of one on the servers."""
        return full[len(self.root) :] or "/"


def child(path: str, name: str) -> str:
    """Return the path of a child."""
    return f"{path.rstrip('/')}/{name}"
