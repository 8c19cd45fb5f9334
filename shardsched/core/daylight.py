"""From wall-clock times to instants, across changes of daylight saving.

The rule is that of Debian's cron, for both dialects. It is stateless, so that every executor computes the same instant:

======= ================================================== ======================================
change  fixed times                                        intervals
======= ================================================== ======================================
gap     once, at the first instant after it                only times that exist
overlap in the first pass only                             in both passes
======= ================================================== ======================================

Times lost in a jump of more than three hours (a day that an island skipped) are skipped by both.

Everything is computed in UTC: ``aware + timedelta`` forgets the fold, and two times of one zone compare by their wall
clocks.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import tzinfo

    from shardsched.core.cron_wall import Wall

_SECOND = timedelta(seconds=1)
_LONG_JUMP = timedelta(hours=3)
_FIRST = datetime(1969, 12, 30, tzinfo=UTC)
_LAST = datetime(2100, 1, 2, tzinfo=UTC)
"""A day outside the years that a `Wall` has, so that no time of any zone in them is cut off."""


def _wall_clock(zone: tzinfo, at: datetime) -> tuple[datetime, int]:
    """Return what the clocks of a zone show at an aware time, in whole seconds, and in which pass (0 or 1).

    Times far out are moved to the ends first: a stored one may lie where adding a second or an offset overflows.
    """
    if at.tzinfo is None:
        raise ValueError(f"the time {at.isoformat()} is in no zone; give an aware one, such as in datetime.UTC")
    # By way of UTC: a time that is already in the zone would stay as it is, even where the zone's clocks never show it.
    here = min(max(at, _FIRST), _LAST).astimezone(UTC).astimezone(zone)
    return here.replace(tzinfo=None, microsecond=0, fold=0), here.fold


def _offset(zone: tzinfo, wall: datetime, fold: int) -> timedelta:
    return wall.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta()


def _instant(zone: tzinfo, wall: datetime, fold: int = 0) -> datetime:
    return (wall - _offset(zone, wall, fold)).replace(tzinfo=UTC)


def transition(zone: tzinfo, first: datetime, last: datetime) -> datetime:
    """Return the instant in (first, last] from which the zone has the offset that it has at last."""
    offset = last.astimezone(zone).utcoffset()
    low, high = 0, int((last - first).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        if (first + middle * _SECOND).astimezone(zone).utcoffset() == offset:
            high = middle
        else:
            low = middle
    return first + high * _SECOND


def _overlap(zone: tzinfo, at: datetime, before: timedelta, behind: timedelta) -> tuple[datetime, datetime]:
    """Return as wall times where the overlap around a wall time begins and ends."""
    change = transition(zone, _instant(zone, at, 0), _instant(zone, at, 1))
    return (change + behind).replace(tzinfo=None), (change + before).replace(tzinfo=None)


def next_instant(wall: Wall, zone: tzinfo, after: datetime, *, is_interval: bool) -> datetime | None:
    """Return the first instant strictly after an aware time that a schedule names in a zone, in UTC.

    Raises:
        ValueError: The time is naive.
    """
    at, fold = _wall_clock(zone, after)
    before, behind = _offset(zone, at, 0), _offset(zone, at, 1)
    if behind < before:
        begins, ends = _overlap(zone, at, before, behind)
        within = _next_in_overlap(wall, zone, (at, fold), (begins, ends), is_interval=is_interval)
        if within is not None:
            return within
        at = ends - _SECOND
    while True:
        found = wall.next_at(at + _SECOND)
        if found is None:
            return None
        before, behind = _offset(zone, found, 0), _offset(zone, found, 1)
        if behind <= before:
            return _instant(zone, found, 0)
        change = transition(zone, _instant(zone, found, 1), _instant(zone, found, 0))
        if not is_interval and behind - before <= _LONG_JUMP:
            return change
        at = (change + behind).replace(tzinfo=None) - _SECOND


def _next_in_overlap(
    wall: Wall, zone: tzinfo, at: tuple[datetime, int], overlap: tuple[datetime, datetime], *, is_interval: bool
) -> datetime | None:
    """Return the next instant within an overlap, seen from a wall time and its pass (0 or 1) within it."""
    begins, ends = overlap
    found = wall.next_at(at[0] + _SECOND)
    if at[1] == 0:
        if found is not None and found < ends:
            return _instant(zone, found, 0)
        found = wall.next_at(begins)
    return _instant(zone, found, 1) if is_interval and found is not None and found < ends else None


def latest_instant(wall: Wall, zone: tzinfo, at: datetime, *, is_interval: bool) -> datetime | None:
    """Return the latest instant at or before an aware time that a schedule names in a zone, in UTC.

    Raises:
        ValueError: The time is naive.
    """
    now, fold = _wall_clock(zone, at)
    before, behind = _offset(zone, now, 0), _offset(zone, now, 1)
    if behind < before:
        begins, ends = _overlap(zone, now, before, behind)
        within = _latest_in_overlap(wall, zone, (now, fold), (begins, ends), is_interval=is_interval)
        if within is not None:
            return within
        now = begins - _SECOND
    while True:
        found = wall.latest_at(now)
        if found is None:
            return None
        before, behind = _offset(zone, found, 0), _offset(zone, found, 1)
        if behind <= before:
            return _instant(zone, found, 1 if is_interval else 0)
        change = transition(zone, _instant(zone, found, 1), _instant(zone, found, 0))
        if not is_interval and behind - before <= _LONG_JUMP:
            return change
        now = (change + before).replace(tzinfo=None) - _SECOND


def _latest_in_overlap(
    wall: Wall, zone: tzinfo, at: tuple[datetime, int], overlap: tuple[datetime, datetime], *, is_interval: bool
) -> datetime | None:
    """Return the latest instant within an overlap, seen from a wall time and its pass (0 or 1) within it."""
    begins, ends = overlap
    found = wall.latest_at(at[0])
    if at[1] == 1:
        if is_interval and found is not None and found >= begins:
            return _instant(zone, found, 1)
        found = wall.latest_at(ends - _SECOND)
    return _instant(zone, found, 0) if found is not None and found >= begins else None
