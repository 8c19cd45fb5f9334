"""What a refused expression is told."""

from __future__ import annotations

import pickle

import pytest

from shardsched.core.cron import parse_cron
from shardsched.errors import CronExpressionError

REFUSED = [
    # expression, field, item or cause, cure
    ("* * *", None, "it has 3 fields", "write 5 (Unix: minute first) or 6 or 7 (Quartz: second first)"),
    ("", None, "it has 0 fields", "write 5"),
    ("0 0 0 1 1 ? 2030 x", None, "it has 8 fields", "write 5"),
    ("0 0 12 * * MON", "day of month", "'MON'", "such as '0 0 12 ? * MON'"),
    ("0 0 12 1 * *", "day of week", "'1'", "such as '0 0 12 1 * ?'"),
    ("0 0 12 1 * 2", "day of week", "'1' and '2'", "put '?' in one"),
    ("0 0 12 ? * ?", "day of month", "both day fields", "such as '0 0 12 * * ?'"),
    ("0 0 ? * *", "day of month", "'?'", "begins with the seconds"),
    ("? 0 1 * *", "minute", "'?'", "write '*'"),
    ("0 ? 0 1 * ?", "minute", "'?'", "write '*'"),
    ("60 * * * *", "minute", "'60'", "60 is out of range 0-59"),
    ("0 24 * * *", "hour", "'24'", "0-23"),
    ("0 0 0 * *", "day of month", "'0'", "1-31"),
    ("0 0 * 13 *", "month", "'13'", "1-12"),
    ("0 0 * * 8", "day of week", "'8'", "0 and 7 = Sunday"),
    ("0 0 12 ? * 0", "day of week", "'0'", "1 = Sunday, 7 = Saturday"),
    ("0 0 12 ? * 6#6", "day of week", "'6#6'", "write #1 to #5"),
    ("0 0 0 1 1 ? 1969", "year", "'1969'", "1970-2199"),
    ("0 0 12 1 * \uff1f", None, "U+FF1F", "write '?'"),
    ("0 0\uff0c1 * * *", None, "U+FF0C", "write ','"),
    ("0 0 * * \u00e9", None, "U+00E9", "write ASCII only"),
    ("0 0 12 ? * MONDAY", "day of week", "'MONDAY'", "use MON"),
    ("0 0 1 january *", "month", "'january'", "use JAN"),
    ("0 0 * foo *", "month", "'foo'", "or one of JAN, FEB"),
    ("0 0 12 ? * MON-FRI/2", "day of week", "'MON-FRI/2'", "write numbers"),
    ("0 0 * * 1/2", "day of week", "'1/2'", "a step needs a range here; write such as 1-5/2"),
    ("0 0 12 ? * 1,6L", "day of week", "'6L'", "make two jobs"),
    ("0 0 12 ? * 2-6#3", "day of week", "'2-6#3'", "write such as 6L (the last Friday) or 6#3"),
    ("0 0 12 10-15W * ?", "day of month", "'10-15W'", "write such as L, L-3, LW or 15W"),
    ("0 0 12 L-31 * ?", "day of month", "'L-31'", "write L-0 to L-30"),
    ("*/0 * * * *", "minute", "'*/0'", "a step is a number from 1"),
    ("0/60 * * * * ?", "second", "'0/60'", "the step 60 is over 59"),
    ("*5 * * * *", "minute", "'*5'", "write '*' or '*/5'"),
    ("1.5 * * * *", "minute", "'1.5'", "write such as 5, 1-5, */5 or 1-30/5"),
    ("0 0 12 1, * ?", "day of month", "'1,'", "remove the comma"),
    ("0 22-2 * * *", "hour", "'22-2'", "write two ranges, 22-23,0-2"),
    ("0 0 0 1 1 ? 2030-2020", "year", "'2030-2020'", "or the smaller value first"),
    ("R R * * *", "minute", "'R': asks for a random value", "write a number"),
    ("0 1,H * * * ?", "minute", "'1,H': asks for a random value", "write a number"),
    ("0 H(0-23)/2 * * *", "hour", "random", "write a number"),
    ("0 0 0~12 * * ?", "hour", "random", "write a number"),
    ("@reboot", None, "there is no such macro", "@hourly, @daily"),
    ("@every 5m", None, "there is no such macro", "write 5 (Unix) or 6 or 7 fields (Quartz)"),
    ("99999999999999999999 * * * *", "minute", "out of range", "0-59"),
]


@pytest.mark.parametrize(("expression", "field", "cause", "cure"), REFUSED, ids=[row[0] for row in REFUSED])
def test_cron_refused_names_expression_field_item_and_cure(
    expression: str, field: str | None, cause: str, cure: str
) -> None:
    """The error tells where the fault is, what was typed, and what to write."""
    with pytest.raises(CronExpressionError) as error:
        parse_cron(expression)
    message = str(error.value)
    assert error.value.expression == expression
    assert error.value.field == field
    assert ascii(expression) in message or repr(expression) in message
    assert field is None or field in message
    assert cause in message
    assert cure in message


@pytest.mark.parametrize(
    "expression", [row[3].split("such as '")[1][:-1] for row in REFUSED if row[3][:9] == "such as '"]
)
def test_cron_refused_suggests_a_text_that_is_taken(expression: str) -> None:
    """What the message says to write can be written."""
    assert parse_cron(expression).expression == expression


@pytest.mark.parametrize("count", [257, 1_000_000])
def test_cron_over_256_characters_is_refused_without_repeating_it_all(count: int) -> None:
    """The limit holds, and the message stays short however long the text."""
    with pytest.raises(CronExpressionError, match="256 are allowed") as error:
        parse_cron("*" * count)
    assert len(str(error.value)) < 400


def test_cron_of_256_characters_is_taken() -> None:
    """The limit itself is allowed, blanks counted."""
    assert parse_cron("* * * * *".ljust(256)).dialect == "unix"


def test_cron_in_an_unknown_zone_names_the_zone_the_expression_and_the_cure() -> None:
    """The fault is the zone's, and both texts are shown."""
    with pytest.raises(CronExpressionError) as error:
        parse_cron("0 12 * * *", "Mars/Olympus")
    assert (error.value.expression, error.value.field) == ("0 12 * * *", "timezone")
    assert "'Mars/Olympus': there is no such zone; write an IANA name such as Europe/Paris" in str(error.value)


def test_cron_error_survives_pickling() -> None:
    """An error that crosses a process says the same there."""
    with pytest.raises(CronExpressionError) as error:
        parse_cron("60 * * * *")
    copy = pickle.loads(pickle.dumps(error.value))  # noqa: S301 - our own bytes
    assert (str(copy), copy.field) == (str(error.value), "minute")
