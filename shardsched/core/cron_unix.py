"""Unix cron: five fields or a macro, as Debian's cron reads them."""

from __future__ import annotations

import re

from shardsched.core.cron_field import MONTHS, WEEK_DAYS, FieldReader, FieldRule
from shardsched.core.cron_wall import DayRule, Wall
from shardsched.errors import CronExpressionError
from shardsched.sentence import Sentence

MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}

_MINUTE = FieldRule(name=Sentence("minute"), low=0, high=59)
_HOUR = FieldRule(name=Sentence("hour"), low=0, high=23)
_DAY = FieldRule(name=Sentence("day of month"), low=1, high=31)
_MONTH = FieldRule(name=Sentence("month"), low=1, high=12, names=MONTHS)
_WEEK_DAY = FieldRule(
    name=Sentence("day of week"),
    low=0,
    high=7,
    names={name: number for number, name in enumerate(WEEK_DAYS)},
    takes_open_step=False,
    hint=Sentence(" (0 and 7 = Sunday, 6 = Saturday)"),
)
_QUARTZ_DAY = re.compile(r"\w*#\w*|L\d?|L-\d+W?|LW|\d+[LW]|[A-Z]{3}L", re.ASCII)
_RULES = (_MINUTE, _HOUR, _DAY, _MONTH, _WEEK_DAY)


def parse_unix(expression: str, fields: list[str]) -> Wall:
    """Return the schedule that five fields name.

    Raises:
        CronExpressionError: One of them is not valid.
    """
    values = [_values(expression, rule, text) for rule, text in zip(_RULES, fields, strict=True)]
    minutes, hours, days, months, week_days = values
    is_either = not fields[2].startswith("*") and not fields[4].startswith("*")
    rule = DayRule(
        days=frozenset(days),
        week_days=frozenset(day % 7 for day in week_days),
        is_day_free=len(days) == 31 and not is_either,
        is_week_day_free=len({day % 7 for day in week_days}) == 7 and not is_either,
        is_either=is_either,
    )
    return Wall(seconds=(0,), minutes=tuple(minutes), hours=tuple(hours), day_rule=rule, months=tuple(months))


def _values(expression: str, rule: FieldRule, text: str) -> list[int]:
    reader = FieldReader(expression, rule)
    values: set[int] = set()
    for item in reader.split(text):
        if item == "?":
            reason = Sentence(
                "is Quartz, and a Quartz expression begins with the seconds: write '*', or put '0 ' before it all"
            )
            raise reader.refuse(item, reason)
        if (rule is _DAY or rule is _WEEK_DAY) and _QUARTZ_DAY.fullmatch(item.upper()):
            reason = Sentence(
                "is Quartz, which has six fields: seconds first, '?' in one day field, 1 for Sunday; write such as "
                "'0 0 12 ? * 6L' for the last Friday, '0 0 12 LW * ?' for the last working day"
            )
            raise reader.refuse(item, reason)
        values.update(reader.values(item))
    return sorted(values)


def expand_macro(expression: str) -> str:
    """Return the five fields that a macro such as ``@hourly`` stands for.

    Raises:
        CronExpressionError: There is no such macro.
    """
    fields = MACROS.get(expression.lower())
    if fields is None:
        reason = Sentence(
            "there is no such macro; write 5 (Unix) or 6 or 7 fields (Quartz), or one of %(macros)s",
            macros=", ".join(MACROS),
        )
        raise CronExpressionError(expression=expression, reason=reason)
    return fields
