"""The lease: until when this executor may act, by its own clock.

A client that is cut off is not told so, and the registry gives its ephemeral nodes away after the time-out T. So the
executor proves its session by heartbeats that a quorum must commit, one outstanding at a time, every ``h = T/10``.
With ``t`` the boot-clock time at which the last *answered* heartbeat was sent, the lease holds until
``t + T - (h + tick/2 + 0.25 s)``: the registry heard of us after t, may look at time-outs half a tick early, and
clocks run at slightly different rates. SIGTERM goes to the items ``min(2 s, T/5)`` before it, and everything is dead
by it; the warden sees to that even if this process is frozen. A heartbeat unanswered for T/3 drops the connection,
since kazoo counts other traffic as life and may stay on a dead link for ever (kazoo 2.11). When t is T ago, the session
is given up where requests that are not answered may keep it alive: its items are dead, and others shall have them.

The standing of a session is a small machine::

    ABSENT --joined--> ACTIVE --suspended--> SUSPENDED --resumed--> ACTIVE
    ACTIVE, SUSPENDED --lost--> LOST --joined--> ACTIVE          any --left--> ABSENT

`SUSPENDED`: start nothing new. `LOST`: every claim is void; everything is stopped; join again under a new fence.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from shardsched.core.paths import last_part
from shardsched.errors import RegistryError, SessionLostError
from shardsched.registry.base import Check, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future

    from shardsched.clock import Clock
    from shardsched.core.paths import Paths
    from shardsched.registry.base import Outcome, Registry

HEARTBEATS_PER_TIMEOUT = 10
"""Heartbeats in one session time-out."""
RATE_MARGIN_S = 0.25
"""For clocks that run at different rates, and for the time a signal takes."""
SOFT_STOP_S = 2.0
"""How long before the end of the lease items are asked to stop, at most; T/5 where that is shorter."""


class Standing(StrEnum):
    """What our session is worth."""

    ABSENT = "absent"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    LOST = "lost"


class Turn(StrEnum):
    """What changes it."""

    JOINED = "joined"
    SUSPEND = "suspended"
    RESUME = "resumed"
    LOSE = "lost"
    LEAVE = "left"


TRANSITIONS: Mapping[tuple[Standing, Turn], Standing] = {
    (Standing.ABSENT, Turn.JOINED): Standing.ACTIVE,
    (Standing.ABSENT, Turn.SUSPEND): Standing.ABSENT,
    (Standing.ABSENT, Turn.RESUME): Standing.ABSENT,
    (Standing.ABSENT, Turn.LOSE): Standing.ABSENT,
    (Standing.ABSENT, Turn.LEAVE): Standing.ABSENT,
    (Standing.ACTIVE, Turn.SUSPEND): Standing.SUSPENDED,
    (Standing.ACTIVE, Turn.RESUME): Standing.ACTIVE,
    (Standing.ACTIVE, Turn.LOSE): Standing.LOST,
    (Standing.ACTIVE, Turn.LEAVE): Standing.ABSENT,
    (Standing.SUSPENDED, Turn.SUSPEND): Standing.SUSPENDED,
    (Standing.SUSPENDED, Turn.RESUME): Standing.ACTIVE,
    (Standing.SUSPENDED, Turn.LOSE): Standing.LOST,
    (Standing.SUSPENDED, Turn.LEAVE): Standing.ABSENT,
    (Standing.LOST, Turn.JOINED): Standing.ACTIVE,
    (Standing.LOST, Turn.SUSPEND): Standing.LOST,
    (Standing.LOST, Turn.RESUME): Standing.LOST,
    (Standing.LOST, Turn.LOSE): Standing.LOST,
    (Standing.LOST, Turn.LEAVE): Standing.ABSENT,
}
"""Every pair but joining while a session stands, which is a mistake of ours."""


def stand(standing: Standing, turn: Turn) -> Standing:
    """Return the standing after a turn.

    Raises:
        RuntimeError: The pair makes no sense: joining while a session stands.
    """
    try:
        return TRANSITIONS[standing, turn]
    except KeyError:
        message = f"a session that is {standing} cannot be {turn}"
        raise RuntimeError(message) from None


def lease_margin_s(timeout_s: float, tick_s: float) -> float:
    """Return how long before the registry's earliest moment the lease ends, in seconds."""
    return timeout_s / HEARTBEATS_PER_TIMEOUT + tick_s / 2 + RATE_MARGIN_S


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Heartbeat:
    incarnation: str
    sent_at: float


class Lease:
    """One executor's standing, and until when it may act.

    **Thread:** any thread may ask; `beat` is called by one thread; `on_change` is called, outside of any lock, by the
    thread that brought the change (possibly the registry's connection thread) and must be quick.
    """

    def __init__(self, registry: Registry, paths: Paths, clock: Clock, on_change: Callable[[Lease], None]) -> None:
        self._registry = registry
        self._paths = paths
        self._clock = clock
        self._on_change = on_change
        self._lock = threading.Lock()
        self._standing = Standing.ABSENT
        self._incarnation = ""
        self._session_id = ""
        self._alive_until = 0.0
        self._pending: _Heartbeat | None = None

    @property
    def incarnation(self) -> str:
        """The present fence's name, empty before joining and after a loss."""
        return self._incarnation

    @property
    def standing(self) -> Standing:
        """What our session is worth."""
        return self._standing

    @property
    def alive_until(self) -> float:
        """Boot-clock time until which we may act."""
        return self._alive_until

    @property
    def soft_until(self) -> float:
        """Boot-clock time at which items are asked to stop if no heartbeat is answered before."""
        return self._alive_until - min(SOFT_STOP_S, self._registry.session_timeout_s / 5)

    @property
    def interval_s(self) -> float:
        """Seconds between heartbeats."""
        return self._registry.session_timeout_s / HEARTBEATS_PER_TIMEOUT

    @property
    def is_confirmed(self) -> bool:
        """Whether something new may be started now."""
        return self._standing is Standing.ACTIVE and self._clock.boot() < self.soft_until

    def fence(self) -> Check:
        """Return the check with which every write of this executor begins.

        Raises:
            SessionLostError: There is no session to write under.
        """
        incarnation = self._incarnation
        if not incarnation:
            raise SessionLostError("this executor has no session; it joins again by itself")
        return Check(self._paths.session(incarnation))

    def join(self, incarnation: str, sent_at: float, session_id: str) -> None:
        """Begin to act under a fence that was created by a transaction sent at that boot-clock time.

        Args:
            incarnation: The fence's name.
            sent_at: When the transaction was sent.
            session_id: The registry's session under which it was sent.
        """
        with self._lock:
            self._standing = stand(self._standing, Turn.JOINED)
            self._incarnation = incarnation
            self._session_id = session_id
            self._pending = None
            self._alive_until = self._deadline(sent_at)
        self._on_change(self)

    def suspend(self) -> None:
        """Take note that no answers come."""
        self._turn(Turn.SUSPEND)

    def resume(self) -> None:
        """Take note that answers come again, in the same session."""
        self._turn(Turn.RESUME)

    def lose(self, incarnation: str | None = None) -> None:
        """Take note that the session is over.

        Args:
            incarnation: Under which fence the loss was met; it is no news if another was joined since, by another
                thread. None for the present one.
        """
        self._turn(Turn.LOSE, incarnation)

    def fenced_off(self, refused: Refused) -> bool:
        """Return whether a transaction was refused at its fence, and take note of the loss."""
        if refused.index != 0:
            return False
        self.lose(last_part(refused.operation.path))
        return True

    def session_ended(self) -> None:
        """Take note that a session of the registry is over: ours, unless we have joined in the present one already.

        The registry tells of a loss on its own thread, possibly after a heartbeat told us first.
        """
        with self._lock:
            incarnation = self._incarnation
            is_old_news = self._session_id == self._registry.session_id
        if not is_old_news:
            self.lose(incarnation)

    def leave(self) -> None:
        """Stop acting, of our own will."""
        self._turn(Turn.LEAVE)

    def _turn(self, turn: Turn, incarnation: str | None = None) -> None:
        with self._lock:
            if incarnation is not None and incarnation != self._incarnation:
                return
            before, self._standing = self._standing, stand(self._standing, turn)
            if self._standing in {Standing.LOST, Standing.ABSENT}:
                self._incarnation, self._alive_until, self._pending = "", 0.0, None
            changed = before is not self._standing
        if changed:
            self._on_change(self)

    def beat(self) -> None:
        """Send a heartbeat if none is outstanding; drop the connection if one has been for T/3.

        A session whose last proof is T old is given up where it may be kept alive by requests that nobody answers.
        """
        now = self._clock.boot()
        with self._lock:
            if self._standing not in {Standing.ACTIVE, Standing.SUSPENDED}:
                return
            outstanding = self._pending
            fence = self.fence()
            sent = _Heartbeat(incarnation=self._incarnation, sent_at=now)
            if outstanding is None:
                self._pending = sent
            is_spent = now >= self._alive_until + self._margin_s
        if is_spent:
            # Not sooner: what others start must not come closer to the end of our items than after any other loss.
            self._registry.give_up_session()
        if outstanding is None:
            # Not under the lock: a registry may take its time, and whoever learns of a loss meanwhile must not wait.
            future = self._registry.renew(fence)
            future.add_done_callback(lambda answered: self._answered(answered, sent))
        elif now - outstanding.sent_at > self._registry.session_timeout_s / 3:
            self._registry.reset_connection()

    def _answered(self, future: Future[Outcome], sent: _Heartbeat) -> None:
        error = None if future.cancelled() else future.exception()
        outcome = None if error is not None or future.cancelled() else future.result()
        with self._lock:
            if self._pending is not sent:
                return
            self._pending = None
            is_proved = outcome is not None and not isinstance(outcome, Refused)
            if is_proved:
                self._alive_until = max(self._alive_until, self._deadline(sent.sent_at))
                self._standing = stand(self._standing, Turn.RESUME)
        if isinstance(outcome, Refused) or isinstance(error, SessionLostError):
            self.lose(sent.incarnation)
        elif is_proved:
            self._on_change(self)
        elif error is not None and not isinstance(error, RegistryError):
            raise error

    @property
    def _margin_s(self) -> float:
        return lease_margin_s(self._registry.session_timeout_s, self._registry.tick_s)

    def _deadline(self, sent_at: float) -> float:
        return sent_at + self._registry.session_timeout_s - self._margin_s
