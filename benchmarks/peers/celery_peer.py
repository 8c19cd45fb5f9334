"""Celery: two beats with RedBeat, of which one waits, and two workers, on one Redis."""

from __future__ import annotations

import shutil
import socket
from typing import TYPE_CHECKING

from benchmarks.peers.peer import TIMEOUT_S, WORKER_KILLED, Finding, Peer
from benchmarks.peers.room import pause, until
from tests.zookeeper_server import free_port

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

APP = "benchmarks.peers.program.celery_app"
SCHEDULER = "benchmarks.peers.program.celery_beat:Scheduler"
PROCESSES = 4
"""Of each worker's pool: tasks of a crawl wait, and this machine has two cores."""


class CeleryPeer(Peer):
    """Prefork workers, late acknowledgement, visibility and lock time-outs of T."""

    name = "Celery + RedBeat"
    _port = 0

    def begin(self, jobs: int) -> None:
        """Start it."""
        redis = shutil.which("redis-server")
        if redis is None:
            raise FileNotFoundError("redis-server is missing; apt-get install redis-server")
        self._port = free_port()
        keep = ("--save", "", "--appendonly", "no", "--dir", str(self.room.folder))
        self.room.run("redis", redis, "--bind", "127.0.0.1", "--port", str(self._port), *keep)
        until(self._serves, "redis")
        self._jobs = str(jobs)
        for _ in range(2):
            self._start("worker", "-c", str(PROCESSES), "--without-gossip", "--without-mingle")
        if not jobs:
            self.room.python_module("sender", "celery", "-A", APP, "call", "crawl", **self._environment())
            return
        for _ in range(2):
            self._start("beat", "-S", SCHEDULER, "-s", str(self.room.folder / "unused"))

    def _serves(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0

    def _start(self, role: str, *options: str) -> subprocess.Popen[bytes]:
        names = ("-n", f"w{free_port()}@%h") if role == "worker" else ("--pidfile=",)
        arguments = ("-A", APP, role, "-l", "warning", *names, *options)
        return self.room.python_module(role, "celery", *arguments, **self._environment())

    def _environment(self) -> dict[str, str]:
        return {
            "PEER_REDIS": f"redis://127.0.0.1:{self._port}/0",
            "PEER_JOBS": self._jobs,
            "PEER_TIMEOUT_S": str(TIMEOUT_S),
        }

    def faults(self, times: int) -> Iterator[Finding]:
        """Kill the worker that runs a long task, then the beat that holds the lock."""
        yield Finding.of_gaps(WORKER_KILLED, [self._kill_worker() for _ in range(times)])
        yield Finding.of_gaps("beat killed, to the next fire", [self._kill_beat() for _ in range(times)])
        yield self.times_begun()

    def _kill_worker(self) -> float:
        self.begin(0)
        try:
            self.wait_for_long(1)
            pause(1.0)
            killed_at = self.room.kill(self.room.holder(self.marks()[0].pid, "worker"))
            self.wait_for_long(2)
            return self.marks()[1].moment - killed_at
        finally:
            self.end()

    def _kill_beat(self) -> float:
        self.begin(10)
        try:
            self.wait_for_fires(10)
            pause(6.0)  # the second beat has come up too and waits for the lock
            active = self._active_beat()
            killed_at = self.room.kill(active)
            pause(1.0)  # what was sent before runs to its end
            count = len(self.marks())
            until(lambda: len(self.marks()) > count, "the other beat to fire", 180)
            return self.marks()[count].moment - killed_at
        finally:
            self.end()

    def _active_beat(self) -> subprocess.Popen[bytes]:
        """Return the beat that fires: the one that uses processor time, for the other is blocked on the lock."""
        beats = self.room.processes("beat")
        before = [self.room.cpu_ticks(one) for one in beats]
        pause(2.0)
        used = [self.room.cpu_ticks(one) - ticks for one, ticks in zip(beats, before, strict=True)]
        return beats[used.index(max(used))]
