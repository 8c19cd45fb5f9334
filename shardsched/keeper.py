"""Keeping the session: heartbeats, joining again after a loss, and an eye on the wall clock."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shardsched.coordination.session import Standing
from shardsched.core.events import Event
from shardsched.errors import NameTakenError, RegistryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.clock import Clock
    from shardsched.coordination.membership import Membership
    from shardsched.coordination.session import Lease

logger = logging.getLogger(__name__)

STEP_LIMIT_S = 2.0
"""A wall clock that moved this much against the boot clock was stepped."""
REJOIN_S = 0.5
"""Seconds between attempts to join again."""


class Keeper:
    """What the lease thread does. **Thread:** one.

    Args:
        on_rejoined: Called after a new session was joined.
        on_clock_step: Called after the wall clock was stepped.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        lease: Lease,
        membership: Membership,
        on_rejoined: Callable[[], None],
        on_clock_step: Callable[[], None],
    ) -> None:
        self._clock = clock
        self._lease = lease
        self._membership = membership
        self._on_rejoined = on_rejoined
        self._on_clock_step = on_clock_step
        self._offset_s = self._wall_offset_s()
        self._is_expired = False

    def step(self) -> float:
        """Do what is due; return seconds until the next step."""
        self._watch_clock()
        if self._lease.standing is Standing.LOST:
            return self._rejoin()
        self._lease.beat()
        self._watch_lease()
        self._refresh_record()
        return self._lease.interval_s

    def _wall_offset_s(self) -> float:
        return self._clock.now().timestamp() - self._clock.boot()

    def _watch_clock(self) -> None:
        offset_s = self._wall_offset_s()
        step_s, self._offset_s = offset_s - self._offset_s, offset_s
        if abs(step_s) >= STEP_LIMIT_S:
            logger.warning("the clock was stepped by %.1f s", step_s, extra={"event": Event.CLOCK_STEPPED})
            self._on_clock_step()

    def _watch_lease(self) -> None:
        is_standing = self._lease.standing in {Standing.ACTIVE, Standing.SUSPENDED}
        is_expired = is_standing and self._clock.boot() >= self._lease.alive_until
        if is_expired and not self._is_expired:
            logger.warning(
                "no heartbeat was answered in time: everything is stopped", extra={"event": Event.LEASE_EXPIRED}
            )
        self._is_expired = is_expired

    def _refresh_record(self) -> None:
        if not self._lease.is_confirmed:
            return
        try:
            self._membership.refresh()
        except RegistryError as error:
            logger.debug("could not tell the fleet how we are: %s", error)

    def _rejoin(self) -> float:
        try:
            self._membership.join(patience_s=0.0)
        except NameTakenError as error:
            logger.warning("waits to join again: %s", error)
            return REJOIN_S * 2
        except RegistryError as error:
            logger.debug("cannot join again yet: %s", error)
            return REJOIN_S
        self._on_rejoined()
        return 0.0
