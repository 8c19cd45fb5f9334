"""How many rows a second history takes, and what telling it costs whoever fires.

Run by hand: ``history_write.py [ROWS] [URL]``: on a new SQLite file unless a URL is given, such as
``postgresql://user@host/database``; the namespace ``bench`` of it is written. Targets: 2,000 rows a second in batches on
SQLite, and less than 0.2 ms for each run on the firing path, making the rows included.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from benchmarks.stage.past import NAMESPACE
from shardsched.clock import SYSTEM_CLOCK
from shardsched.history.column import run_values
from shardsched.history.engine import Database
from shardsched.history.record import Kind, Record
from shardsched.history.recorder import Recorder
from shardsched.history.row import RunRow
from shardsched.history.store import write

BATCH = 100
PACE_S = 0.002
"""Between two runs on the firing path, as in a fleet that fires 500 a second."""


def claimed(number: int) -> RunRow:
    """Return a run as it is told when it is claimed."""
    now = SYSTEM_CLOCK.now()
    return RunRow(
        run_id=f"{os.getpid()}-{number}",
        job=f"job{number % 50}",
        uid="0123456789abcdef",
        item=number % 10,
        items=10,
        fire=now,
        cause="schedule",
        attempt=1,
        executor="host-1-4711",
        incarnation="0123456789abcdef0123456789abcdef",
        token=number,
        queued_at=now,
        param="fiction",
    )


def ended(number: int, log_path: str = "", log_tail: str = "") -> RunRow:
    """Return a run as it is told when it has ended."""
    run = claimed(number)
    return replace(
        run,
        started_at=run.queued_at,
        ended_at=run.queued_at + timedelta(seconds=2),
        outcome="ok",
        exit_code=0,
        peak_memory_kb=51_200,
        cpu_s=0.5,
        duration_s=number % 60 + 0.1,
        log_path=log_path,
        log_tail=log_tail,
        stats={"pages": 120, "bytes": 4711},
    )


def batches(url: str, rows: int) -> None:
    """Print how fast batches are written: claims, their ends, and ends with 10 KB of log."""
    database = Database(url)
    database.prepare()
    tail = "2026-01-01 00:00:00 INFO fetched a page of books\n" * 200
    for what, make in (
        ("claims", claimed),
        ("ends of these", ended),
        (
            "runs that ended before they were written, with 10 KB of log",
            lambda number: ended(number + rows, log_tail=tail),
        ),
    ):
        durations = []
        for first in range(0, rows, BATCH):
            records = [Record(Kind.RUN, run_values(make(number))) for number in range(first, first + BATCH)]
            began = time.perf_counter()
            with database.writing() as connection:
                write(connection, NAMESPACE, records)
            durations.append((time.perf_counter() - began) * 1000)
        ordered = sorted(durations)
        print(
            f"{what:62} {rows / sum(durations) * 1000:8.0f} rows/s   a batch of {BATCH}: "
            f"p50 {statistics.median(ordered):6.1f}   max {ordered[-1]:6.1f} ms (target 2000 rows/s)"
        )
    database.close()


def firing(url: str, folder: Path, runs: int) -> None:
    """Print what a claim and an end cost whoever tells of them, while the writer's thread is at work."""
    log = folder / "run.log"
    log.write_text("2026-01-01 00:00:00 INFO fetched a page of books\n" * 200)
    recorder = Recorder(
        url,
        folder / "spool",
        namespace=NAMESPACE,
        executor="host-1-4711",
        clock=SYSTEM_CLOCK,
        rng=random.Random(),  # noqa: S311 - it spreads attempts
    )
    recorder.start()
    durations = []
    for number in range(runs):
        began = time.perf_counter()
        recorder.queued(claimed(number + 10**9))
        recorder.ended(ended(number + 10**9, str(log)))
        durations.append((time.perf_counter() - began) * 1000)
        time.sleep(PACE_S)  # noqa: TID251 - the pace of a fleet
    recorder.close(60.0)
    ordered = sorted(durations)
    state = recorder.state()
    print(
        f"firing path, claim and end of a run: mean {statistics.mean(ordered):.4f}   p50 {statistics.median(ordered):.4f}   "
        f"p99 {ordered[int(len(ordered) * 0.99)]:.4f} ms (target 0.2); {state.written_count} written, "
        f"{state.dropped_count} dropped"
    )


def main() -> None:
    """Run everything."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        url = sys.argv[2] if len(sys.argv) > 2 else f"sqlite:///{Path(folder) / 'history.db'}"
        print(f"{url.partition(':')[0]}, load {os.getloadavg()[0]:.1f}")
        batches(url, rows)
        firing(url, Path(folder), 2_000)


if __name__ == "__main__":
    main()
