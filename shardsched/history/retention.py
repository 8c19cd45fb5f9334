"""What is old goes, a little at a time, so that no writer waits long for it.

SQLite lets one transaction write at a time; one that deleted a hundred thousand rows would hold up every executor of
the machine. So rows go in pieces with pauses between, and a piece that took long makes the next one smaller.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import delete, select, tuple_

from shardsched.history.column import microseconds
from shardsched.history.table import DAYS, EMPTY, EVENTS, FORGOTTEN, HOURS, MINUTES, RUNS

if TYPE_CHECKING:
    import threading

    from sqlalchemy import ColumnElement, Table

    from shardsched.clock import Clock
    from shardsched.history.engine import Database

PIECE = 1_000
"""Most rows of one transaction."""
_FIRST_PIECE = 100
"""Rows differ a hundredfold in size, so it begins with few."""
PIECE_S = 0.015
"""A transaction that took longer is followed by a smaller one; one that took less than half of it, by a larger."""
PAUSE_S = 0.05
"""Between two transactions, for those that wait."""

_LATECOMERS_US = 3_600_000_000
"""How long after a job was deleted its last rows may still come, from an executor whose link was cut."""
_ORDER = (RUNS.c.queued_us, RUNS.c.run_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is kept."""

    run_age: timedelta = timedelta(days=30)
    """Runs that were claimed longer ago go, unless they have not ended."""
    runs_per_job: int = 10_000
    """Of each job only so many of the last claimed stay."""
    event_age: timedelta = timedelta(days=30)
    """Events that are older go."""
    minute_age: timedelta = timedelta(days=3)
    """Figures by the minute that are older go; those of the last day are asked for."""
    hour_age: timedelta = timedelta(days=400)
    """Figures by the hour that are older go."""
    day_age: timedelta = timedelta(days=1_100)
    """Figures by the day that are older go."""


def prune(
    database: Database, namespace: str, *, stop: threading.Event, clock: Clock, limits: Limits | None = None
) -> int:
    """Delete what is over the limits and what is left of deleted jobs; return how many rows went.

    Args:
        database: The database.
        namespace: The fleet's.
        stop: Set to have it end early; the next call goes on.
        clock: The machine's clocks.
        limits: How much is kept; None for what is usual.

    Raises:
        HistoryUnavailableError: No answer; what was deleted before stays deleted.
        HistorySchemaError: The tables are not ours.
    """
    limits, now = limits or Limits(), clock.now()
    pruner = _Pruner(database, namespace, stop, clock)
    pruner.prune_forgotten(microseconds(now))
    pruner.prune_jobs(limits.runs_per_job)
    for table, at, age in (
        (RUNS, RUNS.c.queued_us, limits.run_age),
        (EVENTS, EVENTS.c.at_us, limits.event_age),
        (MINUTES, MINUTES.c.start_us, limits.minute_age),
        (HOURS, HOURS.c.start_us, limits.hour_age),
        (DAYS, DAYS.c.start_us, limits.day_age),
    ):
        pruner.delete(table, at < microseconds(now - age))
    return pruner.row_count


class _Pruner:
    def __init__(self, database: Database, namespace: str, stop: threading.Event, clock: Clock) -> None:
        self._database = database
        self._namespace = namespace
        self._stop = stop
        self._clock = clock
        self._piece = _FIRST_PIECE
        self.row_count = 0

    def prune_forgotten(self, now_us: int) -> None:
        statement = select(FORGOTTEN.c.job, FORGOTTEN.c.before_us).where(FORGOTTEN.c.namespace == self._namespace)
        with self._database.reading() as connection:
            jobs = connection.execute(statement).all()
        for job, before_us in jobs:
            self.delete(RUNS, RUNS.c.job == job, RUNS.c.queued_us < before_us)
            self.delete(EVENTS, EVENTS.c.job == job, EVENTS.c.job != EMPTY, EVENTS.c.at_us < before_us)
            for table in (MINUTES, HOURS, DAYS):
                self.delete(table, table.c.job == job, table.c.start_us < before_us)
            if before_us < now_us - _LATECOMERS_US:
                self.delete(FORGOTTEN, FORGOTTEN.c.job == job, FORGOTTEN.c.before_us == before_us)

    def prune_jobs(self, keep: int) -> None:
        job = self._job_after("")
        while job is not None and not self._stop.is_set():
            first = self._place(job, keep)
            if first is not None:
                self.delete(RUNS, RUNS.c.job == job, tuple_(*_ORDER) <= tuple_(*first))
            job = self._job_after(job)

    def delete(self, table: Table, *conditions: ColumnElement[bool]) -> None:
        key = tuple(table.primary_key.columns)
        # A run that has not ended is still to be told of.
        where = (
            table.c.namespace == self._namespace,
            *conditions,
            *([RUNS.c.outcome.is_not(None)] if table is RUNS else []),
        )
        while not self._stop.is_set():
            piece = self._piece
            some = select(*key).where(*where).limit(piece)
            began = self._clock.boot()
            with self._database.writing() as connection:
                gone = connection.execute(delete(table).where(tuple_(*key).in_(some))).rowcount
            took_s = self._clock.boot() - began
            self.row_count += gone
            if gone < piece:
                return
            if took_s > PIECE_S:
                self._piece = max(piece // 2, 1)
            elif took_s < PIECE_S / 2:
                self._piece = min(piece * 2, PIECE)
            self._stop.wait(PAUSE_S)

    def _job_after(self, job: str) -> str | None:
        where = (RUNS.c.namespace == self._namespace, RUNS.c.job > job)
        with self._database.reading() as connection:
            return connection.execute(select(RUNS.c.job).where(*where).order_by(RUNS.c.job).limit(1)).scalar()

    def _place(self, job: str, number: int) -> tuple[int, str] | None:
        """Return the place of a job's run that has so many newer ones."""
        newest = (column.desc() for column in _ORDER)
        where = (RUNS.c.namespace == self._namespace, RUNS.c.job == job)
        with self._database.reading() as connection:
            statement = select(*_ORDER).where(*where).order_by(*newest).offset(number).limit(1)
            row = connection.execute(statement).first()
        return None if row is None else (row[0], row[1])
