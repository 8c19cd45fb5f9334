"""How often the runs of each job went well over the last day; added up at most twice a minute for all viewers."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.errors import HistoryError
from shardsched.history.figure import Ranked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shardsched.clock import Clock
    from shardsched.history.query import History

REFRESH_S = 30.0
SPAN = timedelta(hours=24)


class Rates:
    """The share of runs that went well, by job. **Thread:** any; one adds up, the others get what was before.

    Args:
        history: Has the roll-ups.
        clock: The machine's clocks.
    """

    def __init__(self, history: History, clock: Clock) -> None:
        self._history = history
        self._clock = clock
        self._lock = threading.Lock()
        self._read_at = float("-inf")
        self._rates: Mapping[str, float] = {}

    def by_job(self) -> Mapping[str, float]:
        """Return the rates from 0 to 1; jobs without a run that counts are left out.

        While history is away they are those of before.
        """
        if self._clock.boot() - self._read_at >= REFRESH_S and self._lock.acquire(blocking=False):
            try:
                self._read_at = self._clock.boot()
                self._rates = self._read()
            finally:
                self._lock.release()
        return self._rates

    def _read(self) -> Mapping[str, float]:
        try:
            totals = self._history.totals(Ranked.JOBS, since=self._clock.now() - SPAN)
        except HistoryError:
            return self._rates
        return {name: rate for name, total in totals.items() if (rate := total.success_rate) is not None}
