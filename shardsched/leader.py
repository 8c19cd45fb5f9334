"""What the leader thread does: stand for election, write assignments, tidy up."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shardsched.errors import RegistryError

if TYPE_CHECKING:
    from shardsched.clock import Clock
    from shardsched.coordination.assignment import Leadership
    from shardsched.coordination.election import Election
    from shardsched.coordination.mirror import Mirror
    from shardsched.coordination.session import Lease

logger = logging.getLogger(__name__)

SETTLE_S = 0.3
"""Changes within this time are handled together."""
RETRY_S = 1.0
"""When to try again after the registry gave no answer or a view was old."""
TIDY_S = 10.0
"""Seconds between looks for half-done deletions and layouts that have had their time."""


class Leader:
    """One executor's readiness to lead. **Thread:** one."""

    def __init__(
        self, *, clock: Clock, lease: Lease, mirror: Mirror, election: Election, leadership: Leadership
    ) -> None:
        self._clock = clock
        self._lease = lease
        self._mirror = mirror
        self._election = election
        self._leadership = leadership
        self._seen = -1
        self._settles_at: float | None = None
        self._tidies_at = 0.0
        self._epoch = -1
        self._was_ours = False

    def step(self) -> float | None:
        """Do what can be done now; return seconds until the next step, None for when something changes."""
        if not self._lease.is_confirmed or not self._mirror.is_complete:
            return RETRY_S
        try:
            return self._lead()
        except RegistryError as error:
            logger.debug("the leader's work waits for the registry: %s", error)
            return RETRY_S

    def _lead(self) -> float | None:
        self._stand()
        term = self._election.term
        if term is None:
            return None if self._mirror.leader_node() is not None else RETRY_S
        now = self._clock.boot()
        if term.epoch != self._epoch:
            self._epoch, self._seen = term.epoch, -1
        if self._mirror.revision != self._seen:
            if self._settles_at is None:
                self._settles_at = now + (SETTLE_S if self._seen >= 0 else 0.0)
            if now < self._settles_at:
                return self._settles_at - now
            self._settles_at = None
            self._reshard()
        if now >= self._tidies_at:
            self._tidy(now)
        return RETRY_S if self._seen < 0 else max(self._tidies_at - now, 0.05)

    def _tidy(self, now: float) -> None:
        self._tidies_at = now + TIDY_S
        if self._leadership.tidy(self._mirror.fleet(), self._clock.now()):
            # Items that are no more leave a gap in how the others are spread.
            self._seen = -1

    def _stand(self) -> None:
        """Stand for election if nobody leads, by what the mirror says."""
        leader = self._mirror.leader_node()
        is_ours = self._election.is_ours(leader)
        if self._was_ours and not is_ours:
            # Deleted by hand while our session lives: others see no leader, and neither may we.
            self._election.resign()
        self._was_ours = is_ours
        # A node of our own without a term: the answer to our standing was lost, or our session outlived our place.
        if self._election.term is None and (leader is None or is_ours):
            self._election.stand()

    def _reshard(self) -> None:
        revision = self._mirror.revision
        is_done = self._leadership.reshard(self._mirror.fleet())
        self._seen = revision if is_done else -1

    def step_down(self) -> None:
        """Give the lead up, so that another takes it at once."""
        try:
            self._election.step_down()
        except RegistryError as error:
            logger.debug("could not give the lead up: %s", error)
