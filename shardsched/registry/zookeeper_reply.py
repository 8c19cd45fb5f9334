"""Where the answer to a request goes, in place of kazoo's AsyncResult."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from shardsched.core.events import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    Done = Callable[[Any, Exception | None], None]

logger = logging.getLogger(__name__)


class Reply:
    """Where the answer to one request goes: `done(result, error)` is called once, whatever kazoo does.

    It has the two methods of kazoo's AsyncResult that a connection uses. kazoo would run callbacks on another thread,
    at the cost of a switch, and forgets those that come while it stops.

    Args:
        done: Called on the connection's thread; must not block.
        session_id: The only session under which the request may be sent; None: any.
        is_withdrawn: Asked just before it is sent.
    """

    __slots__ = ("_done", "_finished", "_is_withdrawn", "_lock", "forget", "sent", "session_id", "stale")

    def __init__(
        self, done: Done, session_id: int | None = None, is_withdrawn: Callable[[], bool] = lambda: False
    ) -> None:
        self._done = done
        self._is_withdrawn = is_withdrawn
        self._lock = threading.Lock()
        self._finished = False
        self.session_id = session_id
        self.sent = False
        self.stale = False
        self.forget: Callable[[Reply], None] | None = None

    def admit(self, session_id: int) -> bool:
        """Say whether the request may go out under this session (on the connection's thread, just before it does)."""
        with self._lock:
            self.stale = self._finished or self.session_id not in {None, session_id} or self._is_withdrawn()
            self.sent = not self.stale
            return self.sent

    def set(self, value: Any = None) -> None:
        """Take the result."""
        self._finish(value, None)

    def set_exception(self, error: Exception) -> None:
        """Take the failure."""
        self._finish(None, error)

    def _finish(self, value: Any, error: Exception | None) -> None:
        with self._lock:
            if self._finished:
                return
            self._finished = True
        if self.forget is not None:
            self.forget(self)
        try:
            self._done(value, error)
        except Exception:  # it would end kazoo's connection thread for good
            logger.exception("the answer to a request could not be used", extra={"event": Event.CALLBACK_FAILED})
