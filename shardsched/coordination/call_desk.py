"""Taking calls of fire listeners from the tallies, and handing them in once they have returned.

A call is made by the session that it was given to. Once that session is over, whoever has the code takes it over, by a
transaction that is refused while the session stands: so no two make it at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.coordination.tally_book import TallyBook
from shardsched.core.paths import last_part
from shardsched.core.pending import adopted, next_calls, orphaned, returned
from shardsched.errors import RegistryUnavailableError, SessionLostError
from shardsched.registry.base import Committed, Create, Delete
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from shardsched.coordination.mirror import Mirror
    from shardsched.coordination.session import Lease
    from shardsched.coordination.tally_book import KnownTally
    from shardsched.core.paths import Paths
    from shardsched.core.tally import PendingCall, Tally
    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Operation, Outcome, Registry

_MAX_ROUNDS = 10
"""Times to try again after another executor was first; a guess."""


class CallDesk:
    """The calls of one executor. **Thread:** used by one thread.

    Args:
        listening: Tells the handlers of this process whose listeners are told of whole fires.
        drift_limit_s: How far clocks may be apart, in seconds.
    """

    def __init__(
        self,
        registry: Registry,
        paths: Paths,
        lease: Lease,
        mirror: Mirror,
        *,
        listening: Callable[[], Collection[str]] = tuple,
        drift_limit_s: float = 60.0,
    ) -> None:
        self._registry = registry
        self._paths = paths
        self._lease = lease
        self.tallies = TallyBook(registry, paths, lease, mirror, listening=listening, drift_limit_s=drift_limit_s)
        """Where the calls stand."""

    def take(self, entry: JobEntry, living: Collection[str]) -> tuple[PendingCall, ...]:
        """Return the calls of a job that are ours to make now; those of sessions that are over become ours.

        Args:
            entry: The job.
            living: The sessions of executors that live, as far as they are known.

        Raises:
            RegistryUnavailableError: No answer; calling again is safe.
            SessionLostError: There is no session to write under.
        """
        alive = {*living, self._lease.incarnation}
        for _ in range(_MAX_ROUNDS):
            known = self.tallies.known(entry)
            if known is None:
                return ()
            gone = orphaned(known.tally, alive)
            if not gone:
                return next_calls(known.tally, self._lease.incarnation)
            outcome = self._write(
                entry, known, adopted(known.tally, gone, self._lease.incarnation), self._are_over(gone)
            )
            if not isinstance(outcome, Committed):
                alive |= {name for name in gone if name and self._paths.session(name) == outcome.operation.path}
        return ()

    def _are_over(self, sessions: Collection[str]) -> list[Operation]:
        """Return what is refused while one of the sessions stands."""
        paths = [self._paths.session(name) for name in sorted(sessions) if name and "/" not in name]
        return [operation for path in paths for operation in (Create(path, ephemeral=True), Delete(path))]

    def hand_in(self, entry: JobEntry, calls: Collection[PendingCall]) -> bool:
        """Take calls that have returned out of the tally; return whether they are out.

        Raises:
            RegistryUnavailableError: No answer; calling again is safe.
            SessionLostError: There is no session to write under.
        """
        for _ in range(_MAX_ROUNDS):
            known = self.tallies.known(entry)
            if known is None:
                return True
            tally = returned(known.tally, calls)
            if tally == known.tally or isinstance(self._write(entry, known, tally), Committed):
                return True
        return False

    def _write(self, entry: JobEntry, known: KnownTally, tally: Tally, guards: Sequence[Operation] = ()) -> Outcome:
        fence = self._lease.fence()
        try:
            outcome = self._registry.transact([fence, *guards, self.tallies.write(entry.name, known, tally)])
        except RegistryUnavailableError:
            self.tallies.forget(entry.name)
            raise
        if isinstance(outcome, Committed):
            self.tallies.replace(entry.name, known, tally)
            return outcome
        self.tallies.forget(entry.name)
        if outcome.index == 0:
            self._lease.lose(last_part(fence.path))
            raise SessionLostError(
                Sentence("the place in the fleet was lost while a call of %(name)s was written", name=entry.name)
            )
        return outcome
