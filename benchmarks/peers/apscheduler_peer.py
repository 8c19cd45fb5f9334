"""APScheduler 3 alone: one process that knows of no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.peers.peer import Finding, Peer

if TYPE_CHECKING:
    from collections.abc import Iterator


class APSchedulerPeer(Peer):
    """``BackgroundScheduler``, jobs in memory, 50 threads; killed, nobody takes over."""

    name = "APScheduler"

    def begin(self, jobs: int) -> None:
        """Start it."""
        self.room.python_module("scheduler", "benchmarks.peers.program.apscheduler_alone", str(jobs))

    def faults(self, times: int) -> Iterator[Finding]:
        """Say what needs no measurement."""
        del times
        yield Finding("the process killed", "nobody takes over")
