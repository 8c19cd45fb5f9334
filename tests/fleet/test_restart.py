"""Restarts of everything at once, again and again, and while the registry is away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fleet.fleet_harness import T_S, Fleet, fleet_on, let_pass, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.zookeeper_server import ServerProcess

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(180)]

EVERY_SECOND = "* * * * * ?"


def test_all_executors_killed_and_started_at_once_jobs_fire_again(fleet: Fleet) -> None:
    """After kill -9 of all and a start of all, jobs fire within T, and no item is run twice at once."""
    fleet.start("e1", "e2")
    fleet.create("j", cron=EVERY_SECOND, items=4, param="hold=0.5")
    wait_until(lambda: len(fleet.runs("j")) >= 4, "the first fire")
    for _ in range(2):
        fleet.executors["e1"].kill()
        fleet.executors["e2"].kill()
        last = max(run.last for run in fleet.runs("j"))
        fleet.start("e1", "e2")
        wait_until(lambda: fleet.runs("j")[-1].start > last, "runs to begin", T_S + 3)  # noqa: B023 - waited for here
    wait_until(lambda: {run.executor for run in fleet.runs("j")[-8:]} == {"e1", "e2"}, "both to run")


def test_many_jobs_and_restarts_every_item_keeps_one_owner(fleet: Fleet) -> None:
    """However often an executor is restarted, the owned items of all jobs are all of them, each once."""
    fleet.start("e1", "e2")
    names = [f"j{number}" for number in range(20)]
    for name in names:
        fleet.admin.jobs.create(name, {"handler": "told", "cron": "0 0 0 1 1 ? 2099", "items": 3})

    def owned() -> dict[str, list[int]]:
        jobs = {job["name"]: job for job in fleet.status()["jobs"]}
        return {name: sorted(item for items in jobs[name]["owners"].values() for item in items) for name in names}

    whole = {name: [0, 1, 2] for name in names}
    for _ in range(3):
        wait_until(lambda: owned() == whole, "every item to have one owner")
        fleet.executors["e1"].stop()
        fleet.start("e1")
    wait_until(lambda: owned() == whole, "every item to have one owner")

    def is_even() -> bool:
        counts = [executor["items"] for executor in fleet.live().values()]
        return len(counts) == 2 and max(counts) - min(counts) <= 2

    wait_until(is_even, "evenness")


def test_trigger_right_after_kill_and_restart_runs_once(fleet: Fleet) -> None:
    """A trigger pressed while an executor comes back under its name is run once, by the new process."""
    fleet.start("e1")
    fleet.create("j", items=1)
    for number in range(3):
        fleet.executors["e1"].kill()
        fleet.start("e1", wait=False)
        wait_until(lambda: fleet.owners("j"), "an owner")
        fleet.admin.commands.trigger("j", by="test")
        wait_until(lambda: len(fleet.runs("j")) == number + 1, "the run")  # noqa: B023 - waited for here
        # Killed before its end is recorded, it would rightly run again.
        wait_until(lambda: [cursor["state"] for cursor in fleet.cursors("j")] == ["done"], "the run to be recorded")
    let_pass(1.0)
    assert len(fleet.runs("j")) == 3


def test_stop_while_zookeeper_is_away_ends_within_the_grace(own_zookeeper: ServerProcess, tmp_path: Path) -> None:
    """SIGTERM ends an executor also when the registry does not answer, its items dead."""
    with fleet_on(f"zk://{own_zookeeper.hosts}/away?tick=0.5", tmp_path / "fleet") as fleet:
        fleet.start("e1", grace="3")
        fleet.create("j", items=1, param="hold=60 ignore")
        fleet.admin.commands.trigger("j", by="test")
        run = wait_until(lambda: fleet.running("j"), "the item to run")[0]
        own_zookeeper.kill()
        fleet.executors["e1"].stop(25.0)
        last = fleet.runs("j")[0].last
        let_pass(0.5)
        assert fleet.runs("j")[0].last == last
        assert run.end is None
        own_zookeeper.start()
