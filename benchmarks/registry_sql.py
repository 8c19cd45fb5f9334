"""How many transactions a second a registry in a database takes, and how long each takes.

``registry_sql.py [SECONDS] [URL]``: on a new SQLite file unless a URL is given, such as
``postgresql://user@host/database``. A claim is what an executor does to start ten items: two checks, ten ephemeral
nodes created and ten cursors written; a completion deletes and writes as many.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from shardsched.registry.base import Check, Committed, Create, Delete, Put
from shardsched.registry.url import open_registry

if TYPE_CHECKING:
    from shardsched.registry.base import Changes, Operation, Registry

ITEMS = 10
VALUE = b"x" * 250
"""About as long as a cursor."""


def prepare(registry: Registry, name: str) -> list[Operation]:
    """Make what the claims of one process need; return the checks they begin with."""
    for path in ("/sessions", "/jobs", "/items", "/running"):
        registry.transact([Create(path)])
    nodes = [Create(f"/{kind}/{name}") for kind in ("jobs", "items", "running")]
    cursors = [Create(f"/items/{name}/{item}", VALUE) for item in range(ITEMS)]
    registry.transact([*nodes, Create(f"/sessions/{name}", ephemeral=True), *cursors])
    return [Check(f"/sessions/{name}"), Check(f"/jobs/{name}", 0)]


def claim(checks: list[Operation], name: str) -> list[Operation]:
    """Return a claim of ten items."""
    markers = [Create(f"/running/{name}/{item}", VALUE, ephemeral=True) for item in range(ITEMS)]
    return [*checks, *markers, *(Put(f"/items/{name}/{item}", VALUE) for item in range(ITEMS))]


def complete(checks: list[Operation], name: str) -> list[Operation]:
    """Return the completion of ten items."""
    markers = [Delete(f"/running/{name}/{item}") for item in range(ITEMS)]
    return [checks[0], *markers, *(Put(f"/items/{name}/{item}", VALUE) for item in range(ITEMS))]


def work(url: str, name: str, seconds: float) -> tuple[list[float], list[float]]:
    """Claim and complete in turn; return how long each took, in seconds."""
    claims: list[float] = []
    completions: list[float] = []
    with open_registry(url) as registry:
        checks = prepare(registry, name)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for durations, operations in ((claims, claim(checks, name)), (completions, complete(checks, name))):
                began = time.perf_counter()
                outcome = registry.transact(operations)
                durations.append(time.perf_counter() - began)
                assert isinstance(outcome, Committed), outcome
    return claims, completions


def describe(what: str, durations: list[float], seconds: float) -> None:
    """Print a line."""
    ordered = sorted(value * 1000 for value in durations)
    p50, p99 = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
    rate = len(ordered) / seconds
    print(f"{what:44} {rate:8.0f}/s   p50 {p50:7.2f}   p99 {p99:7.2f}   max {ordered[-1]:7.2f} ms")


def one_process(url: str, seconds: float) -> None:
    """Measure without a rival."""
    claims, completions = work(url, "alone", seconds)
    describe("1 process: claim of 10 items", claims, seconds)
    describe("1 process: completion of 10 items", completions, seconds)


def processes(url: str, count: int, seconds: float) -> None:
    """Measure processes that work at once."""
    command = [sys.executable, __file__, "--work", url]
    running = [
        subprocess.Popen([*command, f"p{number}", str(seconds)], stdout=subprocess.PIPE, text=True)
        for number in range(count)
    ]
    durations = [float(word) for process in running for word in process.communicate()[0].split()]
    describe(f"{count} processes: claims and completions", durations, seconds)


def small(url: str, seconds: float) -> None:
    """Measure single puts, one after the other and many under way; heartbeats; reads; and how soon a watch tells."""
    with open_registry(url) as registry, open_registry(url) as watcher:
        registry.transact([Create("/small", b"")])
        measure("put", lambda: registry.transact([Put("/small", VALUE)]), seconds)
        measure("heartbeat", lambda: registry.renew(Check("/small")).result(10), seconds)
        measure("read of 20 nodes", lambda: registry.read(["/small"] * 10 + ["/"] * 10), seconds)
        began = time.perf_counter()
        futures = [registry.submit([Put("/small", VALUE)]) for _ in range(1000)]
        for future in futures:
            future.result(60)
        elapsed = time.perf_counter() - began
        print(f"{'put, 1000 under way':44} {1000 / elapsed:8.0f}/s")
        watch(registry, watcher)


def measure(what: str, call: object, seconds: float) -> None:
    """Call again and again, and print how long it took."""
    assert callable(call)
    durations = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        call()
        durations.append(time.perf_counter() - began)
    describe(what, durations, seconds)


def watch(registry: Registry, watcher: Registry) -> None:
    """Measure from a write until another client's watch tells it."""
    told = threading.Semaphore(0)

    def tell(changes: Changes) -> None:
        if not changes.complete:
            told.release()

    watcher.watch("/small", tell)
    durations = []
    for _ in range(40):
        began = time.perf_counter()
        registry.transact([Put("/small", VALUE)])
        assert told.acquire(timeout=10)
        durations.append(time.perf_counter() - began)
    describe("watch of another client tells a put", durations, sum(durations))


def main() -> None:
    """Run everything."""
    if sys.argv[1:2] == ["--work"]:
        claims, completions = work(sys.argv[2], sys.argv[3], float(sys.argv[4]))
        print(*claims, *completions)
        return
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    with tempfile.TemporaryDirectory() as folder:
        url = sys.argv[2] if len(sys.argv) > 2 else f"sqlite:///{Path(folder) / 'fleet.db'}"
        print(f"{url.partition(':')[0]}, load {os.getloadavg()[0]:.1f}")
        one_process(url, seconds)
        processes(url, 4, seconds)
        small(url, seconds / 3)


if __name__ == "__main__":
    main()
