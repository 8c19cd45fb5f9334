"""What the demo asks of the fleet, by the same door as people do."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from shardsched.admin import Admin
from shardsched.core.paths import PERSISTENT_ROOTS, Paths
from shardsched.errors import RegistryUnavailableError, ShardschedError
from shardsched.registry.base import Delete
from shardsched.registry.url import open_registry

if TYPE_CHECKING:
    from types import TracebackType

    from shardsched.admin.status import FleetStatus
    from shardsched.clock import Clock

JOB = "pydoc"
"""As `examples.pydoc_crawl` says."""
_FRESH_S = 1.0
"""How old the status may be that is shown; reading it costs the machine that the demo is run on."""


class DemoFleet:
    """The demo's namespace. **Thread:** one."""

    def __init__(self, registry: str, namespace: str, clock: Clock) -> None:
        self._registry = open_registry(registry, clock=clock)
        self._paths = Paths(namespace)
        self._admin = Admin(self._registry, self._paths, clock)
        self._clock = clock
        self._status: FleetStatus | None = None
        self._read_at = float("-inf")

    def __enter__(self) -> DemoFleet:
        """Open the registry."""
        self._registry.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Close the registry."""
        self._registry.close()

    def _look(self) -> FleetStatus | None:
        """Return a status that is fresh enough, or an older one where the registry gives no answer."""
        now = self._clock.boot()
        if now - self._read_at >= _FRESH_S:
            self._read_at = now
            try:
                self._status = self._admin.status()
            except RegistryUnavailableError:
                return self._status
        return self._status

    def executors(self) -> frozenset[str]:
        """Return the executors that live."""
        status = self._look()
        return frozenset(one.name for one in status.executors if one.state == "live") if status else frozenset()

    def leader(self) -> str | None:
        """Return the executor that leads."""
        status = self._look()
        return status.leader.name if status and status.leader else None

    def pause(self) -> None:
        """Have the job start no more fires.

        Raises:
            JobNotFoundError: No executor has registered it.
            RegistryUnavailableError: No answer.
        """
        self._admin.jobs.pause(JOB)

    def forget(self) -> None:
        """Remove what the demo left in the registry, as far as it can be removed."""
        paths = self._paths
        nodes = [*(paths.under(kind) for kind in PERSISTENT_ROOTS), paths.epoch, paths.root]
        with contextlib.suppress(ShardschedError):
            self._admin.jobs.delete(JOB)
            self._registry.transact([Delete(path) for path in nodes])
