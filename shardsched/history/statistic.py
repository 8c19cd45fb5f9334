"""Statistics, from roll-ups alone: the rows of runs are never read for them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select

from shardsched.errors import ConfigurationError
from shardsched.history.column import microseconds, moment
from shardsched.history.figure import Metric, Point, Ranked, Ranking, Standing, Sum
from shardsched.history.rollup import HOUR_US, MINUTE_US
from shardsched.history.table import HOURS, MINUTES, SLOTS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Table

MINUTES_SPAN = timedelta(hours=6)
"""Figures since a later moment come from minutes, others from hours."""
MAX_POINTS = 2_000
"""Most points of a series."""


class Grid(NamedTuple):
    """The times that the points of a series stand for."""

    table: Table
    """Where they come from."""
    begin_us: int
    """When the first begins."""
    step_us: int
    """How long each is."""
    points: int
    """How many there are."""


def grid(step: timedelta, begin: datetime, end: datetime) -> Grid:
    """Return the grid of a series.

    Raises:
        ConfigurationError: The step is refused, or there would be too many points.
    """
    step_us = step // timedelta(microseconds=1)
    if step_us <= 0 or step_us % MINUTE_US:
        raise ConfigurationError(f"a series in steps of {step} is asked for; give whole minutes")
    table, grain_us = (MINUTES, MINUTE_US) if step_us % HOUR_US else (HOURS, HOUR_US)
    begin_us = microseconds(begin) // grain_us * grain_us
    count = max(-((begin_us - microseconds(end)) // step_us), 0)
    if count > MAX_POINTS:
        raise ConfigurationError(f"a series of {count} points is asked for; give a longer step or a shorter time")
    return Grid(table, begin_us, step_us, count)


def series(connection: Connection, namespace: str, metric: Metric, times: Grid, job: str | None) -> tuple[Point, ...]:
    """Return a figure at all times of a grid."""
    table = times.table
    number = ((table.c.start_us - times.begin_us) // times.step_us).label("name")
    end_us = times.begin_us + times.points * times.step_us
    where = [*_where(table, namespace, times.begin_us, job), table.c.start_us < end_us]
    sums = _sums(connection, table, number, where, with_slots=metric.needs_slots)
    return tuple(
        Point(at=moment(times.begin_us + number * times.step_us), value=metric.of(sums.get(number) or Sum()))
        for number in range(times.points)
    )


def total(connection: Connection, namespace: str, since: datetime, now: datetime, job: str | None) -> Sum:
    """Return the runs that ended since then, of one job or all."""
    table, since_us = _since(since, now)
    where = _where(table, namespace, since_us, job)
    sums = _sums(connection, table, table.c.namespace.label("name"), where, with_slots=True)
    return sums.get(namespace) or Sum()


def totals(connection: Connection, namespace: str, since: datetime, now: datetime, of: Ranked) -> dict[str, Sum]:
    """Return the runs that ended since then of each job or executor that has some, without histograms."""
    table, since_us = _since(since, now)
    name = (table.c.job if of is Ranked.JOBS else table.c.executor).label("name")
    return _sums(connection, table, name, _where(table, namespace, since_us, None), with_slots=False)


def top(
    connection: Connection, namespace: str, since: datetime, now: datetime, by: Ranking, of: Ranked, count: int
) -> tuple[Standing, ...]:
    """Return the jobs or executors that lead a ranking of the runs that ended since then."""
    table, since_us = _since(since, now)
    name = (table.c.job if of is Ranked.JOBS else table.c.executor).label("name")
    where = _where(table, namespace, since_us, None)
    sums = _sums(connection, table, name, where, with_slots=by is Ranking.SLOW)
    standings = [Standing(name=each, value=by.of(total), total=total) for each, total in sums.items()]
    ranked = sorted((one for one in standings if one.value > 0), key=lambda one: (-one.value, one.name))
    return tuple(ranked[:count])


def _since(since: datetime, now: datetime) -> tuple[Table, int]:
    table, grain_us = (MINUTES, MINUTE_US) if since > now - MINUTES_SPAN else (HOURS, HOUR_US)
    return (table, microseconds(since) // grain_us * grain_us)


def _where(table: Table, namespace: str, since_us: int, job: str | None) -> list[ColumnElement[bool]]:
    where = [table.c.namespace == namespace, table.c.start_us >= since_us]
    return where if job is None else [*where, table.c.job == job]


def _sums(
    connection: Connection,
    table: Table,
    name: ColumnElement[Any],
    where: Iterable[ColumnElement[bool]],
    *,
    with_slots: bool,
) -> dict[Any, Sum]:
    slots = SLOTS if with_slots else ()
    added = [func.sum(table.c[each]) for each in ("runs", "timed", "duration_us", "lateness_us", *slots)]
    statement = select(name, table.c.outcome, *added).where(*where).group_by("name", table.c.outcome)
    sums: dict[Any, Sum] = {}
    for key, outcome, *figures in connection.execute(statement):
        runs, timed, duration_us, lateness_us, *histogram = (int(figure or 0) for figure in figures)
        sums.setdefault(key, Sum()).add(outcome, runs, timed, duration_us, lateness_us, histogram)
    return sums
