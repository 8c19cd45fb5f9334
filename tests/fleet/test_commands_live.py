"""What people do to jobs while a fleet runs them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from tests.fleet.fleet_harness import let_pass, wait_until

if TYPE_CHECKING:
    from tests.fleet.fleet_harness import Fleet

pytestmark = pytest.mark.fleet

EVERY_SECOND = "* * * * * ?"


def test_pause_in_the_middle_of_a_fire_lets_it_end_and_starts_no_other(fleet: Fleet) -> None:
    """Runs under way end, nothing new starts, and after a resume no paused fire is made up for."""
    fleet.start("e1", "e2")
    fleet.create("j", cron=EVERY_SECOND, items=2, param="hold=1.5")
    wait_until(lambda: len(fleet.running("j")) == 2, "the first fire")
    fleet.admin.jobs.pause("j")
    wait_until(lambda: not fleet.running("j"), "the runs to end")
    count = len(fleet.runs("j"))
    let_pass(2.5)
    assert len(fleet.runs("j")) == count
    assert fleet.job("j")["state"] == "paused"
    paused_until = max(run.fire for run in fleet.runs("j"))
    fleet.admin.jobs.resume("j")
    wait_until(lambda: len(fleet.runs("j")) > count, "the next fire")
    first = fleet.runs("j")[count]
    assert (first.fire - paused_until).total_seconds() > 2.0
    assert first.cause == "schedule"


def test_trigger_while_paused_runs_each_item_once_for_each_press(fleet: Fleet) -> None:
    """A press runs each item once, paused or not, with its parameter, and leaves the schedule alone."""
    fleet.start("e1", "e2")
    fleet.create("j", items=3, param="", paused=True)
    for number in range(3):
        fleet.admin.commands.trigger("j", param=f"press{number}", by="test")
    wait_until(lambda: len(fleet.runs("j")) == 9, "three presses of three items")
    let_pass(1.0)
    runs = fleet.runs("j")
    assert len(runs) == 9
    assert {run.cause for run in runs} == {"manual"}
    for item in range(3):
        assert [run.job_param for run in runs if run.item == item] == ["press0", "press1", "press2"]
    assert fleet.job("j")["state"] == "paused"


def test_trigger_of_chosen_items_runs_only_those(fleet: Fleet) -> None:
    """Items can be chosen."""
    fleet.start("e1")
    fleet.create("j", items=4)
    fleet.admin.commands.trigger("j", only=(1, 3), by="test")
    wait_until(lambda: len(fleet.runs("j")) == 2, "two runs")
    let_pass(0.7)
    assert sorted(run.item for run in fleet.runs("j")) == [1, 3]


def test_stop_kills_running_items_without_failover(fleet: Fleet) -> None:
    """Stopped items are dead, also one that ignores SIGTERM, and are not run again."""
    fleet.start("e1", "e2")
    fleet.create("j", items=2, param="hold=60 ignore", stop_grace_s=1.0)
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: len(fleet.running("j")) == 2, "all items to run")
    fleet.admin.commands.stop("j", by="test")
    wait_until(
        lambda: [c["state"] for c in fleet.cursors("j")] == ["stopped", "stopped"],
        "both items to be stopped",
        8.0,
    )
    last = max(run.last for run in fleet.runs("j"))
    let_pass(1.5)
    assert len(fleet.runs("j")) == 2
    assert max(run.last for run in fleet.runs("j")) == last


def test_edit_of_the_item_count_while_running_keeps_one_count_in_each_fire(fleet: Fleet) -> None:
    """Growing and shrinking while fires come every second: all items of one fire run with one count."""
    fleet.start("e1", "e2")
    fleet.create("j", cron=EVERY_SECOND, items=3)
    for count in (6, 2, 5, 4):
        fleet.admin.jobs.update("j", {"items": count})
        wait_until(lambda: count in {run.items for run in fleet.runs("j")}, f"a fire of {count} items")  # noqa: B023 - waited for here
    newest = max(run.fire for run in fleet.runs("j"))
    wait_until(lambda: max(run.fire for run in fleet.runs("j")) > newest, "one more fire")
    runs = [run for run in fleet.runs("j") if run.fire <= newest]
    for fire in {run.fire for run in runs}:
        some = [run for run in runs if run.fire == fire]
        assert len({run.items for run in some}) == 1
        assert sorted(run.item for run in some) == list(range(some[0].items)), fire
    wait_until(
        lambda: sorted(i for some in fleet.owners("j").values() for i in some) == [0, 1, 2, 3], "tidy owners", 60.0
    )


def test_edit_of_the_cron_takes_effect_at_once_and_keeps_a_pause(fleet: Fleet) -> None:
    """A new expression rules from the moment it is written; a paused job that is edited stays paused."""
    fleet.start("e1")
    fleet.create("j", items=1)
    fleet.admin.jobs.update("j", {"cron": EVERY_SECOND})
    wait_until(lambda: len(fleet.runs("j")) >= 2, "fires by the new expression")
    fleet.admin.jobs.pause("j")
    fleet.admin.jobs.update("j", {"cron": "0/2 * * * * ?"})
    wait_until(lambda: not fleet.running("j"), "runs to end")
    count = len(fleet.runs("j"))
    let_pass(2.5)
    assert len(fleet.runs("j")) == count
    assert fleet.job("j")["state"] == "paused"


def test_deleted_and_made_again_job_fires_by_the_new_one_only(fleet: Fleet) -> None:
    """Deleting stops the items and removes all; a job of the same name made at once is another job."""
    fleet.start("e1", "e2")
    fleet.create("j", items=2, param="hold=60")
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: len(fleet.running("j")) == 2, "all items to run")
    fleet.admin.jobs.delete("j", wait_s=20.0)
    assert "j" not in {job["name"] for job in fleet.status()["jobs"]}
    fleet.create("j", cron=EVERY_SECOND, items=1)
    wait_until(lambda: len([run for run in fleet.runs("j") if run.items == 1]) >= 2, "the new job to fire")
    assert len([run for run in fleet.runs("j") if run.items == 2]) == 2


def test_misfire_policies_after_an_outage_of_all_executors(fleet: Fleet) -> None:
    """After an outage `once` runs the latest missed fire, `skip` none of them, `all` each in order."""
    fleet.start("e1")
    for policy in ("once", "skip", "all"):
        fleet.create(policy, cron=EVERY_SECOND, misfire=policy, misfire_grace_s=0.5)
    wait_until(lambda: {run.job for run in fleet.runs()} == {"once", "skip", "all"}, "all to fire")
    fleet.executors["e1"].stop()
    before = {job: max(run.fire for run in fleet.runs(job)) for job in ("once", "skip", "all")}
    let_pass(4.0)
    fleet.start("e1")
    wait_until(lambda: all(max(run.fire for run in fleet.runs(job)) > before[job] for job in before), "all to fire")
    wait_until(
        lambda: any(run.cause == "schedule" and run.fire > before["all"] for run in fleet.runs("all")), "catch-up"
    )
    after = {job: [run for run in fleet.runs(job) if run.fire > before[job]] for job in before}
    assert (after["once"][0].fire - before["once"]).total_seconds() >= 4.0
    assert after["once"][0].cause in {"misfire", "schedule"}
    assert all(run.cause == "schedule" for run in after["skip"])
    gaps = [(b.fire - a.fire).total_seconds() for a, b in zip(after["all"], after["all"][1:], strict=False)]
    assert (after["all"][0].fire - before["all"]).total_seconds() == 1.0
    assert set(gaps) <= {1.0}
    assert after["all"][0].cause == "misfire"


def test_overlap_is_never_doubled_and_follows_the_policy(fleet: Fleet) -> None:
    """A run still going at the next fire is let end: `once` then runs the latest missed fire, `skip` waits."""
    fleet.start("e1")
    fleet.create("once", cron=EVERY_SECOND, param="hold=2.4", misfire="once")
    fleet.create("skip", cron=EVERY_SECOND, param="hold=2.4", misfire="skip")
    wait_until(lambda: len(fleet.runs("once")) >= 3 and len(fleet.runs("skip")) >= 3, "three runs each")
    once, skip = fleet.runs("once"), fleet.runs("skip")
    assert once[1].cause == "misfire"
    assert {run.cause for run in skip} == {"schedule"}
    assert all((b.fire - a.fire).total_seconds() >= 3.0 for a, b in itertools.pairwise(skip))


def test_broken_records_hold_their_own_job_only(fleet: Fleet) -> None:
    """Rubbish in one job's nodes holds that job, with a reason; every other job fires."""
    fleet.start("e1", "e2")
    fleet.create("good", cron=EVERY_SECOND, items=2)
    registry, paths = fleet.registry()
    from shardsched.registry.base import Create, Put

    values = {"rubbish": b"\xff\x00{", "newer": b'{"format":99}', "list": b"[]", "empty": b""}
    for name, value in values.items():
        registry.transact([Create(paths.job(name), value)])
    fleet.create("badcron", items=1)
    stored = registry.get(paths.job("badcron"))
    assert stored is not None
    registry.transact([Put(paths.job("badcron"), stored.value.replace(b"0 0 0 1 1 ? 2099", b"0 0 0 30 2 ?"))])
    fleet.create("ghosts", cron=EVERY_SECOND, items=2)
    node = registry.get(paths.assignment("ghosts"))
    assert node is not None
    registry.transact([Put(paths.assignment("ghosts"), b'{"format":1,"layouts":"x"}')])
    count = len(fleet.runs("good"))
    wait_until(lambda: len(fleet.runs("good")) >= count + 4, "the good job to go on")
    jobs = {job["name"]: job for job in fleet.status()["jobs"]}
    for name in values:
        assert jobs[name]["state"] == "held"
        assert jobs[name]["reason"]
    assert jobs["newer"]["reason"].count("newer release") == 1
    assert jobs["badcron"]["state"] == "held"
    assert "cron" in jobs["badcron"]["reason"]
    ghosts = len(fleet.runs("ghosts"))
    wait_until(lambda: len(fleet.runs("ghosts")) >= ghosts + 2, "the leader to write a new assignment")
