"""What the leader does: assignments for all jobs at once, only those that differ, and tidying up after edits.

Every transaction checks the fence, the epoch and, for each job, the version of the configuration that was decided on,
so that neither a deposed leader nor one with an old view can write. A write that is refused for its own job harms no
other; it is decided anew when the mirror has caught up.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardsched.coordination.record import read_cursors
from shardsched.coordination.removal import remove_job_nodes
from shardsched.core.assignment import encode_assignment
from shardsched.core.events import Event
from shardsched.core.item import is_item_name
from shardsched.core.rebalance import rebalance
from shardsched.core.tidy import settled_assignment
from shardsched.registry.base import Check, Committed, Create, Delete, Put, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from shardsched.coordination.election import Election, Term
    from shardsched.coordination.session import Lease
    from shardsched.core.assignment import Assignment
    from shardsched.core.paths import Paths
    from shardsched.core.view import FleetView, JobEntry
    from shardsched.registry.base import Operation, Registry

logger = logging.getLogger(__name__)

MAX_WRITE_COUNT = 100
"""Assignments written by one transaction."""
MAX_WRITE_BYTES = 128 * 1024
"""Size of one transaction's assignments, well below what ZooKeeper takes."""
_DELETE_CHUNK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _Write:
    entry: JobEntry
    assignment: Assignment
    value: bytes


class Leadership:
    """The leader's work of one executor that may lead. **Thread:** used by one thread."""

    def __init__(self, registry: Registry, paths: Paths, lease: Lease, election: Election) -> None:
        self._registry = registry
        self._paths = paths
        self._lease = lease
        self._election = election
        self._unseen: set[str] = set()
        self._epoch = -1

    def reshard(self, fleet: FleetView) -> bool:
        """Write every assignment that should differ; return whether all of it was written.

        Does nothing, and says that all was written, if this executor does not lead.

        Raises:
            RegistryUnavailableError: No answer; calling again is safe.
            SessionLostError: There is no session to write under.
        """
        term = self._election.term
        if term is None:
            return True
        if self._is_behind(fleet, term):
            return False
        claimed: dict[str, datetime | None] = {}
        decided = rebalance(fleet, term.epoch, claimed)
        if decided.needs_claims:
            claimed = self._latest_claims([fleet.jobs[job] for job in sorted(decided.needs_claims)])
            decided = rebalance(fleet, term.epoch, claimed)
        writes = [
            _Write(entry=fleet.jobs[write.job], assignment=write.assignment, value=encode_assignment(write.assignment))
            for write in decided.writes
        ]
        if not writes:
            return True
        done = sum(self._write(term, chunk) for chunk in _chunks(writes))
        logger.info(
            "wrote %d of %d assignments that differ",
            done,
            len(writes),
            extra={"event": Event.RESHARDED, "epoch": term.epoch, "jobs": [write.entry.name for write in writes[:50]]},
        )
        return done == len(writes)

    def _is_behind(self, fleet: FleetView, term: Term) -> bool:
        """Whether a view is older than what was last written, by us or by the leader before us.

        A write that is decided on such a view is refused; but that nothing is to be written would stand, though the
        last write was decided without somebody who has joined since.
        """
        if self._epoch != term.epoch:
            self._epoch, self._unseen = term.epoch, set(fleet.jobs)
        jobs = sorted(self._unseen & set(fleet.jobs))
        nodes = self._registry.read([self._paths.assignment(job) for job in jobs], fresh=True) if jobs else ()
        versions = (None if node is None else node.version for node in nodes)
        self._unseen = {
            job for job, version in zip(jobs, versions, strict=True) if version != fleet.jobs[job].assignment_version
        }
        return bool(self._unseen)

    def _latest_claims(self, entries: Sequence[JobEntry]) -> dict[str, datetime | None]:
        """Return the latest scheduled fire that any item of each job has claimed.

        Cursors of an earlier job of that name do not count. Nothing is claimed while the configuration asks for another
        count than the newest layout, and it is asked after the configuration was seen: so this is final until the
        layout is written.
        """
        claimed: dict[str, datetime | None] = {}
        for entry in entries:
            uid = entry.config.uid if entry.config else ""
            cursors = read_cursors(self._registry, self._paths, entry.name)[0].values()
            claimed[entry.name] = max((one.fire for one in cursors if one.fire and one.uid == uid), default=None)
        return claimed

    def _write(self, term: Term, writes: list[_Write]) -> int:
        """Write some assignments; one that is refused is left out, and the rest is tried again."""
        while writes:
            self._unseen.update(write.entry.name for write in writes)
            outcome = self._registry.transact(self._operations(term, writes))
            if isinstance(outcome, Committed):
                return len(writes)
            if self._is_over(outcome):
                return 0
            refused = writes.pop((outcome.index - 2) // 2)
            logger.debug("an assignment was decided on an old view", extra={"job": refused.entry.name})
        return 0

    def _operations(self, term: Term, writes: Iterable[_Write]) -> list[Operation]:
        # The fence of the term, not of whatever session we have by now: a term ends with its session.
        operations: list[Operation] = [Check(self._paths.session(term.incarnation)), self._election.check(term)]
        for write in writes:
            entry, path = write.entry, self._paths.assignment(write.entry.name)
            operations.append(Check(self._paths.job(entry.name), entry.version))
            if entry.assignment_version is None:
                operations.append(Create(path, write.value))
            else:
                operations.append(Put(path, write.value, entry.assignment_version))
        return operations

    def _is_over(self, refused: Refused) -> bool:
        """Whether the session or the term has ended; takes note of it."""
        self._lease.fenced_off(refused)
        if refused.index <= 1:
            self._election.resign()
        return refused.index <= 1

    def tidy(self, fleet: FleetView, now: datetime) -> bool:
        """Finish half-done deletions, and drop layouts and cursors that have had their time.

        Returns:
            Whether items have lost their owners by it, so that the others may have to be spread anew.

        Raises:
            RegistryUnavailableError: No answer; calling again is safe.
        """
        term = self._election.term
        is_changed = False
        if term is None:
            return is_changed
        for entry in fleet.jobs.values():
            config = entry.config
            if config is not None and config.deleting:
                if remove_job_nodes(self._registry, self._paths, entry.name):
                    logger.info("removed a deleted job", extra={"event": Event.JOB_REMOVED, "job": entry.name})
            elif entry.held is None and entry.assignment is not None and len(entry.assignment.layouts) > 1:
                is_changed |= self._drop_layouts(term, entry, now)
        return is_changed

    def _drop_layouts(self, term: Term, entry: JobEntry, now: datetime) -> bool:
        config, assignment = entry.config, entry.assignment
        if config is None or assignment is None or entry.assignment_version is None:
            return False
        cursors, versions = read_cursors(self._registry, self._paths, entry.name)
        mine = {item: cursor for item, cursor in cursors.items() if cursor.uid == config.uid}
        settled = settled_assignment(config, assignment, entry.commands, mine, now)
        if settled is None:
            return False
        write = _Write(entry=entry, assignment=settled, value=encode_assignment(settled))
        if self._write(term, [write]) != 1:
            return False
        self._delete_removed(term, entry.name, settled.newest.items, versions)
        return True

    def _delete_removed(self, term: Term, job: str, item_count: int, versions: Mapping[int, int]) -> None:
        """Delete the cursors and checkpoints of items that are no more.

        A cursor that stays behind does no harm: the floors lie above it. Cursors go first, since without its cursor no
        item can save another checkpoint.
        """
        removed = [(item, version) for item, version in versions.items() if item >= item_count]
        deletes = [Delete(self._paths.cursor(job, item), version) for item, version in removed]
        saved = self._registry.children(self._paths.checkpoints(job), fresh=True)
        items = [int(name) for name in saved if is_item_name(name)]
        deletes += [Delete(self._paths.checkpoint(job, item)) for item in items if item >= item_count]
        for start in range(0, len(deletes), _DELETE_CHUNK):
            chunk = deletes[start : start + _DELETE_CHUNK]
            self._registry.transact([Check(self._paths.session(term.incarnation)), *chunk])


def _chunks(writes: Sequence[_Write]) -> Iterable[list[_Write]]:
    chunk: list[_Write] = []
    size = 0
    for write in writes:
        if chunk and (len(chunk) >= MAX_WRITE_COUNT or size + len(write.value) > MAX_WRITE_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(write)
        size += len(write.value)
    if chunk:
        yield chunk
