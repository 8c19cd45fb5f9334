"""Pause windows: spans of the wall clock in which a job starts nothing by itself.

A window is a text of segments, apart by blanks, that must all hold: a time of the day (``22:00-06:00``), days of the
year (``12/24-01/02``) and days of the week (``sat,sun``), each at most once. It is read on the wall clock of the job's
zone at each instant, so that a clock that is put back goes through it twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from shardsched.core.daylight import transition
from shardsched.errors import JobConfigError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from datetime import tzinfo

_DAY_MINUTES = 24 * 60
_SECOND = timedelta(seconds=1)
_TIMES = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})", re.ASCII)
_DATES = re.compile(r"(\d{1,2})/(\d{1,2})(?:-(\d{1,2})/(\d{1,2}))?", re.ASCII)
_NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_CURE = Sentence(
    "write a time such as 22:00-06:00, dates such as 12/24-01/02 (month/day), or week days such as mon-fri"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseWindow:
    """One window; a bound that is None restricts nothing. Made by `parse_pause_window`."""

    times: tuple[int, int] | None = None
    """From when to when, in minutes of the day, the end not part of it; it may run over midnight."""
    dates: tuple[tuple[int, int], tuple[int, int]] | None = None
    """First and last day as (month, day), both part of it; it may run over the new year."""
    week_days: frozenset[int] | None = None
    """Days of the week, 0 is Monday."""

    def span_at(self, wall: datetime) -> tuple[datetime, datetime] | None:
        """Return from when to when, within its day, a wall-clock time is in the window; None if it is not.

        The end is not part of it.
        """
        if self.week_days is not None and wall.weekday() not in self.week_days:
            return None
        if self.dates is not None and not _is_in(self.dates, (wall.month, wall.day)):
            return None
        midnight = wall.replace(hour=0, minute=0, second=0, microsecond=0)
        minute = wall.hour * 60 + wall.minute
        for begin, end in self._spans():
            if begin <= minute < end:
                return midnight + timedelta(minutes=begin), midnight + timedelta(minutes=end)
        return None

    def _spans(self) -> tuple[tuple[int, int], ...]:
        if self.times is None:
            return ((0, _DAY_MINUTES),)
        begin, end = self.times
        return ((begin, end),) if begin < end else ((begin, _DAY_MINUTES), (0, end))


def _is_in(dates: tuple[tuple[int, int], tuple[int, int]], day: tuple[int, int]) -> bool:
    first, last = dates
    return first <= day <= last if first <= last else day >= first or day <= last


@lru_cache(maxsize=4096)
def parse_pause_window(text: str) -> PauseWindow:
    """Return the window that a text names.

    Raises:
        JobConfigError: It is not such a text; the message names the segment at fault.
    """
    found: dict[str, PauseWindow] = {}
    for segment in text.lower().split():
        kind, window = _segment(text, segment)
        if kind in found:
            raise _refused(
                text, segment, Sentence("a second segment for the %(kind)s; write another window for it", kind=kind)
            )
        found[kind] = window
    if not found:
        raise _refused(text, text, Sentence("empty; %(cure)s", cure=_CURE))
    return PauseWindow(
        times=found["time"].times if "time" in found else None,
        dates=found["dates"].dates if "dates" in found else None,
        week_days=found["week days"].week_days if "week days" in found else None,
    )


def _segment(text: str, segment: str) -> tuple[str, PauseWindow]:
    match = _TIMES.fullmatch(segment)
    if match:
        return Sentence("time"), PauseWindow(times=_times(text, segment, [int(part) for part in match.groups()]))
    match = _DATES.fullmatch(segment)
    if match:
        return Sentence("dates"), PauseWindow(dates=_dates(text, segment, match))
    return Sentence("week days"), PauseWindow(week_days=_week_days(text, segment))


def _times(text: str, segment: str, numbers: list[int]) -> tuple[int, int]:
    begin, end = numbers[0] * 60 + numbers[1], numbers[2] * 60 + numbers[3]
    if max(numbers[1], numbers[3]) > 59 or begin >= _DAY_MINUTES or end > _DAY_MINUTES:
        raise _refused(
            text, segment, Sentence("no time of the day; hours are 0 to 23, minutes 0 to 59, the end 24:00 at most")
        )
    if begin == end:
        raise _refused(text, segment, Sentence("empty; write 00:00-24:00 for the whole day"))
    return begin, end


def _dates(text: str, segment: str, match: re.Match[str]) -> tuple[tuple[int, int], tuple[int, int]]:
    first = int(match[1]), int(match[2])
    last = first if match[3] is None else (int(match[3]), int(match[4]))
    for month, day in (first, last):
        if not 1 <= month <= 12 or not 1 <= day <= _MONTH_LENGTHS[month - 1]:
            raise _refused(text, segment, Sentence("no day of the year; write the month first, such as 12/24-01/02"))
    return first, last


def _week_days(text: str, segment: str) -> frozenset[int]:
    days: set[int] = set()
    for part in segment.split(","):
        first, dash, last = part.partition("-")
        if first not in _NAMES or (dash and last not in _NAMES):
            raise _refused(text, segment, Sentence("neither a time, nor dates, nor week days; %(cure)s", cure=_CURE))
        begin, end = _NAMES.index(first), _NAMES.index(last if dash else first)
        days.update((begin + step) % 7 for step in range((end - begin) % 7 + 1))
    return frozenset(days)


def _refused(text: str, segment: str, reason: str) -> JobConfigError:
    return JobConfigError(
        Sentence(
            "pause window %(text)r: %(segment)r is %(reason)s", text=text[:80], segment=segment[:80], reason=reason
        ),
        setting="pause",
    )


@dataclass(frozen=True, slots=True)
class Pauses:
    """All windows of a job, in its zone. Instants are looked at by whole seconds."""

    windows: tuple[PauseWindow, ...]
    """The windows; to be in one of them is enough."""

    def end_of(self, zone: tzinfo, at: datetime) -> datetime | None:
        """Return the first instant after a stretch of pause around an aware time, in UTC; None if it is not paused.

        A stretch ends at midnight and where the clocks change at the latest; what follows may be paused too.
        """
        at = at.astimezone(UTC).replace(microsecond=0)
        wall = at.astimezone(zone).replace(tzinfo=None)
        ends = [span[1] for window in self.windows if (span := window.span_at(wall))]
        if not ends:
            return None
        end = at + (max(ends) - wall)
        return end if _is_steady(zone, at, end) else transition(zone, at, end)

    def begin_of(self, zone: tzinfo, at: datetime) -> datetime | None:
        """Return the last second before a stretch of pause around an aware time, in UTC; None if it is not paused.

        A stretch begins at midnight and where the clocks change at the earliest; what is before may be paused too.
        """
        at = at.astimezone(UTC).replace(microsecond=0)
        wall = at.astimezone(zone).replace(tzinfo=None)
        begins = [span[0] for window in self.windows if (span := window.span_at(wall))]
        if not begins:
            return None
        begin = at - (wall - min(begins))
        return (begin if _is_steady(zone, begin, at) else transition(zone, begin, at)) - _SECOND


def _is_steady(zone: tzinfo, first: datetime, last: datetime) -> bool:
    """Whether the clocks of a zone do not change between two times less than a day apart."""
    return first.astimezone(zone).utcoffset() == last.astimezone(zone).utcoffset()
