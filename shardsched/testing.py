"""Pieces for tests of what is built on shardsched: a clock that stands still, and a registry in memory.

Example:
    >>> clock = FakeClock()
    >>> store = MemoryStore(clock)
    >>> registry = MemoryRegistry(store, session_timeout_s=10.0, inline=True)
    >>> registry.open()
    >>> clock.advance(11.0)
    >>> store.expire_sessions()
    1
    >>> registry.pump()
    0
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

from shardsched.registry.memory import MemoryRegistry, MemoryStore

__all__ = ["FakeClock", "MemoryRegistry", "MemoryStore"]

_START = datetime(2026, 1, 1, tzinfo=UTC)


class FakeClock:
    """A clock that moves only when it is told to; it fits wherever a `shardsched.clock.Clock` is taken.

    **Thread:** any.

    Args:
        now: The wall-clock time at the beginning; aware.
        boot: The boot clock at the beginning, in seconds.
    """

    def __init__(self, now: datetime = _START, boot: float = 1000.0) -> None:
        self._lock = threading.Lock()
        self._now = now.astimezone(UTC)
        self._boot = boot

    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC."""
        return self._now

    def boot(self) -> float:
        """Return the seconds on the clock that never steps."""
        return self._boot

    def advance(self, seconds: float) -> None:
        """Let time pass on both clocks.

        Raises:
            ValueError: The seconds are negative; only the wall clock can be set back, by `step_wall`.
        """
        if seconds < 0:
            raise ValueError(f"time cannot pass by {seconds:g} s; set the wall clock back with step_wall")
        with self._lock:
            self._now += timedelta(seconds=seconds)
            self._boot += seconds

    def step_wall(self, seconds: float) -> None:
        """Set the wall clock forward, or back when negative, while no time passes."""
        with self._lock:
            self._now += timedelta(seconds=seconds)
