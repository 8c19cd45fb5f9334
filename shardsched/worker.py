"""A thread that does one thing whenever there is something to do."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from shardsched.core.events import Event

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

_PAUSE_S = 1.0
"""After an error that nobody expected, so that it cannot fill the log."""


class Worker:
    """Calls a step whenever it is woken, and after as many seconds as the last step returned.

    An error in a step is logged, and the next step follows after a second: an executor never ends by an error of ours.

    Args:
        name: The thread's name.
        step: Does what there is to do; returns seconds until the next step, None for when woken.
    """

    def __init__(self, name: str, step: Callable[[], float | None]) -> None:
        self._step = step
        self._noticed = threading.Event()
        self._is_ending = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin; the first step is made at once."""
        self._noticed.set()
        self._thread.start()

    def wake(self) -> None:
        """Have a step made soon. May be called by any thread, and before `start`."""
        self._noticed.set()

    def stop(self, timeout_s: float = 5.0) -> None:
        """End after the step under way; wait for that so many seconds at most."""
        self._is_ending = True
        self._noticed.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout_s)

    def _run(self) -> None:
        wait_s: float | None = None
        while True:
            self._noticed.wait(wait_s)
            self._noticed.clear()
            if self._is_ending:
                return
            try:
                wait_s = self._step()
            except Exception:  # the top of a thread: whatever it is, the executor must go on
                logger.exception("a step failed and is tried again", extra={"event": Event.LOOP_FAILED})
                wait_s = _PAUSE_S
