"""Executors that join, leave, die, freeze and come back, seen from the jobs' own record."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.fleet.fleet_harness import T_S, let_pass, wait_until

if TYPE_CHECKING:
    from tests.fleet.fleet_harness import Fleet

pytestmark = pytest.mark.fleet

EVERY_SECOND = "* * * * * ?"
DEAD_S = T_S + 1.0
"""A killed executor's items run elsewhere within this."""


def test_join_and_clean_leave_items_follow_within_a_second_and_nothing_doubles(fleet: Fleet) -> None:
    """A joiner takes its share, a leaver's items move at once, and each fire runs each item once."""
    fleet.start("e1")
    fleet.create("j", cron=EVERY_SECOND, items=4)
    wait_until(lambda: len(fleet.runs("j")) >= 4, "the first fire")
    fleet.start("e2")
    wait_until(lambda: len(fleet.owners("j").get("e2", [])) == 2, "the joiner's share")
    wait_until(lambda: any(run.executor == "e2" for run in fleet.runs("j")), "the joiner's first run")
    assert fleet.executors["e1"].stop() == 0
    wait_until(lambda: fleet.owners("j") == {"e2": [0, 1, 2, 3]}, "the leaver's items to move", 2.0)
    count = len(fleet.runs("j"))
    wait_until(lambda: len(fleet.runs("j")) >= count + 8, "two more fires")
    fires = {run.fire for run in fleet.runs("j")}
    complete = sorted(fires)[:-1]
    assert all(sum(run.fire == fire for run in fleet.runs("j")) == 4 for fire in complete)
    assert max(complete) - min(complete) <= (len(complete) + 1) * (complete[1] - complete[0])


def test_kill_in_the_middle_of_a_run_unfinished_items_run_again_elsewhere(fleet: Fleet) -> None:
    """What a killed executor left unfinished runs again within T + 1 s; what it had finished does not."""
    fleet.start("e1", "e2")
    fleet.create("j", items=4, param="hold=3")
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: len(fleet.running("j")) == 4, "all items to run")
    victims = [run for run in fleet.running("j") if run.executor == "e1"]
    fleet.executors["e1"].kill()
    killed_at = max(run.last for run in victims)
    again = wait_until(
        lambda: [run for run in fleet.runs("j") if run.cause == "failover"] if len(fleet.runs("j")) == 6 else [],
        "the two unfinished items to run again",
    )
    assert {run.item for run in again} == {run.item for run in victims}
    assert {run.executor for run in again} == {"e2"}
    assert {run.attempt for run in again} == {2}
    assert max(run.start for run in again) - killed_at < DEAD_S
    wait_until(
        lambda: (
            not [run for run in again if run.end is None and not fleet.runs("j")]
            and all(run.outcome == "end" for run in fleet.runs("j") if run.attempt == 2)
        ),
        "the runs to end",
    )
    let_pass(1.0)
    assert len(fleet.runs("j")) == 6


def test_kill_with_failover_off_unfinished_items_wait_for_the_next_fire(fleet: Fleet) -> None:
    """Without failover an abandoned run is marked lost and not repeated."""
    fleet.start("e1", "e2")
    fleet.create("j", items=2, param="hold=60", failover=False)
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: len(fleet.running("j")) == 2, "all items to run")
    victim = next(run for run in fleet.running("j") if run.executor == "e1")
    fleet.executors["e1"].kill()

    def is_lost() -> bool:
        cursor = next(c for c in fleet.cursors("j") if c["item"] == victim.item)
        return bool(cursor["state"] == "lost")

    wait_until(is_lost, "the abandoned item to be marked lost")
    assert len(fleet.runs("j")) == 2


def test_restart_under_the_same_name_takes_over_at_once(fleet: Fleet) -> None:
    """A killed executor that starts again under its name does not wait for its predecessor's session."""
    fleet.start("e1")
    fleet.create("j", cron=EVERY_SECOND, items=2)
    wait_until(lambda: fleet.runs("j"), "the first run")
    fleet.executors["e1"].kill()
    started_at = fleet.runs("j")[-1].last
    fleet.start("e1")
    run = wait_until(lambda: [r for r in fleet.runs("j") if r.start > started_at + 0.2], "it to run again")[0]
    assert run.start - started_at < T_S


def test_name_of_a_living_executor_is_refused_with_its_holder(fleet: Fleet) -> None:
    """A second executor of one name ends with exit code 5 and names the holder."""
    fleet.start("e1")
    holder = fleet.executors["e1"]
    fleet.start("e1", wait=False)
    second = fleet.executors["e1"]
    assert second.process.wait(T_S + 20) == 5
    assert f"process {holder.process.pid}" in second.log.read_text()
    fleet.executors["e1"] = holder
    assert holder.process.poll() is None


def test_frozen_executor_items_are_dead_before_others_start_and_it_rejoins(fleet: Fleet) -> None:
    """A frozen executor's items are killed by its warden before anybody else starts them; thawed, it works again."""
    fleet.start("e1", "e2")
    fleet.create("j", items=2, param="hold=30")
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: len(fleet.running("j")) == 2, "all items to run")
    victim = next(run for run in fleet.running("j") if run.executor == "e1")
    fleet.executors["e1"].freeze()
    again = wait_until(
        lambda: [run for run in fleet.runs("j") if run.item == victim.item and run.executor == "e2"],
        "the frozen executor's item to run elsewhere",
    )[0]
    dead = next(run for run in fleet.runs("j") if run.run == victim.run)
    assert again.start > dead.last
    fleet.executors["e1"].thaw()
    wait_until(lambda: fleet.owners("j").get("e1"), "the thawed executor to own an item again")
    fleet.admin.commands.stop("j", by="test")
    wait_until(lambda: all(item["state"] == "stopped" for item in fleet.cursors("j")), "stop")
    fleet.admin.jobs.update("j", {"param": ""})
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: any(run.executor == "e1" and run.job_param == "" for run in fleet.runs("j")), "it to run again")


def test_drain_running_items_finish_and_the_rest_moves(fleet: Fleet) -> None:
    """A drained executor finishes what runs, starts nothing more, and stays drained over a restart."""
    fleet.start("e1", "e2")
    fleet.create("j", items=4, param="hold=2")
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: len(fleet.running("j")) == 4, "all items to run")
    fleet.admin.executors.drain("e1", now=False, by="test")
    wait_until(lambda: fleet.owners("j") == {"e2": [0, 1, 2, 3]}, "the items to move")
    wait_until(lambda: len([run for run in fleet.runs("j") if run.outcome == "end"]) == 4, "all runs to end")
    assert {run.attempt for run in fleet.runs("j")} == {1}
    fleet.executors["e1"].stop()
    fleet.start("e1")
    assert fleet.live()["e1"]["state"] == "drained"
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: len(fleet.runs("j")) == 8, "the second trigger")
    assert {run.executor for run in fleet.runs("j")[4:]} == {"e2"}
    fleet.admin.executors.undrain("e1")
    wait_until(lambda: len(fleet.owners("j").get("e1", [])) == 2, "the share to come back")


def test_drain_now_running_items_fail_over(fleet: Fleet) -> None:
    """A drain with --now stops what runs, and it runs again elsewhere."""
    fleet.start("e1", "e2")
    fleet.create("j", items=2, param="hold=3")
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: len(fleet.running("j")) == 2, "all items to run")
    fleet.admin.executors.drain("e1", now=True, by="test")
    again = wait_until(lambda: [run for run in fleet.runs("j") if run.attempt == 2], "the stopped item to run again")
    assert again[0].executor == "e2"
    wait_until(lambda: again[0].item in {run.item for run in fleet.runs("j") if run.outcome == "end"}, "it to end")


def test_leader_killed_firing_goes_on_and_nothing_else_moves(fleet: Fleet) -> None:
    """The others fire on while there is no leader; the new one moves only the dead one's items."""
    fleet.start("e1", "e2", "e3")
    fleet.create("j", cron=EVERY_SECOND, items=6)
    leader = wait_until(lambda: fleet.status()["leader"], "a leader")
    wait_until(lambda: len(fleet.runs("j")) >= 6, "the first fire")
    before = fleet.owners("j")
    fleet.executors[leader].kill()
    gone_at = fleet.runs("j")[-1].start
    others = set(before) - {leader}
    new = wait_until(lambda: (s := fleet.status()["leader"]) and s != leader and s, "a new leader", T_S + 3)
    assert new in others
    wait_until(lambda: sum(map(len, fleet.owners("j").values())) == 6 and leader not in fleet.owners("j"), "owners")
    after = fleet.owners("j")
    assert all(set(before[name]) <= set(after[name]) for name in others)
    fires = [run for run in fleet.runs("j") if run.executor in others and gone_at < run.start < gone_at + T_S]
    assert len({run.fire for run in fires}) >= 2


def test_clean_stop_in_the_middle_of_a_run_item_goes_on_elsewhere(fleet: Fleet) -> None:
    """An item that gives way at a clean stop goes on elsewhere; the executor ends with exit code 0 within the grace."""
    fleet.start("e1", grace="4")
    fleet.start("e2", grace="4")
    fleet.create("j", items=2, param="hold=20 poll")
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: len(fleet.running("j")) == 2, "all items to run")
    assert fleet.executors["e1"].stop() == 0
    again = wait_until(lambda: [run for run in fleet.runs("j") if run.attempt == 2], "the item to go on")
    assert again[0].executor == "e2"


def test_second_signal_speeds_a_stop_up(fleet: Fleet) -> None:
    """A second SIGTERM ends the grace."""
    fleet.start("e1", grace="60")
    fleet.create("j", items=1, param="hold=60")
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: fleet.running("j"), "the item to run")
    fleet.executors["e1"].signal(signal.SIGTERM)
    wait_until(lambda: fleet.live()["e1"]["state"] != "live", "it to say that it stops")
    fleet.executors["e1"].signal(signal.SIGTERM)
    assert fleet.executors["e1"].process.wait(15) == 0


def test_warden_killed_its_items_run_again_on_the_same_executor(fleet: Fleet) -> None:
    """A lost warden takes its items with it; they are run again at once, and the executor goes on."""
    fleet.start("e1")
    fleet.create("j", items=2, param="hold=2")
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: len(fleet.running("j")) == 2, "all items to run")
    warden = wait_until(lambda: fleet.executors["e1"].children("launch.py"), "the warden's process")[0]
    os.kill(warden, signal.SIGKILL)
    wait_until(lambda: len([run for run in fleet.runs("j") if run.outcome == "end"]) == 2, "both to come to their end")
    assert sorted(run.attempt for run in fleet.runs("j")) == [1, 1, 2, 2]
