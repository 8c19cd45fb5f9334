"""Retries, pause windows, jobs without a cron, disabled items and priorities, on real executors."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.fleet.fleet_harness import let_pass, wait_until

if TYPE_CHECKING:
    from tests.fleet.fleet_harness import Fleet

pytestmark = pytest.mark.fleet

EVERY_SECOND = "* * * * * ?"


def failures(fleet: Fleet) -> list[dict[str, Any]]:
    """Return what the function that jobs name for their failures was told."""
    record = fleet.record.with_suffix(".failures")
    lines = record.read_text().splitlines() if record.exists() else []
    return [json.loads(line) for line in lines]


def test_retry_runs_the_fire_again_with_its_parameters_until_it_is_done(fleet: Fleet) -> None:
    """A job without a cron that is triggered fails twice and is done at the third attempt, with the press's parameter."""
    fleet.start("e1")
    fleet.create("j", cron="", items=2, param="", retries=5, retry_delay=0.3, retry_backoff=1.0)
    assert fleet.job("j")["next_fire"] is None
    fleet.admin.commands.trigger("j", param="fail=2", by="test")
    wait_until(lambda: [c["state"] for c in fleet.cursors("j")] == ["done", "done"], "both items to be done")
    for item in (0, 1):
        runs = [run for run in fleet.runs("j") if run.item == item]
        assert [(run.cause, run.attempt, run.outcome) for run in runs] == [
            ("manual", 1, "failed"),
            ("retry", 2, "failed"),
            ("retry", 3, "end"),
        ]
        assert {(run.job_param, run.fire) for run in runs} == {("fail=2", runs[0].fire)}
    let_pass(0.6)
    assert len(fleet.runs("j")) == 6


def test_retry_pending_survives_the_death_of_its_executor(fleet: Fleet) -> None:
    """The executor on which an item failed is killed: another one tries it again at its time."""
    fleet.start("e1")
    fleet.create("j", cron="", param="", retries=1, retry_delay=4.0)
    fleet.admin.commands.trigger("j", param="fail=1", by="test")
    wait_until(lambda: fleet.cursors("j")[0]["retry_at"], "the retry to be planned")
    fleet.executors["e1"].kill()
    fleet.start("e2")
    wait_until(lambda: fleet.cursors("j")[0]["state"] == "done", "the retry", 30.0)
    runs = fleet.runs("j")
    assert [(run.executor, run.cause, run.attempt) for run in runs] == [("e1", "manual", 1), ("e2", "retry", 2)]


def test_failure_for_good_is_told_to_the_function_in_a_process_of_its_own(fleet: Fleet) -> None:
    """After the last attempt, here one that ran into its time-out, it is told once, and none of foreign packages is."""
    fleet.start("e1")
    settings: dict[str, Any] = {
        "retries": 1,
        "retry_delay": 0.2,
        "timeout": 0.6,
        "stop_grace": 0.2,
        "on_failure": "fleet_jobs:mourn",
    }
    fleet.create("j", cron="", param="hold=30", **settings)
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: failures(fleet), "the function to be told")
    let_pass(0.5)
    (told,) = failures(fleet)
    runs = fleet.runs("j")
    assert (told["job"], told["item"], told["attempt"], told["outcome"]) == ("j", 0, 2, "timeout")
    assert told["run_id"] == runs[-1].run
    assert told["log_path"].endswith(f"{runs[-1].run}.log")
    assert told["pid"] != fleet.executors["e1"].process.pid
    assert [run.cause for run in runs] == ["manual", "retry"]
    log = fleet.executors["e1"].log.read_text()
    assert log.count("failed for good") == 1
    fleet.admin.jobs.update("j", {"on_failure": "shutil:rmtree", "timeout": None, "retries": 0, "param": "fail"})
    fleet.admin.commands.trigger("j", by="test")
    word = "shutil:rmtree is not told of a failure: it is in none of the packages"
    wait_until(lambda: word in fleet.executors["e1"].log.read_text(), "the function to be refused")


def test_pause_window_around_now_lets_nothing_fire_but_triggers(fleet: Fleet) -> None:
    """In a window nothing fires by itself; a press runs, and once the window is taken away the next fire comes."""
    now = datetime.now(UTC)  # noqa: TID251 - the window must lie around the executors' own now
    window = f"{now - timedelta(minutes=5):%H:%M}-{now + timedelta(minutes=30):%H:%M}"
    fleet.start("e1")
    fleet.create("j", cron=EVERY_SECOND, pause=[window])
    assert datetime.fromisoformat(fleet.job("j")["next_fire"]) > now + timedelta(minutes=28)
    let_pass(1.5)
    assert fleet.runs("j") == []
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: len(fleet.runs("j")) == 1, "the press")
    fleet.admin.jobs.update("j", {"pause": []})
    wait_until(lambda: len(fleet.runs("j")) > 1, "the next fire")
    assert [run.cause for run in fleet.runs("j")][:2] == ["manual", "schedule"]


def test_disabled_item_starts_nothing_and_is_not_made_up_for(fleet: Fleet) -> None:
    """The other items fire on; once it is enabled the item runs its next fires, none of those before."""
    fleet.start("e1")
    fleet.create("j", cron=EVERY_SECOND, items=2, misfire="all", disabled_items=[1])
    wait_until(lambda: len(fleet.runs("j")) >= 2, "some fires")
    assert "items 1 are disabled" in fleet.job("j")["reasons"]
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: any(run.cause == "manual" for run in fleet.runs("j")), "the press")
    assert {run.item for run in fleet.runs("j")} == {0}
    enabled_at = datetime.now(UTC)  # noqa: TID251 - to be compared with the executors' own times
    fleet.admin.jobs.enable("j", [1])
    wait_until(lambda: any(run.item == 1 for run in fleet.runs("j")), "the item to run")
    first = next(run for run in fleet.runs("j") if run.item == 1)
    assert first.fire > enabled_at - timedelta(seconds=1)
    assert first.cause == "schedule"


def test_priority_orders_what_waits_for_a_slot(fleet: Fleet) -> None:
    """With one slot taken, the job of the higher priority starts first, though it was asked for last."""
    fleet.start("e1", slots="1")
    for name, priority in (("busy", 0), ("low", -5), ("middle", 0), ("high", 5)):
        fleet.create(name, cron="", param="hold=1.5" if name == "busy" else "", priority=priority)
    fleet.admin.commands.trigger("busy", by="test")
    wait_until(lambda: fleet.running("busy"), "the slot to be taken")
    for name in ("low", "middle", "high"):
        fleet.admin.commands.trigger(name, by="test")
    wait_until(lambda: len(fleet.runs()) == 4, "all to run")
    assert [run.job for run in fleet.runs()] == ["busy", "high", "middle", "low"]
