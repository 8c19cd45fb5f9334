"""Claims and completions: the transactions that make a run happen once.

A claim is one transaction: the fence (our session lives), the job's and the assignment's versions (nobody paused the
job or moved its items meanwhile), and for each item its marker and its cursor. So a pause that was committed first
wins, an old owner cannot start, and two owners cannot both start. Claims are sent without waiting for each other.

Losing is a value. When the answer is lost, the caller reads the item again: the run id in marker and cursor says what
happened.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shardsched.core.fire import MAX_MESSAGE_LENGTH, Cause, Cursor, ItemState, Marker, encode_cursor, encode_marker
from shardsched.core.paths import last_part
from shardsched.core.release import lost_cursor
from shardsched.registry.base import Check, Create, Delete, Put, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future
    from datetime import datetime

    from shardsched.coordination.session import Lease
    from shardsched.core.decision import Release, Run, Settle
    from shardsched.core.paths import Paths
    from shardsched.core.view import ItemView, JobEntry
    from shardsched.registry.base import Operation, Outcome, Registry

CLAIM_CHUNK = 100
"""Items of one job claimed by one transaction: about 60 kB."""
COMPLETION_CHUNK = 50
"""Runs completed by one transaction."""
CLAIM_CHECKS = 3
"""Operations with which a claim begins: the checks of the session, the job and the assignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """One run as it stands in the registry once its claim is committed."""

    job: str
    """The job."""
    item: int
    """The item."""
    run: Run
    """What was decided."""
    cursor: Cursor
    """The cursor, in state running."""
    marker: Marker
    """The marker."""
    incarnation: str
    """The session under which it is claimed."""
    version: int = 0
    """Version of the cursor's node after the claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A claim on its way."""

    entry: JobEntry
    """The job as it was when planned."""
    claims: tuple[Claimed, ...]
    """What is claimed."""
    future: Future[Outcome]
    """Its answer to come."""

    def won(self, versions: tuple[int, ...]) -> tuple[Claimed, ...]:
        """Return the claims with their cursors' versions, from a committed transaction's."""
        return tuple(
            replace(claim, version=versions[CLAIM_CHECKS + 2 * index + 1]) for index, claim in enumerate(self.claims)
        )

    def culprit(self, refused: Refused) -> Claimed | None:
        """Return the item that was refused; None when it was the session, the job, the assignment or what is extra."""
        index = refused.index - CLAIM_CHECKS
        return self.claims[index // 2] if 0 <= index < 2 * len(self.claims) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a claimed run ended."""

    claimed: Claimed
    """The run."""
    state: ItemState
    """Done, failed, stopped or lost."""
    message: str
    """A short word on it."""
    ended_at: datetime
    """When."""
    retry_at: datetime | None = None
    """When it is tried again, None if it is not: then its fire is over."""

    @property
    def is_failure(self) -> bool:
        """Whether the run failed, and so is tried again where a retry is left."""
        return self.state is ItemState.FAILED

    def cursor(self) -> Cursor:
        """Return the cursor that says so; a run that is tried again keeps the parameters that it began with."""
        before, is_over = self.claimed.cursor, self.retry_at is None
        return replace(
            before,
            state=self.state,
            ended_at=self.ended_at,
            message=self.message[:MAX_MESSAGE_LENGTH],
            job_param=None if is_over else before.job_param,
            param=None if is_over else before.param,
            failures=before.failures + self.is_failure,
            retry_at=self.retry_at,
        )


class Ledger:
    """Writes claims and completions of one executor. **Thread:** any; nothing is kept."""

    def __init__(self, registry: Registry, paths: Paths, lease: Lease, executor: str) -> None:
        self._registry = registry
        self._paths = paths
        self._lease = lease
        self._executor = executor

    def claim(
        self,
        entry: JobEntry,
        runs: Sequence[tuple[Run, ItemView, str]],
        now: datetime,
        extra: Sequence[Operation] = (),
    ) -> list[Attempt]:
        """Send claims for items of one job.

        Args:
            entry: The job as planned; it has a configuration and an assignment.
            runs: What to run, the item as it was read, and a new run id.
            now: The time.
            extra: What is written besides, by the first attempt.

        **Atomicity:** each attempt all or nothing. **Unknown:** by the attempt's future; read the items again.

        Raises:
            SessionLostError: There is no session to claim under.
        """
        return [
            self._attempt(entry, runs[start : start + CLAIM_CHUNK], now, () if start else extra)
            for start in range(0, len(runs), CLAIM_CHUNK)
        ]

    def _attempt(
        self,
        entry: JobEntry,
        runs: Sequence[tuple[Run, ItemView, str]],
        now: datetime,
        extra: Sequence[Operation],
    ) -> Attempt:
        fence = self._lease.fence()
        # Not the lease's own, which another thread may change between the two.
        incarnation = last_part(fence.path)
        operations: list[Operation] = [
            fence,
            Check(self._paths.job(entry.name), entry.version),
            Check(self._paths.assignment(entry.name), entry.assignment_version or 0),
        ]
        claims: list[Claimed] = []
        for run, view, run_id in runs:
            claimed = self._claimed(entry, run, view, run_id, incarnation, now)
            claims.append(claimed)
            marker_path = self._paths.marker(entry.name, run.item)
            operations.append(Create(marker_path, encode_marker(claimed.marker), ephemeral=True))
            operations.append(self._write_cursor(entry.name, run.item, claimed.cursor, view.cursor_version))
        return Attempt(entry=entry, claims=tuple(claims), future=self._registry.submit([*operations, *extra]))

    def _claimed(
        self, entry: JobEntry, run: Run, view: ItemView, run_id: str, incarnation: str, now: datetime
    ) -> Claimed:
        uid = entry.config.uid if entry.config else ""
        floor = entry.assignment.token_floor if entry.assignment else 0
        cursor = Cursor(
            uid=uid,
            state=ItemState.RUNNING,
            fire=run.fire,
            trigger=run.trigger,
            token=max(view.cursor.token if view.cursor else 0, floor) + 1,
            run=run_id,
            run_fire=run.run_fire,
            cause=run.first_cause,
            attempt=run.attempt,
            items=run.items,
            stop=entry.commands.stop if entry.commands else 0,
            executor=self._executor,
            started_at=now,
            job_param=run.job_param,
            param=run.param,
            failures=run.failures,
        )
        marker = Marker(
            uid=uid,
            run=run_id,
            incarnation=incarnation,
            executor=self._executor,
            fire=run.run_fire,
            attempt=run.attempt,
            started_at=now,
        )
        return Claimed(job=entry.name, item=run.item, run=run, cursor=cursor, marker=marker, incarnation=incarnation)

    def _write_cursor(self, job: str, item: int, cursor: Cursor, version: int | None) -> Operation:
        path, value = self._paths.cursor(job, item), encode_cursor(cursor)
        return Create(path, value) if version is None else Put(path, value, version)

    def complete(self, endings: Sequence[Ending], extra: Sequence[Operation] = ()) -> Future[Outcome]:
        """Send the outcome of runs of the present session: their markers go and their cursors say it.

        Args:
            endings: The runs.
            extra: What is written besides.

        **Atomicity:** all or nothing; when refused, send them one by one. **Unknown:** read the items again.

        Raises:
            SessionLostError: There is no session any more; the claims are void.
        """
        operations: list[Operation] = [self._lease.fence()]
        for ending in endings:
            claimed = ending.claimed
            operations.append(Delete(self._paths.marker(claimed.job, claimed.item)))
            path = self._paths.cursor(claimed.job, claimed.item)
            operations.append(Put(path, encode_cursor(ending.cursor()), claimed.version))
        return self._registry.submit([*operations, *extra])

    def settle(
        self, entry: JobEntry, settle: Settle, view: ItemView, now: datetime, extra: Sequence[Operation] = ()
    ) -> Future[Outcome]:
        """Send a cursor that is written without a run: an abandoned run is over, or fires are dropped.

        It makes the same checks as a claim, so that only the present owner settles, and only while the item does not
        run: the marker is created and deleted within the transaction to see to that.

        Raises:
            SessionLostError: There is no session to write under.
        """
        uid = entry.config.uid if entry.config else ""
        before = view.cursor or Cursor(
            uid=uid,
            state=settle.state,
            trigger=entry.assignment.trigger_floor if entry.assignment else 0,
            token=entry.assignment.token_floor if entry.assignment else 0,
        )
        cursor = replace(
            before,
            state=settle.state,
            fire=settle.fire,
            trigger=before.trigger if settle.trigger is None else settle.trigger,
            cause=before.cause if before.run else Cause.SCHEDULE,
            ended_at=before.ended_at or (now if before.run else None),
            message=settle.reason[:MAX_MESSAGE_LENGTH],
            job_param=None,
            param=None,
            retry_at=None,
        )
        operations: list[Operation] = [
            self._lease.fence(),
            Check(self._paths.job(entry.name), entry.version),
            Check(self._paths.assignment(entry.name), entry.assignment_version or 0),
            Create(self._paths.marker(entry.name, settle.item), ephemeral=True),
            self._write_cursor(entry.name, settle.item, cursor, view.cursor_version),
            Delete(self._paths.marker(entry.name, settle.item)),
        ]
        return self._registry.submit([*operations, *extra])

    def release(
        self, job: str, release: Release, view: ItemView, now: datetime, extra: Sequence[Operation] = ()
    ) -> Future[Outcome]:
        """Send that a marker of ours is given back, since no run of ours is behind it.

        The cursor stays *running* where the fire is to be run again, and becomes *lost* where it is not. It must have
        the version that it was read with: once our marker has gone, another may stand at its path.

        Raises:
            SessionLostError: There is no session; the marker is gone with it.
        """
        operations: list[Operation] = [self._lease.fence(), Delete(self._paths.marker(job, release.item))]
        if view.cursor_version is not None:
            operations.insert(1, Check(self._paths.cursor(job, release.item), view.cursor_version))
        lost = lost_cursor(release, view, now)
        if lost is not None:
            operations.append(self._write_cursor(job, release.item, lost, view.cursor_version))
        return self._registry.submit([*operations, *extra])
