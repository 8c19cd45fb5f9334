"""What is known of a job at the moment at which it is decided what is due of its items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from shardsched.core.assignment import Assignment
    from shardsched.core.command import Commands
    from shardsched.core.job import JobConfig
    from shardsched.core.schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When one job is looked at; shared by its items so that the schedule is asked once."""

    now: datetime
    """The time."""
    latest_fire: datetime | None
    """The latest fire up to now."""
    drift_limit: timedelta
    """How far ahead of now what others wrote may lie."""
    opens_at: datetime | None = None
    """When the pause window that now lies in ends, None where it lies in none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is fixed for all items of one job at one moment."""

    config: JobConfig
    """The job."""
    schedule: Schedule
    """When it fires."""
    assignment: Assignment
    """Its assignment."""
    commands: Commands | None
    """What was asked of it."""
    incarnation: str
    """Our session's fence."""
    running: frozenset[str]
    """Our runs."""
    moment: Moment
    """When."""
    disabled: frozenset[int] = frozenset()
    """Items that start nothing."""

    @property
    def stop(self) -> int:
        """The job's stop counter."""
        return self.commands.stop if self.commands else 0
