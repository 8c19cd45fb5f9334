"""A real fleet with something to see in it: three executors, one that was killed, and a past that is made up."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from console.password import Passwords
from shardsched.admin import Admin
from shardsched.clock import SYSTEM_CLOCK
from shardsched.core.paths import Paths
from shardsched.demo.children import Children
from shardsched.demo.console import free_port
from shardsched.history.filter import RunFilter
from shardsched.history.query import History
from shardsched.history.recorder import Recorder
from shardsched.history.row import RunRow
from shardsched.people import People
from shardsched.people.audit import AuditEntry, Result
from shardsched.people.role import Role
from shardsched.registry.url import open_registry
from tests.packaging.source import ROOT
from tests.waiting import eventually

if TYPE_CHECKING:
    from types import TracebackType

    from shardsched.core.job import JobConfig
    from shardsched.people.user import User

NAMESPACE = "books"
PASSWORD = "an otter paints seven bridges"  # noqa: S105 - of somebody who does not exist
EXECUTORS = ("crawler-1", "crawler-2", "crawler-3")
KILLED = "crawler-4"
JOBS = Path(__file__).with_name("picture_jobs.py")
PAST = timedelta(hours=4)
PAST_RUNS = (110, 170)
"""How many ended in a minute, about as many as do now."""
PRESENT = timedelta(minutes=10)
MIN_JOBS = 30
CHANGES = (
    ("li.wei", "job.pause", "job", "feeds-radio", "the station moves"),
    ("li.wei", "job.update", "job", "report-daily", "an hour earlier"),
    ("anna.schmidt", "executor.drain", "executor", "crawler-2", "kernel update"),
    ("anna.schmidt", "executor.undrain", "executor", "crawler-2", ""),
    ("li.wei", "job.trigger", "job", "clean-up", ""),
    ("anna.schmidt", "job.disable", "job", "images-thumbnails", "broken pictures"),
)
"""What the audit log says people did before; made up, like the runs of the past."""
_JOIN_S = 120.0


class PictureFleet:
    """The fleet and its console.

    Attributes:
        address: Of the console.
        people: Its people.
        history: Its past.
        admin: Whom to ask of it.
    """

    def __init__(self, folder: Path) -> None:
        registry, self._history_url = f"sqlite:///{folder / 'fleet.db'}", f"sqlite:///{folder / 'fleet.history.db'}"
        self._folder = folder
        self._children = Children(folder, SYSTEM_CLOCK)
        self._env = os.environ | {
            "PYTHONPATH": str(ROOT),
            "SHARDSCHED_REGISTRY": registry,
            "SHARDSCHED_NAMESPACE": NAMESPACE,
            "SHARDSCHED_HISTORY": self._history_url,
            "XDG_STATE_HOME": str(folder / "state"),
        }
        self._registry = open_registry(registry)
        self.address = ""
        self.people = People(self._history_url, NAMESPACE)
        self.history = History(self._history_url, namespace=NAMESPACE)
        self.admin = Admin(self._registry, Paths(NAMESPACE))

    def __enter__(self) -> PictureFleet:
        """Use it for a while."""
        return self

    def start(self) -> None:
        """Start everything and wait until it runs."""
        self._registry.open()
        self.people.check()
        # Tracebacks are pictured too, and name the file.
        shutil.copy(JOBS, self._folder / "crawler.py")
        for name in (*EXECUTORS, KILLED):
            self._start(name, "run", "crawler", "--name", name, "--slots", "32")
        eventually(self._is_whole, _JOIN_S, 0.5)
        self._remember()
        self.admin.jobs.disable("images-thumbnails", [3, 7])
        port = free_port(0)
        self.address = f"http://127.0.0.1:{port}"
        self._start("console", "console", "--port", str(port))
        eventually(self._is_served, _JOIN_S, 0.5)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """End everything."""
        self._children.stop_all(grace_s=20.0)
        self.people.close()
        self.history.close()
        self._registry.close()

    def kill_one(self) -> None:
        """Kill an executor, whose items move."""
        self._children.kill(KILLED)

    def failed_run(self) -> RunRow:
        """Return a run of the present that failed, of a job whose output is kept."""
        wanted = RunFilter(
            job="feeds-podcasts", outcomes=frozenset({"failed"}), since=SYSTEM_CLOCK.now() - PRESENT, min_duration_s=0.5
        )
        rows = eventually(lambda: self.history.runs(wanted, limit=1).rows, 120.0, 1.0)
        return rows[0]

    def make_user(self) -> User:
        """Make somebody who may see everything, and some who did something."""
        user = self.people.users.create("anna.schmidt", Role.ADMIN, Passwords().hash(PASSWORD))
        for role, name in ((Role.OPERATOR, "li.wei"), (Role.VIEWER, "bob")):
            self.people.users.create(name, role, Passwords().hash(PASSWORD + name))
            entry = AuditEntry(actor=user.name, action="user.create", kind="user", object=name, result=Result.DONE)
            self.people.audit.begin(replace(entry, after={"role": role.value}))
        for actor, action, kind, name, reason in CHANGES:
            done = AuditEntry(actor=actor, action=action, kind=kind, object=name, reason=reason, result=Result.DONE)
            self.people.audit.begin(done)
        refused = AuditEntry(actor="", action="session.failed", kind="user", object="root", result=Result.REFUSED)
        self.people.audit.begin(refused)
        return user

    def _start(self, child: str, *arguments: str) -> None:
        self._children.start(child, [sys.executable, "-m", "shardsched", *arguments], self._env)

    def _is_whole(self) -> bool:
        status = self.admin.status()
        live = {one.name for one in status.executors if one.state == "live"}
        return live >= {*EXECUTORS, KILLED} and len(self.admin.jobs.names()) >= MIN_JOBS

    def _is_served(self) -> bool:
        if not self._children.is_alive("console"):
            raise AssertionError(f"the console does not start; it says:\n{self._children.log('console')}")
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.address}/healthz", timeout=30.0, trust_env=False).is_success
        return False

    def _remember(self) -> None:
        """Tell history of some hours, so that statistics have something to show."""
        rng = random.Random(7)  # noqa: S311 - a past that is the same each time
        jobs = [config for name in self.admin.jobs.names() if (config := self.admin.jobs.entry(name).config)]
        minutes = int(PAST.total_seconds()) // 60
        for first in range(0, minutes, 60):  # a recorder keeps the runs of an hour in memory, not those of all
            recorder = Recorder(
                self._history_url,
                self._folder / "spool",
                namespace=NAMESPACE,
                executor="past",
                clock=SYSTEM_CLOCK,
                rng=rng,
            )
            recorder.start()
            for minute in range(first, min(first + 60, minutes)):
                for _ in range(rng.randint(*PAST_RUNS)):
                    recorder.ended(_past_run(rng, rng.choice(jobs), minute))
            recorder.close(60.0)


def _past_run(rng: random.Random, job: JobConfig, minute: int) -> RunRow:
    fire = (SYSTEM_CLOCK.now() - PAST).replace(second=0, microsecond=0) + timedelta(minutes=minute)
    duration_s = rng.lognormvariate(0.5, 0.8)
    luck = 0.3 if job.name.startswith(("prices-otter", "feeds-")) else 0.02
    started_at = fire + timedelta(seconds=rng.random() / 2)
    has_failed = rng.random() < luck
    return RunRow(
        run_id=f"past-{rng.getrandbits(64):016x}",
        job=job.name,
        uid=job.uid,
        item=rng.randrange(job.items),
        items=job.items,
        fire=fire,
        cause="schedule",
        attempt=1,
        executor=rng.choice(EXECUTORS),
        incarnation="past",
        token=1,
        queued_at=fire,
        started_at=started_at,
        ended_at=started_at + timedelta(seconds=duration_s),
        outcome="failed" if has_failed else "ok",
        message="ConnectionError: 503 Service Unavailable" if has_failed else "",
        duration_s=duration_s,
        stats={"pages": rng.randint(5, 40)},
    )
