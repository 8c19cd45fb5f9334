"""What may be asked of runs and events, and which indexes answer it. This module decides; it does not act."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, or_

from shardsched.history.column import microseconds
from shardsched.history.search import Lane, Order, Search
from shardsched.history.table import EMPTY, EVENTS, OK, RUNS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Column, ColumnElement, Table

    Conditions = list[ColumnElement[bool]]

RUNNING = "running"
"""In a filter's outcomes: the runs that have none yet."""

RUN_ORDER = Order(
    RUNS.c.namespace,
    RUNS.c.queued_us,
    RUNS.c.run_id,
    [column for column in RUNS.c if column.name not in {"queued_us", "run_id", "traceback", "log_tail"}],
)
"""By when they were claimed. The long texts are left out."""
EVENT_ORDER = Order(
    EVENTS.c.namespace,
    EVENTS.c.at_us,
    EVENTS.c.event_id,
    [column for column in EVENTS.c if column.name not in {"at_us", "event_id"}],
)
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


class Asking(NamedTuple):
    """What is asked for: how, and the values that this takes."""

    search: Search
    """How."""
    values: dict[str, Any]
    """Its values."""


def asked_runs(wanted: RunFilter) -> Asking:
    """Return how the runs that a filter wants are found."""
    values = _values(wanted, ("job", "uid", "item", "executor", "min_duration_s"))
    return Asking(_run_search(frozenset(values), wanted.outcomes, wanted.causes), values)


def asked_events(wanted: EventFilter) -> Asking:
    """Return how the events that a filter wants are found."""
    values = _values(wanted, ("job", "item", "run_id", "executor"))
    return Asking(_event_search(frozenset(values), wanted.kinds), values)


def _values(wanted: RunFilter | EventFilter, names: Sequence[str]) -> dict[str, Any]:
    given = {name: getattr(wanted, name) for name in names}
    times = {"since": wanted.since, "until": wanted.until}
    given |= {name: None if at is None else microseconds(at) for name, at in times.items()}
    return {name: value for name, value in given.items() if value is not None}


@lru_cache(maxsize=256)
def _run_search(given: frozenset[str], outcomes: frozenset[str], causes: frozenset[str]) -> Search:
    return Search(RUN_ORDER, _run_lanes(given, outcomes, causes))


@lru_cache(maxsize=256)
def _event_search(given: frozenset[str], kinds: frozenset[str]) -> Search:
    return Search(EVENT_ORDER, _event_lanes(given, kinds))


def _run_lanes(given: frozenset[str], outcomes: frozenset[str], causes: frozenset[str]) -> list[Lane]:
    served = _within(RUNS.c.queued_us, given)
    job, item, executor, others = (_equal(RUNS, name, given) for name in ("job", "item", "executor", "uid"))
    if causes:
        others.append(RUNS.c.cause.in_(sorted(causes)))
    if "min_duration_s" in given:
        others.append(RUNS.c.duration_s >= bindparam("min_duration_s"))
    if outcomes and "ok" not in outcomes:
        others += [*item, *executor]
        return [_outcome_lane(outcome, served, job, others) for outcome in sorted(outcomes)]
    if outcomes:
        one_of = RUNS.c.outcome.in_(sorted(outcomes))
        others.append(or_(one_of, RUNS.c.outcome.is_(None)) if RUNNING in outcomes else one_of)
    if job:
        return [Lane([*served, *job, *item], [*others, *executor])]
    return [Lane([*served, *executor], [*others, *item])]


def _outcome_lane(outcome: str, served: Conditions, job: Conditions, others: Conditions) -> Lane:
    if outcome == RUNNING:
        return Lane([*served, RUNS.c.outcome.is_(None)], [*job, *others])
    return Lane([*served, *job, RUNS.c.outcome == outcome, RUNS.c.outcome != OK], others)


def _event_lanes(given: frozenset[str], kinds: frozenset[str]) -> list[Lane]:
    served, others = _within(EVENTS.c.at_us, given), _equal(EVENTS, "item", given)
    # The narrowest comes first; each has an index of its own.
    indexed = [
        [*_equal(EVENTS, name, given), EVENTS.c[name] != EMPTY]
        for name in ("run_id", "job", "executor")
        if name in given
    ]
    if indexed:
        others += [condition for conditions in indexed[1:] for condition in conditions]
        if kinds:
            others.append(EVENTS.c.kind.in_(sorted(kinds)))
        return [Lane([*served, *indexed[0]], others)]
    if kinds:
        return [Lane([*served, EVENTS.c.kind == kind], others) for kind in sorted(kinds)]
    return [Lane(served, others)]


def _equal(table: Table, name: str, given: frozenset[str]) -> Conditions:
    return [table.c[name] == bindparam(name)] if name in given else []


def _within(column: Column[int], given: frozenset[str]) -> Conditions:
    after = [column >= bindparam("since")] if "since" in given else []
    return [*after, *([column < bindparam("until")] if "until" in given else [])]
