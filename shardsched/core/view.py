"""Frozen views: the control plane as one executor sees it, and one job with its items.

A view is read once and decided on; what it says may be old, so every write that follows from it carries the versions
that it was read with.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shardsched.core.assignment import Assignment
    from shardsched.core.command import Commands
    from shardsched.core.executor import DrainMark, ExecutorRecord, LeaderRecord
    from shardsched.core.fire import Cursor, Marker
    from shardsched.core.job import JobConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEntry:
    """One job in the control plane."""

    name: str
    """The job's name, as its node is called."""
    version: int
    """Version of its configuration's node."""
    created_id: int = 0
    """Creation id of that node."""
    config: JobConfig | None = None
    """Its configuration, None where it cannot be read."""
    held: str | None = None
    """Why it must not run although it exists (unreadable, invalid cron, contradicting assignment), or None."""
    assignment: Assignment | None = None
    """Its assignment, None where there is none of this job's uid that can be read."""
    assignment_version: int | None = None
    """Version of the assignment's node, None where there is no node."""
    assignment_fault: str | None = None
    """Why the assignment's node cannot be used (the leader writes it anew), or None."""
    commands: Commands | None = None
    """What was asked of it, None where there is nothing of this job's uid that can be read."""
    commands_version: int | None = None
    """Version of the commands' node, None where there is no node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetView:
    """The control plane."""

    executors: Mapping[str, ExecutorRecord] = field(default_factory=dict)
    """By name, those that live and whose record can be read."""
    drained: Mapping[str, DrainMark] = field(default_factory=dict)
    """By name, executors that take no items (they need not live)."""
    leader: LeaderRecord | None = None
    """Who leads, None if nobody does."""
    jobs: Mapping[str, JobEntry] = field(default_factory=dict)
    """By name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """One item as its owner knows it."""

    cursor: Cursor | None = None
    """Its cursor, None where there is none of this job's uid."""
    cursor_version: int | None = None
    """Version of the cursor's node, None where there is no node."""
    marker: Marker | None = None
    """Its marker, None where it does not run."""
    is_marker_ours: bool = False
    """Whether the marker belongs to our session with the registry, under whatever fence it was made."""
    fault: str | None = None
    """Why what is stored of it cannot be used, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """One job as one executor plans it."""

    entry: JobEntry
    """The job in the control plane."""
    items: Mapping[int, ItemView] = field(default_factory=dict)
    """The items that the executor owns and has read; one that is missing here must be read first."""
    running: frozenset[str] = frozenset()
    """Run ids that live in this executor, or whose completion it has not written yet."""
