"""One leader for the namespace, for one epoch.

One transaction creates the ephemeral leader node and raises the epoch; everything a leader writes checks the epoch
node's version, so that a deposed leader's write is refused whatever it believes. Losing is no error: the mirror tells
when the leader's node is gone, and everybody tries again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardsched.core.events import Event
from shardsched.core.executor import LeaderRecord, encode_leader
from shardsched.registry.base import Check, Committed, Create, Delete, Put

if TYPE_CHECKING:
    from shardsched.coordination.session import Lease
    from shardsched.core.paths import Paths
    from shardsched.registry.base import Node, Registry

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A stretch of leadership that this executor won."""

    epoch: int
    """The epoch node's version while it lasts."""
    incarnation: str
    """The session under which it was won; it ends with it."""


class Election:
    """One executor's part in choosing the leader. **Thread:** used by one thread."""

    def __init__(self, registry: Registry, paths: Paths, lease: Lease, name: str) -> None:
        self._registry = registry
        self._paths = paths
        self._lease = lease
        self._name = name
        self._term: Term | None = None

    @property
    def term(self) -> Term | None:
        """The term that this executor holds by what it knows, None if it does not lead."""
        term = self._term
        return term if term is not None and term.incarnation == self._lease.incarnation else None

    def stand(self) -> Term | None:
        """Try to lead if nobody does; return the term if this executor leads.

        Raises:
            RegistryUnavailableError: No answer; standing again is safe.
        """
        if self.term is not None:
            return self.term
        session_id = self._registry.session_id
        incarnation = self._lease.incarnation
        epoch = self._registry.get(self._paths.epoch, fresh=True)
        if epoch is None or not incarnation:
            return None
        record = LeaderRecord(name=self._name, incarnation=incarnation, epoch=epoch.version + 1)
        outcome = self._registry.transact(
            [
                self._lease.fence(),
                Create(self._paths.leader, encode_leader(record), ephemeral=True),
                Put(self._paths.epoch, str(record.epoch).encode(), epoch.version),
            ]
        )
        if isinstance(outcome, Committed):
            self._term = Term(epoch=record.epoch, incarnation=incarnation)
            logger.info(
                "leads the fleet",
                extra={"event": Event.LEADER_ELECTED, "executor": self._name, "epoch": record.epoch},
            )
            return self._term
        if self._lease.fenced_off(outcome):
            return None
        return self._recover(incarnation, session_id)

    def is_ours(self, leader: Node | None) -> bool:
        """Whether the leader's node belongs to our session: we lead, or it is left of a term that we know not of."""
        return leader is not None and leader.owner == self._registry.session_id

    def _recover(self, incarnation: str, session_id: str) -> Term | None:
        """Find out whether the leader is we ourselves, by a transaction whose answer was lost."""
        node = self._registry.get(self._paths.leader, fresh=True)
        if node is None or node.owner != session_id:
            return None
        epoch = self._registry.get(self._paths.epoch, fresh=True)
        if (
            epoch is not None
            and encode_leader(LeaderRecord(name=self._name, incarnation=incarnation, epoch=epoch.version)) == node.value
        ):
            self._term = Term(epoch=epoch.version, incarnation=incarnation)
            return self._term
        # The session outlived our place in the fleet: the node says that we lead, and nobody does.
        self._registry.transact([self._lease.fence(), Delete(self._paths.leader)])
        return None

    def check(self, term: Term) -> Check:
        """Return the check that every write of the leader makes besides the fence."""
        return Check(self._paths.epoch, term.epoch)

    def resign(self) -> None:
        """Take note that the term is over."""
        if self._term is not None:
            logger.info("leads no longer", extra={"event": Event.LEADER_DEPOSED, "executor": self._name})
        self._term = None

    def step_down(self) -> None:
        """Give the leader's node up, so that another leads at once."""
        term, self._term = self.term, None
        if term is not None:
            self._registry.transact([self._lease.fence(), self.check(term), Delete(self._paths.leader)], timeout_s=3.0)
