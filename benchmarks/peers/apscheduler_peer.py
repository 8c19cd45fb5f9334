"""APScheduler 3 alone: one process that knows of no other."""

from __future__ import annotations

from benchmarks.peers.peer import Peer


class APSchedulerPeer(Peer):
    """``BackgroundScheduler``, jobs in memory, 50 threads; killed, nobody takes over."""

    name = "APScheduler"

    def begin(self, jobs: int) -> None:
        """Start it."""
        self.room.python_module("scheduler", "benchmarks.peers.program.apscheduler_alone", str(jobs))
