"""A thousand items due at one second on two executors: how late the first and the last of them start.

Run by hand: ``python -m benchmarks.fleet_burst``. Thread isolation; the handlers only record the moment of their first
line. A thousand jobs of one item, then a hundred of ten: a claim is one transaction for each job.
"""

from __future__ import annotations

from collections import defaultdict

from benchmarks.stage.fleet import machine_load, pause, spread, stage, until, wall

PERIOD_S = 20
BURSTS = 3
TARGET_S = 2.0


def measure(jobs: int, items: int) -> None:
    """Print how late the items of some bursts started."""
    count = jobs * items
    with stage() as some:
        members = [some.start(name, slots=count) for name in ("e1", "e2")]
        for member in members:
            member.joined()
        some.register([f"job-{number}" for number in range(jobs)], cron=f"0/{PERIOD_S} * * * * ?", items=items)
        until(lambda: sum(some.owned_counts().values()) >= count, "all items to be owned")
        pause(2.0)
        begin = wall()
        before = [member.cpu_s for member in members]
        # The fires while the jobs were created do not count; so many whole ones follow.
        pause(PERIOD_S - begin % PERIOD_S + PERIOD_S * (BURSTS - 1) + PERIOD_S / 2)
        bursts = defaultdict(list)
        for mark in some.marks():
            if mark.fire >= begin:
                bursts[mark.fire].append(mark.lateness_s)
        for lateness in bursts.values():
            verdict = "all" if len(lateness) == count else f"only {len(lateness)}"
            print(f"  {verdict} started within {max(lateness):.2f} s (target {TARGET_S:g}); {spread(lateness)}")
        cpu = sum(member.cpu_s for member in members) - sum(before)
        rss = ", ".join(f"{member.rss_mib:.0f}" for member in members)
        print(f"  executors: CPU {cpu / max(len(bursts), 1):.2f} s for each burst, RSS {rss} MiB; {machine_load()}")


def main() -> None:
    """Measure and print."""
    for jobs, items in ((1000, 1), (100, 10)):
        print(f"{jobs} jobs of {items} due at one second, two executors, threads ({machine_load()}):")
        measure(jobs, items)


if __name__ == "__main__":
    main()
