"""Deleting a job: mark it, wait until nothing of it runs, remove its nodes."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shardsched.admin.asking import stopped_commands
from shardsched.admin.race import until_won
from shardsched.admin.reader import Reader
from shardsched.coordination.command import write_commands
from shardsched.coordination.removal import remove_job_nodes
from shardsched.core.item import is_item_name
from shardsched.core.job import JobConfig
from shardsched.core.job_record import encode_job
from shardsched.registry.base import Committed, Put

if TYPE_CHECKING:
    from shardsched.clock import Clock
    from shardsched.core.paths import Paths
    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Changes, Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """How far a deletion came."""

    job: str
    """The job."""
    is_done: bool
    """Whether nothing is left of it."""
    running: tuple[int, ...] = ()
    """Items that still run; the leader removes the job when they have ended."""
    hosts: tuple[str, ...] = ()
    """Living executors whose code describes a job of this name and creates it again at their next start."""


class JobRemoval:
    """Deletes jobs of one namespace. **Thread:** any; nothing is kept."""

    def __init__(self, registry: Registry, paths: Paths, clock: Clock) -> None:
        self._registry = registry
        self._paths = paths
        self._clock = clock
        self._reader = Reader(registry, paths)

    def delete(self, name: str, *, wait_s: float, by: str) -> Removal:
        """Delete a job; see `Jobs.delete`.

        Raises:
            JobNotFoundError: There is no such job.
            NotEmptyError: Somebody made nodes below a cursor.
            RegistryUnavailableError: No answer; calling again is safe.
        """
        deadline = self._clock.boot() + wait_s
        self._mark(name, by)
        while not remove_job_nodes(self._registry, self._paths, name):
            left_s = deadline - self._clock.boot()
            if left_s <= 0:
                running = self._registry.children(self._paths.markers(name), fresh=True)
                items = tuple(sorted(int(item) for item in running if is_item_name(item)))
                return Removal(job=name, is_done=False, running=items, hosts=self._hosts(name))
            self._wait_until_idle(name, left_s)
        return Removal(job=name, is_done=True, hosts=self._hosts(name))

    def _mark(self, name: str, by: str) -> None:
        """Have nothing of the job start any more, and what runs be stopped; in one transaction."""
        until_won(lambda: self._try_mark(name, by), self._paths.job(name))

    def _try_mark(self, name: str, by: str) -> bool | None:
        entry = self._reader.entry(name)
        if entry.config is not None and entry.config.deleting:
            return True
        config = replace(entry.config or self._stand_in(entry), deleting=True)
        commands = stopped_commands(self._reader, entry, config.uid, self._clock.now(), by)
        mark = Put(self._paths.job(name), encode_job(config), entry.version)
        outcome = self._registry.transact([mark, write_commands(self._paths, entry, commands)])
        return True if isinstance(outcome, Committed) else None

    def _stand_in(self, entry: JobEntry) -> JobConfig:
        """Return a configuration that executors can read, in place of one that they cannot."""
        return JobConfig(name=entry.name, uid="-", handler="-", cron="@yearly", armed_at=self._clock.now())

    def _wait_until_idle(self, name: str, timeout_s: float) -> None:
        """Wait until no item of the job runs, or the time is over."""
        prefix = self._paths.markers(name)
        idle = threading.Event()
        standing: set[str] = set()

        def look(report: Changes) -> None:
            if report.complete:
                standing.clear()
            for path, node in report.nodes.items():
                if node is None or path == prefix:
                    standing.discard(path)
                else:
                    standing.add(path)
            if not standing:
                idle.set()

        watch = self._registry.watch(prefix, look)
        try:
            idle.wait(timeout_s)
        finally:
            watch.cancel()

    def _hosts(self, name: str) -> tuple[str, ...]:
        executors = self._reader.members().executors
        return tuple(executor for executor, record in sorted(executors.items()) if name in record.handlers)
