"""What executors report of themselves, kept for an hour: the registry has only the last report of each.

It is kept in memory, from the first look of somebody on, so a console that was started anew has less; pages say since
when. Two requests every ten seconds, whatever the number of viewers, jobs and executors.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.errors import ShardschedError

if TYPE_CHECKING:
    from datetime import datetime

    from console.fleet import Fleet
    from shardsched.clock import Clock
    from shardsched.core.executor import LoadReport

logger = logging.getLogger(__name__)

EVERY_S = 10.0
"""As often as executors report."""
KEPT = timedelta(hours=1)
MAX_REPORTS = 400
"""Of one executor: an hour's, and some more for one that reports oftener."""


class LoadRing:
    """The last hour of all executors. **Thread:** any.

    Args:
        fleet: The door to the registry; it is only used while it is open.
        clock: The machine's clocks.
    """

    def __init__(self, fleet: Fleet, clock: Clock) -> None:
        self._fleet = fleet
        self._clock = clock
        self._lock = threading.Lock()
        self._reports: dict[str, deque[LoadReport]] = {}
        self._since: datetime | None = None
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, unless it has begun."""
        with self._lock:
            if self._thread is None and not self._ending.is_set():
                self._thread = threading.Thread(target=self._run, name="loads", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """End it."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join(10)

    @property
    def since(self) -> datetime | None:
        """Since when reports are kept, None if there are none yet."""
        return self._since

    def reports(self, name: str) -> tuple[LoadReport, ...]:
        """Return the reports of an executor within the last hour, the oldest first."""
        floor = self._clock.now() - KEPT
        with self._lock:
            return tuple(report for report in self._reports.get(name, ()) if report.at >= floor)

    def add(self, loads: dict[str, LoadReport]) -> None:
        """Take what was reported last."""
        now = self._clock.now()
        with self._lock:
            if self._since is None:
                self._since = now
            for name, report in loads.items():
                kept = self._reports.setdefault(name, deque(maxlen=MAX_REPORTS))
                if not kept or kept[-1].at < report.at:
                    kept.append(report)
            for name in [name for name, kept in self._reports.items() if kept[-1].at < now - KEPT]:
                del self._reports[name]

    def _run(self) -> None:
        while not self._ending.wait(EVERY_S if self._since else 1.0):
            admin = self._fleet.open_admin()
            if admin is None:
                continue
            try:
                self.add(admin.executors.loads())
            except ShardschedError as error:
                logger.debug("no load reports for now: %s", error)
            except Exception:  # the top of a thread: the next time is another try
                logger.exception("load reports could not be read", extra={"event": "console_read_failed"})
