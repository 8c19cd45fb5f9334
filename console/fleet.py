"""The fleet as the console sees it: read by one thread for all viewers, kept with its age when the registry is away.

However many browsers look, the registry is read about once a second and when something changed, and not at all when
nobody looks. A request never hangs on a registry that does not answer: it gets what was last seen and is told how old
that is.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shardsched.errors import RegistryUnavailableError, ShardschedError
from shardsched.sentence import Foreign, Sentence, sentence_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from shardsched.admin import Admin
    from shardsched.admin.live import LiveFleet
    from shardsched.admin.live_value import Picture
    from shardsched.admin.status import FleetStatus
    from shardsched.clock import Clock

logger = logging.getLogger(__name__)

READ_EVERY_S = 1.0
WAIT_S = 3.0
"""How long a request waits for a first or a fresh look."""
_REST_S = 5.0
"""Without anybody who looks for this long, nothing is read."""
_TRY_AGAIN_S = 2.0
_GATHER_S = 0.2
"""Changes within this time are looked at together."""
_ECHO_S = 0.5
"""How long what was changed by us may take to be told to us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A connection to the registry."""

    admin: Admin
    """What may be done by it."""
    live: LiveFleet
    """What is seen by it."""
    close: Callable[[], None]
    """Ends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The fleet as last seen."""

    number: int
    """Grows whenever the fleet was read."""
    status: FleetStatus | None
    """What was seen, None if nothing was yet."""
    picture: Picture | None = None
    """The same with numbers, to be told what changed."""
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
        self._is_asked = False
        self._is_news = False
        self._told_before: int | None = None
        self._thread: threading.Thread | None = None

    def sight(self, *, fresh: bool = False, wait_s: float = WAIT_S) -> Sight:
        """Return the fleet as last seen.

        Args:
            fresh: Look again before answering, as after a change.
            wait_s: How long to wait for that, or for the first look.
        """
        with self._changed:
            self._want()
            if fresh:
                self._await_echo()
            if fresh or self._is_old():
                # One look may be under way that began before now; with `fresh` the one after it is waited for.
                goal = self._tried + (2 if fresh and self._is_looking else 1)
                self._is_asked = True
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
                raise RegistryUnavailableError(
                    self._sight.fault or Sentence("the registry has not answered yet; try again")
                )
            self._told_before = self._link.live.report_count
            return self._link.admin

    def attend(self, job: str) -> None:
        """Look closely at a job for some seconds, as somebody has opened it."""
        with self._changed:
            if self._link is not None:
                self._link.live.attend(job)

    def note_news(self) -> None:
        """Take note that the control plane changed, so that a look pays."""
        with self._changed:
            self._is_news = True
            self._changed.notify_all()

    def open_admin(self) -> Admin | None:
        """Return the door to changing things if it is open; nothing is read for that, and nobody counts as looking."""
        with self._changed:
            return self._link.admin if self._link is not None and self._sight.fault is None else None

    def close(self) -> None:
        """End the thread and the connection."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(10)

    def _await_echo(self) -> None:
        """Wait until what was changed a moment ago has been told to us."""
        before, link, self._told_before = self._told_before, self._link, None
        if before is not None and link is not None:
            self._changed.wait_for(lambda: link.live.report_count > before or self._is_closed, _ECHO_S)

    def _is_old(self) -> bool:
        """Whether nobody has looked for some time, so that what is known may be of long ago."""
        read_at = self._sight.read_at
        return read_at is None or (self._clock.now() - read_at).total_seconds() > 2 * READ_EVERY_S

    def _want(self) -> None:
        is_rest = self._clock.boot() - self._wanted_at >= _REST_S
        self._wanted_at = self._clock.boot()
        if is_rest:
            self._changed.notify_all()
        if self._thread is None and not self._is_closed:
            self._thread = threading.Thread(target=self._run, name="fleet", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while self._wait_until_wanted():
            fault: str | None = None
            try:
                self._look()
            except ShardschedError as error:
                fault = sentence_of(error)
            except Exception as error:  # the top of a thread: shown to whoever looks, and tried again
                logger.exception("the fleet could not be read", extra={"event": "console_read_failed"})
                fault = Sentence("the fleet could not be read: %(error)s", error=Foreign(type(error).__name__))
            with self._changed:
                self._is_looking = False
                self._tried += 1
                self._sight = self._seen(fault)
                self._changed.notify_all()
                self._rest(READ_EVERY_S if fault is None else _TRY_AGAIN_S)
        if self._link is not None:
            self._link.live.stop()
            self._link.close()

    def _seen(self, fault: str | None) -> Sight:
        before, live = self._sight, self._link.live if self._link else None
        if fault is not None or live is None:
            return replace(before, fault=fault, picture=live.picture() if live and before.picture else before.picture)
        status = live.status()
        return Sight(
            number=before.number + 1,
            status=status,
            picture=live.picture(),
            read_at=status.at if status else before.read_at,
            fault=None,
        )

    def _rest(self, seconds: float) -> None:
        """Wait until it is time to look again: sooner if somebody asks, there is news, or not all has been read."""
        if self._sight.picture is not None and not self._sight.picture.is_filled:
            seconds = min(seconds, _GATHER_S)
        self._changed.wait_for(lambda: self._is_closed or self._is_asked, min(_GATHER_S, seconds))
        self._changed.wait_for(lambda: self._is_closed or self._is_asked or self._is_news, max(seconds - _GATHER_S, 0))

    def _wait_until_wanted(self) -> bool:
        """Wait until somebody looks; return False when the console ends."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._clock.boot() - self._wanted_at < _REST_S)
            self._is_looking = not self._is_closed
            self._is_asked = self._is_news = False
            return self._is_looking

    def _look(self) -> None:
        if self._link is None:
            link = self._connect()
            link.live.on_change = self.note_news
            link.live.start()
            self._link = link
        self._link.live.look()
