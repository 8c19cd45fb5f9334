"""Which jobs a spectator reads next: those where something happens often, the others in turn.

Markers and cursors change at every fire and are watched by nobody, so who looks on has to read them. Where something
happens is mostly known: where items run, where a fire was just due, where people asked for something or items moved.
Those are listed at every look. All others are listed, and their cursors read, in turn, as something may have happened
that was not foreseen.

This module decides; it does not act. Moments are seconds on the boot clock.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

COLD_S = 20.0
"""A job where nothing happens is listed this often, and its cursors are read this often if there are not too many."""
AFTER_FIRE_S = 1.0
"""So long after a fire, the cursors of runs that were too short to be seen are read."""
SLOWEST_S = 30.0
"""Longest time between two readings while a fire's cursors are awaited."""


@dataclass(slots=True, kw_only=True)
class Attention:
    """What a spectator has seen of one job, and when."""

    items: int = 0
    """How many items it has."""
    listed_at: float | None = None
    """When it was last looked which of its items run."""
    read_at: float | None = None
    """When all of its cursors were last read."""
    active_until: float = 0.0
    """Until when something is expected to happen."""
    is_running: bool = False
    """Whether some of its items ran when it was last listed."""
    due_at: float | None = None
    """When its cursors are to be read, None if there is no occasion."""

    def expect(self, now: float, for_s: float) -> None:
        """Look closely for some time."""
        self.active_until = max(self.active_until, now + for_s)

    def wants_listing(self, now: float) -> bool:
        """Whether it should be listed now."""
        return self.listed_at is None or self.is_running or now < self.active_until or now - self.listed_at >= COLD_S

    def wants_reading(self, now: float) -> bool:
        """Whether there is an occasion to read all of its cursors now."""
        return self.read_at is None or (self.due_at is not None and self.due_at <= now)


def listings(jobs: Mapping[str, Attention], now: float, limit: int) -> list[str]:
    """Return the jobs to be listed now, those that wait longest first."""
    wanting = ((one.listed_at or float("-inf"), name) for name, one in jobs.items() if one.wants_listing(now))
    return [name for _, name in heapq.nsmallest(limit, wanting)]


def readings(jobs: Mapping[str, Attention], now: float, limit: int, sweep: int) -> list[str]:
    """Return the jobs whose cursors are to be read now.

    Args:
        jobs: All jobs.
        now: The time.
        limit: How many items may be read; the first job may have more.
        sweep: How many of them may be read without an occasion.
    """
    due = sorted((one.due_at or 0.0, name) for name, one in jobs.items() if one.wants_reading(now))
    chosen, left = _within(jobs, (name for _, name in due), limit)
    taken = set(chosen)
    old = (
        (one.read_at, name)
        for name, one in jobs.items()
        if one.read_at is not None and now - one.read_at >= COLD_S and name not in taken
    )
    if left > 0:
        more, _ = _within(jobs, (name for _, name in sorted(old)), min(sweep, left))
        chosen += more
    return chosen


def _within(jobs: Mapping[str, Attention], names: Iterable[str], limit: int) -> tuple[list[str], int]:
    """Return as many as have no more items together than a limit, but at least one; and what is left of it."""
    chosen: list[str] = []
    for name in names:
        cost = max(jobs[name].items, 1)
        if chosen and cost > limit:
            break
        chosen.append(name)
        limit -= cost
    return chosen, limit


def next_reading(now: float, since_fire_s: float) -> float:
    """Return when to read again where a fire was due some time ago and not all items have handled it."""
    return now + min(max(since_fire_s, AFTER_FIRE_S), SLOWEST_S)
