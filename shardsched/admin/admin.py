"""One door to everything that people do: jobs, commands, executors, status and check-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.admin.checkpoint import JobCheckpoints
from shardsched.admin.command import JobCommands
from shardsched.admin.doctor import Doctor
from shardsched.admin.exchange import Exchange
from shardsched.admin.executor import Executors
from shardsched.admin.job import Jobs
from shardsched.admin.reader import Reader
from shardsched.admin.status import StatusCollector
from shardsched.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from shardsched.admin.status import FleetStatus, JobStatus
    from shardsched.clock import Clock
    from shardsched.core.paths import Paths
    from shardsched.registry.base import Registry


class Admin:
    """What people may do in one namespace. **Thread:** any; nothing is kept between calls.

    Every change is one transaction that checks the versions it was decided on; a deletion is several, and each leaves
    something that can be taken up again.

    Attributes:
        jobs: Creating, changing, pausing and deleting jobs.
        exchange: Exporting and importing them.
        commands: Triggering and stopping them.
        checkpoints: Clearing what their items have saved.
        executors: Draining executors.
        doctor: Finding and mending what is wrong in the registry.
    """

    def __init__(self, registry: Registry, paths: Paths, clock: Clock = SYSTEM_CLOCK) -> None:
        reader = Reader(registry, paths)
        self._status = StatusCollector(reader, clock)
        self.jobs = Jobs(registry, paths, clock)
        self.exchange = Exchange(registry, paths, clock, self.jobs)
        self.commands = JobCommands(registry, paths, clock)
        self.checkpoints = JobCheckpoints(registry, paths)
        self.executors = Executors(registry, paths, clock)
        self.doctor = Doctor(registry, paths, clock)

    def status(self) -> FleetStatus:
        """Return the fleet as it stands: leader, executors, jobs, what runs, and why something does not.

        Raises:
            RegistryUnavailableError: No answer.
        """
        return self._status.fleet()

    def job_status(self, name: str) -> JobStatus:
        """Return one job as it stands, with its items.

        Raises:
            JobNotFoundError: There is no such job.
            RegistryUnavailableError: No answer.
        """
        return self._status.job(name)
