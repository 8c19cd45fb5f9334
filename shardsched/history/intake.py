"""What was told and is not written yet, in memory."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.clock import Clock
    from shardsched.history.record import Record

    Telling: TypeAlias = Callable[[], Record]
    """Makes a record on the writer's thread, so that whoever tells need not."""

FLUSH_S = 0.2
"""How long a record waits for others to be written with."""
FLUSH_COUNT = 100
"""So many do not wait."""
MAX_QUEUE = 20_000
"""Most that wait: half a minute of 600 a second; no wait for a database takes as long."""


class Intake:
    """A bounded queue whose head may be due at once or soon. **Thread:** any puts, one takes.

    Args:
        clock: The machine's clocks.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._queue: deque[Telling] = deque()
        self._in_hand: list[Telling] = []
        self._due_at = 0.0
        self._is_ending = False

    @property
    def count(self) -> int:
        """How many there are, those included that were taken last."""
        return len(self._queue) + len(self._in_hand)

    @property
    def is_ending(self) -> bool:
        """Whether nothing more is to be waited for."""
        return self._is_ending

    def put(self, telling: Telling) -> bool:
        """Add one; return False if there are too many."""
        with self._changed:
            if len(self._queue) >= MAX_QUEUE:
                return False
            self._queue.append(telling)
            if len(self._queue) == 1:
                self._due_at = self._clock.boot() + FLUSH_S
            if len(self._queue) in {1, FLUSH_COUNT}:
                self._changed.notify_all()
            return True

    def take(self, count: int, wake_at: float | None) -> list[Telling]:
        """Wait until some are due; return the oldest, at most so many, which take the place of those taken before.

        Args:
            count: How many at most.
            wake_at: Return at that time of the boot clock in any case, perhaps with none; None to wait for ever.
        """
        with self._changed:
            self._in_hand = []
            while not self._is_ending:
                wait_s = self._wait_s(wake_at)
                if wait_s is not None and wait_s <= 0:
                    break
                self._changed.wait(wait_s)
            self._in_hand = [self._queue.popleft() for _ in range(min(count, len(self._queue)))]
            # Those that are left have waited already.
            self._due_at = self._clock.boot()
            return self._in_hand

    def end(self) -> None:
        """Let `take` return at once from now on."""
        with self._changed:
            self._is_ending = True
            self._changed.notify_all()

    def rest(self) -> list[Telling]:
        """Return all there are, those taken last included, and have none any more."""
        with self._changed:
            rest = [*self._in_hand, *self._queue]
            self._in_hand = []
            self._queue.clear()
            return rest

    def _wait_s(self, wake_at: float | None) -> float | None:
        due = [] if wake_at is None else [wake_at]
        if self._queue:
            due.append(0.0 if len(self._queue) >= FLUSH_COUNT else self._due_at)
        return min(due) - self._clock.boot() if due else None
