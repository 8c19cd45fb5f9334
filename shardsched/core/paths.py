"""Where each record stands in the registry, below the namespace (docs/namespace.md)."""

from __future__ import annotations

from dataclasses import dataclass

from shardsched.core.name import check_namespace

CONTROL_PLANE = ("executors", "drained", "leader", "jobs", "assignments", "commands")
"""What every executor mirrors: it changes seldom. Items and markers change at every fire and are not in it."""

PERSISTENT_ROOTS = (
    "sessions",
    "executors",
    "load",
    "drained",
    "jobs",
    "assignments",
    "commands",
    "fires",
    "items",
    "running",
    "checkpoints",
)
"""Nodes made once in a namespace, under which the others stand."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths of one namespace.

    Attributes:
        namespace: One or more names with ``/`` between them.
    """

    namespace: str = "shardsched"

    def __post_init__(self) -> None:
        """Check and normalise the namespace."""
        object.__setattr__(self, "namespace", check_namespace(self.namespace))

    @property
    def root(self) -> str:
        """The namespace's own node."""
        return f"/{self.namespace}"

    def under(self, kind: str) -> str:
        """Return the node that holds all records of a kind, such as ``jobs``."""
        return f"/{self.namespace}/{kind}"

    @property
    def leader(self) -> str:
        """Who leads (ephemeral)."""
        return f"/{self.namespace}/leader"

    @property
    def epoch(self) -> str:
        """Counts leaders; its version is the epoch."""
        return f"/{self.namespace}/epoch"

    def session(self, incarnation: str) -> str:
        """The fence of one session (ephemeral)."""
        return f"/{self.namespace}/sessions/{incarnation}"

    def executor(self, name: str) -> str:
        """An executor's record (ephemeral)."""
        return f"/{self.namespace}/executors/{name}"

    def load(self, name: str) -> str:
        """An executor's load report (ephemeral)."""
        return f"/{self.namespace}/load/{name}"

    def drained(self, name: str) -> str:
        """The mark that an executor takes no items."""
        return f"/{self.namespace}/drained/{name}"

    def job(self, job: str) -> str:
        """A job's configuration."""
        return f"/{self.namespace}/jobs/{job}"

    def assignment(self, job: str) -> str:
        """A job's layouts and owners."""
        return f"/{self.namespace}/assignments/{job}"

    def commands(self, job: str) -> str:
        """What people asked of a job: triggers and stops."""
        return f"/{self.namespace}/commands/{job}"

    def fires(self, job: str) -> str:
        """The tally of a tracked job's fires."""
        return f"/{self.namespace}/fires/{job}"

    def cursors(self, job: str) -> str:
        """The node above a job's cursors."""
        return f"/{self.namespace}/items/{job}"

    def cursor(self, job: str, item: int) -> str:
        """An item's cursor."""
        return f"/{self.namespace}/items/{job}/{item}"

    def markers(self, job: str) -> str:
        """The node above a job's markers."""
        return f"/{self.namespace}/running/{job}"

    def marker(self, job: str, item: int) -> str:
        """An item's marker while it runs (ephemeral)."""
        return f"/{self.namespace}/running/{job}/{item}"

    def checkpoints(self, job: str) -> str:
        """The node above a job's checkpoints."""
        return f"/{self.namespace}/checkpoints/{job}"

    def checkpoint(self, job: str, item: int) -> str:
        """An item's checkpoint."""
        return f"/{self.namespace}/checkpoints/{job}/{item}"


def last_part(path: str) -> str:
    """Return the last name of a path."""
    return path.rpartition("/")[2]
