"""Statistics, from roll-ups alone: the rows of runs are never read for them."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select

from shardsched.errors import ConfigurationError
from shardsched.history.column import microseconds, moment
from shardsched.history.figure import Metric, Point, Ranked, Ranking, Standing, Sum
from shardsched.history.rollup import ALL_JOBS, DAY_US, HOUR_US, MINUTE_US
from shardsched.history.table import DAYS, HOURS, MINUTES, SLOTS
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Table

MINUTES_SPAN = timedelta(days=1)
"""How far back a moment is taken to the minute; before, it is taken to the hour."""
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
        raise ConfigurationError(Sentence("a series in steps of %(step)s is asked for; give whole minutes", step=step))
    table, grain_us = (HOURS, HOUR_US) if step_us % HOUR_US == 0 else (MINUTES, MINUTE_US)
    begin_us = microseconds(begin) // grain_us * grain_us
    if step_us % DAY_US == begin_us % DAY_US == 0:
        table = DAYS
    count = max(-((begin_us - microseconds(end)) // step_us), 0)
    if count > MAX_POINTS:
        raise ConfigurationError(
            Sentence("a series of %(count)s points is asked for; give a longer step or a shorter time", count=count)
        )
    return Grid(table, begin_us, step_us, count)


def series(connection: Connection, namespace: str, metric: Metric, times: Grid, job: str | None) -> tuple[Point, ...]:
    """Return a figure at all times of a grid."""
    table = times.table
    number = ((table.c.start_us - times.begin_us) // times.step_us).label("name")
    end_us = times.begin_us + times.points * times.step_us
    where = [table.c.namespace == namespace, table.c.job == (job or ALL_JOBS)]
    sums: dict[Any, Sum] = {}
    _add(connection, sums, number, _Span(table, times.begin_us, end_us), where, with_slots=metric.needs_slots)
    return tuple(
        Point(at=moment(times.begin_us + each * times.step_us), value=metric.of(sums.get(each) or Sum()))
        for each in range(times.points)
    )


def total(connection: Connection, namespace: str, since: datetime, now: datetime, job: str | None) -> Sum:
    """Return the runs that ended since then, of one job or all."""
    sums: dict[Any, Sum] = {}
    for span in _spans(since, now):
        columns = span.table.c
        where = [columns.namespace == namespace, columns.job == (job or ALL_JOBS)]
        _add(connection, sums, columns.namespace.label("name"), span, where, with_slots=True)
    return sums.get(namespace) or Sum()


def totals(
    connection: Connection, namespace: str, since: datetime, now: datetime, of: Ranked, *, with_slots: bool = False
) -> dict[str, Sum]:
    """Return the runs that ended since then of each job or executor that has some, with histograms if told."""
    sums: dict[Any, Sum] = {}
    for span in _spans(since, now):
        columns = span.table.c
        is_total = columns.job == ALL_JOBS
        name, those = (columns.job, ~is_total) if of is Ranked.JOBS else (columns.executor, is_total)
        where = [columns.namespace == namespace, those]
        _add(connection, sums, name.label("name"), span, where, with_slots=with_slots)
    return sums


def top(
    connection: Connection, namespace: str, since: datetime, now: datetime, by: Ranking, of: Ranked, count: int
) -> tuple[Standing, ...]:
    """Return the jobs or executors that lead a ranking of the runs that ended since then."""
    return ranked(totals(connection, namespace, since, now, of, with_slots=by is Ranking.SLOW), by, count)


def ranked(sums: Mapping[str, Sum], by: Ranking, count: int) -> tuple[Standing, ...]:
    """Return those that lead a ranking."""
    standings = [Standing(name=name, value=by.of(total), total=total) for name, total in sums.items()]
    found = sorted((one for one in standings if one.value > 0), key=lambda one: (-one.value, one.name))
    return tuple(found[:count])


class _Span(NamedTuple):
    table: Table
    begin_us: int
    end_us: int | None


def _spans(since: datetime, now: datetime) -> list[_Span]:
    """Return where the time since a moment is found: minutes to the next hour, hours to the next day, then days."""
    grain_us = MINUTE_US if since > now - MINUTES_SPAN else HOUR_US
    begin_us = microseconds(since) // grain_us * grain_us
    hour_us = -(-begin_us // HOUR_US) * HOUR_US
    day_us = -(-hour_us // DAY_US) * DAY_US
    return [_Span(MINUTES, begin_us, hour_us), _Span(HOURS, hour_us, day_us), _Span(DAYS, day_us, None)]


def _add(
    connection: Connection,
    sums: dict[Any, Sum],
    name: ColumnElement[Any],
    span: _Span,
    where: Iterable[ColumnElement[bool]],
    *,
    with_slots: bool,
) -> None:
    """Add what is found in a span to the sums, by name."""
    if span.begin_us == span.end_us:
        return
    table = span.table
    within = [table.c.start_us >= span.begin_us]
    if span.end_us is not None:
        within.append(table.c.start_us < span.end_us)
    statement = (
        select(name, table.c.outcome, *_sums(table, with_slots=with_slots))
        .where(*where, *within)
        .group_by("name", table.c.outcome)
    )
    for key, outcome, *figures in connection.execute(statement):
        runs, timed, duration_us, lateness_us, *histogram = (int(figure or 0) for figure in figures)
        sums.setdefault(key, Sum()).add(outcome, runs, timed, duration_us, lateness_us, histogram)


@cache
def _sums(table: Table, *, with_slots: bool) -> tuple[ColumnElement[int], ...]:
    """Return the sums of a table's figures; making thirty of them takes longer than asking for them."""
    names = ("runs", "timed", "duration_us", "lateness_us", *(SLOTS if with_slots else ()))
    return tuple(func.sum(table.c[each]) for each in names)
