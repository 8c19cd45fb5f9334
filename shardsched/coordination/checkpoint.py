"""The checkpoint of a run of this executor: saved by exactly the run that holds the claim.

A save is one transaction: the fence of the session under which the run was claimed, the cursor as that claim left it,
and the checkpoint. So when the session is over, or another claim or an outcome was committed, it is refused.

A save whose answer was lost is looked up: run and number in the record say whether it was done. If not, it is sent
again, and since every write names the version that it replaces, one that arrives late cannot undo a later one.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from shardsched.core.checkpoint import Checkpoint, decode_checkpoint, encode_checkpoint
from shardsched.errors import (
    CheckpointError,
    CorruptNodeError,
    RegistryError,
    RegistryUnavailableError,
    SessionLostError,
    StaleTokenError,
)
from shardsched.registry.base import Check, Committed, Create, Put

if TYPE_CHECKING:
    import threading

    from shardsched.clock import Clock
    from shardsched.coordination.ledger import Claimed
    from shardsched.coordination.session import Lease
    from shardsched.core.paths import Paths
    from shardsched.registry.base import Operation, Outcome, Registry

RETRY_S = 0.2
"""How long after no answer a save or load is tried again."""
_OVER = "the session under which it was claimed is over"
_REFUSALS = (_OVER, "the item was claimed by another run or has its outcome already")
"""Why a save is refused, by the operation that was: a save begins with the checks of the session and the cursor."""


class RunCheckpoint:
    """Saves and loads for one run. **Thread:** any; one call at a time."""

    def __init__(
        self, registry: Registry, paths: Paths, lease: Lease, clock: Clock, closing: threading.Event, claimed: Claimed
    ) -> None:
        """Read nothing yet: most runs need no checkpoint.

        Args:
            registry: Where it stands.
            paths: Of the namespace.
            lease: Of this executor; nothing is waited for beyond it.
            clock: For the lease, and for when it was saved.
            closing: Set when nothing is to be waited for any more.
            claimed: The run.
        """
        self._registry = registry
        self._paths = paths
        self._lease = lease
        self._clock = clock
        self._closing = closing
        self._claimed = claimed
        self._subject = f"the checkpoint of {claimed.job}/{claimed.item}"
        self._path = paths.checkpoint(claimed.job, claimed.item)
        self._is_read = False
        self._version: int | None = None
        self._missing: tuple[str, ...] = ()

    def load(self) -> str | None:
        """Return what the item saved last as JSON text, None where there is nothing.

        Raises:
            CheckpointError: What is stored cannot be read, or there was no answer within the lease.
        """
        while True:
            try:
                checkpoint = self._read()
            except CorruptNodeError as error:
                cure = f"'shardsched job reset {self._claimed.job} --items {self._claimed.item}' clears it"
                raise self._failure(f"cannot be loaded: {error.reason}; {cure}") from error
            except RegistryUnavailableError as error:
                self._closing.wait(RETRY_S)
                if end := self._end():
                    raise self._failure(f"cannot be loaded: {end}, and the registry has not answered") from error
            except RegistryError as error:
                raise self._failure(f"cannot be loaded: {error}") from error
            else:
                return None if checkpoint is None else checkpoint.state

    def save(self, number: int, state: str | None) -> None:
        """Save a state, given as JSON text; None clears it.

        **Atomicity:** one transaction. **Unknown:** it is looked up and sent again until the lease is over.

        Args:
            number: Which request of the run this is.
            state: The text.

        Raises:
            StaleTokenError: The claim is over; nothing was saved.
            CheckpointError: It was refused otherwise, or it may have been saved or not.
        """
        value = encode_checkpoint(self._checkpoint(number, state))
        is_unknown = False
        while True:
            if end := self._end():
                raise self._over(end, is_unknown=is_unknown)
            try:
                outcome = None if self._is_saved(number) else self._write(value)
            except RegistryUnavailableError:
                # What is read and then not answered was a write, which may have been done.
                self._is_read, is_unknown = False, is_unknown or self._is_read
                self._closing.wait(RETRY_S)
            except SessionLostError as error:
                raise self._over(_OVER, is_unknown=is_unknown or self._is_read) from error
            except RegistryError as error:
                raise self._failure(f"was not saved: {error}; the earlier one stays") from error
            else:
                if self._is_done(outcome, is_unknown=is_unknown):
                    return

    def _is_done(self, outcome: Outcome | None, *, is_unknown: bool) -> bool:
        """Return whether a save is done, or has to be decided on anew since somebody else changed the checkpoint."""
        if outcome is None:
            return True
        if isinstance(outcome, Committed):
            self._version, self._missing = outcome.versions[-1], ()
            return True
        self._is_read = False
        if outcome.index < len(_REFUSALS):
            raise self._over(_REFUSALS[outcome.index], is_unknown=is_unknown)
        return False

    def _end(self) -> str | None:
        """Return why no answer is to be waited for any more, None while it is."""
        if self._lease.incarnation != self._claimed.incarnation:
            return _OVER
        if self._clock.boot() >= self._lease.alive_until:
            return "the lease of its executor has run out"
        return "its executor is closing" if self._closing.is_set() else None

    def _over(self, why: str, *, is_unknown: bool) -> CheckpointError:
        if is_unknown:
            return self._failure(
                f"may have been saved or not, for want of an answer, and {why}; load() of the next run tells"
            )
        return StaleTokenError(f"{self._subject} was not saved: {why}; end this run, another goes on")

    def _failure(self, reason: str) -> CheckpointError:
        return CheckpointError(f"{self._subject} {reason}")

    def _checkpoint(self, number: int, state: str | None) -> Checkpoint:
        return Checkpoint(
            uid=self._claimed.cursor.uid,
            token=self._claimed.cursor.token,
            run=self._claimed.marker.run,
            number=number,
            fire=self._claimed.run.run_fire,
            saved_at=self._clock.now(),
            state=state,
        )

    def _read(self) -> Checkpoint | None:
        """Return what is stored; nothing where it is of an earlier job of that name.

        Raises:
            CorruptNodeError: It cannot be read; its version is known all the same.
            RegistryUnavailableError: No answer.
        """
        above = (self._paths.under("checkpoints"), self._paths.checkpoints(self._claimed.job))
        *parents, node = self._registry.read((*above, self._path), fresh=True)
        self._missing = tuple(path for path, found in zip(above, parents, strict=True) if found is None)
        self._version, self._is_read = None if node is None else node.version, True
        checkpoint = None if node is None else decode_checkpoint(node.path, node.value)
        return checkpoint if checkpoint is not None and checkpoint.uid == self._claimed.cursor.uid else None

    def _is_saved(self, number: int) -> bool:
        """Return whether a save stands already, as one may whose answer was lost."""
        if self._is_read:
            return False
        try:
            stored = self._read()
        except CorruptNodeError:
            return False
        return stored is not None and (stored.run, stored.number) == (self._claimed.marker.run, number)

    def _write(self, value: bytes) -> Outcome:
        claimed = self._claimed
        operations: list[Operation] = [
            Check(self._paths.session(claimed.incarnation)),
            Check(self._paths.cursor(claimed.job, claimed.item), claimed.version),
            *(Create(missing) for missing in self._missing),
            Create(self._path, value) if self._version is None else Put(self._path, value, self._version),
        ]
        # Not longer than the lease, which lasts as long as heartbeats are answered.
        return self._registry.transact(operations, max(self._lease.alive_until - self._clock.boot(), RETRY_S))
