"""One point of a curve: a fleet of some size is measured idle, firing, and when an executor joins and leaves."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from benchmarks.curves.gauge import Rate, executor_costs, load, server_costs, traffic
from benchmarks.stage import NEVER
from benchmarks.stage.fleet import pause, until, wall
from shardsched.core.assignment import decode_assignment

if TYPE_CHECKING:
    from benchmarks.stage.fleet import Member, Stage

FIRING_JOB = "firing"
QUIET_S = 1.5
"""Assignments are settled when none was written for so long; the leader gathers changes for 0.3 s."""
CALM_REQUESTS_S = 4
"""An executor that sends fewer requests a second only keeps its session; it sends one or two then."""
SHARE = 0.9
"""Part of its even share that a joiner must own to count as served: balance is within one item a job."""


class Crew:
    """A fleet that grows.

    Args:
        some: Where it lives.
        slots: Items that each executor runs at once.
    """

    def __init__(self, some: Stage, *, slots: int = 64) -> None:
        self.stage = some
        self.members: list[Member] = []
        self._slots = slots
        self._period_s = 2

    def add(self, count: int) -> None:
        """Start so many executors at once, and wait until each owns its share."""
        fresh = [self._start() for _ in range(count)]
        for member in fresh:
            self._ready(member)

    def _start(self) -> Member:
        member = self.stage.start(f"e{len(self.stage.members)}", slots=self._slots)
        self.members.append(member)
        return member

    def _ready(self, member: Member) -> float:
        """Wait until an executor has its share; return how long after its start that was."""
        share = int(SHARE * len(self._owners()) / len(self.members))
        if share:
            return member.ready(share)
        until(lambda: member.events("executor_joined"), f"{member.name} to join")
        return float(member.events("executor_joined")[0]["at"]) - member.started

    def _owners(self) -> dict[tuple[str, int], str]:
        folder = self.stage.paths.under("assignments")
        nodes = self.stage.registry.read([f"{folder}/{job}" for job in self.stage.registry.children(folder)])
        return {
            (node.path, item): name
            for node in nodes
            if node is not None
            for name, items in decode_assignment(node.path, node.value).owners.items()
            for item in items
        }

    def own_all(self, count: int) -> None:
        """Wait until so many items have an owner."""
        until(lambda: sum(self.stage.owned_counts().values()) >= count, f"{count} items to be owned", 180)

    def _settled_at(self) -> float:
        """Return when the last assignment was written, after waiting until no more are."""

        def last() -> float:
            return max(
                (event["at"] for member in self.stage.members for event in member.events("resharded")), default=0.0
            )

        until(lambda: wall() - last() > QUIET_S, "assignments to settle")
        return last()

    def join(self) -> dict[str, float]:
        """Add one executor; return how fast it was of use, and what moved."""
        self._settled_at()
        before = self._owners()
        member = self._start()
        start_s = self._ready(member)
        joined_at = member.events("executor_joined")[0]["at"]
        return {"start_s": round(start_s, 2)} | self._reshard("join", joined_at, before)

    def leave(self) -> dict[str, float]:
        """Have the newest executor stop cleanly; return how fast others had its items, and what moved."""
        self._settled_at()
        before = self._owners()
        member = self.members.pop()
        member.stop()
        until(lambda: member.name not in self.stage.owned_counts(), f"{member.name}'s items to move")
        stopping_at = member.events("executor_stopping")[0]["at"]
        return self._reshard("leave", stopping_at, before)

    def _reshard(self, what: str, since: float, before: dict[tuple[str, int], str]) -> dict[str, float]:
        settled_at, after = self._settled_at(), self._owners()
        moves = sum(after.get(key) != name for key, name in before.items())
        # Where nothing moved, nothing was written, and there is no time to tell.
        took = {f"{what}_reshard_s": round(settled_at - since, 2)} if moves else {}
        return took | {f"{what}_moves": float(moves)}

    def idle(self, seconds: float) -> tuple[Rate, dict[str, float]]:
        """Measure while nothing fires."""
        before, cpu_s, began = traffic(self.stage.server), self._cpu_s(), time.monotonic()
        pause(seconds)
        used_s, lasted_s = self._cpu_s() - cpu_s, time.monotonic() - began
        rate = Rate.between(before, traffic(self.stage.server))
        figures = {
            "idle_requests_s": round(rate.requests, 2),
            "idle_bytes_s": round(rate.bytes),
            "idle_cpu_percent": round(100 * used_s / lasted_s / len(self.members), 2),
        }
        return rate, figures

    def _cpu_s(self) -> float:
        return sum(member.cpu_s for member in self.members)

    def fires(self, idle: Rate, fires: int) -> dict[str, float]:
        """Have the firing job fire so many times; return requests and bytes for each, and lateness."""
        period_s = self._period_s
        self.stage.admin.jobs.update(FIRING_JOB, {"cron": f"0/{period_s} * * * * ?"})
        # From the middle of a period to the middle of another, so that each fire lies whole within. The first fires
        # are left out: they follow an edit, and make nodes that later ones only write.
        pause(period_s * 2.5 - wall() % period_s)
        before, begin = traffic(self.stage.server), wall()
        pause(period_s * fires)
        after, end = traffic(self.stage.server), wall()
        self.stage.admin.jobs.update(FIRING_JOB, {"cron": NEVER})
        marks = [mark for mark in self.stage.marks() if mark.job == FIRING_JOB and begin <= mark.fire < end]
        late_ms = sorted(mark.lateness_s * 1000 for mark in marks) or [float("nan")]
        rate, seconds = Rate.between(before, after), after.at - before.at
        return {
            "runs": float(len(marks)),
            "fire_requests": round((rate.requests - idle.requests) * seconds / fires, 1),
            "fire_bytes": round((rate.bytes - idle.bytes) * seconds / fires),
            "late_p50_ms": round(statistics.median(late_ms), 1),
            "late_max_ms": round(late_ms[-1], 1),
        }

    def make_firing_job(self, items: int, *, period_s: int = 2) -> None:
        """Create the job that is to fire, or give it another number of items."""
        self._period_s = period_s
        jobs = self.stage.admin.jobs
        if FIRING_JOB in jobs.names():
            jobs.update(FIRING_JOB, {"items": items})
        else:
            settings = {"handler": "mark", "cron": NEVER, "items": items, "isolation": "thread"}
            jobs.register(FIRING_JOB, settings)

    def _is_calm(self) -> bool:
        before = traffic(self.stage.server)
        pause(1.0)
        return Rate.between(before, traffic(self.stage.server)).requests < CALM_REQUESTS_S * len(self.members)

    def stand(self, idle_s: float, fires: int) -> dict[str, float]:
        """Return all that can be measured while the fleet stays as it is."""
        until(self._is_calm, "the executors to have read their items")
        rate, figures = self.idle(idle_s)
        figures |= executor_costs(self.members) | server_costs(self.stage.server)
        return figures | self.fires(rate, fires) | {"load": load()}
