"""Fifty fires a second for half a minute: how late handlers start, and what that costs.

Run by hand: ``python -m benchmarks.fleet_steady [SECONDS]``. Fifty jobs of one item, each due every second, on two
executors; in threads, then in processes. Lateness is the moment of a handler's first line after its fire time.
"""

from __future__ import annotations

import sys
import time

from benchmarks.stage.fleet import machine_load, pause, spread, stage, until, wall

JOBS = 50
WARM_UP_S = 5.0
TARGET_MS = 100


def measure(isolation: str, seconds: float) -> None:
    """Print the lateness of all runs."""
    with stage() as some:
        members = [some.start(name, slots=JOBS) for name in ("e1", "e2")]
        for member in members:
            member.joined()
        some.register([f"job-{n}" for n in range(JOBS)], cron="* * * * * ?", isolation=isolation)
        until(lambda: sum(some.owned_counts().values()) >= JOBS, "all items to be owned")
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
        due = JOBS * len({mark.fire for mark in marks})
        print(f"  lateness: {spread(mark.lateness_s for mark in marks)} (target p99 {TARGET_MS})")
        print(f"  {len(marks)} runs, {due - len(seen)} of {due} fires missed, {len(marks) - len(seen)} doubled")
        shares = ", ".join(f"{s / lasted_s:.1%}" for s in used)
        print(f"  CPU of each executor: {shares} of a core; {requests / lasted_s:.0f} requests a second; {machine_load()}")


def main(seconds: float) -> None:
    """Measure and print."""
    for isolation in ("thread", "process"):
        print(f"{JOBS} fires a second for {seconds:g} s, two executors, {isolation} isolation ({machine_load()}):")
        measure(isolation, seconds)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0)
