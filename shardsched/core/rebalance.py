"""The leader's whole decision: which assignments are to be written. Writing them and deciding again gives nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from shardsched.core.assignment import MAX_LAYOUT_COUNT, Assignment, Layout
from shardsched.core.eligibility import eligible_executors
from shardsched.core.sharding import Need, spread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shardsched.core.job import JobConfig
    from shardsched.core.view import FleetView, JobEntry


_LAST_AT = datetime.max.replace(tzinfo=UTC) - timedelta(seconds=1)
"""Latest time that a layout without a further fire is begun after: a stored cursor may hold any time there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One assignment that is to be written."""

    job: str
    """The job."""
    assignment: Assignment
    """What is to stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    """What the leader is to do."""

    writes: tuple[Write, ...]
    """Assignments that differ from what stands, by job."""
    needs_claims: frozenset[str]
    """Jobs whose item count changed: their latest claimed fire must be read, after their configuration was seen, and
    the decision made again with it."""


def rebalance(fleet: FleetView, epoch: int, claimed: Mapping[str, datetime | None]) -> Rebalance:
    """Return the assignments that are to be written.

    Jobs that are held or being deleted keep what they have; paused ones are assigned like others, so that a resume is
    instant.

    Args:
        fleet: The control plane.
        epoch: The leader's epoch.
        claimed: By job whose count changed, the latest scheduled fire that any of its items has claimed, None for none.
    """
    kept: dict[str, Assignment] = {}
    needs_claims: set[str] = set()
    needs: list[Need] = []
    eligible: dict[tuple[object, ...], tuple[str, ...]] = {}
    for name, entry in sorted(fleet.jobs.items()):
        config = entry.config
        if config is None or entry.held is not None or config.deleting:
            continue
        laid = kept[name] = _laid_out(entry, config, claimed)
        if laid.newest.items != config.items:
            needs_claims.add(name)
        # Ten thousand jobs mostly ask for the same few handlers and labels.
        demand = (config.handler, *sorted(config.labels.items()))
        if demand not in eligible:
            eligible[demand] = eligible_executors(config, fleet)
        needs.append(
            Need(
                job=name,
                item_count=laid.item_count,
                strategy=config.strategy,
                eligible=eligible[demand],
                current=laid.owners,
            )
        )
    owners = spread(needs)
    writes = []
    for name, laid in kept.items():
        wanted = replace(laid, owners=owners[name])
        if fleet.jobs[name].assignment is None or wanted != fleet.jobs[name].assignment:
            writes.append(Write(job=name, assignment=replace(wanted, epoch=epoch)))
    return Rebalance(writes=tuple(writes), needs_claims=frozenset(needs_claims))


def _laid_out(entry: JobEntry, config: JobConfig, claimed: Mapping[str, datetime | None]) -> Assignment:
    """Return the assignment with the layout that the configuration asks for, or as it is if claims must be read first.

    The new layout begins with the first fire after every claimed one. Nobody claims between the edit of the
    configuration and the new layout, so no fire can run with two counts.
    """
    assignment = entry.assignment
    layout = Layout(items=config.items, config=entry.version)
    if assignment is None:
        # Tokens of a job made anew under an old name go on above the old ones: each claim is a transaction of the
        # registry, and creation ids grow with every transaction.
        return Assignment(uid=config.uid, layouts=(layout,), token_floor=entry.created_id)
    if assignment.newest.items == config.items or entry.name not in claimed:
        return assignment
    latest = claimed[entry.name] or config.armed_at
    begins = config.schedule().next_fire(latest) or min(latest, _LAST_AT) + timedelta(seconds=1)
    earlier = [one for one in assignment.layouts if one.from_fire is None or one.from_fire < begins]
    kept = (*earlier[-(MAX_LAYOUT_COUNT - 2) :], replace(layout, from_fire=begins))
    return replace(assignment, layouts=_with_all_items(kept, assignment.item_count, begins))


def _with_all_items(layouts: tuple[Layout, ...], item_count: int, begins: datetime) -> tuple[Layout, ...]:
    """Return layouts that have as many items as there were, until it is known that none of them is needed any more.

    A layout that is replaced before its first fire may have served a trigger: its items may run, or wait to. One just
    before the new layout stands in for it, in which no fire lies.
    """
    if max(layout.items for layout in layouts) >= item_count:
        return layouts
    before = begins - timedelta(microseconds=1)
    earlier = [one for one in layouts[:-1] if one.from_fire is None or one.from_fire < before]
    return (*earlier, replace(layouts[-1], items=item_count, from_fire=before), layouts[-1])
