"""One field of a cron expression, parsed into values.

The two dialects share lists, ranges and steps, and differ in what else they take; `FieldRule` says how. A text that
a real cron reads only in part (a stray character, a step after a name) is refused, since it means something else than
it says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shardsched.errors import CronExpressionError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

_MONTH_NAMES = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
MONTHS: Mapping[str, int] = {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
WEEK_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")

_RANGE = re.compile(r"(?P<low>\w+)(?:-(?P<high>\w+))?(?:/(?P<step>\w+))?", re.ASCII)
_LONG_NAMES = {
    "MONDAY": "MON", "TUESDAY": "TUE", "WEDNESDAY": "WED", "THURSDAY": "THU", "FRIDAY": "FRI", "SATURDAY": "SAT",
    "SUNDAY": "SUN", "JANUARY": "JAN", "FEBRUARY": "FEB", "MARCH": "MAR", "APRIL": "APR", "JUNE": "JUN", "JULY": "JUL",
    "AUGUST": "AUG", "SEPTEMBER": "SEP", "OCTOBER": "OCT", "NOVEMBER": "NOV", "DECEMBER": "DEC",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRule:
    """How one field of one dialect is read."""

    name: str
    """For messages."""
    low: int
    """Smallest value."""
    high: int
    """Largest value."""
    names: Mapping[str, int] = field(default_factory=dict)
    """Names for values."""
    wraps: bool = False
    """Whether a range may run over the end (Quartz)."""
    limits_step: bool = False
    """Whether a step above the largest value is refused (Quartz; not after a range)."""
    takes_open_step: bool = True
    """Whether ``a/n`` is read as from a to the largest value."""
    hint: str = ""
    """Added to messages about values out of range."""


class FieldReader:
    """Reads the items of one field of one expression."""

    def __init__(self, expression: str, rule: FieldRule) -> None:
        self._expression = expression
        self._rule = rule

    def refuse(self, item: str, reason: str) -> CronExpressionError:
        """Return the error about an item of this field."""
        where = Sentence("%(item)r: %(reason)s", item=item, reason=reason) if item else reason
        return CronExpressionError(expression=self._expression, field=self._rule.name, reason=where)

    def split(self, text: str) -> list[str]:
        """Return the items of the field's list.

        Raises:
            CronExpressionError: One of them is empty.
        """
        items = text.split(",")
        if "" in items:
            raise self.refuse(text, Sentence("an item of the list is empty; remove the comma"))
        return items

    def values(self, item: str) -> list[int]:
        """Return the values of one item: ``*``, a value, a range, each with or without a step.

        Raises:
            CronExpressionError: It is none of these.
        """
        rule = self._rule
        if item.startswith("*"):
            rest = item[1:]
            if rest and not rest.startswith("/"):
                raise self.refuse(item, Sentence("'*' stands alone or before a step; write '*' or '*/5'"))
            step = self._step(item, rest[1:], is_open=True) if rest else 1
            return list(range(rule.low, rule.high + 1, step))
        match = _RANGE.fullmatch(item)
        if match is None:
            raise self.refuse(item, Sentence("is no value, range or step; write such as 5, 1-5, */5 or 1-30/5"))
        low = self.value(item, match["low"])
        high = low if match["high"] is None else self._range_end(item, match["high"], low)
        if match["step"] is None:
            return self._span(item, low, high, 1)
        if not match["low"].isdigit() and (rule.wraps or match["high"] is None):
            raise self.refuse(item, Sentence("a step after names is not read the same everywhere; write numbers"))
        is_open = match["high"] is None
        if is_open and not rule.takes_open_step:
            raise self.refuse(item, Sentence("a step needs a range here; write such as 1-5/2"))
        step = self._step(item, match["step"], is_open=is_open)
        return self._span(item, low, rule.high if is_open else high, step)

    def _range_end(self, item: str, text: str, low: int) -> int:
        high = self.value(item, text)
        # Sunday at the end of a Unix range is the seventh day: mon-sun is the whole week.
        is_sunday_last = high < low and text.upper() == "SUN" and not self._rule.wraps and self._rule.high == 7
        return 7 if is_sunday_last else high

    def _span(self, item: str, low: int, high: int, step: int) -> list[int]:
        rule = self._rule
        if high >= low:
            return list(range(low, high + 1, step))
        if not rule.wraps:
            ranges = f"{low}-{rule.high},{rule.low}-{high}"
            reason = Sentence(
                "the range runs backwards; write two ranges, %(ranges)s, or the smaller value first", ranges=ranges
            )
            raise self.refuse(item, reason)
        count = rule.high - rule.low + 1
        return [(value - rule.low) % count + rule.low for value in range(low, high + count + 1, step)]

    def value(self, item: str, text: str) -> int:
        """Return one value, given as a number or a name.

        Raises:
            CronExpressionError: It is neither, or out of range.
        """
        rule = self._rule
        if text.isascii() and text.isdigit():
            number = int(text) if len(text) <= 9 else 10**9
            if not rule.low <= number <= rule.high:
                raise self.refuse(
                    item,
                    Sentence(
                        "%(text)s is out of range %(low)s-%(high)s%(hint)s",
                        text=text,
                        low=rule.low,
                        high=rule.high,
                        hint=rule.hint,
                    ),
                )
            return number
        name = text.upper()
        if name in rule.names:
            return rule.names[name]
        short = _LONG_NAMES.get(name)
        if short in rule.names:
            raise self.refuse(item, Sentence("use %(name)s", name=short))
        reason = Sentence("%(text)r is no number from %(low)s to %(high)s", text=text, low=rule.low, high=rule.high)
        if rule.names:
            reason = Sentence("%(reason)s or one of %(names)s", reason=reason, names=", ".join(rule.names))
        raise self.refuse(item, reason)

    def _step(self, item: str, text: str, *, is_open: bool) -> int:
        if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) == 0:
            raise self.refuse(item, Sentence("a step is a number from 1; write such as */5"))
        step = int(text)
        if is_open and self._rule.limits_step and step > self._rule.high:
            raise self.refuse(
                item,
                Sentence(
                    "the step %(step)s is over %(high)s: it would fire once; write one value",
                    step=step,
                    high=self._rule.high,
                ),
            )
        return step
