"""shardsched itself: two executors on one ZooKeeper."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.curves.gauge import family, proportional_mib
from benchmarks.peers.peer import TIMEOUT_S, UNDISTURBED, WORKER_KILLED, Finding, Peer
from benchmarks.peers.record import Mark
from benchmarks.peers.room import pause, until
from benchmarks.stage.fleet import Stage, stage
from tests.fleet.fleet_harness import fleet_on, wait_until
from tests.zookeeper_source import running_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.peers.room import Room
    from tests.fleet.fleet_harness import Fleet

NAMES = ("e1", "e2")


def start(fleet: Fleet, *names: str) -> None:
    """Start executors with the time-out that every peer gets."""
    options: dict[str, Any] = {"session-timeout": str(TIMEOUT_S)}
    fleet.start(*names, **options)


class ShardschedPeer(Peer):
    """Executors are the triggers and the workers; any of them may die."""

    isolation = "thread"
    name = "shardsched, threads"

    def __init__(self, room: Room) -> None:
        super().__init__(room)
        self._stack = contextlib.ExitStack()
        self._stage: Stage | None = None

    def begin(self, jobs: int) -> None:
        """Start it."""
        some = self._stage = self._stack.enter_context(stage())
        for name in NAMES:
            member = some.start(name, slots=100)
            until(partial(member.events, "executor_joined"), f"{name} to join")
        some.register([f"job-{n}" for n in range(jobs)], cron="* * * * * ?", isolation=self.isolation)

    def end(self) -> None:
        """End it."""
        self._stack.close()
        self._stage = None

    def marks(self) -> list[Mark]:
        """Return what ran so far."""
        found = self._stage.marks() if self._stage else []
        return [Mark(mark.moment, mark.fire, mark.job, 0) for mark in found]

    def memory_mib(self) -> dict[str, float]:
        """Return memory by role, with the executors' wardens and fork servers."""
        assert self._stage is not None
        pids = [pid for member in self._stage.members for pid in family(member.process.pid)]
        server: Any = self._stage.server
        return {
            "executors": round(proportional_mib(pids), 1),
            "zookeeper": round(proportional_mib([server.pid]) if getattr(server, "pid", None) else 0.0, 1),
        }

    def faults(self, times: int) -> Iterator[Finding]:
        """Kill the executor that runs a long item; whoever it is was trigger and worker in one."""
        folder = self.room.folder / "fleet"
        with running_server(folder / "zk") as server:
            url = f"zk://{server.hosts}/peers?tick={server.tick_s:g}"
            with fleet_on(url, folder) as fleet:
                start(fleet, *NAMES)
                fleet.create("j", items=len(NAMES), param="hold=60")
                gaps = [self._kill_executor(fleet) for _ in range(times)]
                begun = self._begun_undisturbed(fleet)
        yield Finding.of_gaps(WORKER_KILLED, gaps)
        yield Finding(UNDISTURBED, f"{begun} times")

    @staticmethod
    def _begun_undisturbed(fleet: Fleet) -> int:
        before = len(fleet.runs("j"))
        wait_until(lambda: len(fleet.owners("j")) == len(NAMES), "both executors to own an item")
        fleet.admin.commands.trigger("j", by="benchmark")
        wait_until(lambda: len(fleet.runs("j")) == before + len(NAMES), "both items to run")
        pause(TIMEOUT_S + 5)
        return (len(fleet.runs("j")) - before) // len(NAMES)

    @staticmethod
    def _kill_executor(fleet: Fleet) -> float:
        wait_until(lambda: len(fleet.owners("j")) == len(NAMES), "both executors to own an item")
        before = len(fleet.runs("j"))
        fleet.admin.commands.trigger("j", by="benchmark")
        wait_until(lambda: len(fleet.runs("j")) == before + len(NAMES), "both items to run")
        pause(1.0)
        victim = fleet.runs("j")[before]
        fleet.executors[victim.executor].kill()

        def again() -> list[Any]:
            return [
                run
                for run in fleet.runs("j")
                if (run.item, run.fire, run.attempt) == (victim.item, victim.fire, victim.attempt + 1)
            ]

        last = next(run for run in fleet.runs("j") if run.run == victim.run).last
        gap_s = wait_until(again, "the item to run again", 40)[0].start - last
        fleet.admin.commands.stop("j", by="benchmark")
        wait_until(lambda: all(item["state"] == "stopped" for item in fleet.cursors("j")), "the runs to stop")
        start(fleet, victim.executor)
        return float(gap_s)


class ShardschedProcessPeer(ShardschedPeer):
    """The same with each item in a process of its own, which can be killed."""

    isolation = "process"
    name = "shardsched, processes"

    def faults(self, times: int) -> Iterator[Finding]:
        """Measure nothing: those above are of items in processes."""
        del times
        yield from ()
