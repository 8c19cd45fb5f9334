"""How long a save of a checkpoint takes, and how many are done in a second by several items; print what is found.

One executor, and a ZooKeeper of the benchmark's own. Run by hand: ``python -m benchmarks.checkpoint [SAVES]``.
"""

from __future__ import annotations

import statistics
import sys

from benchmarks.stage import NEVER
from benchmarks.stage.fleet import Stage, machine_load, stage, until

SIZES = (100, 10_000, 60_000)


def measure(some: Stage, *, items: int, size: int, count: int, isolation: str) -> None:
    """Have items save, and print durations and rate."""
    job = f"save-{isolation}-{items}-{size}"
    settings = {"handler": "save", "cron": NEVER, "items": items, "isolation": isolation, "param": f"{count}x{size}"}
    some.admin.jobs.create(job, settings)
    until(lambda: sum(map(len, some.admin.job_status(job).owners.values())) == items, "owners")
    some.admin.commands.trigger(job)
    files = [some.record.with_name(f"{some.record.name}.{job}.{item}") for item in range(items)]

    def results() -> list[list[float]]:
        texts = [file.read_text() if file.exists() else "" for file in files]
        return [[float(word) for word in text.split()] for text in texts if text.endswith("\n")]

    until(lambda: len(results()) == items, "the saves", 300.0)
    found = results()
    rate = sum(len(durations) / total for total, *durations in found)
    cuts = statistics.quantiles((one * 1000 for _, *durations in found for one in durations), n=100, method="inclusive")
    print(
        f"{isolation}, {items} at once, {size} bytes: p50 {cuts[49]:.1f}, p95 {cuts[94]:.1f}, p99 {cuts[98]:.1f} ms; "
        f"{rate:.0f} saves a second"
    )


def main(count: int) -> None:
    """Run all measurements."""
    with stage() as some:
        some.start("e1").joined()
        print(f"ZooKeeper on this machine, {machine_load()}")
        for size in SIZES:
            measure(some, items=1, size=size, count=count, isolation="process")
        measure(some, items=1, size=SIZES[0], count=count, isolation="thread")
        for items in (4, 12):
            measure(some, items=items, size=SIZES[0], count=count, isolation="process")
        print(f"{machine_load()} at the end")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
