"""Dask: a scheduler, two workers, and a client that submits what is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.peers.peer import Peer, Takeover
from benchmarks.peers.room import pause, until
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

    def takeovers(self, times: int) -> Iterator[Takeover]:
        """Kill the worker that runs a long task."""
        yield Takeover("worker killed, to its task's next first line", [self._kill_worker() for _ in range(times)])

    def _kill_worker(self) -> float:
        self.begin(0)
        try:
            until(lambda: len(self.marks()) == 1, "the long task to begin", 90)
            pause(5.0)  # both workers are there
            killed_at = self.room.kill(self.room.holder(self.marks()[0].pid, "worker"))
            until(lambda: len(self.marks()) == 2, "the long task to begin again", 120)
            return self.marks()[1].moment - killed_at
        finally:
            self.end()
