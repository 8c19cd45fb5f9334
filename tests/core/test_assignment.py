"""Layouts and owners of a job."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shardsched.core.assignment import Assignment, Layout, decode_assignment, encode_assignment
from shardsched.errors import CorruptNodeError

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
LAYOUTS = (
    Layout(items=4, config=0),
    Layout(items=6, config=1, from_fire=NOON),
    Layout(items=2, config=2, from_fire=NOON + HOUR),
)
PLAIN: dict[str, Any] = {"format": 1, "uid": "u", "layouts": [{"items": 4, "config": 0}], "owners": {"e1": "0-3"}}


def decode(**fields: Any) -> Assignment:
    """Return the assignment of a plain record with fields changed."""
    return decode_assignment("/a", json.dumps(PLAIN | fields).encode())


@pytest.mark.parametrize(
    ("fire", "items"),
    [
        (NOON - 1000 * HOUR, 4),
        (NOON - timedelta(microseconds=1), 4),
        (NOON, 6),
        (NOON + HOUR - timedelta(microseconds=1), 6),
        (NOON + HOUR, 2),
        (NOON + 1000 * HOUR, 2),
    ],
)
def test_layout_at_fire_is_the_last_begun_by_then(fire: datetime, items: int) -> None:
    """A layout holds from its first fire on, up to the next one's."""
    assert Assignment(uid="u", layouts=LAYOUTS).layout_at(fire).items == items


def test_layout_at_fire_before_all_that_are_kept_is_the_oldest() -> None:
    """A fire older than the history gets the oldest layout there is."""
    assert Assignment(uid="u", layouts=LAYOUTS[1:]).layout_at(NOON - HOUR).items == 6


def test_item_count_is_the_largest_of_all_layouts() -> None:
    """Every item of any layout kept needs an owner."""
    assignment = Assignment(uid="u", layouts=LAYOUTS)
    assert assignment.item_count == 6
    assert assignment.newest == LAYOUTS[-1]


def test_owner_of_item_is_its_executor_or_nobody() -> None:
    """An item is looked up among all owners."""
    assignment = Assignment(uid="u", layouts=LAYOUTS, owners={"e1": (0, 2), "e2": (1,)})
    assert [assignment.owner_of(item) for item in range(4)] == ["e1", "e2", "e1", None]


def test_encode_assignment_writes_ranges_and_leaves_the_empty_out() -> None:
    """Owners are stored as ranges under sorted names, so that like assignments are like bytes."""
    one = Assignment(uid="u", layouts=LAYOUTS[:1], owners={"e2": (2, 3), "e1": (0, 1), "e3": ()})
    other = Assignment(uid="u", layouts=LAYOUTS[:1], owners={"e1": (0, 1), "e2": (2, 3)})
    assert json.loads(encode_assignment(one))["owners"] == {"e1": "0-1", "e2": "2-3"}
    assert encode_assignment(one) == encode_assignment(other)


def test_decode_assignment_owner_of_nothing_is_absent() -> None:
    """An executor with no item is no owner."""
    assert decode(owners={"e1": "0-3", "e2": ""}).owners == {"e1": (0, 1, 2, 3)}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"uid": None}, "'uid' is missing"),
        ({"layouts": []}, "no layout"),
        ({"layouts": None}, "no layout"),
        ({"layouts": [{"items": 0}]}, "'items' is 0"),
        ({"layouts": [{"items": 10_001}]}, "'items' is 10001"),
        ({"layouts": [{"items": True}]}, "'items' is not of type int"),
        ({"layouts": [{"items": 1}, {"items": 2}]}, "contradict"),
        (
            {"layouts": [{"items": 1, "from": NOON.isoformat()}, {"items": 2, "from": NOON.isoformat()}]},
            "contradict",
        ),
        (
            {"layouts": [{"items": 1, "from": NOON.isoformat()}, {"items": 2, "from": (NOON - HOUR).isoformat()}]},
            "contradict",
        ),
        ({"layouts": [{"items": 1, "from": "2026-01-01T00:00:00"}]}, "no offset"),
        ({"owners": {"e1": "0-2", "e2": "2-3"}}, "two executors"),
        ({"owners": {"e1": "3-1"}}, "rising range"),
        ({"owners": {"e1": "10000"}}, "rising range"),
        ({"owners": {"e1": "a"}}, "not a number"),
        ({"owners": {"e1": 0}}, "not a text"),
        ({"owners": {"e1": [0]}}, "not a text"),
        ({"owners": ["e1"]}, "not of type dict"),
        ({"token_floor": -1}, "'token_floor' is -1"),
        ({"epoch": 1.5}, "'epoch' is not of type int"),
    ],
)
def test_decode_assignment_that_contradicts_itself_is_refused(fields: dict[str, Any], reason: str) -> None:
    """Layouts out of order, an item with two owners and values out of range are refused with the reason."""
    with pytest.raises(CorruptNodeError) as caught:
        decode(**fields)
    assert reason in caught.value.reason
