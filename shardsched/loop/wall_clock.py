"""Whether the wall clock may decide what is due.

A clock that is wrong would fire early, or rewind cursors and so have others run again what was done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from shardsched.clock import Clock

STEP_S = 2.0
"""A wall clock that moved this much against the boot clock is compared with the registry's before it is trusted."""


class WallClock:
    """The trust in one executor's wall clock. **Thread:** the loop's.

    Args:
        clock: The executor's clocks.
        server_time: Tells the registry's time.
        limit_s: How far the clock may be off.
    """

    def __init__(self, clock: Clock, server_time: Callable[[], datetime], limit_s: float) -> None:
        self._clock = clock
        self._server_time = server_time
        self._limit_s = limit_s
        self._drift_s = 0.0
        self._trusted_offset_s: float | None = None

    def is_right(self, now: datetime) -> bool:
        """Whether the clock may be trusted; one that was stepped is first compared with the registry's.

        Raises:
            RegistryUnavailableError: It was stepped and there is no answer.
        """
        offset_s = now.timestamp() - self._clock.boot()
        if self._trusted_offset_s is not None and abs(offset_s - self._trusted_offset_s) < STEP_S:
            return True
        self._trusted_offset_s = None
        drift_s = (now - self._server_time()).total_seconds()
        if abs(drift_s) > self._limit_s:
            return False
        self._trusted_offset_s, self._drift_s = offset_s, drift_s
        return True

    @property
    def ahead_s(self) -> float:
        """How far ahead of our time anything may lie that was written by a clock within the limit.

        That is so far ahead of the registry's time, from which ours is off too.
        """
        return self._limit_s - self._drift_s + STEP_S
