"""What the loop does about runs that fail: retries, what is given up, and who is told."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from shardsched.core.assignment import decode_assignment, encode_assignment
from shardsched.core.command import Commands, encode_commands
from shardsched.core.fire import Cause, ItemState
from shardsched.loop.message import Ended
from shardsched.registry.base import Create, Put
from tests.coordination.stage import Stage, lose_reply
from tests.loop.actor import Actor, actor, pass_fire

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shardsched.core.job import JobConfig

RETRIES = {"cron": "0 * * * * ?", "retries": 1, "retry_delay_s": 10.0, "owners": {"e1": (0,)}}


@pytest.fixture(autouse=True)
def _hear_everything(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, "shardsched"):
        yield


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Return the events of failures, with their levels."""
    known = {"retry_planned", "retry_given_up", "run_failed_for_good"}
    events = [(vars(record).get("event"), record.levelname) for record in caplog.records]
    return [(event, level) for event, level in events if event in known]


def wait(stage: Stage, one: Actor, seconds: float) -> None:
    """Let time pass and step."""
    for _ in range(round(seconds / 2.0)):
        stage.clock.advance(2.0)
        stage.people.get("/")
        one.client.lease.beat()
    one.step()


def start(stage: Stage, **changes: object) -> tuple[Actor, JobConfig]:
    """Return an executor that runs the first fire of a job with one retry."""
    config = stage.add_job(**(RETRIES | changes))  # type: ignore[arg-type]  # settings of a job
    e1 = actor(stage, "e1")
    e1.step()
    wait(stage, e1, 60)
    assert e1.items == [0]
    return e1, config


def fail(one: Actor, index: int = -1) -> None:
    """Have a run fail."""
    run_id = one.body.launched[index].marker.run
    one.loop.post(
        Ended(
            run_id=run_id,
            state=ItemState.FAILED,
            message="timeout: too slow",
            outcome="timeout",
            traceback="Traceback",
            log_path="/logs/x",
        )
    )
    one.step()


def test_failed_run_is_tried_again_and_then_told_for_good(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """A failure with a retry left is planned again with the same fire; the last one raises the alarm, once."""
    e1, _ = start(stage, param="p")
    fail(e1)
    cursor = stage.cursor()
    assert cursor is not None
    assert (cursor.state, cursor.failures, cursor.job_param, stage.has_marker()) == (ItemState.FAILED, 1, "p", False)
    assert cursor.retry_at is not None
    assert e1.wakes[-1] == cursor.retry_at
    wait(stage, e1, 6)
    assert e1.items == [0]
    wait(stage, e1, 8)
    run = e1.body.launched[-1].run
    assert (run.cause, run.attempt, run.run_fire) == (Cause.RETRY, 2, e1.body.launched[0].run.run_fire)
    fail(e1)
    cursor = stage.cursor()
    assert cursor is not None
    assert (cursor.state, cursor.failures, cursor.retry_at, cursor.job_param) == (ItemState.FAILED, 2, None, None)
    assert told(caplog) == [("retry_planned", "WARNING"), ("run_failed_for_good", "ERROR")]
    wait(stage, e1, 20)
    assert e1.items == [0, 0]


def test_failed_run_is_tried_again_by_whoever_owns_the_item_then(stage: Stage) -> None:
    """The retry is in the registry: it survives the executor on which the run failed."""
    e1, _ = start(stage)
    fail(e1)
    node = stage.people.get(stage.paths.assignment("j"))
    assert node is not None
    moved = replace(decode_assignment(node.path, node.value), owners={"e2": (0,)})
    stage.write([Put(node.path, encode_assignment(moved))])
    e2 = actor(stage, "e2")
    e2.step()
    wait(stage, e2, 14)
    assert [claimed.run.cause for claimed in e2.body.launched] == [Cause.RETRY]


def test_failed_run_superseded_by_a_newer_fire_is_told(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """A fire that comes before the retry takes its place: that is told, and is a failure for good."""
    e1, _ = start(stage, retry_delay_s=90.0, on_failure="shop:mourn")
    fail(e1)
    wait(stage, e1, 60)
    assert [claimed.run.cause for claimed in e1.body.launched] == [Cause.SCHEDULE, Cause.SCHEDULE]
    assert [event for event, _ in told(caplog)] == ["retry_planned", "retry_given_up", "run_failed_for_good"]
    place, report = e1.body.reports[0]
    first = e1.body.launched[0]
    assert (place, report.run_id, report.fire, report.attempt) == (
        "shop:mourn",
        first.marker.run,
        first.run.run_fire,
        1,
    )
    assert report.message == "timeout: too slow; not tried again: a newer fire has come"


def test_failed_run_is_not_tried_again_after_a_stop(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """A stop gives a pending retry up at once."""
    e1, config = start(stage)
    fail(e1)
    stage.write([Create(stage.paths.commands("j"), encode_commands(Commands(uid=config.uid, stop=1)))])
    e1.step()
    cursor = stage.cursor()
    assert cursor is not None
    assert (cursor.state, cursor.retry_at, cursor.message) == (ItemState.FAILED, None, "timeout: too slow")
    assert [event for event, _ in told(caplog)] == ["retry_planned", "retry_given_up", "run_failed_for_good"]
    wait(stage, e1, 20)
    assert e1.items == [0]


def test_stopped_and_interrupted_runs_are_not_tried_again(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """What was stopped by people is over; what was interrupted is run again, which uses up no retry."""
    e1, _ = start(stage)
    e1.end(state=None)
    e1.step()
    failover = e1.body.launched[-1]
    assert (failover.run.cause, failover.run.failures) == (Cause.FAILOVER, 0)
    e1.end(state=ItemState.STOPPED)
    e1.step()
    wait(stage, e1, 20)
    assert (e1.items, told(caplog)) == ([0, 0], [])


def test_failure_whose_answer_was_lost_is_told_once(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """An outcome that was written by a transaction without an answer is told like any other."""
    e1, _ = start(stage, retries=0)
    lose_reply(e1.client.registry)
    fail(e1)
    stage.clock.advance(1.5)
    e1.client.lease.beat()
    e1.step()
    assert told(caplog) == [("run_failed_for_good", "ERROR")]
    assert not stage.has_marker()


@pytest.mark.parametrize(
    ("how", "level", "root"),
    [
        ("log", "ERROR", 0),
        ("ignore", "DEBUG", 0),
        ("raise", "ERROR", 1),
        ("shop:mourn", "ERROR", 0),
        ("no word", "ERROR", 0),
    ],
)
def test_failure_for_good_is_told_as_the_job_says(
    stage: Stage, caplog: pytest.LogCaptureFixture, how: str, level: str, root: int
) -> None:
    """It is logged, silent, logged for the whole process with its traceback, or given to a function."""
    e1, _ = start(stage, retries=0, on_failure=how)
    fail(e1)
    assert told(caplog) == [("run_failed_for_good", level)]
    loud = [record for record in caplog.records if record.name == "root" and record.levelname == "CRITICAL"]
    assert len(loud) == root
    assert all("timeout: too slow\nTraceback" in record.getMessage() for record in loud)
    reports = [(place, report.outcome, report.traceback, report.log_path) for place, report in e1.body.reports]
    wanted = [(how, "timeout", "Traceback", "/logs/x")] if how == "shop:mourn" else []
    assert reports == wanted


def test_disabled_item_has_its_fires_counted_as_handled(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """Its owner settles them as they come, quietly; once enabled it runs the next fire only."""
    config = stage.add_job(items=2, owners={"e1": (0, 1)}, disabled_items=(1,))
    e1 = actor(stage, "e1")
    e1.step()
    for _ in range(2):
        pass_fire(stage, e1)
        e1.step()
        e1.end()
        e1.step()
    assert e1.items == [0, 0]
    cursor = stage.cursor(1)
    assert cursor is not None
    assert (cursor.state, cursor.fire) == (ItemState.MISSED, stage.clock.now())
    levels = {record.levelname for record in caplog.records if vars(record).get("event") == "fires_missed"}
    assert levels == {"INFO"}
    stage.edit_job(replace(config, disabled_items=()))
    e1.step()
    assert e1.items == [0, 0]
    pass_fire(stage, e1)
    e1.step()
    assert sorted(e1.items) == [0, 0, 0, 1]
    assert e1.body.launched[-1].run.missed is None


def test_job_with_an_unreadable_pause_window_is_held(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """A window that was written by hand holds its own job with a reason, and harms no other."""
    stage.add_job("bad", owners={"e1": (0,)}, pause=("25:00-26:00",))
    stage.add_job("good", owners={"e1": (0,)})
    e1 = actor(stage, "e1")
    e1.step()
    pass_fire(stage, e1)
    e1.step()
    assert [claimed.job for claimed in e1.body.launched] == ["good"]
    held = [record.getMessage() for record in caplog.records if vars(record).get("event") == "job_held"]
    assert len(held) == 1
    assert "'25:00-26:00'" in held[0]


def test_pause_window_holds_a_job_until_its_end(stage: Stage) -> None:
    """No fire comes in a window, and the executor sleeps until it ends."""
    stage.add_job(owners={"e1": (0,)}, pause=("12:00-12:02",))
    e1 = actor(stage, "e1")
    e1.step()
    assert e1.wakes[-1] == stage.clock.now() + timedelta(minutes=2)
    wait(stage, e1, 110)
    assert e1.items == []
    wait(stage, e1, 10)
    assert [claimed.run.run_fire for claimed in e1.body.launched] == [stage.clock.now()]
