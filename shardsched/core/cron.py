"""Cron triggers: which instants an expression names in a zone.

Five fields are Unix cron, six or seven are Quartz, a macro is Unix; the count alone decides, so that a stored text
never changes its meaning. Daylight saving follows Debian's cron in both dialects (`shardsched.core.daylight`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from shardsched.core.cron_quartz import parse_quartz
from shardsched.core.cron_unix import expand_macro, parse_unix
from shardsched.core.cron_wall import LAST_YEAR
from shardsched.core.daylight import latest_instant, next_instant
from shardsched.core.zone import load_zone
from shardsched.errors import CronExpressionError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from shardsched.core.cron_wall import Wall

MAX_LENGTH = 256
"""Longest expression, in characters."""
_FULL_WIDTH = {"\uff1f": "?", "\uff0c": ",", "\uff0a": "*", "\uff0d": "-", "\uff0f": "/", "\u3000": " ", "\uff03": "#"}
"""What a Chinese or Japanese keyboard types, and what is meant."""
_BLANKS = re.compile(r"[ \t]+")
_RANDOM = re.compile(r"(?:^|,)[RH](?:$|[(/,])|~")
"""The random and hashed values of croniter and Jenkins, and the random range of OpenBSD's cron."""
_FIELD_NAMES = (
    *(Sentence("second"), Sentence("minute"), Sentence("hour")),
    *(Sentence("day of month"), Sentence("month"), Sentence("day of week"), Sentence("year")),
)


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
        """Return the first fire strictly after an aware time, in UTC; None if there is none up to 2099.

        Raises:
            ValueError: The time is naive.
        """
        wall, is_interval = _schedule(self.expression)
        return next_instant(wall, load_zone(self.timezone), after, is_interval=is_interval)

    def latest_fire(self, at: datetime) -> datetime | None:
        """Return the latest fire at or before an aware time, in UTC; None if there is none since 1970.

        Raises:
            ValueError: The time is naive.
        """
        wall, is_interval = _schedule(self.expression)
        return latest_instant(wall, load_zone(self.timezone), at, is_interval=is_interval)

    def fires(self, after: datetime, count: int) -> tuple[datetime, ...]:
        """Return the first fires strictly after an aware time, in UTC; fewer if there are no more.

        Raises:
            ValueError: The time is naive.
        """
        return fires_after(self.next_fire, after, count)


def fires_after(next_fire: Callable[[datetime], datetime | None], after: datetime, count: int) -> tuple[datetime, ...]:
    """Return the first fires strictly after a time, each found from the one before; fewer if there are no more."""
    fires: list[datetime] = []
    while len(fires) < count:
        fire = next_fire(fires[-1] if fires else after)
        if fire is None:
            break
        fires.append(fire)
    return tuple(fires)


@lru_cache(maxsize=4096)
def parse_cron(expression: str, timezone: str = "UTC") -> Cron:
    """Return the trigger that an expression names in a zone.

    Raises:
        CronExpressionError: The expression or the zone is not valid; the message names the field, the item, the cure.
    """
    try:
        load_zone(timezone)
    except CronExpressionError as error:
        # The zone was named as if it were an expression, there being no other; here there is one.
        reason = Sentence("%(zone)r: %(reason)s", zone=timezone[:64], reason=error.reason)
        raise CronExpressionError(expression=expression[:MAX_LENGTH], field=error.field, reason=reason) from None
    _schedule(expression)
    dialect = Dialect.QUARTZ if len(_fields(expression)) > 5 else Dialect.UNIX
    return Cron(expression, timezone, dialect)


def check_can_fire(cron: Cron, after: datetime) -> None:
    """Refuse a trigger that will never fire.

    Raises:
        CronExpressionError: It has no fire after that time.
        ValueError: The time is naive.
    """
    if cron.next_fire(after) is None:
        reason = Sentence(
            "it never fires (again) up to %(year)s; check that the day exists in the month, and the year",
            year=LAST_YEAR,
        )
        raise CronExpressionError(expression=cron.expression, reason=reason)


def _fields(expression: str) -> list[str]:
    return [part for part in _BLANKS.split(expression.strip(" \t")) if part]


@lru_cache(maxsize=4096)
def _schedule(expression: str) -> tuple[Wall, bool]:
    """Return the wall-clock schedule of an expression, and whether it is an interval."""
    if len(expression) > MAX_LENGTH:
        reason = Sentence("it has %(count)s characters; %(most)s are allowed", count=len(expression), most=MAX_LENGTH)
        raise CronExpressionError(expression=expression[:MAX_LENGTH], reason=reason)
    _refuse_foreign(expression)
    fields = _fields(expression)
    if fields and fields[0].startswith("@"):
        fields = expand_macro(" ".join(fields)).split()
    if not 5 <= len(fields) <= 7:
        reason = Sentence(
            "it has %(count)s fields; write 5 (Unix: minute first) or 6 or 7 (Quartz: second first)", count=len(fields)
        )
        raise CronExpressionError(expression=expression, reason=reason)
    _refuse_random(expression, fields)
    if len(fields) == 5:
        return parse_unix(expression, fields), fields[0].startswith("*") or fields[1].startswith("*")
    return parse_quartz(expression, fields), any(text.startswith(("*", "/", "0/")) for text in fields[1:3])


def _refuse_foreign(expression: str) -> None:
    for character in expression:
        if character.isascii():
            continue
        meant = _FULL_WIDTH.get(character)
        cure = (
            Sentence("is full-width; write %(meant)r", meant=meant)
            if meant
            else Sentence("has no meaning here; write ASCII only")
        )
        reason = Sentence("%(character)a (U+%(code)04X) %(cure)s", character=character, code=ord(character), cure=cure)
        raise CronExpressionError(expression=expression, reason=reason)


def _refuse_random(expression: str, fields: list[str]) -> None:
    names = _FIELD_NAMES if len(fields) > 5 else _FIELD_NAMES[1:]
    for name, text in zip(names, fields, strict=False):
        if _RANDOM.search(text.upper()):
            reason = Sentence(
                "%(text)r: asks for a random value, and every executor would draw another; write a number", text=text
            )
            raise CronExpressionError(expression=expression, field=name, reason=reason)
