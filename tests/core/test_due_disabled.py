"""What is due of a disabled item, in a pause window, and of a job without a cron."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shardsched.core.command import Commands, Trigger
from shardsched.core.decision import Release
from shardsched.core.fire import Cause, ItemState
from shardsched.core.job import Misfire
from shardsched.core.view import ItemView
from tests.core.scene import Scene, at, config, done, marker, running

DISABLED = config(items=2, disabled_items=(1, 7))
PRESS = Commands(uid="u", triggers=(Trigger(number=3, at=at("12:00:05"), items=2),))
SCENE = Scene(now=at("12:00:15"), config=DISABLED, item=1)


@pytest.mark.parametrize("policy", list(Misfire))
def test_disabled_item_has_its_fires_settled_whatever_the_policy(policy: Misfire) -> None:
    """Each fire that passes counts as handled, told as asked for; the other items run."""
    settle = SCENE.settle(config=replace(DISABLED, misfire=policy), now=at("12:00:35"))
    assert (settle.state, settle.fire) == (ItemState.MISSED, at("12:00:30"))
    assert settle.missed is not None
    assert (settle.missed.first, settle.missed.reason) == (at("12:00:10"), "the item is disabled")
    assert settle.missed.is_asked_for
    assert SCENE.run(item=0).cause is Cause.SCHEDULE


def test_disabled_item_that_is_enabled_runs_its_next_fire_only() -> None:
    """What passed while it was disabled is not made up for."""
    cursor = done(SCENE.settle().fire, state=ItemState.MISSED)
    enabled = replace(DISABLED, disabled_items=(), misfire=Misfire.ALL)
    assert SCENE.decide(config=enabled, cursor=cursor) is None
    run = SCENE.run(config=enabled, cursor=cursor, now=at("12:00:20"))
    assert (run.run_fire, run.cause, run.missed) == (at("12:00:20"), Cause.SCHEDULE, None)


def test_disabled_item_drops_its_triggers() -> None:
    """A trigger is settled, not kept for later; the item's last run stays as it was."""
    settle = SCENE.settle(commands=PRESS, cursor=done(at("12:00:10"), trigger=2))
    assert (settle.state, settle.fire, settle.trigger) == (ItemState.DONE, at("12:00:10"), 3)
    assert "disabled" in settle.reason
    assert SCENE.settle(commands=PRESS).state is ItemState.MISSED
    assert SCENE.decide(commands=PRESS, cursor=done(at("12:00:10"), trigger=3)) is None
    assert SCENE.run(commands=PRESS, item=0).cause is Cause.MANUAL


def test_disabled_item_of_a_paused_job_is_left_alone() -> None:
    """While paused nothing counts; the resume arms anew."""
    assert SCENE.decide(config=replace(DISABLED, paused=True)) is None


def test_disabled_item_is_not_failed_over() -> None:
    """What its executor left unfinished is lost, and a marker of ours is given back for good."""
    settle = SCENE.settle(cursor=running(at("12:00:10")))
    assert (settle.state, settle.fire) == (ItemState.LOST, at("12:00:10"))
    decision = SCENE.decide(cursor=running(at("12:00:10")), marker=marker(incarnation="fence-1"))
    assert decision == Release(item=1, is_final=True)


# Pause windows

LATE = Scene(
    now=at("12:02:30"),
    config=config(cron="0 * * * * ?", pause=("12:02-12:05",), misfire_grace_s=45.0),
    cursor=done(at("12:00:00")),
)
"""The last fire before the window, of 12:01, has not been run."""


def test_pause_window_holds_a_misfire_until_its_end() -> None:
    """What was late before the window does not start in it; at its end the misfire policy decides."""
    assert LATE.decide() is None
    assert LATE.plan({0: ItemView(cursor=LATE.cursor, cursor_version=0)}).wake_at == at("12:05:00")
    run = LATE.run(now=at("12:05:00"))
    assert (run.run_fire, run.cause) == (at("12:05:00"), Cause.SCHEDULE)
    assert run.missed is not None
    assert (run.missed.first, run.missed.last) == (at("12:01:00"), at("12:01:00"))


def test_pause_window_lets_a_fire_that_is_on_time_start() -> None:
    """A fire of just before the window that starts within its grace is not put off for hours."""
    run = LATE.run(now=at("12:02:05"), config=replace(LATE.config, misfire_grace_s=70.0))
    assert (run.run_fire, run.cause) == (at("12:01:00"), Cause.SCHEDULE)


def test_pause_window_with_the_policy_all_runs_none_in_it() -> None:
    """The policy *all* catches up outside of the window, without the fires that lie in it."""
    scene = replace(LATE, config=replace(LATE.config, misfire=Misfire.ALL))
    assert scene.decide() is None
    assert scene.run(now=at("12:05:10")).run_fire == at("12:01:00")
    assert scene.run(now=at("12:05:10"), cursor=done(at("12:01:00"))).run_fire == at("12:05:00")


def test_pause_window_lets_people_trigger() -> None:
    """A press runs in a window as while paused."""
    assert LATE.run(commands=replace(PRESS, uid="u")).cause is Cause.MANUAL


# No cron


def test_job_without_cron_runs_for_triggers_only() -> None:
    """Nothing is ever due by time, whatever the policy, and nothing is waited for."""
    scene = Scene(now=at("12:30:00"), config=config(cron="", items=2), cursor=None)
    for policy in Misfire:
        assert scene.decide(config=config(cron="", misfire=policy)) is None
    assert scene.run(commands=PRESS).cause is Cause.MANUAL
    assert scene.plan({0: ItemView(), 1: ItemView()}).wake_at is None


def test_job_whose_cron_was_taken_away_fires_no_more() -> None:
    """A cursor of the time with a cron changes nothing, also where it lies ahead of a clock that was set back."""
    scene = Scene(now=at("12:30:00"), config=config(cron="", armed_at=at("12:20:00")), cursor=done(at("12:00:10")))
    assert scene.decide() is None
    settle = scene.settle(cursor=done(at("23:00:00")))
    assert (settle.fire, scene.decide(cursor=done(settle.fire))) == (None, None)
