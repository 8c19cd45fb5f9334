"""The registry restarted, away for long, and one executor cut off from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fleet.fleet_harness import T_S, Fleet, fleet_on, let_pass, wait_until
from tests.tcp_proxy import Mode, TcpProxy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.zookeeper_server import Server, ServerProcess

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(180)]

EVERY_SECOND = "* * * * * ?"


@pytest.fixture
def own_fleet(own_zookeeper: ServerProcess, tmp_path: Path) -> Iterator[Fleet]:
    """A fleet on a ZooKeeper of its own."""
    with fleet_on(f"zk://{own_zookeeper.hosts}/own?tick=0.5", tmp_path / "fleet") as fleet:
        yield fleet


def test_zookeeper_restarted_within_t_running_items_go_on(own_fleet: Fleet, own_zookeeper: ServerProcess) -> None:
    """A second without ZooKeeper stops nothing that runs and doubles nothing."""
    # A ZooKeeper takes up to 2.6 s to serve again on a busy machine, more than a lease of T = 4 s bears.
    own_fleet.start("e1", "e2", timeout_s="10")
    own_fleet.create("long", items=2, param="hold=5")
    own_fleet.create("often", cron=EVERY_SECOND, items=2)
    own_fleet.admin.commands.trigger("long", by="test")
    wait_until(lambda: len(own_fleet.running("long")) == 2, "the long items to run")
    own_zookeeper.kill()
    let_pass(0.5)
    own_zookeeper.start()
    wait_until(lambda: len([run for run in own_fleet.runs("long") if run.outcome == "end"]) == 2, "them to end")
    assert {run.attempt for run in own_fleet.runs("long")} == {1}
    count = len(own_fleet.runs("often"))
    wait_until(lambda: len(own_fleet.runs("often")) >= count + 4, "fires to go on")
    assert all(executor.process.poll() is None for executor in own_fleet.executors.values())


def test_zookeeper_away_longer_than_t_items_are_stopped_and_run_again(
    own_fleet: Fleet, own_zookeeper: ServerProcess
) -> None:
    """Without the registry items die by the end of the lease; when it is back all goes on, nobody having ended."""
    own_fleet.start("e1", "e2")
    own_fleet.create("long", items=2, param="hold=6")
    own_fleet.create("often", cron=EVERY_SECOND, items=2)
    own_fleet.admin.commands.trigger("long", by="test")
    wait_until(lambda: len(own_fleet.running("long")) == 2, "the long items to run")
    own_zookeeper.kill()
    gone_at = max(run.last for run in own_fleet.runs("long"))
    let_pass(T_S + 3.0)
    last = max(run.last for run in own_fleet.runs())
    assert last - gone_at < T_S
    let_pass(0.5)
    assert max(run.last for run in own_fleet.runs()) == last
    own_zookeeper.start()
    wait_until(
        lambda: len([r for r in own_fleet.runs("long") if r.outcome == "end"]) == 2, "both to be run again", 40.0
    )
    count = len(own_fleet.runs("often"))
    wait_until(lambda: len(own_fleet.runs("often")) >= count + 4, "fires to go on")
    assert all(executor.process.poll() is None for executor in own_fleet.executors.values())
    missed = [run for run in own_fleet.runs("often") if run.cause == "misfire"]
    assert len(missed) <= 4


@pytest.mark.parametrize("mode", [Mode.STALL, Mode.REFUSE])
def test_executor_cut_off_items_are_dead_before_others_start(
    fleet: Fleet, zookeeper: Server, zk_chroot: str, mode: Mode
) -> None:
    """An executor cut off from ZooKeeper stops its items by its own clock, and takes part again when healed."""
    with TcpProxy.to(zookeeper.hosts) as proxy:
        fleet.start("e1", url=f"zk://{proxy.address}{zk_chroot}?tick=0.5")
        fleet.start("e2")
        fleet.create("j", items=2, param="hold=40")
        fleet.admin.commands.trigger("j", by="test")
        wait_until(lambda: len(fleet.running("j")) == 2, "all items to run")
        victim = next(run for run in fleet.running("j") if run.executor == "e1")
        proxy.set_mode(mode)
        again = wait_until(
            lambda: [run for run in fleet.runs("j") if run.item == victim.item and run.executor == "e2"],
            "the item to run elsewhere",
        )[0]
        dead = next(run for run in fleet.runs("j") if run.run == victim.run)
        assert again.start > dead.last
        proxy.set_mode(Mode.PASS)
        wait_until(lambda: fleet.owners("j").get("e1"), "the healed executor to own an item again")
        fleet.admin.commands.stop("j", by="test")
        wait_until(lambda: all(cursor["state"] == "stopped" for cursor in fleet.cursors("j")), "all to be stopped")


def test_changes_made_while_an_executor_is_cut_off_briefly_are_seen_after_it(
    fleet: Fleet, zookeeper: Server, zk_chroot: str
) -> None:
    """An edit, a pause and a trigger made during a cut shorter than T are seen within 3 s of healing."""
    with TcpProxy.to(zookeeper.hosts) as proxy:
        fleet.start("e1", url=f"zk://{proxy.address}{zk_chroot}?tick=0.5")
        for name in ("edited", "paused", "triggered"):
            fleet.create(name, cron=EVERY_SECOND if name == "paused" else "0 0 0 1 1 ? 2099", items=1)
        wait_until(lambda: fleet.runs("paused"), "the first fire")
        proxy.set_mode(Mode.REFUSE)
        fleet.admin.jobs.update("edited", {"cron": EVERY_SECOND})
        fleet.admin.jobs.pause("paused")
        fleet.admin.commands.trigger("triggered", by="test")
        let_pass(1.0)
        proxy.set_mode(Mode.PASS)
        wait_until(lambda: fleet.runs("edited") and fleet.runs("triggered"), "the edit and the trigger to be seen", 3.0)
        count = len(fleet.runs("paused"))
        let_pass(2.0)
        assert len(fleet.runs("paused")) == count


def test_sqlite_fleet_kill_and_restart_items_move_and_come_back(sqlite_fleet: Fleet) -> None:
    """On an SQLite file a fleet shares items, survives a killed executor, and takes a restarted one back."""
    fleet = sqlite_fleet
    fleet.start("e1", "e2")
    fleet.create("j", cron=EVERY_SECOND, items=4)
    fleet.create("long", items=2, param="hold=3")
    wait_until(lambda: {run.executor for run in fleet.runs("j")} == {"e1", "e2"}, "both to run")
    fleet.admin.commands.trigger("long", by="test")
    wait_until(lambda: len(fleet.running("long")) == 2, "the long items to run")
    fleet.executors["e1"].kill()
    wait_until(lambda: [run for run in fleet.runs("long") if run.attempt == 2], "the failover")
    wait_until(lambda: fleet.owners("j") == {"e2": [0, 1, 2, 3]}, "the items to move")
    fleet.start("e1")
    wait_until(lambda: len(fleet.owners("j").get("e1", [])) == 2, "the share to come back")
    # A run that ends while its executor is frozen cannot be recorded, and would rightly run again.
    wait_until(
        lambda: [cursor["state"] for cursor in fleet.cursors("long")] == ["done", "done"], "the long items to end"
    )
    fleet.executors["e2"].freeze()
    wait_until(lambda: fleet.owners("j") == {"e1": [0, 1, 2, 3]}, "the frozen one's items to move")
    fleet.executors["e2"].thaw()
    wait_until(lambda: len(fleet.owners("j").get("e2", [])) == 2, "the thawed one to rejoin")
