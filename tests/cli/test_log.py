"""How the command line logs, and labels."""

from __future__ import annotations

import json
import logging

import pytest

from shardsched.cli.label import parse_labels
from shardsched.cli.log import JsonFormatter, TextFormatter
from shardsched.errors import SettingsError


def record(message: str, *arguments: object, **fields: object) -> logging.LogRecord:
    """Return a log record with fields."""
    made = logging.makeLogRecord({"name": "shardsched.x", "levelno": 20, "levelname": "INFO", "created": 0.25})
    made.msg, made.args = message, arguments
    vars(made).update(fields)
    return made


def test_text_formatter_shows_time_level_message_and_fields() -> None:
    """One line has all that a person needs; the event's name is for machines."""
    line = TextFormatter().format(record("took %d items", 3, event="x", job="books", note="two words", items=[1]))
    assert line == '1970-01-01T00:00:00.250Z INFO    took 3 items  [job=books note="two words" items=[1]]'
    assert TextFormatter().format(record("bare")).endswith("INFO    bare")


def test_text_formatter_keeps_fields_on_one_line() -> None:
    """A field cannot forge a second record."""
    assert "\n" not in TextFormatter().format(record("x", job="a\nERROR b"))


def test_json_formatter_is_one_json_object() -> None:
    """Machines read one object a line, with whatever fields there are."""
    line = JsonFormatter().format(record("took %d", 3, event="item_claimed", job="bücher", odd=object))
    shown = json.loads(line)
    assert "\n" not in line
    assert (shown["message"], shown["event"], shown["job"]) == ("took 3", "item_claimed", "bücher")
    assert (shown["time"], shown["level"]) == ("1970-01-01T00:00:00.250Z", "INFO")


def test_formatters_show_exceptions() -> None:
    """An error's traceback is not lost."""
    made = record("failed", exc_info=(ValueError, ValueError("boom"), None))
    assert "ValueError: boom" in TextFormatter().format(made)
    assert "ValueError: boom" in json.loads(JsonFormatter().format(made))["exception"]


def test_parse_labels_splits_at_the_first_equals_sign() -> None:
    """A value may hold anything, also nothing."""
    assert parse_labels(["zone=eu", "expr=a=b", "empty="]) == {"zone": "eu", "expr": "a=b", "empty": ""}


@pytest.mark.parametrize("texts", [["zone"], ["=eu"], [" =eu"], ["a=1", "a=2"]])
def test_parse_labels_wrong_text_is_refused(texts: list[str]) -> None:
    """A label without a name, or with two values, is a slip."""
    with pytest.raises(SettingsError):
        parse_labels(texts)
