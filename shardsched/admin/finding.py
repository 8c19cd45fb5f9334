"""What may be wrong in a registry, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Fault(StrEnum):
    """Kinds of faults."""

    MISSING_NODE = "missing_node"
    """A node under which others are to stand is not there."""
    UNREADABLE = "unreadable"
    """A record is not one of ours, or of a newer release."""
    BAD_NAME = "bad_name"
    """A job was made by hand under a name that is not valid."""
    HELD_JOB = "held_job"
    """A job can be read but not used, such as for an invalid cron expression."""
    HALF_DELETED = "half_deleted"
    """A job's deletion was not finished."""
    ORPHAN = "orphan"
    """A record of a job that does not exist."""
    OWNER_GONE = "owner_gone"
    """Items are assigned to an executor that does not live."""
    LOST_FENCE = "lost_fence"
    """A record of a session that does not exist."""
    NO_LEADER = "no_leader"
    """Executors live and none leads."""
    STRAY_MARKER = "stray_marker"
    """An item is marked as running by a run that its cursor does not know."""
    ABANDONED = "abandoned"
    """A run was left unfinished, and the item has no owner to settle it."""
    UNKNOWN_UPSTREAM = "unknown_upstream"
    """A job waits for one that does not exist."""
    CIRCLE = "circle"
    """Jobs wait for each other, which only a record written by hand can bring about."""
    FUTURE_CURSOR = "future_cursor"
    """An item handled a fire that lies far ahead of now."""


PASSING = frozenset({Fault.OWNER_GONE, Fault.LOST_FENCE, Fault.NO_LEADER, Fault.STRAY_MARKER, Fault.ABANDONED})
"""Kinds that a fleet in good health shows for a moment, while something changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong."""

    fault: Fault
    """Of which kind."""
    path: str
    """Of which node."""
    message: str
    """What is wrong, for people."""
    cure: str
    """What to do, where it is not mended."""
    job: str | None = None
    """Of which job, None where it is of none."""
    is_mendable: bool = False
    """Whether it can be mended without loss."""
    is_mended: bool = False
    """Whether it was mended now."""

    def as_json(self) -> dict[str, Any]:
        """Return it as ``doctor --json`` shows it."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"fault": str(self.fault)}


@dataclass(frozen=True, slots=True)
class Case:
    """A finding, with what would mend it."""

    finding: Finding
    """What is wrong."""
    mend: Callable[[], bool] | None = None
    """Mends it and says whether it did; None where only people can."""
