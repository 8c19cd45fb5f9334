"""What people and programs ask of history. Nothing here reads more than an index leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select, union_all

from shardsched.clock import SYSTEM_CLOCK
from shardsched.history import statistic
from shardsched.history.column import event_row, microseconds, run_row
from shardsched.history.engine import Database
from shardsched.history.figure import Ranking
from shardsched.history.filter import EVENT_ORDER, RUN_ORDER, RUNNING, EventFilter, RunFilter, asked_events, asked_runs
from shardsched.history.page import Page, Rows
from shardsched.history.table import RUNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime, timedelta

    from sqlalchemy import Select

    from shardsched.clock import Clock
    from shardsched.history.figure import Metric, Point, Ranked, Standing, Sum
    from shardsched.history.filter import Asking
    from shardsched.history.page import Row, Stored
    from shardsched.history.row import EventRow, RunRow

CONNECTION_COUNT = 4
"""Kept connections; four times as many threads as cores hardly ever ask at once."""
MAX_ITEMS = 100
"""Most items whose last runs are asked for at once."""
MAX_LAST = 200
"""Most last runs of each."""
MAX_RUNNING = 1_000
"""Most of the running runs that are returned."""


class Percentiles(NamedTuple):
    """How long runs took, in seconds; None if there were none."""

    p50_s: float | None
    """Half took no longer."""
    p95_s: float | None
    """95 of 100 took no longer."""
    p99_s: float | None
    """99 of 100 took no longer."""


class History:
    """The reading side. **Thread:** any.

    Rows in lists come without ``traceback`` and ``log_tail``; `run` returns them whole.

    Every method raises HistoryUnavailableError if the database gives no answer or turns us away, and
    HistorySchemaError if its tables are not those of this release.

    Args:
        url: ``sqlite:///…`` or ``postgresql://…``.
        namespace: The fleet's.
        clock: Tells how long ago a moment is.
        patience_s: How long people wait for the database until it counts as away for a while; None for ever anew.

    Raises:
        SettingsError: The URL cannot be read.
    """

    def __init__(
        self, url: str, *, namespace: str, clock: Clock = SYSTEM_CLOCK, patience_s: float | None = None
    ) -> None:
        self.database = Database(
            url,
            connection_count=CONNECTION_COUNT,
            patience_s=patience_s,
            makes_file=patience_s is None,  # people's records are there already, and an empty file would hide them
            clock=clock,
        )
        """The database, which others may share."""
        self._namespace = namespace
        self._clock = clock

    @property
    def place(self) -> str:
        """Which database is read, without a password."""
        return self.database.place

    def runs(self, wanted: RunFilter | None = None, *, after: str | None = None, limit: int = 50) -> Page[RunRow]:
        """Return runs, the last claimed first.

        Args:
            wanted: Which; None for all.
            after: ``next`` of the page before.
            limit: How many at most; a page may have fewer, or none, and yet go on.

        Raises:
            ConfigurationError: The place or the limit cannot be.
        """
        return self._page(asked_runs(wanted or RunFilter()), _run_of, after, limit)

    def run(self, run_id: str) -> RunRow | None:
        """Return one run, whole; None if there is none."""
        statement = select(RUNS).where(RUNS.c.namespace == self._namespace, RUNS.c.run_id == run_id)
        with self.database.reading() as connection:
            values = connection.execute(statement).mappings().first()
        return None if values is None else run_row(values)

    def attempts(self, job: str, item: int, fire: datetime) -> tuple[RunRow, ...]:
        """Return all attempts at one item of one fire, the first one first; at most a hundred."""
        statement = (
            select(*RUN_ORDER.columns)
            .where(
                RUNS.c.namespace == self._namespace,
                RUNS.c.job == job,
                RUNS.c.fire_us == microseconds(fire),
                RUNS.c.item == item,
            )
            .limit(100)
        )
        with self.database.reading() as connection:
            rows = connection.execute(statement).mappings().all()
        return tuple(run_row(row) for row in sorted(rows, key=lambda row: (row["attempt"], row["queued_us"])))

    def last_runs(self, job: str, items: Iterable[int], count: int) -> dict[int, tuple[RunRow, ...]]:
        """Return the last runs of each item, the last claimed first.

        Args:
            job: The job.
            items: Which items, at most 100.
            count: How many runs of each, at most 200.
        """
        wanted = sorted(set(items))[:MAX_ITEMS]
        found: dict[int, list[RunRow]] = {item: [] for item in wanted}
        if not wanted:
            return {}
        each = [self._last(job, item, min(count, MAX_LAST)) for item in wanted]
        with self.database.reading() as connection:
            for values in connection.execute(union_all(*each)).mappings():
                found[values["item"]].append(run_row(values))
        newest = {item: sorted(runs, key=lambda run: (run.queued_at, run.run_id)) for item, runs in found.items()}
        return {item: tuple(reversed(runs)) for item, runs in newest.items()}

    def running(self) -> tuple[RunRow, ...]:
        """Return the runs that have not ended, the last claimed first; at most a thousand."""
        return tuple(self.runs(RunFilter(outcomes=frozenset({RUNNING})), limit=MAX_RUNNING).rows)

    def events(self, wanted: EventFilter | None = None, *, after: str | None = None, limit: int = 50) -> Page[EventRow]:
        """Return events, the last first; as `runs` does."""
        return self._page(asked_events(wanted or EventFilter()), _event_of, after, limit)

    def summary(self, *, since: datetime, job: str | None = None) -> Sum:
        """Return the runs that ended since then, of one job or all, added up and with their histogram.

        The moment is taken back to the beginning of its minute, or of its hour if it is more than a day ago.
        """
        with self.database.reading() as connection:
            return statistic.total(connection, self._namespace, since, self._clock.now(), job)

    def percentiles(self, *, since: datetime, job: str | None = None) -> Percentiles:
        """Return how long the runs took that ended since then, of one job or all; since as in `summary`."""
        total = self.summary(since=since, job=job)
        return Percentiles(*(total.percentile(share) for share in (0.5, 0.95, 0.99)))

    def series(
        self, metric: Metric, step: timedelta, begin: datetime, end: datetime, job: str | None = None
    ) -> tuple[Point, ...]:
        """Return a figure over time, of one job or all.

        Args:
            metric: Which figure.
            step: How much time each point stands for, in whole minutes; minutes are kept for some days only.
            begin: When the first begins; taken back to a whole minute, or hour for steps of whole hours.
            end: Before which the last begins.
            job: Which job.

        Raises:
            ConfigurationError: The step is refused, or there would be too many points.
        """
        times = statistic.grid(step, begin, end)
        with self.database.reading() as connection:
            return statistic.series(connection, self._namespace, metric, times, job)

    def totals(self, of: Ranked, *, since: datetime) -> dict[str, Sum]:
        """Return, by name, the runs that ended since then of each job or executor that has some; as in `summary`."""
        with self.database.reading() as connection:
            return statistic.totals(connection, self._namespace, since, self._clock.now(), of)

    def top(self, by: Ranking, of: Ranked, n: int, since: datetime) -> tuple[Standing, ...]:
        """Return the jobs or executors that lead a ranking of the runs that ended since then; since as in `summary`.

        Args:
            by: What they are ranked by; those that have nothing of it are left out.
            of: Jobs or executors.
            n: How many at most.
            since: Since when.
        """
        with self.database.reading() as connection:
            return statistic.top(connection, self._namespace, since, self._clock.now(), by, of, n)

    def tops(self, of: Ranked, n: int, since: datetime) -> dict[Ranking, tuple[Standing, ...]]:
        """Return what `top` does for each of the rankings, at the cost of one."""
        with self.database.reading() as connection:
            now = self._clock.now()
            sums = statistic.totals(connection, self._namespace, since, now, of, with_slots=True)
        return {by: statistic.ranked(sums, by, n) for by in Ranking}

    def close(self) -> None:
        """Close the connections."""
        self.database.close()

    def _page(self, asking: Asking, make: Callable[[Stored], Row], after: str | None, limit: int) -> Page[Row]:
        with self.database.reading() as connection:
            values = {**asking.values, "namespace": self._namespace}
            stored, following = asking.search.find(connection, values, after=after, limit=limit)
        return Page(Rows(stored, make), following)

    def _last(self, job: str, item: int, count: int) -> Select[Any]:
        newest = (RUNS.c.queued_us.desc(), RUNS.c.run_id.desc())
        where = (RUNS.c.namespace == self._namespace, RUNS.c.job == job, RUNS.c.item == item)
        # SQLite takes a limit within a union only one level down.
        return select(select(*RUN_ORDER.columns).where(*where).order_by(*newest).limit(count).subquery())


_RUN_NAMES = [column.name for column in RUN_ORDER.columns]
_EVENT_NAMES = [column.name for column in EVENT_ORDER.columns]


def _run_of(stored: Stored) -> RunRow:
    return run_row(dict(zip(_RUN_NAMES, stored, strict=True)))


def _event_of(stored: Stored) -> EventRow:
    return event_row(dict(zip(_EVENT_NAMES, stored, strict=True)))
