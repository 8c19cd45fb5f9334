"""Wall-clock times that a schedule names: the next and the latest, without any zone."""

from __future__ import annotations

import calendar
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

FIRST_YEAR = 1970
LAST_YEAR = 2099
"""Nothing is promised after it."""


@dataclass(frozen=True, slots=True)
class DayRule:
    """Which days of a month a schedule names.

    ``any_day`` stands for a field that restricts nothing. Week days count from 0, Sunday.
    """

    days: frozenset[int] = frozenset()
    """Days of the month."""
    before_last: frozenset[int] = frozenset()
    """Days counted back from the last one: 0 is the last."""
    near: frozenset[int] = frozenset()
    """The working day nearest to these days."""
    near_before_last: frozenset[int] = frozenset()
    """The working day nearest to these days, counted back from the last one."""
    week_days: frozenset[int] = frozenset()
    """Days of the week."""
    last_week_days: frozenset[int] = frozenset()
    """The last of these days of the week in a month."""
    nth_week_days: frozenset[tuple[int, int]] = frozenset()
    """The n-th such day of the week in a month: (day of the week, n)."""
    is_day_free: bool = True
    """Whether the day-of-month field restricts nothing."""
    is_week_day_free: bool = True
    """Whether the day-of-week field restricts nothing."""
    is_either: bool = False
    """Whether a day that one of two restricting fields names is enough (Unix)."""


@lru_cache(maxsize=8192)
def month_days(rule: DayRule, year: int, month: int) -> tuple[int, ...]:
    """Return the days of a month that a rule names, rising."""
    first_week_day, last = calendar.monthrange(year, month)
    first = (first_week_day + 1) % 7  # calendar counts from Monday
    everything = set(range(1, last + 1))
    by_day = everything if rule.is_day_free else _by_day(rule, first, last)
    by_week_day = everything if rule.is_week_day_free else _by_week_day(rule, first, last)
    if rule.is_either and not rule.is_day_free and not rule.is_week_day_free:
        return tuple(sorted(by_day | by_week_day))
    return tuple(sorted(by_day & by_week_day))


def _by_day(rule: DayRule, first: int, last: int) -> set[int]:
    days = {day for day in rule.days if day <= last}
    days |= {last - back for back in rule.before_last if last - back >= 1}
    days |= {_working_day(day, first, last) for day in rule.near if day <= last}
    days |= {_working_day(last - back, first, last) for back in rule.near_before_last if last - back >= 1}
    return days


def _working_day(day: int, first: int, last: int) -> int:
    """Return the working day of the month that is nearest to a day."""
    week_day = (first + day - 1) % 7
    if week_day == 6:
        return day - 1 if day > 1 else day + 2
    if week_day == 0:
        return day + 1 if day < last else day - 2
    return day


def _by_week_day(rule: DayRule, first: int, last: int) -> set[int]:
    days = {day for day in range(1, last + 1) if (first + day - 1) % 7 in rule.week_days}
    for week_day in rule.last_week_days:
        days.add(max(day for day in range(last - 6, last + 1) if (first + day - 1) % 7 == week_day))
    for week_day, number in rule.nth_week_days:
        day = 1 + (week_day - first) % 7 + 7 * (number - 1)
        if day <= last:
            days.add(day)
    return days


@dataclass(frozen=True, slots=True)
class Wall:
    """A schedule as sets of values; all sorted tuples."""

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    day_rule: DayRule
    months: tuple[int, ...]
    years: tuple[int, ...] | None = None
    """None for every year."""

    def next_at(self, at: datetime) -> datetime | None:
        """Return the first time at or after a naive one, None if there is none up to 2099."""
        time = self._time_from(at.hour, at.minute, at.second)
        day = self._next_day(at.year, at.month, at.day if time is not None else at.day + 1)
        if day is None:
            return None
        if day != (at.year, at.month, at.day) or time is None:
            time = (self.hours[0], self.minutes[0], self.seconds[0])
        return datetime(*day, *time)  # noqa: DTZ001 - the wall clock of no zone

    def latest_at(self, at: datetime) -> datetime | None:
        """Return the last time at or before a naive one, None if there is none since 1970."""
        time = self._time_to(at.hour, at.minute, at.second)
        day = self._latest_day(at.year, at.month, at.day if time is not None else at.day - 1)
        if day is None:
            return None
        if day != (at.year, at.month, at.day) or time is None:
            time = (self.hours[-1], self.minutes[-1], self.seconds[-1])
        return datetime(*day, *time)  # noqa: DTZ001 - the wall clock of no zone

    def _time_from(self, hour: int, minute: int, second: int) -> tuple[int, int, int] | None:
        """Return the first time of a day at or after one, None if the day has none left."""
        hours, minutes, seconds = self.hours, self.minutes, self.seconds
        h = bisect_left(hours, hour)
        if h == len(hours):
            return None
        if hours[h] > hour:
            return hours[h], minutes[0], seconds[0]
        m = bisect_left(minutes, minute)
        if m < len(minutes):
            if minutes[m] > minute:
                return hour, minutes[m], seconds[0]
            s = bisect_left(seconds, second)
            if s < len(seconds):
                return hour, minute, seconds[s]
            if m + 1 < len(minutes):
                return hour, minutes[m + 1], seconds[0]
        return (hours[h + 1], minutes[0], seconds[0]) if h + 1 < len(hours) else None

    def _time_to(self, hour: int, minute: int, second: int) -> tuple[int, int, int] | None:
        """Return the last time of a day at or before one, None if the day has none before."""
        hours, minutes, seconds = self.hours, self.minutes, self.seconds
        h = bisect_right(hours, hour) - 1
        if h < 0:
            return None
        if hours[h] < hour:
            return hours[h], minutes[-1], seconds[-1]
        m = bisect_right(minutes, minute) - 1
        if m >= 0:
            if minutes[m] < minute:
                return hour, minutes[m], seconds[-1]
            s = bisect_right(seconds, second) - 1
            if s >= 0:
                return hour, minute, seconds[s]
            if m >= 1:
                return hour, minutes[m - 1], seconds[-1]
        return (hours[h - 1], minutes[-1], seconds[-1]) if h >= 1 else None

    def _next_day(self, year: int, month: int, day: int) -> tuple[int, int, int] | None:
        if year < FIRST_YEAR:
            year, month, day = FIRST_YEAR, 1, 1
        while year <= LAST_YEAR:
            if self.years is None or year in self.years:
                for some in self.months:
                    if some < month:
                        continue
                    days = month_days(self.day_rule, year, some)
                    index = bisect_left(days, day) if some == month else 0
                    if index < len(days):
                        return year, some, days[index]
            year, month, day = year + 1, 1, 1
        return None

    def _latest_day(self, year: int, month: int, day: int) -> tuple[int, int, int] | None:
        if year > LAST_YEAR:
            year, month, day = LAST_YEAR, 12, 31
        while year >= FIRST_YEAR:
            if self.years is None or year in self.years:
                for some in reversed(self.months):
                    if some > month:
                        continue
                    days = month_days(self.day_rule, year, some)
                    index = (bisect_right(days, day) if some == month else len(days)) - 1
                    if index >= 0:
                        return year, some, days[index]
            year, month, day = year - 1, 12, 31
        return None
