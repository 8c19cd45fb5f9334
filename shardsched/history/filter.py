"""What may be asked of runs and events, and which indexes answer it. This module decides; it does not act."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import or_

from shardsched.history.column import microseconds
from shardsched.history.page import Lane, Order
from shardsched.history.table import EMPTY, EVENTS, OK, RUNS

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Column, ColumnElement

    Conditions = list[ColumnElement[bool]]

RUNNING = "running"
"""In a filter's outcomes: the runs that have none yet."""

RUN_ORDER = Order(
    RUNS.c.queued_us, RUNS.c.run_id, [column for column in RUNS.c if column.name not in {"traceback", "log_tail"}]
)
"""By when they were claimed. The long texts are left out."""
EVENT_ORDER = Order(EVENTS.c.at_us, EVENTS.c.event_id, list(EVENTS.c))
"""By when they happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs are wanted; all conditions hold together."""

    job: str | None = None
    """Of this job."""
    uid: str | None = None
    """Of the job with this identity, and not of an earlier one of the same name."""
    item: int | None = None
    """Of this item."""
    executor: str | None = None
    """On this executor."""
    outcomes: frozenset[str] = frozenset()
    """With one of these outcomes, of which one may be `RUNNING`; empty for any."""
    causes: frozenset[str] = frozenset()
    """With one of these causes; empty for any."""
    since: datetime | None = None
    """Claimed then or later."""
    until: datetime | None = None
    """Claimed before."""
    min_duration_s: float | None = None
    """That took so long or longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events are wanted; all conditions hold together."""

    job: str | None = None
    """Of this job."""
    item: int | None = None
    """Of this item."""
    run_id: str | None = None
    """Of this run."""
    executor: str | None = None
    """Of this executor."""
    kinds: frozenset[str] = frozenset()
    """Of one of these kinds; empty for any."""
    since: datetime | None = None
    """Then or later."""
    until: datetime | None = None
    """Before."""


def run_lanes(namespace: str, wanted: RunFilter) -> list[Lane]:
    """Return the lanes of the runs that a filter asks for."""
    served = [RUNS.c.namespace == namespace, *_within(RUNS.c.queued_us, wanted.since, wanted.until)]
    job = _equal(RUNS.c.job, wanted.job)
    item = _equal(RUNS.c.item, wanted.item)
    executor = _equal(RUNS.c.executor, wanted.executor)
    others = _equal(RUNS.c.uid, wanted.uid)
    if wanted.causes:
        others.append(RUNS.c.cause.in_(sorted(wanted.causes)))
    if wanted.min_duration_s is not None:
        others.append(RUNS.c.duration_s >= wanted.min_duration_s)
    if wanted.outcomes and "ok" not in wanted.outcomes:
        others += [*item, *executor]
        return [_outcome_lane(outcome, served, job, others) for outcome in sorted(wanted.outcomes)]
    if wanted.outcomes:
        one_of = RUNS.c.outcome.in_(sorted(wanted.outcomes))
        others.append(or_(one_of, RUNS.c.outcome.is_(None)) if RUNNING in wanted.outcomes else one_of)
    if job:
        return [Lane([*served, *job, *item], [*others, *executor])]
    return [Lane([*served, *executor], [*others, *item])]


def event_lanes(namespace: str, wanted: EventFilter) -> list[Lane]:
    """Return the lanes of the events that a filter asks for."""
    served = [EVENTS.c.namespace == namespace, *_within(EVENTS.c.at_us, wanted.since, wanted.until)]
    indexed = [
        [column == value, column != EMPTY]
        for column, value in (
            (EVENTS.c.run_id, wanted.run_id),
            (EVENTS.c.job, wanted.job),
            (EVENTS.c.executor, wanted.executor),
        )
        if value is not None
    ]
    others = _equal(EVENTS.c.item, wanted.item)
    if indexed:
        # The narrowest comes first; each has an index of its own.
        others += [condition for conditions in indexed[1:] for condition in conditions]
        if wanted.kinds:
            others.append(EVENTS.c.kind.in_(sorted(wanted.kinds)))
        return [Lane([*served, *indexed[0]], others)]
    if wanted.kinds:
        return [Lane([*served, EVENTS.c.kind == kind], others) for kind in sorted(wanted.kinds)]
    return [Lane(served, others)]


def _outcome_lane(outcome: str, served: Conditions, job: Conditions, others: Conditions) -> Lane:
    if outcome == RUNNING:
        return Lane([*served, RUNS.c.outcome.is_(None)], [*job, *others])
    return Lane([*served, *job, RUNS.c.outcome == outcome, RUNS.c.outcome != OK], others)


def _equal(column: Column[str] | Column[int], value: str | int | None) -> Conditions:
    return [] if value is None else [column == value]


def _within(column: Column[int], since: datetime | None, until: datetime | None) -> Conditions:
    conditions = []
    if since is not None:
        conditions.append(column >= microseconds(since))
    if until is not None:
        conditions.append(column < microseconds(until))
    return conditions
