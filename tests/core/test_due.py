"""What is due for one item: every rule, as a table of values."""

from __future__ import annotations

from typing import Any

import pytest

from shardsched.core.assignment import Layout
from shardsched.core.decision import Run
from shardsched.core.fire import Cause, ItemState
from shardsched.core.job import Misfire
from tests.core.scene import Scene, at, config, done

ON_TIME = Scene(now=at("12:00:10.5"))


# Scheduled fires


@pytest.mark.parametrize(
    ("now", "cursor", "fire"),
    [
        ("12:00:09.9", None, None),
        ("12:00:10", None, "12:00:10"),
        ("12:00:19.9", None, "12:00:10"),
        ("12:00:10", done(at("12:00:00")), "12:00:10"),
        ("12:00:10", done(at("12:00:10")), None),
        ("12:00:15", done(at("12:00:10")), None),
        ("12:00:20", done(at("12:00:10"), state=ItemState.FAILED), "12:00:20"),
        ("12:00:20", done(at("12:00:10"), state=ItemState.STOPPED), "12:00:20"),
        ("12:00:20", done(at("12:00:10"), state=ItemState.LOST), "12:00:20"),
        ("12:00:20", done(at("12:00:10"), state=ItemState.MISSED), "12:00:20"),
        ("12:00:10", done(at("12:00:40")), None),
        ("12:00:00", None, None),
        ("11:59:59", None, None),
    ],
)
def test_due_by_time_and_cursor_is_the_fire_after_both(now: str, cursor: Any, fire: str | None) -> None:
    """A fire is due when it lies after what was handled and after the arming, and not before its moment."""
    decision = Scene(now=at(now), cursor=cursor).decide()
    if fire is None:
        assert decision is None
    else:
        assert isinstance(decision, Run)
        assert (decision.run_fire, decision.fire, decision.cause) == (at(fire), at(fire), Cause.SCHEDULE)
        assert (decision.attempt, decision.items, decision.missed) == (1, 1, None)


def test_due_fire_at_the_arming_itself_is_not() -> None:
    """A job that is armed at 12:00:10 does not fire at 12:00:10: only later fires count."""
    assert Scene(now=at("12:00:15"), config=config(armed_at=at("12:00:10"))).decide() is None


def test_due_after_resume_fills_nothing_back() -> None:
    """Fires of the time before the arming are not due, however long ago the cursor is."""
    scene = Scene(now=at("12:30:05"), cursor=done(at("12:00:10")), config=config(armed_at=at("12:30:01")))
    assert scene.decide() is None
    run = scene.run(now=at("12:30:10"))
    assert (run.run_fire, run.cause, run.missed) == (at("12:30:10"), Cause.SCHEDULE, None)


def test_due_carries_the_parameters_of_the_job_and_the_item() -> None:
    """A scheduled run gets the job's and its own item's parameter."""
    run = ON_TIME.run(config=config(items=2, param="all", item_params={1: "one"}), item=1)
    assert (run.job_param, run.param, run.items, run.item) == ("all", "one", 2, 1)


def test_due_unreadable_item_is_nothing() -> None:
    """An item whose cursor cannot be read is left alone rather than run on a guess."""
    from shardsched.core.due import due
    from shardsched.core.terms import Terms
    from shardsched.core.view import ItemView

    scene = ON_TIME
    terms = Terms(
        config=scene.config,
        schedule=scene.config.schedule(),
        assignment=scene.assignment(),
        commands=None,
        incarnation="fence-1",
        running=frozenset(),
        moment=scene.moment(),
    )
    assert due(terms, 0, ItemView(fault="unreadable cursor")) is None


# The clock


def test_due_of_a_cursor_far_ahead_is_rewound_to_now() -> None:
    """A cursor beyond the drift limit counts as handled up to now: nothing runs twice, and the next fire is due."""
    scene = Scene(now=at("12:10:05"), cursor=done(at("12:11:10")))
    settle = scene.settle()
    assert (settle.state, settle.fire, settle.missed) == (ItemState.DONE, at("12:10:00"), None)
    assert scene.decide(cursor=done(at("12:10:00"))) is None
    assert scene.run(cursor=done(at("12:10:00")), now=at("12:10:10")).run_fire == at("12:10:10")


def test_due_of_a_cursor_a_little_ahead_waits() -> None:
    """A cursor within the drift limit was written by a clock that is ahead; re-lived fires are not due."""
    scene = Scene(now=at("12:10:05"), cursor=done(at("12:11:00")))
    assert scene.decide() is None
    assert scene.decide(now=at("12:11:05")) is None
    assert scene.run(now=at("12:11:10")).run_fire == at("12:11:10")


def test_due_of_a_job_armed_far_ahead_counts_from_now() -> None:
    """A job whose arming lies in the future, since the clock was set back, fires from its next fire on."""
    scene = Scene(now=at("11:00:05"), config=config())
    settle = scene.settle()
    assert (settle.state, settle.fire) == (ItemState.MISSED, at("11:00:00"))
    assert scene.decide(cursor=done(at("11:00:00"))) is None
    assert scene.run(cursor=done(at("11:00:00")), now=at("11:00:10")).run_fire == at("11:00:10")


def test_due_of_a_layout_far_ahead_does_not_hold_up() -> None:
    """A layout whose first fire lies in the future, since the clock was set back, keeps nothing from firing."""
    layouts = (Layout(items=1, config=1, from_fire=at("13:00:00")),)
    assert Scene(now=at("12:00:20"), cursor=done(at("12:00:10")), layouts=layouts).run().run_fire == at("12:00:20")


def test_due_of_a_cron_without_fires_is_nothing() -> None:
    """A job whose first fire is still to come has nothing due, whatever its policy."""
    for policy in Misfire:
        job = config(cron="0 0 0 1 1 ? 2030", misfire=policy)
        assert Scene(now=at("12:00:30"), config=job).decide() is None
