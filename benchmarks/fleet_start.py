"""How fast an executor of a large fleet is ready, and what it costs to stand by.

Run by hand: ``python -m benchmarks.fleet_start [JOBS]``. A thousand jobs of ten items; an executor is ready when it
owns its items and has read them all, so that each can fire. Two cases: it is the only one, so that it must be elected
and assign all items first; and a second one joins and is given half.
"""

from __future__ import annotations

import sys
import time

from benchmarks.stage import NEVER
from benchmarks.stage.fleet import Stage, machine_load, pause, stage

ITEMS = 10
READY_TARGET_S = 5.0
RSS_TARGET_MIB = 120.0
ROUNDS = 3


def costs(some: Stage, jobs: int) -> None:
    """Print what the only executor costs while nothing fires."""
    member = some.members[-1]
    before_s, began = member.cpu_s, time.monotonic()
    pause(5.0)
    cpu = (member.cpu_s - before_s) / (time.monotonic() - began)
    counters = some.server.mntr()
    watches = int(counters["zk_watch_count"])
    print(
        f"  {member.name}, {jobs} jobs of {ITEMS}: {member.status('Threads')} threads, RSS {member.rss_mib:.0f} MiB "
        f"(peak {member.status('VmHWM') / 1024:.0f}; target {RSS_TARGET_MIB:.0f}), idle CPU {cpu:.1%} of a core, "
        f"{watches} watches ({watches / jobs:.2f} a job), {counters['zk_znode_count']} znodes"
    )


def measure(jobs: int) -> None:
    """Print how soon executors are ready with so many jobs."""
    count = jobs * ITEMS
    alone, joining, cpu_s = [], [], []
    with stage() as some:
        some.register([f"job-{number}" for number in range(jobs)], cron=NEVER, items=ITEMS)
        for turn in range(ROUNDS):
            first = some.start(f"a{turn}")
            alone.append(first.ready(count))
            cpu_s.append(first.cpu_s)
            if turn == 0:
                pause(1.0)
                costs(some, jobs)
            second = some.start(f"b{turn}")
            joining.append(second.ready(count // 2))
            cpu_s.append(second.cpu_s)
            second.stop()
            first.stop()
    for what, values in (("the only executor", alone), ("a second executor", joining)):
        text = ", ".join(f"{value:.2f}" for value in values)
        print(f"  {what} ready after: {text} s; best {min(values):.2f} (target {READY_TARGET_S:g})")
    print(f"  CPU of an executor until it is ready: {min(cpu_s):.2f} to {max(cpu_s):.2f} s; {machine_load()}")


def main(jobs: int) -> None:
    """Measure and print."""
    for some in (10, jobs):
        print(f"{some} jobs of {ITEMS} items ({machine_load()}):")
        measure(some)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
