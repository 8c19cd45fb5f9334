"""Whether a run was asked to stop, as its handler sees it.

No lock is used: `StopFlag.request` may run inside a signal handler that interrupted any other method of the same
flag, where waiting for a lock would be waiting for oneself. Each method therefore writes its own field first and
reads the other's afterwards, so that at least one of two that meet calls the callback; callbacks must bear being
called twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class StopRequested(BaseException):
    """Raised by ``ctx.checkpoint()`` in a run that was asked to stop.

    It is no `Exception`, so that ``except Exception`` around one page of a crawl does not swallow it.
    """


class StopFlag:
    """One run's request to stop, set by its supervisor and read by its handler."""

    def __init__(self) -> None:
        self._requested = False
        self._on_watch: Callable[[], None] | None = None
        self._on_request: Callable[[], None] | None = None

    @property
    def requested(self) -> bool:
        """Whether the run was asked to stop; asking here is no promise to stop."""
        return self._requested

    def request(self) -> None:
        """Ask the run to stop."""
        self._requested = True
        if self._on_request is not None:
            self._on_request()

    def call_on_request(self, callback: Callable[[], None]) -> None:
        """Have a callback called when the run is asked to stop, at once if it was already.

        Thread: whoever requests calls it, perhaps within a signal handler; it may be called twice.
        """
        self._on_request = callback
        if self._requested:
            callback()

    def call_on_watch(self, callback: Callable[[], None]) -> None:
        """Have a callback called at the first look at the flag: from then on the run is taken to stop by itself.

        Thread: whoever looks first calls it.
        """
        self._on_watch = callback

    def watch(self) -> bool:
        """Return whether the run was asked to stop, and note that it looks."""
        if self._on_watch is not None:
            on_watch, self._on_watch = self._on_watch, None
            on_watch()
        return self._requested
