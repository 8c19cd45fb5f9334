"""What is the same for all who look is worked out once: for a picture of the fleet, or for some seconds."""

from __future__ import annotations

import threading
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from shardsched.clock import Clock

Subject = TypeVar("Subject")
Value = TypeVar("Value")


def once(make: Callable[[Subject], Value]) -> Callable[[Subject], Value]:
    """Have a function of something that never changes keep its last answer. **Thread:** any."""
    kept: list[tuple[Subject, Value]] = []

    @wraps(make)
    def ask(subject: Subject) -> Value:
        last = kept[-1:]
        if last and last[0][0] is subject:
            return last[0][1]
        value = make(subject)
        kept[:] = [(subject, value)]
        return value

    return ask


class Lately:
    """Answers of the history that took long, for all who ask the same within some seconds. **Thread:** any.

    Args:
        clock: The machine's clocks.
        seconds: How long they are good for.
        count: How many are kept at most, the latest.
    """

    def __init__(self, clock: Clock, seconds: float = 10.0, count: int = 64) -> None:
        self._clock = clock
        self._seconds = seconds
        self._count = count
        self._lock = threading.Lock()
        self._kept: dict[Hashable, tuple[float, Any]] = {}

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the answer to a question, made if there is none that is new enough; what it raises is not kept."""
        with self._lock:
            at, value = self._kept.get(key, (float("-inf"), None))
        if self._clock.boot() - at < self._seconds:
            return value  # type: ignore[no-any-return]  # made by the same question
        asked_at, value = self._clock.boot(), make()
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (asked_at, value)
            while len(self._kept) > self._count:
                del self._kept[next(iter(self._kept))]
        return value
