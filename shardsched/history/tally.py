"""Records that were given up: how many, when, and why."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.clock import Clock


class Loss(NamedTuple):
    """Records that were given up and not yet told of."""

    records: int
    """How many."""
    since: datetime
    """When the first was."""
    until: datetime
    """When the last was."""
    reason: str
    """Why the last was, for people."""


class Tally:
    """Counts them. **Thread:** any.

    Args:
        clock: The machine's clocks.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._loss: Loss | None = None
        self._told_count = 0

    @property
    def total(self) -> int:
        """How many in all."""
        with self._lock:
            return self._told_count + (self._loss.records if self._loss else 0)

    def add(self, count: int, reason: str) -> None:
        """Count records that are given up."""
        if count:
            now = self._clock.now()
            with self._lock:
                before = self._loss or Loss(0, now, now, reason)
                self._loss = Loss(before.records + count, before.since, now, reason)

    def untold(self) -> Loss | None:
        """Return what history does not know of yet."""
        with self._lock:
            return self._loss

    def tell(self, loss: Loss) -> None:
        """Take it that history knows of what `untold` returned."""
        with self._lock:
            self._told_count += loss.records
            now = self._loss
            if now is not None:
                self._loss = now._replace(records=now.records - loss.records) if now.records > loss.records else None
