"""Measures the three curves, and begins no further point after ten minutes.

Executors are real processes on one real ZooKeeper, all on this machine; handlers run in threads and only record the
moment, so that what is counted is the scheduler's. ``--quick`` measures fewer and smaller points, and writes into a
temporary folder instead of ``docs/performance``. Names of curves may be given: ``executors``, ``jobs``, ``items``.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.curves.point import Crew
from benchmarks.curves.sheet import Sheet
from benchmarks.stage import NEVER
from benchmarks.stage.fleet import ROOT, machine_load, stage

if TYPE_CHECKING:
    from collections.abc import Iterator

BUDGET_S = 600
ITEMS = 10
"""Of the firing job, and of each job that stands by, unless that is what grows."""
STANDING_JOBS = 50
FEW = 3
"""Executors, where something else grows."""
SPARSE_S, SPARSE_FIRES = 5, 4
"""Seconds between the fires of many items, and how many are measured: the windows are whole tens of seconds too."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure, and where the results go."""

    folder: Path
    executors: tuple[int, ...] = (1, 2, 5, 10, 20, 50)
    jobs: tuple[int, ...] = (10, 100, 1000, 5000)
    items: tuple[int, ...] = (1, 10, 100, 1000)
    idle_s: float = 10.0
    """As long as the executors' load reports are apart, so that each window has one of each."""
    fires: int = 5
    deadline: float = field(default_factory=lambda: time.monotonic() + BUDGET_S)

    def while_time(self, counts: tuple[int, ...]) -> Iterator[int]:
        """Give sizes as long as there is time left; say which are left out."""
        for count in counts:
            if time.monotonic() > self.deadline:
                print(f"  {count} and more are left out: {BUDGET_S} s have passed", flush=True)
                return
            yield count


def measure_executors(plan: Plan) -> None:
    """Measure fleets of more and more executors, with the same jobs."""
    sheet = Sheet(plan.folder, "executors", "executors", f"{STANDING_JOBS} jobs of {ITEMS} items, and one that fires")
    with stage() as some:
        crew = Crew(some)
        some.register([f"job-{number}" for number in range(STANDING_JOBS)], cron=NEVER, items=ITEMS)
        crew.make_firing_job(ITEMS)
        crew.add(1)
        crew.own_all((STANDING_JOBS + 1) * ITEMS)
        for count in plan.while_time(plan.executors):
            row: dict[str, float] = {"executors": count}
            if count > 1:
                # A leave and a join of the last one are measured in the fleet at its full size.
                crew.add(count - len(crew.members))
                row |= crew.leave() | crew.join()
            sheet.add(row | crew.stand(plan.idle_s, plan.fires))


def measure_jobs(plan: Plan) -> None:
    """Measure fleets of three executors with more and more jobs that stand by."""
    sheet = Sheet(plan.folder, "jobs", "jobs", f"{FEW} executors, jobs of {FEW} items, and one of {ITEMS} that fires")
    with stage() as some:
        crew = Crew(some)
        crew.make_firing_job(ITEMS)
        crew.add(1)
        crew.add(FEW - 1)
        crew.own_all(ITEMS)
        known = 0
        for count in plan.while_time(plan.jobs):
            began = time.monotonic()
            some.register([f"job-{number}" for number in range(known, count)], cron=NEVER, items=FEW)
            crew.own_all(count * FEW + ITEMS)
            row = {"jobs": count, "registered": count - known, "register_s": round(time.monotonic() - began, 2)}
            known = count
            sheet.add(row | crew.leave() | crew.join() | crew.stand(plan.idle_s, plan.fires))


def measure_items(plan: Plan) -> None:
    """Measure fires of one job with more and more items, on three executors."""
    sheet = Sheet(plan.folder, "items", "items", f"{FEW} executors, one job")
    for count in plan.while_time(plan.items):
        with stage() as some:
            crew = Crew(some, slots=1000)
            crew.make_firing_job(count, period_s=SPARSE_S)
            crew.add(1)
            crew.add(FEW - 1)
            crew.own_all(count)
            sheet.add({"items": count} | crew.stand(plan.idle_s, SPARSE_FIRES))


CURVES = {"items": measure_items, "executors": measure_executors, "jobs": measure_jobs}
"""The one whose last point is the dearest comes last, for time may run out."""


def main(arguments: list[str]) -> None:
    """Measure the curves that are named, or all."""
    plan = Plan(ROOT / "docs" / "performance")
    if "--quick" in arguments:
        folder = Path(tempfile.mkdtemp(prefix="shardsched-curves-"))
        plan = Plan(folder, executors=(1, 2, 4), jobs=(10, 100), items=(1, 10, 100), fires=5)
    names = [name for name in arguments if not name.startswith("-")] or list(CURVES)
    began = time.monotonic()
    for name in names:
        print(f"{name} ({machine_load()}):", flush=True)
        CURVES[name](plan)
    print(f"tables and plots are in {plan.folder}; {time.monotonic() - began:.0f} s in all ({machine_load()})")


if __name__ == "__main__":
    main(sys.argv[1:])
