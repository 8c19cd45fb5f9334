"""Cron triggers: which instants an expression names in a zone.

Five fields are Unix cron, six or seven are Quartz, a macro is Unix; the count alone decides, so that a stored text
never changes its meaning. Daylight saving follows Debian's cron in both dialects. A schedule whose minute or hour field
begins with ``*`` (for Quartz also ``/n`` and ``0/n``) is an *interval*, any other is *fixed*:

======= ================================================== ======================================
change  fixed                                              interval
======= ================================================== ======================================
gap     once, at the first instant after it                only times that exist
overlap in the first pass only                             in both passes
======= ================================================== ======================================

Times lost in a jump of more than three hours (a day that an island skipped) are skipped by both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from shardsched.core.cron_quartz import parse_quartz
from shardsched.core.cron_unix import expand_macro, parse_unix
from shardsched.core.zone import load_zone
from shardsched.errors import CronExpressionError

if TYPE_CHECKING:
    from shardsched.core.cron_wall import Wall

MAX_LENGTH = 256
"""Longest expression, in characters."""
_SECOND = timedelta(seconds=1)
_LONG_JUMP = timedelta(hours=3)
_FULL_WIDTH = {"\uff1f": "?", "\uff0c": ",", "\uff0a": "*", "\uff0d": "-", "\uff0f": "/", "\u3000": " ", "\uff03": "#"}
"""What a Chinese or Japanese keyboard types, and what is meant."""
_BLANKS = re.compile(r"[ \t]+")


class Dialect(StrEnum):
    """Whose rules an expression follows."""

    UNIX = "unix"
    QUARTZ = "quartz"


@dataclass(frozen=True, slots=True)
class Cron:
    """A trigger: an expression in a zone. Equal ones have equal texts; made by `parse_cron`."""

    expression: str
    """The expression as written."""
    timezone: str
    """The zone in which it is read."""
    dialect: Dialect
    """Whose rules it follows."""

    def next_fire(self, after: datetime) -> datetime | None:
        """Return the first fire strictly after an aware time, in UTC; None if there is none up to 2099."""
        wall, is_interval = _schedule(self.expression)
        return _next(wall, load_zone(self.timezone), after, is_interval=is_interval)

    def latest_fire(self, at: datetime) -> datetime | None:
        """Return the latest fire at or before an aware time, in UTC; None if there is none since 1970."""
        wall, is_interval = _schedule(self.expression)
        return _latest(wall, load_zone(self.timezone), at, is_interval=is_interval)

    def fires(self, after: datetime, count: int) -> tuple[datetime, ...]:
        """Return the first fires strictly after an aware time, in UTC; fewer if there are no more."""
        fires: list[datetime] = []
        fire = self.next_fire(after)
        while fire is not None and len(fires) < count:
            fires.append(fire)
            fire = self.next_fire(fire)
        return tuple(fires)


@lru_cache(maxsize=4096)
def parse_cron(expression: str, timezone: str = "UTC") -> Cron:
    """Return the trigger that an expression names in a zone.

    Raises:
        CronExpressionError: The expression or the zone is not valid; the message names the field, the item, the cure.
    """
    load_zone(timezone)
    _schedule(expression)
    dialect = Dialect.QUARTZ if len(_fields(expression)) > 5 else Dialect.UNIX
    return Cron(expression, timezone, dialect)


def check_can_fire(cron: Cron, after: datetime) -> None:
    """Refuse a trigger that will never fire.

    Raises:
        CronExpressionError: It has no fire after that time.
    """
    if cron.next_fire(after) is None:
        reason = "it never fires (again); check that the day exists in the month, and the year"
        raise CronExpressionError(expression=cron.expression, reason=reason)


def _fields(expression: str) -> list[str]:
    return [part for part in _BLANKS.split(expression.strip(" \t")) if part]


@lru_cache(maxsize=4096)
def _schedule(expression: str) -> tuple[Wall, bool]:
    """Return the wall-clock schedule of an expression, and whether it is an interval."""
    if len(expression) > MAX_LENGTH:
        reason = f"it has {len(expression)} characters; {MAX_LENGTH} are allowed"
        raise CronExpressionError(expression=expression[:MAX_LENGTH], reason=reason)
    for character in expression:
        if character in _FULL_WIDTH:
            reason = (
                f"{character!r} (U+{ord(character):04X}) is a full-width character; write {_FULL_WIDTH[character]!r}"
            )
            raise CronExpressionError(expression=expression, reason=reason)
        if not character.isascii():
            reason = f"{character!a} (U+{ord(character):04X}) has no meaning here; write ASCII only"
            raise CronExpressionError(expression=expression, reason=reason)
    fields = _fields(expression)
    if len(fields) == 1 and fields[0].startswith("@"):
        fields = expand_macro(fields[0]).split()
    for text in fields:
        _refuse_random(expression, text)
    if len(fields) == 5:
        return parse_unix(expression, fields), fields[0].startswith("*") or fields[1].startswith("*")
    if len(fields) in {6, 7}:
        return parse_quartz(expression, fields), any(text.startswith(("*", "/", "0/")) for text in fields[1:3])
    reason = f"it has {len(fields)} fields; write 5 (Unix: minute first) or 6 or 7 (Quartz: second first)"
    raise CronExpressionError(expression=expression, reason=reason)


def _refuse_random(expression: str, text: str) -> None:
    if re.match(r"[RH](?:$|[(/~])", text.upper()) or "~" in text:
        reason = f"{text!r} asks for a random value, and every executor would draw another; write a number"
        raise CronExpressionError(expression=expression, reason=reason)


def _offset(zone: tzinfo, wall: datetime, fold: int) -> timedelta:
    return wall.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta()


def _instant(zone: tzinfo, wall: datetime, fold: int = 0) -> datetime:
    return (wall - _offset(zone, wall, fold)).replace(tzinfo=UTC)


def _transition(zone: tzinfo, first: datetime, last: datetime) -> datetime:
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


def _next(wall: Wall, zone: tzinfo, after: datetime, *, is_interval: bool) -> datetime | None:
    here = after.astimezone(zone)
    at = here.replace(tzinfo=None, microsecond=0, fold=0)
    before, behind = _offset(zone, at, 0), _offset(zone, at, 1)
    if behind < before:  # an overlap: this wall time comes twice
        begins, ends = _overlap(zone, at, before, behind)
        found = wall.next_at(at + _SECOND)
        if here.fold == 0:
            if found is not None and found < ends:
                return _instant(zone, found, 0)
            found = wall.next_at(begins)
        if is_interval and found is not None and found < ends:
            return _instant(zone, found, 1)
        at = ends - _SECOND
    while True:
        found = wall.next_at(at + _SECOND)
        if found is None:
            return None
        before, behind = _offset(zone, found, 0), _offset(zone, found, 1)
        if behind <= before:
            return _instant(zone, found, 0)
        change = _transition(zone, _instant(zone, found, 1), _instant(zone, found, 0))
        if not is_interval and behind - before <= _LONG_JUMP:
            return change
        at = (change + behind).replace(tzinfo=None) - _SECOND


def _overlap(zone: tzinfo, at: datetime, before: timedelta, behind: timedelta) -> tuple[datetime, datetime]:
    """Return as wall times where the overlap around a wall time begins and ends."""
    change = _transition(zone, _instant(zone, at, 0), _instant(zone, at, 1))
    return (change + behind).replace(tzinfo=None), (change + before).replace(tzinfo=None)


def _latest(wall: Wall, zone: tzinfo, at: datetime, *, is_interval: bool) -> datetime | None:
    here = at.astimezone(zone)
    now = here.replace(tzinfo=None, microsecond=0, fold=0)
    before, behind = _offset(zone, now, 0), _offset(zone, now, 1)
    if behind < before:
        begins, ends = _overlap(zone, now, before, behind)
        if here.fold == 1:
            found = wall.latest_at(now)
            if is_interval and found is not None and found >= begins:
                return _instant(zone, found, 1)
            found = wall.latest_at(ends - _SECOND)
        else:
            found = wall.latest_at(now)
        if found is not None and found >= begins:
            return _instant(zone, found, 0)
        now = begins - _SECOND
    while True:
        found = wall.latest_at(now)
        if found is None:
            return None
        before, behind = _offset(zone, found, 0), _offset(zone, found, 1)
        if behind <= before:
            return _instant(zone, found, 1 if is_interval else 0)
        change = _transition(zone, _instant(zone, found, 1), _instant(zone, found, 0))
        if not is_interval and behind - before <= _LONG_JUMP:
            return change
        now = (change + before).replace(tzinfo=None) - _SECOND
