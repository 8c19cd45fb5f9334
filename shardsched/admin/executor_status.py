"""One executor as people see it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shardsched.admin.document import executor_document
from shardsched.core.name import name_fault
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shardsched.admin.status import JobStatus
    from shardsched.core.executor import DrainMark, ExecutorRecord, LoadReport
    from shardsched.core.view import FleetView


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorStatus:
    """One executor that lives, or whose drain mark outlived it."""

    name: str
    """Its name."""
    state: str
    """``live``, ``drained``, ``unfit``, ``unreadable``, or ``gone`` for a drain mark alone."""
    reason: str | None = None
    """Why it takes no items, or None."""
    record: ExecutorRecord | None = None
    """What it says of itself, None where it does not live or cannot be read."""
    load: LoadReport | None = None
    """Its last load report, None where there is none."""
    drain: DrainMark | None = None
    """Who drained it, None where nobody did."""
    is_leader: bool = False
    """Whether it leads."""
    items: int = 0
    """Items that it owns."""
    running: int = 0
    """Items that it runs."""

    def as_json(self) -> dict[str, Any]:
        """Return it as ``executor list --json`` shows it."""
        return executor_document(self)


@dataclass(frozen=True, slots=True)
class ItemCounts:
    """Items by executor, counted once for all executors."""

    owned: Counter[str] = field(default_factory=Counter)
    """Items that each owns."""
    running: Counter[str] = field(default_factory=Counter)
    """Items that each runs."""

    @classmethod
    def of(cls, jobs: Iterable[JobStatus]) -> ItemCounts:
        """Count them."""
        owned: Counter[str] = Counter()
        running: Counter[str] = Counter()
        for job in jobs:
            owned.update({name: len(items) for name, items in job.owners.items()})
            running.update(item.marker.executor for item in job.items if item.marker is not None)
        return cls(owned, running)

    def changed(self, before: Iterable[JobStatus], after: Iterable[JobStatus]) -> ItemCounts:
        """Return the counts when some of the jobs look otherwise: what counting them all anew would find.

        Args:
            before: Those jobs as they were counted, without those that are new.
            after: Those jobs as they are, without those that are gone.
        """
        old, new = ItemCounts.of(before), ItemCounts.of(after)
        return ItemCounts(self.owned + new.owned - old.owned, self.running + new.running - old.running)


def executor_status(
    name: str, fleet: FleetView, load: LoadReport | None, counts: ItemCounts, *, is_present: bool
) -> ExecutorStatus:
    """Return the status of an executor, or of a drain mark alone."""
    record, drain = fleet.executors.get(name), fleet.drained.get(name)
    state, reason = _executor_state(name, record, drain, is_present=is_present)
    return ExecutorStatus(
        name=name,
        state=state,
        reason=reason,
        record=record,
        load=load,
        drain=drain,
        is_leader=fleet.leader is not None and fleet.leader.name == name,
        items=counts.owned[name],
        running=counts.running[name],
    )


def _executor_state(
    name: str, record: ExecutorRecord | None, drain: DrainMark | None, *, is_present: bool
) -> tuple[str, str | None]:
    fault = name_fault(name)
    if fault is not None:
        return "unreadable", Sentence(
            "somebody made it by hand: no executor can have that name (%(fault)s); forget it", fault=fault
        )
    if not is_present:
        return "gone", _drain_text(drain)
    if record is None:
        return "unreadable", Sentence("its record cannot be read; restart it, or forget it if nobody runs it")
    if drain is not None:
        return "drained", _drain_text(drain)
    if record.unfit is not None:
        return "unfit", record.unfit
    return "live", None


def _drain_text(drain: DrainMark | None) -> str:
    if drain is None:
        return Sentence("drained; the mark cannot be read, so it does not count")
    at = drain.at.isoformat(timespec="seconds")
    drained = (
        Sentence("drained by %(by)s at %(at)s", by=drain.by, at=at)
        if drain.by
        else Sentence("drained at %(at)s", at=at)
    )
    return Sentence("%(drained)s: %(why)s", drained=drained, why=drain.reason) if drain.reason else drained
