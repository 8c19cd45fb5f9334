"""The judge of what was loaded and saved, on made-up records."""

from __future__ import annotations

import json

import pytest

from tests.fleet.saved_record import SavedStates

Line = dict[str, object]
SAVING: Line = {"saving": 1}
SAVED: Line = {"saved": 1}
LOADED: Line = {"loaded": 1, "is_whole": True}


def faults(*lines: Line) -> list[str]:
    """Return what is found in lines of one item."""
    run: Line = {"job": "j", "item": 0, "run": "r"}
    return SavedStates().see(json.dumps(run | line) + "\n" for line in lines).faults


def test_saved_state_that_goes_on_is_in_order() -> None:
    """The last acknowledged or a later one that was tried is loaded, and counted on."""
    assert faults({"loaded": 0, "is_whole": True}, SAVING, SAVED, LOADED, {"saving": 2}, {"saved": 2}) == []
    assert faults(SAVING, SAVED, {"saving": 2}, {"loaded": 2, "is_whole": True}) == []
    assert faults(SAVING, SAVED, {"saving": 2}, LOADED, {"saving": 2}, {"saved": 2}) == []


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ((SAVING, SAVED, {"loaded": 0, "is_whole": True}), "after 1 had been saved"),
        ((SAVING, SAVED, LOADED | {"is_whole": False}), "torn"),
        ((LOADED,), "never saved"),
        ((SAVING, SAVED, SAVING, SAVED), "after 1"),
    ],
)
def test_saved_state_that_does_not_is_seen(lines: tuple[Line, ...], what: str) -> None:
    """An older, a torn, an invented and a repeated one are each named."""
    (fault,) = faults(*lines)
    assert what in fault
