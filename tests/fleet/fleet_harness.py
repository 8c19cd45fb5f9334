"""A fleet of real executor processes, and waiting for what they do."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from shardsched.admin.admin import Admin
from shardsched.admin.document import fleet_document, job_details
from shardsched.core.paths import Paths
from shardsched.registry.url import open_registry
from tests.fleet.fleet_record import RecordedRun, read_runs, violations
from tests.fleet.saved_record import SavedStates, read_saves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shardsched.registry.base import Registry

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NAMESPACE = "fleet"
T_S = 4.0
"""Session time-out of the executors, in seconds."""
SLOW = float(os.environ.get("SHARDSCHED_TEST_SLOWNESS", "1"))
"""Factor on every patience, for machines that are very busy."""
_NEVER = Event()


def wait_until(condition: Callable[[], Any], what: str, timeout_s: float = 20.0) -> Any:
    """Return the condition's first true value; fail after a while, saying what was waited for."""
    deadline = time.monotonic() + timeout_s * SLOW
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            message = f"waited {timeout_s * SLOW:g} s in vain for {what}"
            raise AssertionError(message)
        _NEVER.wait(0.02)


def let_pass(seconds: float) -> None:
    """Let time pass, for a test that shows that something does not happen."""
    _NEVER.wait(seconds)


@dataclass(slots=True)
class ExecutorProcess:
    """One executor."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    strikes: list[tuple[str, float]] = field(default_factory=list)
    """Where it is noted when an executor was killed or frozen, by the boot clock."""

    def signal(self, number: int) -> None:
        """Send a signal to the executor's own process."""
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        """Kill -9 it."""
        self.strikes.append((self.name, time.clock_gettime(time.CLOCK_BOOTTIME)))
        self.signal(signal.SIGKILL)
        self.process.wait(10)

    def freeze(self) -> None:
        """Stop it as a machine that hangs would."""
        self.strikes.append((self.name, time.clock_gettime(time.CLOCK_BOOTTIME)))
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self.signal(signal.SIGCONT)

    def children(self, word: str) -> list[int]:
        """Return the process ids of its children whose command line has a word."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        listed = [pid for task in tasks for pid in (task / "children").read_text().split()]
        return [int(pid) for pid in listed if word in Path(f"/proc/{pid}/cmdline").read_text()]

    def stop(self, timeout_s: float = 20.0) -> int:
        """Have it stop cleanly; return its exit code."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        return self.process.wait(timeout_s * SLOW)


@dataclass(slots=True)
class Fleet:
    """Executors on one registry, their record, and people's tools."""

    url: str
    folder: Path
    executors: dict[str, ExecutorProcess] = field(default_factory=dict)
    strikes: list[tuple[str, float]] = field(default_factory=list)
    _admin: Admin | None = None
    _registry: Registry = field(init=False)
    _closers: list[Callable[[], None]] = field(default_factory=list)

    @property
    def record(self) -> Path:
        """Where the jobs write."""
        return self.folder / "record.jsonl"

    def start(self, *names: str, url: str | None = None, wait: bool = True, **options: str) -> None:
        """Start executors and wait until all of them are in the fleet."""
        for name in names:
            self._start(name, url or self.url, dict(options))
        if wait:
            for name in names:
                wait_until(partial(self.is_live, name), f"{name} to join, see {self.executors[name].log}")

    def _start(self, name: str, url: str, options: dict[str, str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = {
            "name": name,
            "registry": url,
            "namespace": NAMESPACE,
            "session-timeout": options.pop("timeout_s", str(T_S)),
            **options,
        }
        arguments = [part for key, value in settings.items() for part in (f"--{key}", value)]
        log = self.folder / f"{name}.log"
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)]),
            "FLEET_RECORD": str(self.record),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "COVERAGE_PROCESS_START": os.environ.get("COVERAGE_PROCESS_START", ""),
        }
        with log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "shardsched", "run", "fleet_jobs", *arguments, "-v"],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        self.executors[name] = ExecutorProcess(name, process, log, self.strikes)

    @property
    def admin(self) -> Admin:
        """What people may do, over a connection of its own."""
        if self._admin is None:
            self._registry = open_registry(self.url, session_timeout_s=T_S)
            self._registry.open()
            self._closers.append(self._registry.close)
            self._admin = Admin(self._registry, Paths(NAMESPACE))
        return self._admin

    def is_live(self, name: str) -> bool:
        """Whether an executor is in the fleet."""
        return name in self.live()

    def live(self) -> dict[str, Any]:
        """Return the status of each executor in the fleet, by name."""
        return {executor["name"]: executor for executor in self.status()["executors"]}

    def status(self) -> dict[str, Any]:
        """Return what `shardsched status --json` prints."""
        return dict(fleet_document(self.admin.status()))

    def job(self, name: str) -> dict[str, Any]:
        """Return one job of the status."""
        return next(job for job in self.status()["jobs"] if job["name"] == name)

    def cursors(self, job: str) -> list[dict[str, Any]]:
        """Return the items' cursors as `shardsched job show --json` prints them."""
        return list(job_details(self.admin.job_status(job))["cursors"])

    def registry(self) -> tuple[Registry, Paths]:
        """Return the registry below the admin's tools, to spoil it."""
        self.admin.status()
        return self._registry, Paths(NAMESPACE)

    def owners(self, job: str) -> dict[str, list[int]]:
        """Return who owns which items of a job."""
        return {name: items for name, items in self.job(job)["owners"].items() if items}

    def create(self, name: str, *, cron: str = "0 0 0 1 1 ? 2099", handler: str = "told", **settings: Any) -> None:
        """Create a job and wait until all of its items have an owner."""
        self.admin.jobs.create(name, {"handler": handler, "cron": cron, **settings})
        count = settings.get("items", 1)
        wait_until(lambda: sum(map(len, self.owners(name).values())) == count, f"the items of {name} to be owned")

    def runs(self, job: str | None = None) -> list[RecordedRun]:
        """Return the recorded runs, of one job or of all."""
        return [run for run in read_runs(self.record) if job is None or run.job == job]

    def saves(self) -> SavedStates:
        """Return what items loaded and saved."""
        return read_saves(self.record)

    def running(self, job: str) -> list[RecordedRun]:
        """Return the runs of a job that have begun and not ended."""
        return [run for run in self.runs(job) if run.end is None]

    def check(self) -> None:
        """Fail if the record shows what must never be."""
        faults = [*violations(self.runs(), self.strikes), *self.saves().faults]
        assert not faults, f"{len(faults)} faults: {faults[:5]}"

    def close(self) -> None:
        """End every executor that still runs, with all it started."""
        for executor in self.executors.values():
            with contextlib.suppress(ProcessLookupError):
                executor.thaw()
            if executor.process.poll() is None:
                executor.process.kill()
                executor.process.wait(10)
        for close in self._closers:
            close()


@contextlib.contextmanager
def fleet_on(url: str, folder: Path) -> Iterator[Fleet]:
    """Give a fleet on a registry, and end it afterwards."""
    fleet = Fleet(url, folder)
    try:
        yield fleet
        fleet.check()
    finally:
        fleet.close()
