"""What is due of an item that was late or busy: the misfire policies."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from shardsched.core.cron import Cron
from shardsched.core.decision import Missed, Run, Settle
from shardsched.core.due_fire import MAX_CATCH_UP
from shardsched.core.fire import Cause, ItemState
from shardsched.core.job import Misfire
from tests.core.scene import Scene, at, config, done

LATE = Scene(now=at("12:10:05"), cursor=done(at("12:00:10")), config=config(misfire_grace_s=2.0))


# Misfire


@pytest.mark.parametrize(
    ("late_s", "cause"), [(0.0, "schedule"), (2.0, "schedule"), (2.1, "misfire"), (9.0, "misfire")]
)
def test_due_within_the_grace_is_on_time(late_s: float, cause: str) -> None:
    """Up to the grace a late start is an ordinary one; later it is a misfire."""
    scene = Scene(now=at("12:00:10") + timedelta(seconds=late_s), config=config(misfire_grace_s=2.0))
    assert scene.run().cause == cause


def test_due_once_runs_the_latest_and_reports_the_others() -> None:
    """The policy *once* runs the latest missed fire and says which it drops."""
    run = LATE.run()
    assert (run.run_fire, run.cause) == (at("12:10:00"), Cause.MISFIRE)
    assert run.missed == Missed(
        first=at("12:00:20"), last=at("12:09:50"), reason="the misfire policy runs only the latest"
    )


def test_due_skip_runs_none_and_reports_all() -> None:
    """The policy *skip* counts all missed fires, the latest too, as missed and waits for the next."""
    settle = LATE.settle(config=config(misfire=Misfire.SKIP, misfire_grace_s=2.0))
    assert (settle.state, settle.fire) == (ItemState.MISSED, at("12:10:00"))
    assert settle.missed is not None
    assert (settle.missed.first, settle.missed.last) == (at("12:00:20"), at("12:10:00"))


def test_due_skip_on_time_runs() -> None:
    """The policy *skip* runs a fire that is not late, and reports what was missed before it."""
    run = LATE.run(now=at("12:10:01"), config=config(misfire=Misfire.SKIP, misfire_grace_s=2.0))
    assert run.run_fire == at("12:10:00")
    assert run.missed is not None


def test_due_all_runs_the_oldest_first() -> None:
    """The policy *all* runs every missed fire in order, none dropped within the bound."""
    scene = Scene(now=at("12:00:45"), cursor=done(at("12:00:10")), config=config(misfire=Misfire.ALL))
    fires = []
    while isinstance(decision := scene.decide(), Run):
        assert decision.missed is None
        fires.append(decision.run_fire)
        scene = Scene(now=scene.now, cursor=done(decision.fire), config=scene.config)
    assert fires == [at("12:00:20"), at("12:00:30"), at("12:00:40")]


def test_due_all_beyond_the_bound_reports_the_oldest() -> None:
    """The policy *all* runs the latest hundred and says which earlier ones it drops."""
    run = LATE.run(now=at("13:00:05"), config=config(misfire=Misfire.ALL))
    assert run.run_fire == at("13:00:00") - timedelta(seconds=10 * (MAX_CATCH_UP - 1))
    assert run.missed is not None
    assert (run.missed.first, run.missed.last) == (at("12:00:20"), run.run_fire - timedelta(seconds=10))


@pytest.mark.parametrize(
    ("policy", "starts"),
    [(Misfire.ONCE, [0, 25, 50, 75]), (Misfire.SKIP, [0, 30, 60, 90]), (Misfire.ALL, [0, 25, 50, 75])],
)
def test_due_of_a_run_that_overlaps_follows_the_policy(policy: Misfire, starts: list[int]) -> None:
    """A body of 25 s with a cron of 10 s starts at 0, 25, 50 when the latest is caught up, at 0, 30, 60 when not."""
    begin = at("12:00:10")
    scene = Scene(now=begin, config=config(misfire=policy))
    found: list[int] = []
    while scene.now < begin + timedelta(seconds=100):
        decision = scene.decide()
        if isinstance(decision, Run):
            found.append(int((scene.now - begin).total_seconds()))
            ended_at = scene.now + timedelta(seconds=25)
            scene = Scene(now=ended_at, cursor=done(decision.fire, ended_at=ended_at), config=scene.config)
        elif isinstance(decision, Settle):
            cursor = done(decision.fire, state=decision.state, ended_at=scene.cursor and scene.cursor.ended_at)
            scene = Scene(now=scene.now, cursor=cursor, config=scene.config)
        else:
            scene = Scene(now=scene.now + timedelta(seconds=1), cursor=scene.cursor, config=scene.config)
    assert found == starts


@pytest.mark.parametrize("policy", list(Misfire))
def test_due_after_ten_years_asks_the_cron_a_bounded_number_of_times(
    policy: Misfire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a per-second job missed in ten years is decided without looking at every fire."""
    asked_count = 0
    latest_fire, next_fire = Cron.latest_fire, Cron.next_fire

    def count_latest(cron: Cron, moment: datetime) -> datetime | None:
        nonlocal asked_count
        asked_count += 1
        return latest_fire(cron, moment)

    def count_next(cron: Cron, moment: datetime) -> datetime | None:
        nonlocal asked_count
        asked_count += 1
        return next_fire(cron, moment)

    monkeypatch.setattr(Cron, "latest_fire", count_latest)
    monkeypatch.setattr(Cron, "next_fire", count_next)
    begin = at("12:00:00").replace(year=2016)
    job = config(cron="* * * * * ?", armed_at=begin, misfire=policy, misfire_grace_s=0.0)
    decision = Scene(now=at("12:00:00.5"), cursor=done(begin), config=job).decide()
    assert decision is not None
    assert decision.missed is not None  # type: ignore[union-attr]  # a run or a settling, both have it
    assert asked_count <= MAX_CATCH_UP + 5


def test_due_when_paused_gives_up_what_had_not_started() -> None:
    """A fire that was due at the pause is told as missed, once; one after the pause is nobody's."""
    paused = config(paused=True, paused_at=at("12:00:25"))
    scene = Scene(now=at("12:00:45"), cursor=done(at("12:00:10"), ended_at=at("12:00:40")), config=paused)
    settle = scene.settle()
    assert (settle.state, settle.fire) == (ItemState.MISSED, at("12:00:20"))
    assert settle.missed == Missed(
        first=at("12:00:20"), last=at("12:00:20"), reason="the job was paused before it could start"
    )
    assert Scene(now=at("12:00:45"), cursor=done(at("12:00:20")), config=paused).decide() is None
    assert Scene(now=at("12:00:45"), cursor=done(at("12:00:10")), config=config(paused=True)).decide() is None
