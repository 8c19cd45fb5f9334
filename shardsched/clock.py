"""The clocks that everything above ``core`` takes as an argument."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What time it is, in the two senses that matter here."""

    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC. It may step in either direction."""
        ...

    def boot(self) -> float:
        """Return seconds on a clock that never steps and counts suspension. Leases are kept on it."""
        ...


class SystemClock:
    """The machine's clocks.

    ``CLOCK_BOOTTIME`` is used where it exists (Linux), since ``CLOCK_MONOTONIC`` stands still there while the
    machine sleeps and a lease would seem younger than it is; on macOS ``CLOCK_MONOTONIC`` counts sleep.
    """

    _boot_clock_id = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this is the one place that may ask

    def boot(self) -> float:
        """Return seconds since some fixed moment, suspension counted."""
        return time.clock_gettime(self._boot_clock_id)


SYSTEM_CLOCK = SystemClock()
