"""The console's lists over 1,000 jobs of 100 items and a history of a million runs, against its budgets; print figures.

Run by hand: ``python -m benchmarks.console_lists [RUNS]``. One ZooKeeper, 50 executors that exist in it only, the
console as a process of its own on gunicorn, SQLite. Answers are compressed as browsers take them.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.console_map import Client, console
from benchmarks.stage.crowd import Crowd, Size
from benchmarks.stage.fleet import until
from benchmarks.stage.past import NAMESPACE, fill, fill_rollups
from shardsched.clock import SYSTEM_CLOCK
from shardsched.core.paths import Paths
from shardsched.history.query import History
from shardsched.registry.url import open_registry
from tests.zookeeper_source import running_server

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNS = 1_000_000
REQUESTS = 60
PAGE_MS, LIST_MS, PART_MS, SAME_MS = 20, 50, 10, 3
PARTS = (
    ("jobs", "/jobs", LIST_MS),
    ("jobs, the last of 20 pages, by state", "/jobs?page=20&sort=state", LIST_MS),
    ("a job", "/jobs/shop-jd-price", PAGE_MS),
    ("executors", "/executors", PAGE_MS),
    ("an executor", "/executors/crawler-01", PAGE_MS),
    ("executions", "/executions", LIST_MS),
    ("executions of a job that failed", "/executions?job=job7&outcome=bad", LIST_MS),
    ("statistics", "/statistics", PAGE_MS),
    ("statistics of 30 days", "/statistics?range=30d", PAGE_MS),
    ("overview", "/overview", PAGE_MS),
    ("map", "/map", PAGE_MS),
)


def main() -> None:
    """Measure and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with large_console(rows) as (client, _crowd):
        client.requests = REQUESTS
        print(f"{rows} runs in the history", flush=True)
        client.time("being asked at all, /healthz", "/healthz", SAME_MS)
        for part in PARTS:
            measure(client, *part)


@contextlib.contextmanager
def large_console(rows: int) -> Iterator[tuple[Client, Crowd]]:
    """Run a console that has seen all of 1,000 jobs and has so many runs in its history; give a viewer, and the fleet."""
    with tempfile.TemporaryDirectory(prefix="shardsched-bench-") as name:
        folder = Path(name)
        past = History(f"sqlite:///{folder}/h.db", namespace=NAMESPACE)
        fill(past.database, rows, SYSTEM_CLOCK.now())
        fill_rollups(past.database, 30 * 24, SYSTEM_CLOCK.now())
        past.close()
        with running_server(folder / "zk") as server:
            url = f"zk://{server.hosts}/lists?tick=0.5"
            with open_registry(url) as registry:
                crowd = Crowd(registry, Paths(NAMESPACE), Size())
                crowd.build()
                with console(folder, url) as client:
                    client.sign_in()
                    until(client.is_filled, "all items", 240.0)
                    yield client, crowd


def measure(client: Client, what: str, path: str, budget_ms: float) -> None:
    """Print what a page, its part and its unchanged part take."""
    taken, part = {"Accept-Encoding": "br, gzip"}, {"HX-Request": "true"}
    page = client.get(path)[1].decode()
    sent = len(client.get(path, **taken)[1])
    print(f"{what}: {len(page) / 1000:.0f} kB, {sent / 1000:.1f} kB as it is sent")
    client.time(f"  page {path}", path, budget_ms, **taken)
    polled = [one.replace("&amp;", "&") for one in re.findall(r'hx-get="([^"]+)" hx-trigger="every', page)]
    # What is away is asked for by every page, beside its own part.
    address = next((one for one in polled if not one.startswith("/away")), path)
    client.time("  part", address, PART_MS, **taken, **part)
    tag = client.get(address, **part)[2].get("HX-PTag", "")
    client.time("  part, unchanged", address, SAME_MS, **part, **{"HX-PTag": tag})


if __name__ == "__main__":
    main()
