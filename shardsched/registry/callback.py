"""Where the callbacks of watches and of the session run: one after the other, in one place."""

from __future__ import annotations

import logging
import queue
import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from shardsched.core.events import Event
from shardsched.registry.base import Subscription

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

Value = TypeVar("Value")

CANCEL_WAIT_S = 1.0
"""How long a cancel waits for a running callback: callbacks are short, and one that waits for the canceller's own
lock must not hang it."""


class CallbackQueue:
    """Keeps what is posted until `pump` runs it: for simulations, which decide themselves when it is time.

    **Thread:** `post` never blocks and may be called from any thread.
    """

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._closed = threading.Event()

    def start(self) -> None:
        """Begin to run what was posted; here: nothing to begin."""

    def post(self, call: Callable[[], None]) -> None:
        """Have it called soon; dropped after `stop`."""
        self._queue.put(call)

    def pump(self) -> int:
        """Run what is queued, and what that posts in turn; return how many calls were made.

        An exception of a callback goes to the caller, and what is still queued stays queued.
        """
        count = 0
        while not self._closed.is_set():
            try:
                call = self._queue.get_nowait()
            except queue.Empty:
                break
            count += 1
            call()
        return count

    def stop(self, timeout_s: float) -> None:
        """Run nothing more."""
        self._closed.set()


class CallbackThread(CallbackQueue):
    """Runs what is posted on a thread of its own; an exception is logged and ends nothing."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to run what was posted."""
        self._thread.start()

    def stop(self, timeout_s: float) -> None:
        """Run nothing more, and return when what runs now has ended (unless it runs on the calling thread)."""
        self._closed.set()
        self._queue.put(lambda: None)
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout_s)

    def _run(self) -> None:
        while True:
            call = self._queue.get()
            if self._closed.is_set():
                return
            try:
                call()
            except Exception:  # top of a thread: one bad callback must not end the others
                logger.exception("a registry callback failed", extra={"event": Event.CALLBACK_FAILED})


class Listener(Subscription, Generic[Value]):
    """One callback, called with values until it is cancelled.

    Args:
        callback: What is called.
        forget: Called once at the first cancel, to drop this listener.
    """

    def __init__(self, callback: Callable[[Value], None], forget: Callable[[], None]) -> None:
        self._callback = callback
        self._forget = forget
        self._state = threading.Condition()
        self._cancelled = False
        self._running_on: threading.Thread | None = None

    def deliver(self, value: Value) -> None:
        """Call back, unless it is cancelled."""
        with self._state:
            if self._cancelled:
                return
            self._running_on = threading.current_thread()
        try:
            self._callback(value)
        finally:
            with self._state:
                self._running_on = None
                self._state.notify_all()

    def cancel(self) -> None:
        """End it; a callback that runs on another thread is waited for, but not for long."""
        with self._state:
            is_first = not self._cancelled
            self._cancelled = True
            if self._running_on is not threading.current_thread():
                self._state.wait_for(lambda: self._running_on is None, CANCEL_WAIT_S)
        if is_first:
            self._forget()
