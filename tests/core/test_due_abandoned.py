"""What is due of an item that runs, or was left while it ran."""

from __future__ import annotations

from typing import Any

import pytest

from shardsched.core.command import Commands, Trigger
from shardsched.core.decision import Await, Release
from shardsched.core.fire import Cause, ItemState
from tests.core.scene import Scene, at, config, done, marker, running

FAILOVER_OFF = config(failover=False)
PAUSED = config(paused=True)
DELETING = config(deleting=True)


def press(number: int, **changes: Any) -> Trigger:
    """Return a trigger of a job of one item."""
    fields: dict[str, Any] = {"number": number, "at": at("12:00:05"), "items": 1}
    return Trigger(**(fields | changes))


def asked(*triggers: Trigger, stop: int = 0) -> Commands:
    """Return what was asked."""
    return Commands(uid="u", triggers=triggers, stop=stop)


# Markers and abandoned runs


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"marker": marker()}, Await(item=0)),
        ({"marker": marker(run="mine"), "running": frozenset({"mine"})}, None),
        ({"marker": marker(incarnation="fence-1")}, Release(item=0, is_final=False)),
        ({"marker": marker(), "is_marker_ours": True}, Release(item=0, is_final=False)),
        ({"marker": marker(incarnation="fence-1"), "config": FAILOVER_OFF}, Release(item=0, is_final=True)),
        ({"marker": marker(incarnation="fence-1"), "config": PAUSED}, Release(item=0, is_final=True)),
        ({"marker": marker(incarnation="fence-1"), "config": DELETING}, Release(item=0, is_final=True)),
        ({"marker": marker(incarnation="fence-1"), "commands": asked(stop=1)}, Release(item=0, is_final=True)),
        ({"marker": marker(), "config": DELETING}, Await(item=0)),
    ],
)
def test_due_with_a_marker_starts_nothing(changes: dict[str, Any], expected: object) -> None:
    """An item that runs is waited for; a marker of ours without a run is given back, for good if it may not go on."""
    cursor = running(at("12:00:10"))
    assert Scene(now=at("12:00:30"), cursor=cursor).decide(**changes) == expected


def test_due_abandoned_runs_the_same_fire_again_as_it_began() -> None:
    """Failover runs the same fire with the next attempt, the parameters and the item count that it began with."""
    cursor = running(at("12:00:10"), attempt=2, items=4, job_param="then", param="", trigger=3, cause=Cause.MISFIRE)
    run = Scene(now=at("12:30:00"), cursor=cursor, config=config(param="now", items=9)).run()
    assert (run.cause, run.run_fire, run.fire) == (Cause.FAILOVER, at("12:00:10"), at("12:00:10"))
    assert (run.attempt, run.items, run.job_param, run.param) == (3, 4, "then", "")
    assert (run.trigger, run.first_cause, run.missed) == (3, Cause.MISFIRE, None)
    assert run.abandoned == cursor


def test_due_abandoned_manual_run_keeps_the_schedule_where_it_was() -> None:
    """Failover of a manual run leaves the scheduled fire of the cursor alone."""
    cursor = running(at("12:00:10"), run_fire=at("12:00:13"), trigger=1, cause=Cause.MANUAL)
    run = Scene(now=at("12:00:14"), cursor=cursor).run()
    assert (run.run_fire, run.fire, run.first_cause) == (at("12:00:13"), at("12:00:10"), Cause.MANUAL)


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"config": FAILOVER_OFF}, ItemState.LOST),
        ({"config": PAUSED}, ItemState.LOST),
        ({"commands": asked(stop=1)}, ItemState.STOPPED),
        ({"commands": asked(stop=1), "config": FAILOVER_OFF}, ItemState.STOPPED),
    ],
)
def test_due_abandoned_that_may_not_go_on_is_settled(changes: dict[str, Any], state: ItemState) -> None:
    """An abandoned run ends as lost without failover or while paused, and as stopped when a person stopped it."""
    cursor = running(at("12:00:10"))
    settle = Scene(now=at("12:00:30"), cursor=cursor).settle(**changes)
    assert (settle.state, settle.fire, settle.abandoned) == (state, at("12:00:10"), cursor)


def test_due_abandoned_claimed_after_the_stop_goes_on() -> None:
    """A stop ends what was claimed before it, not what was claimed after."""
    cursor = running(at("12:00:10"), stop=1)
    assert Scene(now=at("12:00:11"), cursor=cursor, commands=asked(stop=1)).run().cause is Cause.FAILOVER


@pytest.mark.parametrize("cursor", [None, done(at("12:00:10")), running(at("12:00:10"))])
def test_due_of_a_job_that_is_deleted_is_nothing(cursor: Any) -> None:
    """Nothing of a job that is being deleted starts, not even what was abandoned or triggered."""
    assert Scene(now=at("12:00:30"), cursor=cursor, config=DELETING, commands=asked(press(1))).decide() is None
