"""The fleet as the console sees it: read by one thread for all viewers, kept with its age when the registry is away.

However many browsers look, the registry is read at most once a second, and not at all when nobody looks. A request
never hangs on a registry that does not answer: it gets what was last seen and is told how old that is.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardsched.errors import RegistryUnavailableError, ShardschedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from shardsched.admin import Admin
    from shardsched.admin.status import FleetStatus
    from shardsched.clock import Clock

logger = logging.getLogger(__name__)

READ_EVERY_S = 1.0
WAIT_S = 3.0
"""How long a request waits for a first or a fresh look."""
_REST_S = 5.0
"""Without anybody who looks for this long, nothing is read."""
_TRY_AGAIN_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A connection to the registry."""

    admin: Admin
    """What may be done by it."""
    close: Callable[[], None]
    """Ends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The fleet as last seen."""

    number: int
    """Grows whenever the fleet was read."""
    status: FleetStatus | None
    """What was seen, None if nothing was yet."""
    read_at: datetime | None
    """When."""
    fault: str | None
    """Why there is nothing newer, None while the registry answers."""


class Fleet:
    """The door to the registry. **Thread:** any.

    Args:
        connect: Reaches the registry, or raises a ShardschedError; called again until it does.
        clock: The machine's clocks.
    """

    def __init__(self, connect: Callable[[], Link], clock: Clock) -> None:
        self._connect = connect
        self._clock = clock
        self._changed = threading.Condition()
        self._link: Link | None = None
        self._sight = Sight(number=0, status=None, read_at=None, fault=None)
        self._tried = 0
        self._wanted_at = clock.boot()
        self._is_closed = False
        self._is_looking = False
        self._thread: threading.Thread | None = None

    def sight(self, *, fresh: bool = False, wait_s: float = WAIT_S) -> Sight:
        """Return the fleet as last seen.

        Args:
            fresh: Look again before answering, as after a change.
            wait_s: How long to wait for that, or for the first look.
        """
        with self._changed:
            self._want()
            tried = self._tried
            if fresh or self._is_old():
                # One look may be under way that began before now; with `fresh` the one after it is waited for.
                goal = tried + (2 if fresh and self._is_looking else 1)
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._tried >= goal or self._is_closed, wait_s)
            return self._sight

    def admin(self) -> Admin:
        """Return the door to changing things.

        Raises:
            RegistryUnavailableError: The registry does not answer; nothing was asked of it.
        """
        with self._changed:
            self._want()
            if self._link is None and self._tried == 0:
                self._changed.wait_for(lambda: self._tried > 0 or self._is_closed, WAIT_S)
            if self._link is None or self._sight.fault is not None:
                raise RegistryUnavailableError(self._sight.fault or "the registry has not answered yet; try again")
            return self._link.admin

    def close(self) -> None:
        """End the thread and the connection."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(10)

    def _is_old(self) -> bool:
        """Whether nobody has looked for some time, so that what is known may be of long ago."""
        read_at = self._sight.read_at
        return read_at is None or (self._clock.now() - read_at).total_seconds() > 2 * READ_EVERY_S

    def _want(self) -> None:
        self._wanted_at = self._clock.boot()
        if self._thread is None and not self._is_closed:
            self._thread = threading.Thread(target=self._run, name="fleet", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while self._wait_until_wanted():
            fault, status = None, None
            try:
                status = self._look()
            except ShardschedError as error:
                fault = str(error)
            except Exception as error:  # the top of a thread: shown to whoever looks, and tried again
                logger.exception("the fleet could not be read", extra={"event": "console_read_failed"})
                fault = f"the fleet could not be read: {type(error).__name__}"
            with self._changed:
                self._is_looking = False
                self._tried += 1
                before = self._sight
                self._sight = Sight(
                    number=before.number + (status is not None),
                    status=status or before.status,
                    read_at=status.at if status else before.read_at,
                    fault=fault,
                )
                self._changed.notify_all()
                if not self._is_closed:
                    self._changed.wait(READ_EVERY_S if fault is None else _TRY_AGAIN_S)
        if self._link is not None:
            self._link.close()

    def _wait_until_wanted(self) -> bool:
        """Wait until somebody looks; return False when the console ends."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._clock.boot() - self._wanted_at < _REST_S)
            self._is_looking = not self._is_closed
            return self._is_looking

    def _look(self) -> FleetStatus:
        if self._link is None:
            self._link = self._connect()
        return self._link.admin.status()
