"""What an executor does now and then: tell its load, compare its clock, throw old logs away."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from shardsched.core.events import Event
from shardsched.core.executor import LoadReport, encode_load
from shardsched.errors import RegistryError
from shardsched.registry.base import Create, Put, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.clock import Clock
    from shardsched.coordination.session import Lease
    from shardsched.core.paths import Paths
    from shardsched.registry.base import Registry

logger = logging.getLogger(__name__)

REPORT_INTERVAL_S = 10.0
"""Seconds between load reports."""
DRIFT_HYSTERESIS = 0.8
"""A clock that was off by more than the limit is trusted again below this share of it."""
LOG_AGE_S = 7 * 86_400.0
"""Logs of runs are kept for a week."""
LOG_BYTES = 1 << 30
"""And for one GiB in all; the oldest go first."""


class LoadReporter:
    """Tells an executor's load, and how far its clock is off. **Thread:** one at a time."""

    def __init__(
        self,
        *,
        registry: Registry,
        paths: Paths,
        clock: Clock,
        lease: Lease,
        name: str,
        counts: Callable[[], tuple[int, int]],
    ) -> None:
        self._registry = registry
        self._paths = paths
        self._clock = clock
        self._lease = lease
        self._name = name
        self._counts = counts
        self._cpu = (clock.boot(), time.process_time())
        self.drift_s = 0.0
        """How far the clock was ahead of the registry's at the last report, in seconds."""

    def report(self) -> None:
        """Compare clocks and write the report; without an answer, the next one tells."""
        if not self._lease.incarnation:
            return
        try:
            before = self._clock.now()
            server = self._registry.server_time()
            after = self._clock.now()
            self.drift_s = round(((before + (after - before) / 2) - server).total_seconds(), 3)
            self._write()
        except RegistryError as error:
            logger.debug("the load could not be told: %s", error)

    def is_adrift(self, limit_s: float, *, was: bool = False) -> bool:
        """Whether the clock was off by more than a limit at the last report; by a share of it, if it was before."""
        return abs(self.drift_s) > limit_s * (DRIFT_HYSTERESIS if was else 1.0)

    def _write(self) -> None:
        running, queued = self._counts()
        value = encode_load(
            LoadReport(
                at=self._clock.now(),
                running=running,
                queued=queued,
                cpu=self._cpu_share(),
                memory_mb=_resident_mb(),
                drift_s=self.drift_s,
            )
        )
        path, fence = self._paths.load(self._name), self._lease.fence()
        outcome = self._registry.transact([fence, Put(path, value)])
        if isinstance(outcome, Refused) and outcome.index == 1:
            self._registry.transact([fence, Create(path, value, ephemeral=True)])

    def _cpu_share(self) -> float:
        now = (self._clock.boot(), time.process_time())
        elapsed_s, used_s = now[0] - self._cpu[0], now[1] - self._cpu[1]
        self._cpu = now
        return round(used_s / elapsed_s, 3) if elapsed_s > 0 else 0.0


def _resident_mb() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


def prune_logs(folder: Path, now_s: float, live: frozenset[str]) -> int:
    """Delete logs of runs that are older than a week, and the oldest beyond one GiB; return how many.

    Args:
        folder: Where the logs stand, in folders by job.
        now_s: The time as files carry it, in seconds since the epoch.
        live: Names (without ending) of logs that are still written.
    """
    logs: list[tuple[float, int, Path]] = []
    for path in folder.glob("*/*.log"):
        try:
            stat = path.stat()
        except OSError:
            continue
        if path.stem not in live:
            logs.append((stat.st_mtime, stat.st_size, path))
    kept_bytes, deleted = 0, 0
    for modified, size, path in sorted(logs, reverse=True):
        kept_bytes += size
        if now_s - modified > LOG_AGE_S or kept_bytes > LOG_BYTES:
            path.unlink(missing_ok=True)
            deleted += 1
    if deleted:
        logger.info("deleted %d old logs of runs", deleted, extra={"event": Event.LOGS_PRUNED})
    return deleted
