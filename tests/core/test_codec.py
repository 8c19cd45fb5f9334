"""Reading one field of a stored record at a time."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.core.codec import FORMAT, Fields, encode, time_text
from shardsched.errors import CorruptNodeError

if TYPE_CHECKING:
    from collections.abc import Callable


class Colour(StrEnum):
    """A choice."""

    RED = "red"
    """One."""
    BLUE = "blue"
    """The other."""


def fields(value: Any) -> Fields:
    """Return the fields of a record with one field."""
    return Fields("/p", json.dumps({"format": FORMAT, "key": value}).encode())


@pytest.mark.parametrize(
    ("read", "value", "result"),
    [
        (lambda one: one.text("key"), "\u6f22 x", "\u6f22 x"),
        (lambda one: one.text("key", "d"), None, "d"),
        (lambda one: one.integer("key"), 2**62, 2**62),
        (lambda one: one.integer("key", 4), None, 4),
        (lambda one: one.integer("key", low=-5, high=5), -5, -5),
        (lambda one: one.number("key"), 3, 3.0),
        (lambda one: one.number("key", 2.5), None, 2.5),
        (lambda one: one.number("key", low=-1.0), -1, -1.0),
        (lambda one: one.flag("key", default=True), False, False),
        (lambda one: one.flag("key", default=True), None, True),
        (lambda one: one.time("key"), "2026-01-01T08:00:00+08:00", datetime(2026, 1, 1, tzinfo=UTC)),
        (lambda one: one.time_or_none("key"), None, None),
        (lambda one: one.choice("key", Colour), "red", Colour.RED),
        (lambda one: one.choice("key", Colour, "blue"), None, Colour.BLUE),
        (lambda one: one.mapping("key"), None, {}),
        (lambda one: one.texts("key"), {"a": "b"}, {"a": "b"}),
        (lambda one: one.objects("key"), None, []),
        (lambda one: one.integers("key"), [3, 0], (3, 0)),
        (lambda one: one.integers("key"), [], ()),
        (lambda one: one.integers("key"), None, None),
        (lambda one: one.has("key"), None, False),
        (lambda one: one.has("key"), False, True),
    ],
)
def test_fields_good_value_is_read(read: Callable[[Fields], Any], value: Any, result: Any) -> None:
    """A value of its kind is returned, null counts as absent, and the default then stands in."""
    got = read(fields(value))
    assert got == result
    assert type(got) is type(result)


@pytest.mark.parametrize(
    ("read", "value", "reason"),
    [
        (lambda one: one.text("key"), None, "missing"),
        (lambda one: one.text("key"), 3, "not of type str"),
        (lambda one: one.text("key"), "\udc00", "half a character"),
        (lambda one: one.integer("key"), None, "missing"),
        (lambda one: one.integer("key"), True, "not of type int"),
        (lambda one: one.integer("key"), 1.0, "not of type int"),
        (lambda one: one.integer("key"), "1", "not of type int"),
        (lambda one: one.integer("key"), -1, "outside 0"),
        (lambda one: one.integer("key"), 2**62 + 1, "outside 0"),
        (lambda one: one.number("key"), None, "not a number"),
        (lambda one: one.number("key"), True, "not a number"),
        (lambda one: one.number("key"), "1", "not a number"),
        (lambda one: one.number("key"), float("nan"), "outside 0 to 1e+12"),
        (lambda one: one.number("key"), float("inf"), "outside 0 to 1e+12"),
        (lambda one: one.number("key"), -0.1, "outside 0 to 1e+12"),
        (lambda one: one.number("key"), int("9" * 400), "outside 0 to 1e+12"),
        (lambda one: one.integer("key"), int("9" * 400), "outside 0"),
        (lambda one: one.flag("key", default=True), 0, "not of type bool"),
        (lambda one: one.time("key"), "soon", "not an ISO 8601 time"),
        (lambda one: one.time("key"), "2026-01-01T00:00:00", "no offset"),
        (lambda one: one.time("key"), "0001-01-01T00:00:00+14:00", "out of range"),
        (lambda one: one.choice("key", Colour), "green", "'green', not one of red, blue"),
        (lambda one: one.choice("key", Colour), "g" * 500_000, "not one of red, blue"),
        (lambda one: one.mapping("key"), [], "not of type dict"),
        (lambda one: one.texts("key"), {"a": 1}, "not a text"),
        (lambda one: one.texts("key"), {"a" * 500_000: 1}, "not a text"),
        (lambda one: one.texts("key"), {"a": "\ud800"}, "half a character"),
        (lambda one: one.objects("key"), {}, "not of type list"),
        (lambda one: one.objects("key"), [1], "not an object"),
        (lambda one: one.integers("key"), [1, -1], "list of whole numbers"),
        (lambda one: one.integers("key"), [True], "list of whole numbers"),
        (lambda one: one.integers("key"), "1", "not of type list"),
    ],
    ids=itertools.count(),
)
def test_fields_bad_value_is_refused_with_its_reason(read: Callable[[Fields], Any], value: Any, reason: str) -> None:
    """A value of another kind or range is refused; the short reason names the field."""
    with pytest.raises(CorruptNodeError) as caught:
        read(fields(value))
    assert reason in caught.value.reason
    assert "key" in caught.value.reason
    assert len(caught.value.reason) < 200


def test_fields_nested_record_reads_and_refuses_alike() -> None:
    """A record within a record needs no format version of its own and names the same path."""
    (nested,) = fields([{"inner": 3}]).objects("key")
    assert nested.integer("inner") == 3
    with pytest.raises(CorruptNodeError) as caught:
        nested.text("inner")
    assert caught.value.path == "/p"


def test_encode_leaves_none_out_and_keeps_other_scripts() -> None:
    """The stored form is compact UTF-8 that begins with its format version."""
    assert encode({"a": None, "b": "\u6f22", "c": [1, 2]}) == '{"format":1,"b":"\u6f22","c":[1,2]}'.encode()


def test_time_text_gives_utc_or_nothing() -> None:
    """A time is written in UTC with its offset."""
    assert time_text(None) is None
    assert time_text(datetime.fromisoformat("2026-01-01T08:00:00+08:00")) == "2026-01-01T00:00:00+00:00"
