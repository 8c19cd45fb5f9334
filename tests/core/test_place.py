"""How a write of its cursor moves an item among the fires of its job."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shardsched.core.assignment import Assignment, Layout
from shardsched.core.command import Commands, Trigger
from shardsched.core.decision import Missed, Release, Settle
from shardsched.core.fire import Cause, Cursor, ItemState, Marker
from shardsched.core.place import is_final, place_of, settle_move
from shardsched.core.release import lost_cursor
from shardsched.core.tally import FireKey
from shardsched.core.view import ItemView, JobEntry

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=5)
TRIGGERS = (Trigger(number=3, at=NOON, items=2, only=(1,)), Trigger(number=4, at=LATER, items=2))
ENTRY = JobEntry(
    name="j",
    version=0,
    assignment=Assignment(uid="u", layouts=(Layout(items=2, config=0),), trigger_floor=2),
    commands=Commands(uid="u", triggers=TRIGGERS),
)
DONE = Cursor(uid="u", state=ItemState.DONE, fire=NOON, run_fire=NOON, trigger=2, run="r")


def test_place_of_a_failed_run_that_is_tried_again_is_not_final() -> None:
    """Its fire goes on, until the last attempt or until the retry is given up."""
    failed = replace(DONE, state=ItemState.FAILED)
    assert is_final(failed)
    assert not is_final(replace(failed, retry_at=LATER))
    assert not place_of(replace(failed, state=ItemState.RUNNING)).is_final


def test_retry_that_is_given_up_ends_its_fire() -> None:
    """The cursor is written without a run, and the fire has failed for the item."""
    waiting = replace(DONE, state=ItemState.FAILED, retry_at=LATER)
    move = settle_move(Settle(item=0, state=ItemState.FAILED, fire=NOON, reason="stopped"), waiting, ENTRY)
    assert (move.after.at, move.after.is_final, move.opens) == (FireKey(at=NOON), True, None)


def test_missed_fire_is_opened_unbegun() -> None:
    """So that an item which missed it is known to have, when another begins it later."""
    missed = Missed(first=LATER, last=LATER, reason="too late")
    settle = Settle(item=0, state=ItemState.MISSED, fire=LATER, reason="too late", missed=missed)
    move = settle_move(settle, DONE, ENTRY)
    assert move.opens is not None
    assert (move.opens.key, move.opens.items, move.opens.is_begun) == (FireKey(at=LATER), 2, False)
    assert (move.after.at, move.after.has_reached(FireKey(at=LATER))) == (None, True)


@pytest.mark.parametrize("cursor", [None, DONE])
def test_trigger_that_a_disabled_item_drops_is_opened_unbegun(cursor: Cursor | None) -> None:
    """One for all items is a fire that goes on without the item; one for chosen items is none."""
    state = ItemState.MISSED if cursor is None else cursor.state
    settle = Settle(item=0, state=state, fire=None, reason="disabled", trigger=4)
    move = settle_move(settle, cursor, ENTRY)
    key = FireKey(at=LATER, trigger=4)
    assert move.opens is not None
    assert (move.opens.key, move.opens.is_begun, move.after.has_reached(key)) == (key, False, True)
    assert settle_move(replace(settle, trigger=3), cursor, ENTRY).opens is None


def test_scheduled_fire_and_trigger_are_reached_by_themselves() -> None:
    """A trigger says nothing of the schedule, nor the other way round."""
    place = place_of(replace(DONE, cause=Cause.MANUAL))
    assert place.at == FireKey(at=NOON, trigger=2)
    assert place.has_reached(FireKey(at=NOON))
    assert place.has_reached(FireKey(at=LATER, trigger=2))
    assert not place.has_reached(FireKey(at=LATER))
    assert not place.has_reached(FireKey(at=NOON, trigger=3))


def test_lost_cursor_is_that_of_the_run_whose_marker_is_given_back() -> None:
    """A marker of another run, or a run that goes on elsewhere, leaves the cursor as it is."""
    marker = Marker(uid="u", run="r", incarnation="s", executor="e1", fire=NOON, attempt=1, started_at=NOON)
    view = ItemView(cursor=replace(DONE, state=ItemState.RUNNING), cursor_version=1, marker=marker)
    lost = lost_cursor(Release(item=0, is_final=True), view, LATER)
    assert lost is not None
    assert (lost.state, lost.ended_at) == (ItemState.LOST, LATER)
    assert lost_cursor(Release(item=0, is_final=False), view, LATER) is None
    assert lost_cursor(Release(item=0, is_final=True), replace(view, marker=replace(marker, run="x")), LATER) is None
