"""Clocks of a simulated fleet: one true clock, and those of machines, which are off by some seconds."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.testing import FakeClock


class SkewedClock:
    """The clock of one machine: the true one, off by some seconds; its boot clock began at another moment."""

    def __init__(self, true: FakeClock, offset_s: float, boot_offset_s: float) -> None:
        self._true = true
        self._boot_offset_s = boot_offset_s
        self.offset_s = offset_s
        """How far the wall clock is ahead of the true one."""

    def now(self) -> datetime:
        """Return the wall-clock time."""
        return self._true.now() + timedelta(seconds=self.offset_s)

    def boot(self) -> float:
        """Return seconds on the clock that never steps."""
        return self._true.boot() + self._boot_offset_s

    def true_boot(self, boot: float) -> float:
        """Return a moment of this boot clock as one of the true boot clock."""
        return boot - self._boot_offset_s
