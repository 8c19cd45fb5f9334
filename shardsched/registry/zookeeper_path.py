"""Where a registry's paths lie on the servers, and what ZooKeeper allows in them."""

from __future__ import annotations

from dataclasses import dataclass

from shardsched.errors import SettingsError


def path_fault(path: str) -> str | None:
    """Return what is wrong with an absolute path, or None.

    ZooKeeper refuses some of this; a lone surrogate would end kazoo's connection thread for good (kazoo 2.11).
    """
    if not path.startswith("/"):
        return "it does not begin with '/'"
    if path == "/":
        return None
    if any(part in {"", ".", ".."} for part in path[1:].split("/")):
        return "a part of it is empty, '.' or '..'"
    for character in path:
        code = ord(character)
        if code < 0x20 or 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xF8FF or code >= 0xFFF0:
            return f"it has the character {character!a}, which ZooKeeper does not take"
    return None


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
        fault = path_fault(path)
        if fault:
            raise SettingsError(f"the path {path!a} is refused: {fault}; give another name")
        return (self.root + path.rstrip("/")) or "/"

    def own(self, full: str) -> str:
        """Return the registry's path of one on the servers."""
        return full[len(self.root) :] or "/"


def child(path: str, name: str) -> str:
    """Return the path of a child."""
    return f"{path.rstrip('/')}/{name}"


def parent(path: str) -> str:
    """Return the path of the node above."""
    return path.rpartition("/")[0] or "/"
