"""Quartz cron: six or seven fields, seconds first, as Quartz 2.3 reads them, with the lists of 2.5.2.

Where Quartz drops the tail of a text in silence, the text is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shardsched.core.cron_field import MONTHS, WEEK_DAYS, FieldReader, FieldRule
from shardsched.core.cron_wall import DayRule, Wall
from shardsched.errors import CronExpressionError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

_WEEK_DAY_NAMES = {name: number for number, name in enumerate(WEEK_DAYS, start=1)}
_SECOND = FieldRule(name=Sentence("second"), low=0, high=59, wraps=True, limits_step=True)
_MINUTE = FieldRule(name=Sentence("minute"), low=0, high=59, wraps=True, limits_step=True)
_HOUR = FieldRule(name=Sentence("hour"), low=0, high=23, wraps=True, limits_step=True)
_DAY = FieldRule(name=Sentence("day of month"), low=1, high=31, wraps=True, limits_step=True)
_MONTH = FieldRule(name=Sentence("month"), low=1, high=12, names=MONTHS, wraps=True, limits_step=True)
_WEEK_DAY = FieldRule(
    name=Sentence("day of week"),
    low=1,
    high=7,
    names=_WEEK_DAY_NAMES,
    wraps=True,
    limits_step=True,
    hint=Sentence(" (1 = Sunday, 7 = Saturday)"),
)
_YEAR = FieldRule(name=Sentence("year"), low=1970, high=2199)

_DAY_SPECIAL = re.compile(r"(?:L(?:-(?P<back>\d{1,2}))?(?P<last_near>W)?|(?P<near>\d{1,2})W)", re.ASCII)
_WEEK_DAY_SPECIAL = re.compile(r"(?P<day>[1-7]|[A-Z]{3})(?:(?P<last>L)|#(?P<number>\w+))", re.ASCII)


@dataclass(slots=True)
class _Days:
    """The day fields, as they are gathered."""

    days: set[int] = field(default_factory=set)
    before_last: set[int] = field(default_factory=set)
    near: set[int] = field(default_factory=set)
    near_before_last: set[int] = field(default_factory=set)
    week_days: set[int] = field(default_factory=set)
    last_week_days: set[int] = field(default_factory=set)
    nth_week_days: set[tuple[int, int]] = field(default_factory=set)


def parse_quartz(expression: str, fields: list[str]) -> Wall:
    """Return the schedule that six or seven fields name.

    Raises:
        CronExpressionError: One of them is not valid, or both day fields are given.
    """
    second, minute, hour, day, month, week_day = fields[:6]
    _check_days(expression, fields)
    days = _Days()
    if day != "?":
        _read_days(FieldReader(expression, _DAY), day, days)
    if week_day != "?":
        _read_week_days(FieldReader(expression, _WEEK_DAY), week_day, days)
    years = fields[6] if len(fields) == 7 else "*"
    return Wall(
        seconds=_values(expression, _SECOND, second),
        minutes=_values(expression, _MINUTE, minute),
        hours=_values(expression, _HOUR, hour),
        day_rule=DayRule(
            days=frozenset(days.days),
            before_last=frozenset(days.before_last),
            near=frozenset(days.near),
            near_before_last=frozenset(days.near_before_last),
            week_days=frozenset(day - 1 for day in days.week_days),
            last_week_days=frozenset(day - 1 for day in days.last_week_days),
            nth_week_days=frozenset((day - 1, number) for day, number in days.nth_week_days),
            is_day_free=day in {"?", "*"},
            is_week_day_free=week_day in {"?", "*"},
        ),
        months=_values(expression, _MONTH, month),
        years=None if years == "*" else _values(expression, _YEAR, years),
    )


def _check_days(expression: str, fields: list[str]) -> None:
    day, week_day = fields[3], fields[5]
    if (day == "?") != (week_day == "?") or day == week_day == "*":
        return
    if day == "?":
        place, text, reason = 3, "*", Sentence("'?' stands in both day fields; write '*' in one of them")
    elif week_day == "*":
        place, text = 5, "?"
        reason = Sentence("the day of month is given (%(day)r), so write '?' in the day of week", day=day)
    elif day == "*":
        place, text = 3, "?"
        reason = Sentence("the day of week is given (%(day)r), so write '?' in the day of month", day=week_day)
    else:
        place, text = 5, "?"
        reason = Sentence(
            "both day fields are given (%(day)r and %(week_day)r); put '?' in one, and make two jobs for both",
            day=day,
            week_day=week_day,
        )
    better = " ".join([*fields[:place], text, *fields[place + 1 :]])
    name = (_DAY if place == 3 else _WEEK_DAY).name
    raise CronExpressionError(
        expression=expression,
        field=name,
        reason=Sentence("%(reason)s, such as %(better)r", reason=reason, better=better),
    )


def _values(expression: str, rule: FieldRule, text: str) -> tuple[int, ...]:
    reader = FieldReader(expression, rule)
    if "?" in text:
        raise reader.refuse(text, Sentence("'?' is for the day fields only; write '*'"))
    return tuple(sorted(_plain(reader, reader.split(text))))


def _plain(reader: FieldReader, items: Iterable[str]) -> set[int]:
    values: set[int] = set()
    for item in items:
        values.update(reader.values(f"*{item}" if item.startswith("/") else item))
    return values


def _read_days(reader: FieldReader, text: str, days: _Days) -> None:
    for item in reader.split(text):
        match = _DAY_SPECIAL.fullmatch(item.upper())
        if match is None:
            _refuse_tail(reader, item, "LW", Sentence("write such as L, L-3, LW or 15W"))
            days.days |= _plain(reader, [item])
        elif match["near"]:
            days.near.add(reader.value(item, match["near"]))
        else:
            back = int(match["back"] or 0)
            if back > 30:
                raise reader.refuse(item, Sentence("no month has so many days before its last; write L-0 to L-30"))
            (days.near_before_last if match["last_near"] else days.before_last).add(back)


def _read_week_days(reader: FieldReader, text: str, days: _Days) -> None:
    items = reader.split(text)
    for item in items:
        name = item.upper()
        match = _WEEK_DAY_SPECIAL.fullmatch(name)
        if name == "L":
            days.week_days.add(7)
        elif match is not None and match["day"] in {*"1234567", *_WEEK_DAY_NAMES}:
            day = reader.value(item, match["day"])
            if match["last"]:
                days.last_week_days.add(day)
            else:
                days.nth_week_days.add((day, _number(reader, item, match["number"])))
        else:
            if "#" in name or name.endswith("L") or "W" in name.replace("WED", ""):
                raise reader.refuse(
                    item, Sentence("write such as 6L (the last Friday) or 6#3 (the third), one day each")
                )
            days.week_days |= _plain(reader, [item])
        if len(items) > 1 and (name == "L" or match is not None):
            raise reader.refuse(item, Sentence("L and # stand alone in the day of week; make two jobs"))


def _number(reader: FieldReader, item: str, text: str) -> int:
    if text not in {"1", "2", "3", "4", "5"}:
        raise reader.refuse(item, Sentence("a month has the first to the fifth of a week day; write #1 to #5"))
    return int(text)


def _refuse_tail(reader: FieldReader, item: str, letters: str, cure: str) -> None:
    if any(letter in item.upper() for letter in letters):
        raise reader.refuse(item, Sentence("is not read as it stands; %(cure)s", cure=cure))
