"""One wake-up for the earliest due moment, and the executor's chores, on APScheduler.

APScheduler only wakes: fire times, misfires and overlaps are decided in ``core``. It holds one job for the head of the
agenda, since one for each of ours would take 39 % of a core at 1,000 fires a second where the heap takes 1.4 %.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.date import DateTrigger
from apscheduler.triggers.interval import IntervalTrigger

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.clock import Clock

_WAKE = "wake"
_MAX_SLEEP = timedelta(days=7)
"""Python's locks take no longer time-outs than some platforms' C ints; waking for nothing once a week is free."""


class Timer:
    """Wakes at one moment, and runs chores at intervals.

    **Thread:** any thread may call; `on_wake` and the chores run on the timer's own threads. A chore that still runs is
    not started again, and one that raises is logged and started again.
    """

    def __init__(self, clock: Clock, on_wake: Callable[[], None]) -> None:
        self._clock = clock
        self._on_wake = on_wake
        self._wake_at: datetime | None = None
        self._chores: dict[str, float] = {}
        self._scheduler = BackgroundScheduler(
            timezone=UTC,
            executors={"default": ThreadPoolExecutor(2)},
            job_defaults={"coalesce": True, "misfire_grace_time": None, "max_instances": 1},
        )
        # APScheduler 3.11 logs two lines at INFO for every wake-up, which would drown what matters.
        logging.getLogger("apscheduler").setLevel(logging.WARNING)

    def start(self) -> None:
        """Begin."""
        self._scheduler.start()

    def stop(self) -> None:
        """End; a chore under way is not waited for."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def wake_at(self, moment: datetime | None) -> None:
        """Set the one moment at which `on_wake` is called next; None for none. A past moment is now."""
        if moment == self._wake_at:
            return
        self._wake_at = moment
        if moment is None:
            if self._scheduler.get_job(_WAKE) is not None:
                self._scheduler.remove_job(_WAKE)
            return
        run_at = min(moment, self._clock.now() + _MAX_SLEEP)
        self._scheduler.add_job(self._wake, DateTrigger(run_at, timezone=UTC), id=_WAKE, replace_existing=True)

    def _wake(self) -> None:
        self._wake_at = None
        self._on_wake()

    def every(self, interval_s: float, name: str, chore: Callable[[], None]) -> None:
        """Run a chore at an interval in seconds, beginning after one."""
        self._chores[name] = interval_s
        self._scheduler.add_job(
            chore, IntervalTrigger(seconds=interval_s, timezone=UTC), id=name, name=name, replace_existing=True
        )

    def resync(self) -> None:
        """Set everything anew after the wall clock was stepped; APScheduler alone would sleep for the whole step.

        The chores are run at once, since one of them looks how far the clock is off now.
        """
        for name, interval_s in self._chores.items():
            self._scheduler.reschedule_job(name, trigger=IntervalTrigger(seconds=interval_s, timezone=UTC))
            self._scheduler.modify_job(name, next_run_time=self._clock.now())
        self._wake_at = None
        self._on_wake()
