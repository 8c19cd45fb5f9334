"""Triggers and stops of a job."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from shardsched.core.command import Commands, Trigger, decode_commands
from shardsched.errors import CorruptNodeError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FIRST = Trigger(number=3, at=NOW, items=4)
SECOND = Trigger(number=5, at=NOW, items=4, only=(1, 3, 9))
COMMANDS = Commands(uid="u", triggers=(FIRST, SECOND))


@pytest.mark.parametrize(
    ("item", "handled", "number"),
    [(0, 0, 3), (0, 3, None), (1, 0, 3), (1, 3, 5), (1, 4, 5), (1, 5, None), (3, 2, 3), (2, 3, None), (9, 0, None)],
)
def test_next_trigger_is_the_oldest_not_handled_that_concerns_the_item(
    item: int, handled: int, number: int | None
) -> None:
    """Each press is run once and in order, by the items that it names and that the fire has."""
    trigger = COMMANDS.next_trigger(item, handled)
    assert (None if trigger is None else trigger.number) == number


def test_trigger_count_is_the_newest_number_or_zero() -> None:
    """The counter goes on from the newest trigger."""
    assert COMMANDS.trigger_count == 5
    assert Commands(uid="u").trigger_count == 0


@pytest.mark.parametrize(
    ("triggers", "reason"),
    [
        ([{"number": 2}, {"number": 1}], "not in order"),
        ([{"number": 1}, {"number": 1}], "not in order"),
        ([{"number": 0}], "'number' is 0"),
        ([{"number": "1"}], "'number' is not of type int"),
        ([{"number": 1, "items": 0}], "'items' is 0"),
        ([{"number": 1, "items": 10_001}], "'items' is 10001"),
        ([{"number": 1, "only": [-1]}], "'only' is not a list"),
        ([{"number": 1, "at": None}], "'at' is missing"),
        ([{"number": 1, "param": 3}], "'param' is not of type str"),
        ([3], "not an object"),
    ],
)
def test_decode_commands_bad_triggers_are_refused(triggers: list[Any], reason: str) -> None:
    """Triggers out of order or out of range are refused with the reason."""
    full = [
        {"at": NOW.isoformat(), "items": 4} | trigger if isinstance(trigger, dict) else trigger for trigger in triggers
    ]
    with pytest.raises(CorruptNodeError) as caught:
        decode_commands("/c", json.dumps({"format": 1, "uid": "u", "triggers": full}).encode())
    assert reason in caught.value.reason
