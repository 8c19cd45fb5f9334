"""Fifty fires a second for half a minute: how late handlers start, and what that costs.

Run by hand: ``python -m benchmarks.fleet_steady [SECONDS]``. Fifty jobs of one item, each due every second, on two
executors; in threads, then in processes, then one job alone in processes. Lateness is the moment of a handler's first
line after its fire time; what the claim takes of it is told apart by the executors' own logs, exact to a millisecond.
"""

from __future__ import annotations

import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING

from benchmarks.stage.fleet import machine_load, pause, spread, stage, until, wall

if TYPE_CHECKING:
    from benchmarks.stage.fleet import Mark, Member

JOBS = 50
WARM_UP_S = 5.0
TARGET_MS = 100
START_TARGET_MS = 10


def since_claim_s(members: list[Member], marks: list[Mark]) -> list[float]:
    """Return how long after its claim was answered each run's first line came."""
    claims = {
        (record["job"], datetime.fromisoformat(record["fire"]).timestamp()): record["at"]
        for member in members
        for record in member.events("item_claimed")
    }
    return [mark.moment - claims[mark.job, mark.fire] for mark in marks]


def measure(isolation: str, jobs: int, seconds: float) -> None:
    """Print the lateness of all runs."""
    with stage() as some:
        members = [some.start(name, slots=max(jobs, 4)) for name in ("e1", "e2")]
        for member in members:
            member.joined()
        some.register([f"job-{n}" for n in range(jobs)], cron="* * * * * ?", isolation=isolation)
        until(lambda: sum(some.owned_counts().values()) >= jobs, "all items to be owned")
        pause(WARM_UP_S)
        begin, began = wall(), time.monotonic()
        cpu_s = [member.cpu_s for member in members]
        requests = int(some.server.mntr()["zk_packets_received"])
        pause(seconds)
        end, lasted_s = wall(), time.monotonic() - began
        used = [member.cpu_s - before for member, before in zip(members, cpu_s, strict=True)]
        requests = int(some.server.mntr()["zk_packets_received"]) - requests
        pause(3.0)
        marks = [mark for mark in some.marks() if begin <= mark.fire < end - 1]
        seen = {(mark.job, mark.fire) for mark in marks}
        due = jobs * len({mark.fire for mark in marks})
        goal = f" (target p99 {TARGET_MS})" if isolation == "thread" else ""
        print(f"  lateness: {spread(mark.lateness_s for mark in marks)}{goal}")
        claimed = spread(since_claim_s(members, marks))
        target = f" (target p50 {START_TARGET_MS})" if isolation == "process" and jobs == 1 else ""
        print(f"  of it from the claim's answer on: {claimed}{target}")
        print(f"  {len(marks)} runs, {due - len(seen)} of {due} fires missed, {len(marks) - len(seen)} doubled")
        shares = ", ".join(f"{s / lasted_s:.1%}" for s in used)
        print(
            f"  CPU of each executor: {shares} of a core; {requests / lasted_s:.0f} requests a second; {machine_load()}"
        )


def main(seconds: float) -> None:
    """Measure and print."""
    for isolation, jobs in (("thread", JOBS), ("process", JOBS), ("process", 1)):
        print(f"{jobs} fires a second for {seconds:g} s, two executors, {isolation} isolation ({machine_load()}):")
        measure(isolation, jobs, seconds)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0)
