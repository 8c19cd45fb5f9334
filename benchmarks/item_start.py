"""Measures how long an item takes from its launch to the first line of its handler.

``python -m benchmarks.item_start [COUNT]`` starts so many items one after the other, then as many with four under way
at a time, and prints what it found. The handlers' module is light: it imports what a crawler without a framework does.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from shardsched.clock import SYSTEM_CLOCK
from shardsched.execution.handlers import Handler, HandlerTable
from shardsched.execution.pool import Outcome, PoolReady, ProcessPool, RunEnded, RunSpec
from shardsched.execution.threads import ThreadPool

if TYPE_CHECKING:
    from shardsched.execution.pool import PoolEvent

EPOCH = "benchmark"
PARALLEL = 4
MODULE = """
import time
from shardsched import sharded_job

@sharded_job("first_line", cron="0 0 1 1 *")
def first_line(ctx):
    print(time.monotonic_ns())
"""


class Ends:
    """Ends of runs, to be waited for."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ends: dict[str, RunEnded] = {}
        self.ready = threading.Event()

    def __call__(self, event: PoolEvent) -> None:
        """Take an event."""
        if isinstance(event, PoolReady):
            self.ready.set()
        elif isinstance(event, RunEnded):
            with self._changed:
                self._ends[event.run_id] = event
                self._changed.notify_all()

    def wait_for(self, run_id: str) -> RunEnded:
        """Return the end of a run."""
        with self._changed:
            assert self._changed.wait_for(lambda: run_id in self._ends, 60), f"{run_id} did not end"
            return self._ends[run_id]


def spec(run_id: str) -> RunSpec:
    """Return what to run."""
    context = {"job": "first_line", "item": 0, "items": 1}
    return RunSpec(run_id=run_id, job="first_line", item=0, items=1, handler="first_line", context=context)


def measure_in_turn(pool: ProcessPool, ends: Ends, count: int) -> None:
    """Print the percentiles of single starts."""
    delays_ms, totals_ms = [], []
    for number in range(count):
        begun = time.monotonic_ns()
        pool.launch(spec(f"turn{number}"), EPOCH)
        end = ends.wait_for(f"turn{number}")
        totals_ms.append((time.monotonic_ns() - begun) / 1e6)
        delays_ms.append((int(Path(end.log_path).read_text()) - begun) / 1e6)
    for what, values in (("launch() to first line", delays_ms), ("launch() to the end told", totals_ms)):
        cuts = statistics.quantiles(values, n=100, method="inclusive")
        print(f"{what}: p50 {cuts[49]:.1f} ms, p90 {cuts[89]:.1f} ms, p99 {cuts[98]:.1f} ms, n {len(values)}")


def measure_in_parallel(pool: ProcessPool, ends: Ends, count: int) -> None:
    """Print the rate of starts with several under way."""
    begun = time.monotonic()
    for number in range(count):
        pool.launch(spec(f"parallel{number}"), EPOCH)
        if number >= PARALLEL:
            ends.wait_for(f"parallel{number - PARALLEL}")
    for number in range(count - PARALLEL, count):
        ends.wait_for(f"parallel{number}")
    print(f"{PARALLEL} under way: {count / (time.monotonic() - begun):.0f} items/s")


def measure_threads(count: int) -> None:
    """Print the rate of empty runs in threads."""
    ends = Ends()
    table = HandlerTable()
    table.add(Handler(name="first_line", function=lambda _: None, module="benchmark", qualname="first_line"))
    pool = ThreadPool(slots=16, on_event=ends, table=table)
    pool.set_lease(EPOCH, SYSTEM_CLOCK.boot() + 3600, SYSTEM_CLOCK.boot() + 3600)
    begun = time.monotonic()
    for number in range(count):
        pool.launch(spec(f"thread{number}"), EPOCH)
    for number in range(count):
        assert ends.wait_for(f"thread{number}").outcome is Outcome.OK
    print(f"in threads, {count} at once: {count / (time.monotonic() - begun):.0f} items/s")
    pool.close(5)


def main(count: int) -> None:
    """Run all measurements."""
    ends = Ends()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "light_jobs.py").write_text(MODULE, encoding="utf-8")
        pool = ProcessPool(
            executor=f"benchmark {folder}",
            modules=["light_jobs"],
            import_paths=[folder],
            log_dir=Path(folder),
            on_event=ends,
        )
        begun = time.monotonic()
        pool.start()
        pool.set_lease(EPOCH, SYSTEM_CLOCK.boot() + 3600, SYSTEM_CLOCK.boot() + 3600)
        assert ends.ready.wait(60)
        print(f"start() to the fork server ready: {(time.monotonic() - begun) * 1000:.0f} ms")
        measure_in_turn(pool, ends, count)
        measure_in_parallel(pool, ends, count)
        begun = time.monotonic()
        pool.close(10)
        print(f"close(): {(time.monotonic() - begun) * 1000:.0f} ms")
    measure_threads(1000)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
