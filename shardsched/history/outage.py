"""Whether a database is worth asking, after it gave no answer: people who wait must not each wait for it in vain.

After a failure it is left alone for a while; then one asker at a time tries it, until there is an answer.
"""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shardsched.errors import HistoryUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from shardsched.clock import Clock
    from shardsched.errors import HistoryError

REST_S = 10.0
"""How long it is left alone after a failure, unless somebody finds out sooner that it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """A time in which a database gives no answer."""

    since: datetime
    """When it first gave none."""
    error: HistoryError
    """What it said last."""
    asked_again_at: float
    """When it is worth asking again, by the boot clock, in seconds."""


def after_failure(outage: Outage | None, error: HistoryError, now: datetime, asked_again_at: float) -> Outage:
    """Return the outage after another asker got no answer."""
    return Outage(since=now if outage is None else outage.since, error=error, asked_again_at=asked_again_at)


def after_asking(outage: Outage | None, boot: float, asked_again_at: float) -> Outage | None:
    """Return the outage when somebody wants to ask, and may.

    While one of them waits for the answer the others go on without.

    Args:
        outage: The outage, None if there is none.
        boot: The boot clock, in seconds.
        asked_again_at: When the next one may ask if this one never comes back.

    Raises:
        HistoryError: It is not worth asking yet; what it said last.
    """
    if outage is None:
        return None
    if boot < outage.asked_again_at:
        # A new one: the traceback of one that is raised again and again would grow.
        raise type(outage.error)(*outage.error.args)
    return replace(outage, asked_again_at=asked_again_at)


class Breaker:
    """Keeps what is known of one way to use a database. **Thread:** any.

    Args:
        clock: The machine's clocks.
        rest_s: How long it is left alone after a failure; 0 for not at all.
    """

    def __init__(self, clock: Clock, rest_s: float) -> None:
        self._clock = clock
        self._rest_s = rest_s
        self._lock = threading.Lock()
        self._outage: Outage | None = None

    @property
    def outage(self) -> Outage | None:
        """The present outage, None while there is none."""
        return self._outage

    def ask(self) -> None:
        """Take note that somebody is about to ask.

        Raises:
            HistoryError: It is not worth it yet.
        """
        if self._outage is not None:
            with self._lock:
                boot = self._clock.boot()
                self._outage = after_asking(self._outage, boot, boot + self._rest_s)

    @contextlib.contextmanager
    def judging(self) -> Iterator[None]:
        """Take note whether what is done in the body got an answer; other errors of the body say nothing of that."""
        try:
            yield
        except HistoryUnavailableError as error:
            with self._lock:
                boot = self._clock.boot()
                self._outage = after_failure(self._outage, error, self._clock.now(), boot + self._rest_s)
            raise
        if self._outage is not None:
            with self._lock:
                self._outage = None
