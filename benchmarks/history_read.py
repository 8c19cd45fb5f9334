"""How long history's answers take among a million runs, and how long letting old ones go holds up a writer.

Run by hand: ``history_read.py [ROWS] [URL]``: on a new SQLite file unless a URL is given, such as
``postgresql://user@host/database``; the namespace ``bench`` of it is written. Targets: the last 50 runs of a job within
20 ms, and no writer held up for more than 100 ms while runs are deleted.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.stage.past import NAMESPACE, fill, fill_rollups
from shardsched.clock import SYSTEM_CLOCK
from shardsched.history.column import event_values
from shardsched.history.figure import Metric, Ranked, Ranking
from shardsched.history.filter import RUNNING, RunFilter
from shardsched.history.query import History
from shardsched.history.record import Kind, Record
from shardsched.history.retention import Limits, prune
from shardsched.history.row import EventRow
from shardsched.history.store import write

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 20
ALONE_S = 20.0
"""How long a writer is measured without anything beside it."""


def measure(what: str, ask: Callable[[], object]) -> None:
    """Print how long an answer takes."""
    durations = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        ask()
        durations.append((time.perf_counter() - began) * 1000)
    print(f"{what:52} p50 {statistics.median(durations):8.2f}   max {max(durations):8.2f} ms")


def read(history: History) -> None:
    """Measure what pages of people ask."""
    now = SYSTEM_CLOCK.now()
    measure("last 50 runs of a job", lambda: history.runs(RunFilter(job="job7")))
    measure("last 50 runs of all", history.runs)
    second = history.runs().next
    measure("the next 50", lambda: history.runs(after=second))
    measure("last 50 failed", lambda: history.runs(RunFilter(outcomes=frozenset({"failed"}))))
    rare = RunFilter(job="job7", outcomes=frozenset({"failed", "oom", RUNNING}))
    measure("last 50 failed, killed or running of a job", lambda: history.runs(rare))
    measure("last 50 by hand, of which there are none", lambda: history.runs(RunFilter(causes=frozenset({"manual"}))))
    measure(
        "last 50 of a job that took an hour, likewise", lambda: history.runs(RunFilter(job="job7", min_duration_s=3600))
    )
    measure("last 50 of 10 items of a job", lambda: history.last_runs("job7", range(10), 50))
    measure("running, a thousand", history.running)
    hour = timedelta(hours=1)
    for days in (1, 30):
        since = now - timedelta(days=days)
        measure(f"summary and percentiles of {days} days", partial(history.summary, since=since))
        measure(f"runs by the hour of {days} days", partial(history.series, Metric.RUNS, hour, since, now))
        measure(f"top ten slow jobs of {days} days", partial(history.top, Ranking.SLOW, Ranked.JOBS, 10, since))
    since = now - timedelta(days=30)
    measure("p95 of a job by the hour of 30 days", partial(history.series, Metric.P95_S, hour, since, now, "job7"))


class Watch:
    """A clock that keeps when it was asked: before and after each transaction."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    def now(self) -> datetime:
        """Return the time."""
        return SYSTEM_CLOCK.now()

    def boot(self) -> float:
        """Return the time of the boot clock."""
        self.asked.append(SYSTEM_CLOCK.boot())
        return self.asked[-1]

    def transactions(self) -> list[float]:
        """Return how long each took, in milliseconds."""
        return [(after - before) * 1000 for before, after in zip(self.asked[::2], self.asked[1::2], strict=True)]


class Writer:
    """Writes one event after the other in a thread, and keeps how long each took."""

    def __init__(self, history: History) -> None:
        self._database = history.database
        self._stop = threading.Event()
        self._waits: list[float] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        event = EventRow(at=datetime.max.replace(tzinfo=UTC), kind="bench")
        for number in count():
            if self._stop.wait(0.001):
                return
            record = Record(Kind.EVENT, event_values(f"{id(self)}-{number}", event))
            began = time.perf_counter()
            with self._database.writing() as connection:
                write(connection, NAMESPACE, [record])
            self._waits.append((time.perf_counter() - began) * 1000)

    def stop(self) -> list[float]:
        """End, and return how long each took, in milliseconds."""
        self._stop.set()
        self._thread.join()
        return self._waits


def spread(what: str, durations: list[float]) -> None:
    """Print the spread of some durations."""
    ordered = sorted(durations)
    p50, p99 = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
    print(f"  {what:42} {len(ordered):6}   p50 {p50:7.2f}   p99 {p99:7.2f}   max {ordered[-1]:7.2f} ms")


def let_go(history: History, rows: int) -> None:
    """Delete the older tenth while another connection writes; print how long that one waited, and without the deletion."""
    writer = Writer(history)
    threading.Event().wait(ALONE_S)
    alone = writer.stop()
    writer, watch, began = Writer(history), Watch(), time.perf_counter()
    # The rows are a second apart.
    limits = Limits(run_age=timedelta(seconds=rows * 0.9), runs_per_job=10**9, hour_age=timedelta(days=9999))
    gone = prune(history.database, NAMESPACE, stop=threading.Event(), clock=watch, limits=limits)
    print(f"{gone} rows deleted in {time.perf_counter() - began:.1f} s, load {os.getloadavg()[0]:.1f} (target 100 ms)")
    spread("transactions that delete", watch.transactions())
    spread("a writer beside them", writer.stop())
    spread("the same writer alone", alone)


def main() -> None:
    """Run everything."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        url = sys.argv[2] if len(sys.argv) > 2 else f"sqlite:///{Path(folder) / 'history.db'}"
        history = History(url, namespace=NAMESPACE)
        print(f"{url.partition(':')[0]}, {rows} runs, load {os.getloadavg()[0]:.1f}")
        fill(history.database, rows, SYSTEM_CLOCK.now())
        fill_rollups(history.database, 30 * 24, SYSTEM_CLOCK.now())
        read(history)
        let_go(history, rows)
        if not history.database.place.startswith("PostgreSQL"):
            print("runs with the end of a log of 64 KiB:")
            other = History(f"sqlite:///{Path(folder) / 'large.db'}", namespace=NAMESPACE)
            fill(other.database, 5_000, SYSTEM_CLOCK.now(), tail_bytes=65_536)
            let_go(other, 5_000)
            other.close()
        history.close()


if __name__ == "__main__":
    main()
