"""How long items stand still when their executor is killed, and when it stops cleanly.

Run by hand: ``python -m benchmarks.fleet_takeover [TIMES]``. Killed: from the last sign of life of a running item, and
from the moment at which ZooKeeper gives its ephemeral nodes away (as a watcher sees it), to the first line of its next run.
Clean stop: from SIGTERM to the first line, elsewhere, of a run triggered as soon as the stopping one said so. Process
isolation; session time-out 4 s, ticks of half a second.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.stage.fleet import machine_load, spread
from shardsched.errors import ShardschedError
from tests.fleet.fleet_harness import T_S, Fleet, fleet_on, let_pass, wait_until
from tests.zookeeper_source import running_server

if TYPE_CHECKING:
    from shardsched.registry.base import Changes

EXPIRY_TARGET_S = 1.0
STOP_TARGET_S = 0.5
NAMES = ("e1", "e2", "e3")


def boot() -> float:
    """Return the boot clock, which the handlers use too."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Gone:
    """Sees a node vanish."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.at: float | None = None
        self.happened = threading.Event()

    def __call__(self, report: Changes) -> None:
        """Take a report."""
        if self.at is None and report.nodes.get(self._path) is None:
            self.at = boot()
            self.happened.set()


def start_again(fleet: Fleet, name: str) -> None:
    """Start an executor anew, and wait until the items are spread over all."""
    fleet.start(name)
    wait_until(lambda: len(fleet.owners("j")) == len(NAMES), "every executor to own an item")
    let_pass(1.0)


def kill_one(fleet: Fleet, *, of_leader: bool) -> tuple[float, float, float]:
    """Kill an executor; return the seconds from its last sign of life to the expiry and to the re-run, and between."""
    before = len(fleet.runs("j"))
    fleet.admin.commands.trigger("j", by="benchmark")
    wait_until(lambda: len(fleet.runs("j")) == before + len(NAMES), "all items to run")
    let_pass(0.5)
    leader = fleet.status()["leader"]
    victim = next(run for run in fleet.runs("j")[before:] if (run.executor == leader) == of_leader)
    registry, paths = fleet.registry()
    # Not the marker itself: another may have made it anew before a watcher has read that it was gone.
    path = paths.executor(victim.executor)
    gone = Gone(path)
    watch = registry.watch(path, gone)
    fleet.executors[victim.executor].kill()
    again = wait_until(
        lambda: [run for run in fleet.runs("j")[before:] if run.item == victim.item and run.attempt > 1],
        "the run to be run again",
    )[0]
    assert gone.happened.wait(5)
    assert gone.at is not None
    watch.cancel()
    last = next(run for run in fleet.runs("j") if run.run == victim.run).last
    fleet.admin.commands.stop("j", by="benchmark")
    wait_until(lambda: all(item["state"] == "stopped" for item in fleet.cursors("j")), "the runs to stop")
    start_again(fleet, victim.executor)
    return gone.at - last, again.start - last, again.start - gone.at


def stop_one(fleet: Fleet) -> float:
    """Stop an idle executor cleanly; return the seconds from SIGTERM to the first line of its item elsewhere."""
    name = next(name for name in NAMES if name != fleet.status()["leader"])
    item = fleet.owners("q")[name][0]
    registry, paths = fleet.registry()
    before = len(fleet.runs("q"))
    said = threading.Event()
    first = registry.get(paths.executor(name))

    def told(report: Changes) -> None:
        node = report.nodes.get(paths.executor(name))
        if first is not None and (node is None or node.version != first.version):
            said.set()

    watch = registry.watch(paths.executor(name), told)
    begun = boot()
    fleet.executors[name].signal(15)
    assert said.wait(10)
    watch.cancel()
    with suppress(ShardschedError):
        fleet.admin.commands.trigger("q", by="benchmark")
    runs = wait_until(lambda: [run for run in fleet.runs("q")[before:] if run.item == item], "the item to run")
    assert runs[0].executor != name
    assert fleet.executors[name].process.wait(20) == 0
    wait_until(lambda: len(fleet.runs("q")) >= before + len(NAMES), "the other items to run")
    fleet.start(name)
    wait_until(lambda: len(fleet.owners("q")) == len(NAMES), "every executor to own an item")
    let_pass(1.0)
    return float(runs[0].start - begun)


def main(times: int) -> None:
    """Measure and print."""
    with (
        tempfile.TemporaryDirectory(prefix="shardsched-bench-", ignore_cleanup_errors=True) as folder,
        running_server(Path(folder, "zk")) as server,
        fleet_on(f"zk://{server.hosts}/bench?tick={server.tick_s:g}", Path(folder, "fleet")) as fleet,
    ):
        fleet.start(*NAMES)
        fleet.create("j", items=len(NAMES), param="hold=60")
        fleet.create("q", items=len(NAMES))
        wait_until(lambda: len(fleet.owners("j")) == len(NAMES), "every executor to own an item")
        for of_leader in (False, True):
            taken = [kill_one(fleet, of_leader=of_leader) for _ in range(times)]
            print(f"kill -9 of {'the leader' if of_leader else 'a follower'}, T = {T_S:g} s ({machine_load()}):")
            print(f"  last sign of life to expiry: {spread(one[0] for one in taken)}")
            print(f"  last sign of life to re-run: {spread(one[1] for one in taken)} (promised: T + 1 s)")
            print(f"  expiry to re-run: {spread(one[2] for one in taken)} (target p95 {EXPIRY_TARGET_S:g} s)")
        stops = [stop_one(fleet) for _ in range(times)]
        print(f"clean stop of an idle executor ({machine_load()}):")
        print(f"  SIGTERM to first line elsewhere: {spread(stops)} (target {STOP_TARGET_S:g} s)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
