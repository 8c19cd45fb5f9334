"""Executor processes that host the benchmarks' handlers, on a ZooKeeper of the benchmark's own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shardsched.admin.admin import Admin
from shardsched.core.assignment import decode_assignment
from shardsched.core.paths import Paths
from shardsched.registry.url import open_registry
from tests.zookeeper_source import running_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from shardsched.registry.base import Registry
    from tests.zookeeper_server import Server

ROOT = Path(__file__).parent.parent.parent
NAMESPACE = "bench"
T_S = 10.0
"""Session time-out of the executors, in seconds: the default."""
_NEVER = threading.Event()


def pause(seconds: float) -> None:
    """Let time pass while executors work."""
    _NEVER.wait(seconds)


def wall() -> float:
    """Return the wall clock, in seconds."""
    return time.clock_gettime(time.CLOCK_REALTIME)


def until(condition: Callable[[], Any], what: str, timeout_s: float = 60.0) -> Any:
    """Return the condition's first true value.

    Raises:
        TimeoutError: There was none in time.
    """
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {timeout_s:g} s in vain for {what}")
        pause(0.02)
    return value


def spread(values_s: Iterable[float]) -> str:
    """Return the percentiles of durations in seconds, as text in milliseconds."""
    values = sorted(values_s)
    if len(values) < 2:
        return ", ".join(f"{value * 1000:.0f} ms" for value in values) or "none"
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    points = f"p50 {cuts[49] * 1000:.0f}, p95 {cuts[94] * 1000:.0f}, p99 {cuts[98] * 1000:.0f}"
    return f"{points}, max {values[-1] * 1000:.0f} ms (n {len(values)})"


def machine_load() -> str:
    """Return how busy the machine is."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


@dataclass(frozen=True, slots=True)
class Mark:
    """One run, as its handler recorded it."""

    moment: float
    fire: float
    job: str
    item: int
    attempt: int
    executor: str

    @property
    def lateness_s(self) -> float:
        """How long after its fire time the handler's first line ran."""
        return self.moment - self.fire


class Member:
    """One executor process."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Path, started: float) -> None:
        self.name = name
        self.process = process
        self.log = log
        self.started = started

    def events(self, event: str) -> list[dict[str, Any]]:
        """Return the log records of an event, each with its ``at`` in wall-clock seconds."""
        records = []
        for line in self.log.read_text().splitlines():
            with contextlib.suppress(ValueError):
                record = json.loads(line)
                if record.get("event") == event:
                    records.append(record | {"at": datetime.fromisoformat(record["time"]).timestamp()})
        return records

    def ready(self, item_count: int, timeout_s: float = 120.0) -> float:
        """Return how long after its start it had read so many items, which it can fire from then on."""

        def found() -> float | None:
            moments = [record["at"] for record in self.events("items_read") if record["count"] >= item_count]
            return moments[0] if moments else None

        return float(until(found, f"{self.name} to read {item_count} items, see {self.log}", timeout_s)) - self.started

    def joined(self) -> None:
        """Return when it has taken its place in the fleet."""
        until(lambda: self.events("executor_joined"), f"{self.name} to join, see {self.log}")

    def status(self, name: str) -> int:
        """Return a number of the kernel's status of the process, such as Threads, or VmRSS in KiB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(f"{name}:")).split()[1])

    @property
    def rss_mib(self) -> float:
        """Its resident memory."""
        return self.status("VmRSS") / 1024

    @property
    def cpu_s(self) -> float:
        """The processor time of the executor's own process."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """Kill -9 it."""
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> None:
        """Have it stop cleanly."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


@dataclass(slots=True)
class Stage:
    """A ZooKeeper, executors, and people's tools."""

    server: Server
    folder: Path
    members: list[Member] = field(default_factory=list)
    registry: Registry = field(init=False)
    paths: Paths = field(init=False)
    admin: Admin = field(init=False)

    def __post_init__(self) -> None:
        self.registry = open_registry(self.url, session_timeout_s=T_S)
        self.registry.open()
        self.paths = Paths(NAMESPACE)
        self.admin = Admin(self.registry, self.paths)

    @property
    def url(self) -> str:
        """The registry's URL."""
        return f"zk://{self.server.hosts}/bench?tick={self.server.tick_s:g}"

    def start(self, name: str, *, slots: int = 16) -> Member:
        """Start an executor."""
        started = wall()
        log = self.folder / f"{name}-{len(self.members)}.log"
        options = {
            "name": name,
            "registry": self.url,
            "namespace": NAMESPACE,
            "slots": str(slots),
            "session-timeout": str(T_S),
            "state-dir": str(self.folder / "state"),
        }
        arguments = [part for key, value in options.items() for part in (f"--{key}", value)]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "BENCH_RECORD": str(self.record)}
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "shardsched", "run", "benchmarks.stage.handlers", *arguments, "--log-json"],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        member = Member(name, process, log, started)
        self.members.append(member)
        return member

    @property
    def record(self) -> Path:
        """Where the handlers write."""
        return self.folder / "record"

    def marks(self) -> list[Mark]:
        """Return what the handlers recorded."""
        if not self.record.exists():
            return []
        marks = []
        for line in self.record.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                moment, fire, job, item, attempt, executor = line.split()
                marks.append(Mark(float(moment), float(fire), job, int(item), int(attempt), executor))
        return marks

    def register(self, names: Sequence[str], *, cron: str, items: int = 1, isolation: str = "thread") -> None:
        """Create jobs, several at a time."""
        settings = {"handler": "mark", "cron": cron, "items": items, "isolation": isolation}
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda name: self.admin.jobs.register(name, settings), names))

    def owned_counts(self) -> dict[str, int]:
        """Return how many items each executor owns."""
        counts: dict[str, int] = {}
        folder = self.paths.under("assignments")
        nodes = self.registry.read([f"{folder}/{job}" for job in self.registry.children(folder)])
        for node in nodes:
            if node is not None:
                for name, items in decode_assignment(node.path, node.value).owners.items():
                    counts[name] = counts.get(name, 0) + len(items)
        return counts

    def close(self) -> None:
        """End every executor that still runs, and the connection."""
        for member in self.members:
            if member.process.poll() is None:
                member.process.kill()
                member.process.wait(10)
        self.registry.close()


@contextlib.contextmanager
def stage() -> Iterator[Stage]:
    """Give a stage in a folder of its own, and end it afterwards."""
    with tempfile.TemporaryDirectory(prefix="shardsched-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with running_server(folder / "zk") as server:
            some = Stage(server, folder)
            try:
                yield some
            finally:
                some.close()
