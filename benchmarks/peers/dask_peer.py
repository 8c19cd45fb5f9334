"""Dask: a scheduler, two workers, and a client that submits what is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.peers.peer import WORKER_KILLED, Finding, Peer
from benchmarks.peers.room import pause
from tests.zookeeper_server import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

THREADS = 16
PROGRAM = "benchmarks.peers.program.dask_client"


class DaskPeer(Peer):
    """Workers with threads and no nanny; the scheduler and the client are single points, and nobody replaces them."""

    name = "Dask"

    def begin(self, jobs: int) -> None:
        """Start it."""
        address = f"tcp://127.0.0.1:{free_port()}"
        plain = ("--host", address, "--no-dashboard")
        self.room.python_module("scheduler", "distributed.cli.dask_scheduler", *plain)
        for _ in range(2):
            options = (
                "--nthreads",
                str(THREADS),
                "--no-nanny",
                "--no-dashboard",
                "--local-directory",
                str(self.room.folder),
            )
            self.room.python_module("worker", "distributed.cli.dask_worker", address, *options)
        self.room.python_module("client", PROGRAM, address, str(jobs))

    def faults(self, times: int) -> Iterator[Finding]:
        """Kill the worker that runs a long task."""
        yield Finding.of_gaps(WORKER_KILLED, [self._kill_worker() for _ in range(times)])
        yield self.times_begun()
        yield Finding("the scheduler or the submitting client killed", "nobody takes over")

    def _kill_worker(self) -> float:
        self.begin(0)
        try:
            self.wait_for_long(1)
            pause(5.0)  # both workers are there
            killed_at = self.room.kill(self.room.holder(self.marks()[0].pid, "worker"))
            self.wait_for_long(2)
            return self.marks()[1].moment - killed_at
        finally:
            self.end()
