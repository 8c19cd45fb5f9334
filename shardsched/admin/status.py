"""The fleet as people see it: who lives, what runs, what fires next, and why something does not.

It is read kind by kind, so parts of it may be some milliseconds apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shardsched.admin.document import fleet_document, job_details, job_document
from shardsched.admin.executor_status import ItemCounts, executor_status
from shardsched.admin.reader import is_abandoned
from shardsched.core.checkpoint import decode_checkpoint
from shardsched.core.dependency import upstream_fault
from shardsched.core.reason import JobState, judge, live_owners
from shardsched.core.sight import item_sight
from shardsched.errors import ConfigurationError, CorruptNodeError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Container, Mapping
    from datetime import datetime

    from shardsched.admin.executor_status import ExecutorStatus
    from shardsched.admin.reader import Reader
    from shardsched.clock import Clock
    from shardsched.core.checkpoint import Checkpoint
    from shardsched.core.executor import LeaderRecord
    from shardsched.core.fire import Cursor, Marker
    from shardsched.core.sight import ItemSight
    from shardsched.core.tally import Tally
    from shardsched.core.view import FleetView, ItemView, JobEntry
    from shardsched.registry.base import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointStatus:
    """What one item has saved; one of a job's earlier life, or that was cleared, is none."""

    bytes: int
    """Size of its state as JSON in UTF-8; of the whole record where that cannot be read."""
    record: Checkpoint | None = None
    """The record, None where it cannot be read."""
    fault: str | None = None
    """Why it cannot be loaded, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemStatus:
    """One item of a job."""

    item: int
    """Which."""
    owner: str | None
    """Who owns it, None if nobody does that lives."""
    sight: ItemSight
    """What it looks like, in one word."""
    cursor: Cursor | None = None
    """What it last handled, None where that is nothing or cannot be read."""
    marker: Marker | None = None
    """That it runs, None where it does not or it cannot be read."""
    reason: str | None = None
    """What is wrong with it, or None."""
    checkpoint: CheckpointStatus | None = None
    """What it has saved, None where that is nothing or, in the status of a fleet, was not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """One job."""

    entry: JobEntry
    """As it is stored."""
    state: JobState
    """In one word."""
    reasons: tuple[str, ...]
    """What keeps it, or some of its items, from firing."""
    next_fire: datetime | None
    """Its next fire; None where it is paused, held, or fires no more."""
    owners: Mapping[str, tuple[int, ...]]
    """Living executors with the items that they own."""
    items: tuple[ItemStatus, ...]
    """Its items."""
    tally: Tally | None = None
    """How far its fires have come, None where nobody waits for it or listens to it."""

    @property
    def reason(self) -> str | None:
        """The weightiest reason, None where nothing stands in its way."""
        return self.reasons[0] if self.reasons else None

    def as_json(self) -> dict[str, Any]:
        """Return it as ``job list --json`` shows it."""
        return job_document(self)

    def details(self) -> dict[str, Any]:
        """Return all of it as ``job show --json`` shows it."""
        return job_details(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetStatus:
    """All of one namespace."""

    at: datetime
    """When it was read."""
    leader: LeaderRecord | None
    """Who leads."""
    executors: tuple[ExecutorStatus, ...] = ()
    """Executors, by name."""
    jobs: tuple[JobStatus, ...] = ()
    """Jobs, by name."""

    def as_json(self) -> dict[str, Any]:
        """Return it as ``status --json`` shows it."""
        return fleet_document(self)


class StatusCollector:
    """Reads the status of one namespace. **Thread:** any; nothing is kept."""

    def __init__(self, reader: Reader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock

    def fleet(self) -> FleetStatus:
        """Return all of it.

        Raises:
            RegistryUnavailableError: No answer.
        """
        jobs, names, drained = self._reader.names("jobs", "executors", "drained")
        # Owners are written after they joined, so members are read after assignments: no new owner looks gone.
        entries = self._reader.entries(jobs)
        members = self._reader.members()
        views = self._reader.items(entries)
        tracked = set(self._reader.names("fires")[0])
        tallies = self._reader.tallies({name: entry for name, entry in entries.items() if name in tracked})
        now = self._clock.now()
        statuses = tuple(
            job_status(entry, members, views[name], now, tallies.get(name), entries)
            for name, entry in sorted(entries.items())
        )
        loads, counts = self._reader.loads(names), ItemCounts.of(statuses)
        executors = tuple(
            executor_status(name, members, loads.get(name), counts, is_present=name in names)
            for name in sorted(set(names) | set(drained))
        )
        return FleetStatus(at=now, leader=members.leader, executors=executors, jobs=statuses)

    def job(self, name: str) -> JobStatus:
        """Return one job.

        Raises:
            JobNotFoundError: There is no such job.
            RegistryUnavailableError: No answer.
        """
        entry = self._reader.entry(name)
        members = self._reader.members()
        views = self._reader.items({name: entry})[name]
        tally = self._reader.tallies({name: entry}).get(name)
        jobs = self._reader.job_names() if entry.config is not None and entry.config.after else ()
        status = job_status(entry, members, views, self._clock.now(), tally, jobs)
        uid = entry.config.uid if entry.config else None
        saved = {item: _checkpoint_status(node, uid) for item, node in self._reader.checkpoints(name)}
        items = tuple(replace(item, checkpoint=saved.get(item.item)) for item in status.items)
        return replace(status, items=items) if saved else status


def job_status(
    entry: JobEntry,
    fleet: FleetView,
    views: Mapping[int, ItemView],
    now: datetime,
    tally: Tally | None = None,
    jobs: Container[str] | None = None,
    *,
    is_read: bool = True,
) -> JobStatus:
    """Return one job as it stands, made of what was read.

    Args:
        entry: The job.
        fleet: Executors, drain marks and leader.
        views: Its items that have a cursor or a marker.
        now: The time.
        tally: How far its fires have come.
        jobs: The names of all jobs, to tell of upstream jobs that are not there; None where they are not known.
        is_read: Whether its items have been looked at yet.
    """
    verdict = judge(entry, fleet)
    owners = live_owners(entry.assignment, fleet)
    by_item = {item: name for name, items in owners.items() for item in items}
    count = _item_count(entry)
    disabled = frozenset(entry.config.disabled_items if entry.config is not None else ())
    items = tuple(
        _item_status(
            item,
            by_item.get(item),
            views.get(item),
            item_sight(
                views.get(item),
                verdict.state,
                is_owned=item in by_item,
                is_disabled=item in disabled,
                is_read=is_read,
            ),
        )
        for item in sorted({*range(count), *views})
    )
    faulty = [
        Sentence("item %(item)s: %(reason)s", item=item.item, reason=item.reason) for item in items if item.reason
    ]
    upstream = upstream_fault(entry.config, jobs) if entry.config is not None and jobs is not None else None
    is_firing = verdict.state not in {JobState.PAUSED, JobState.HELD}
    return JobStatus(
        entry=entry,
        state=verdict.state,
        reasons=(*verdict.reasons, *faulty, *([upstream] if upstream else ())),
        next_fire=_next_fire(entry, now) if is_firing else None,
        owners=owners,
        items=items,
        tally=tally,
    )


def _item_count(entry: JobEntry) -> int:
    configured = entry.config.items if entry.config else 0
    return max(configured, entry.assignment.newest.items if entry.assignment else 0)


def _item_status(item: int, owner: str | None, view: ItemView | None, sight: ItemSight) -> ItemStatus:
    if view is None:
        return ItemStatus(item=item, owner=owner, sight=sight)
    reason = view.fault
    if reason is None and is_abandoned(view):
        reason = (
            Sentence("abandoned in the middle of a run; its owner %(owner)s settles it", owner=owner)
            if owner
            else Sentence("abandoned in the middle of a run; waits for an owner to settle it")
        )
    return ItemStatus(item=item, owner=owner, sight=sight, cursor=view.cursor, marker=view.marker, reason=reason)


def _checkpoint_status(node: Node, uid: str | None) -> CheckpointStatus | None:
    try:
        record = decode_checkpoint(node.path, node.value)
    except CorruptNodeError as error:
        return CheckpointStatus(bytes=len(node.value), fault=error.reason)
    if record.state is None or record.uid != uid:
        return None
    return CheckpointStatus(bytes=len(record.state.encode()), record=record)


def _next_fire(entry: JobEntry, now: datetime) -> datetime | None:
    if entry.config is None:
        return None
    try:
        return entry.config.schedule().next_fire(max(now, entry.config.armed_at))
    except ConfigurationError:
        return None
