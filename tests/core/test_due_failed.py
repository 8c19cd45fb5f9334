"""What is due of an item whose last run failed and is to be tried again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shardsched.core.command import Commands, Trigger
from shardsched.core.decision import Run, Settle
from shardsched.core.fire import Cause, Cursor, ItemState
from shardsched.core.job import Misfire
from shardsched.core.view import ItemView
from tests.core.scene import Scene, at, config, done, running

JOB = config(cron="0 * * * * ?", retries=3, param="now")
"""Fires every minute."""
PRESS = Commands(uid="u", triggers=(Trigger(number=1, at=at("12:01:07"), items=1),))


def failed(**changes: Any) -> Cursor:
    """Return the cursor of an item that failed twice for the fire of 12:01 and is tried again at 12:01:20."""
    fields: dict[str, Any] = {
        "state": ItemState.FAILED,
        "attempt": 2,
        "failures": 2,
        "retry_at": at("12:01:20"),
        "ended_at": at("12:01:05"),
        "job_param": "then",
        "param": "mine",
        "items": 4,
        "cause": Cause.MISFIRE,
        "run": "r2",
        "message": "failed: boom",
    }
    return done(at("12:01:00"), **(fields | changes))


SCENE = Scene(now=at("12:01:20"), config=JOB, cursor=failed())


def test_retry_is_the_same_fire_as_it_began() -> None:
    """A retry keeps the fire, its count, its parameters and why it was first run; only the attempt is another."""
    run = SCENE.run()
    assert (run.cause, run.first_cause, run.attempt, run.failures) == (Cause.RETRY, Cause.MISFIRE, 3, 2)
    assert (run.run_fire, run.fire, run.items, run.job_param, run.param) == (
        at("12:01:00"),
        at("12:01:00"),
        4,
        "then",
        "mine",
    )
    assert (run.missed, run.given_up, run.abandoned) == (None, None, None)


def test_retry_before_its_time_waits_and_wakes() -> None:
    """Nothing is due before, and the executor wakes for it rather than for the next fire."""
    scene = replace(SCENE, now=at("12:01:10"))
    assert scene.decide() is None
    assert scene.plan({0: ItemView(cursor=failed(), cursor_version=0)}).wake_at == at("12:01:20")
    assert scene.plan({0: ItemView(cursor=failed(retry_at=None), cursor_version=0)}).wake_at == at("12:02:00")


def test_retry_far_ahead_tells_of_a_clock_that_was_set_back() -> None:
    """A time that no delay can have meant has come."""
    assert SCENE.run(cursor=failed(retry_at=at("23:00:00"))).cause is Cause.RETRY
    assert SCENE.decide(cursor=failed(retry_at=at("12:03:00"))) is None


def test_retry_is_superseded_by_a_newer_fire() -> None:
    """A fire that comes due before the retry has started takes its place, and the retry is told as given up."""
    run = SCENE.run(now=at("12:02:00"), cursor=failed(retry_at=at("12:02:30")))
    assert (run.cause, run.run_fire, run.attempt, run.failures) == (Cause.SCHEDULE, at("12:02:00"), 1, 0)
    assert (run.job_param, run.param) == ("now", "")
    assert run.given_up is not None
    assert (run.given_up.cursor.run, run.given_up.reason) == ("r2", "a newer fire has come")
    assert run.given_up.fire == at("12:01:00")


def test_retry_whose_newer_fire_is_skipped_is_given_up_with_it() -> None:
    """Where the policy drops the newer fire the old one does not come back."""
    job = replace(JOB, misfire=Misfire.SKIP, misfire_grace_s=1.0)
    settle = SCENE.settle(now=at("12:02:10"), config=job)
    assert (settle.state, settle.fire) == (ItemState.MISSED, at("12:02:00"))
    assert settle.given_up is not None


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"commands": Commands(uid="u", stop=1)}, "stopped"),
        ({"config": replace(JOB, retries=1)}, "1 retries"),
        ({"config": replace(JOB, disabled_items=(0,))}, "disabled"),
    ],
)
def test_retry_is_given_up_by_people(changes: dict[str, Any], word: str) -> None:
    """A stop, fewer retries and a disabled item end it at once, whatever its time; the outcome of the run stays."""
    settle = SCENE.settle(now=at("12:01:10"), **changes)
    assert settle.given_up is not None
    assert word in settle.given_up.reason
    assert (settle.state, settle.fire, settle.reason) == (ItemState.FAILED, at("12:01:00"), "failed: boom")


def test_retry_of_a_paused_job_is_kept() -> None:
    """While a job is paused no retry starts; resumed, it starts unless a newer fire has come since."""
    paused = replace(JOB, paused=True)
    assert SCENE.decide(config=paused, now=at("12:05:10")) is None
    assert SCENE.plan({}).wake_at is not None
    assert replace(SCENE, config=paused).plan({0: ItemView(cursor=failed(), cursor_version=0)}).wake_at is None
    resumed = replace(JOB, armed_at=at("12:05:10"))
    assert SCENE.run(config=resumed, now=at("12:05:11")).cause is Cause.RETRY
    assert SCENE.run(config=resumed, now=at("12:06:00")).cause is Cause.SCHEDULE


def test_retry_in_a_pause_window_waits_for_its_end() -> None:
    """No retry starts in a window; at its end it does."""
    job = replace(JOB, pause=("12:01-12:10",), cron="0 0 * * * ?")
    scene = replace(SCENE, config=job, cursor=replace(failed(), fire=at("12:00:00")))
    assert scene.decide() is None
    assert scene.plan({0: ItemView(cursor=scene.cursor, cursor_version=0)}).wake_at == at("12:10:00")
    assert scene.run(now=at("12:10:00")).cause is Cause.RETRY


def test_retry_lets_triggers_wait() -> None:
    """A trigger does not take the place of a retry: it runs when the fire is through."""
    assert SCENE.decide(now=at("12:01:10"), commands=PRESS) is None
    assert SCENE.run(commands=PRESS).cause is Cause.RETRY
    over = failed(retry_at=None)
    assert SCENE.run(commands=PRESS, cursor=over).cause is Cause.MANUAL


@pytest.mark.parametrize("changes", [{"paused": True}, {"pause": ("12:01-12:10",)}])
def test_retry_that_cannot_start_gives_way_to_a_trigger(changes: dict[str, Any]) -> None:
    """While the job is paused, or in a window, a press runs at once and the retry is given up."""
    run = SCENE.run(config=replace(JOB, **changes), commands=PRESS)
    assert (run.cause, run.trigger, run.failures) == (Cause.MANUAL, 1, 0)
    assert run.given_up is not None


def test_retry_of_a_triggered_run_keeps_the_schedule() -> None:
    """The fire of a press is tried again like any other, until a scheduled fire comes."""
    cursor = failed(run_fire=at("12:01:07"), cause=Cause.MANUAL, trigger=1)
    run = SCENE.run(cursor=cursor, commands=PRESS)
    assert (run.cause, run.first_cause, run.run_fire, run.fire) == (
        Cause.RETRY,
        Cause.MANUAL,
        at("12:01:07"),
        at("12:01:00"),
    )
    assert SCENE.run(cursor=cursor, commands=PRESS, now=at("12:02:00")).cause is Cause.SCHEDULE


def test_failover_of_a_retry_uses_up_none() -> None:
    """An executor that dies in the middle of an attempt costs an attempt's number and no retry."""
    cursor = running(at("12:01:00"), attempt=3, failures=2, cause=Cause.SCHEDULE)
    run = SCENE.run(cursor=cursor)
    assert (run.cause, run.attempt, run.failures) == (Cause.FAILOVER, 4, 2)


def test_retry_of_a_clock_set_back_is_given_up_with_the_rewinding() -> None:
    """A cursor that is rewound has its fires again, so its retry goes, and is told."""
    settle = SCENE.settle(now=at("11:00:10"), config=replace(JOB, armed_at=at("10:00:00")))
    assert settle.given_up is not None
    assert "clock" in settle.given_up.reason


@pytest.mark.parametrize("state", [state for state in ItemState if state not in {ItemState.FAILED, ItemState.RUNNING}])
def test_retry_time_of_what_has_not_failed_says_nothing(state: ItemState) -> None:
    """Only a failed run is tried again, whatever is stored."""
    assert SCENE.decide(cursor=failed(state=state)) is None
    assert isinstance(SCENE.decide(cursor=failed(state=state), now=at("12:02:00")), Run)


def test_retry_of_a_deleted_job_is_nothing() -> None:
    """Nothing of a job that is being deleted starts."""
    assert SCENE.decide(config=replace(JOB, deleting=True)) is None
    assert not isinstance(SCENE.decide(config=replace(JOB, deleting=True)), Settle)
