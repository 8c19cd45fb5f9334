"""What is over the limits goes in small pieces, and nothing else does."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from shardsched.history.column import microseconds
from shardsched.history.record import Kind, Record
from shardsched.history.retention import Limits, prune
from shardsched.history.rollup import HOUR_US
from shardsched.history.table import EVENTS, FORGOTTEN, HOURS, MINUTES, RUNS
from tests.history.stage import (
    NAMESPACE,
    START,
    event_record,
    make_end,
    make_event,
    make_run,
    run_record,
    store,
)

if TYPE_CHECKING:
    import pytest
    from sqlalchemy import Table

    from shardsched.history.engine import Database
    from shardsched.testing import FakeClock


def count(database: Database, table: Table, namespace: str = NAMESPACE) -> int:
    """Return how many rows there are."""
    with database.reading() as connection:
        found = connection.execute(select(func.count()).select_from(table).where(table.c.namespace == namespace))
        return int(found.scalar_one())


def run_ids(database: Database) -> set[str]:
    """Return the ids of all runs."""
    with database.reading() as connection:
        return set(connection.execute(select(RUNS.c.run_id).where(RUNS.c.namespace == NAMESPACE)).scalars())


def let_go(database: Database, clock: FakeClock, **limits: object) -> int:
    """Prune without being stopped."""
    return prune(database, NAMESPACE, stop=threading.Event(), clock=clock, limits=Limits(**limits))  # type: ignore[arg-type]


def test_runs_and_events_go_by_age(database: Database, clock: FakeClock) -> None:
    """Those within stay, a run that has not ended stays, and so does another fleet."""
    old = [make_end(number) for number in range(10)]
    young = [make_end(number) for number in range(1000, 1010)]
    open_run = make_run(5, run_id="open")
    records = [run_record(run) for run in (*old, *young, open_run)]
    records += [event_record(number, make_event(number)) for number in (1, 2, 1001)]
    store(database, records)
    store(database, records, "other")
    clock.advance(1100.0)
    assert let_go(database, clock, run_age=timedelta(seconds=500), event_age=timedelta(seconds=500)) == 12
    assert run_ids(database) == {run.run_id for run in (*young, open_run)}
    assert count(database, EVENTS) == 1
    assert (count(database, RUNS, "other"), count(database, EVENTS, "other")) == (21, 3)


def test_runs_go_by_count_of_each_job(database: Database, clock: FakeClock) -> None:
    """The last ones stay; a job that seldom fires keeps all of its few."""
    books = [make_end(number) for number in range(30)]
    news = [make_end(number, run_id=f"n{number}", job="news") for number in range(3)]
    store(database, map(run_record, [*books, *news]))
    assert let_go(database, clock, runs_per_job=10) == 20
    assert run_ids(database) == {run.run_id for run in (*books[20:], *news)}
    assert let_go(database, clock, runs_per_job=10) == 0


def test_rollups_go_by_age_and_minutes_sooner(database: Database, clock: FakeClock) -> None:
    """Figures by the hour are kept for long."""
    ends = [START + timedelta(hours=hour) for hour in range(10)]
    store(database, [run_record(make_end(number, ended_at=at)) for number, at in enumerate(ends)])
    clock.advance(10 * 3600.0)
    assert let_go(database, clock, minute_age=timedelta(hours=2), hour_age=timedelta(hours=5)) == 2 * 13
    with database.reading() as connection:
        assert connection.execute(select(func.min(MINUTES.c.start_us))).scalar() == microseconds(ends[8])
        assert connection.execute(select(func.min(HOURS.c.start_us))).scalar() == microseconds(ends[5])
    assert microseconds(ends[5]) % HOUR_US == 0


def test_deleted_job_is_forgotten_up_to_its_end(database: Database, clock: FakeClock) -> None:
    """Runs of a new job of the same name stay, latecomers of the old one go later, other jobs stay."""
    old, new = [make_end(number) for number in range(20)], [make_end(number) for number in range(7200, 7210)]
    other = make_end(1, run_id="other", job="news")
    events = [event_record(number, make_event(number, job="books")) for number in (1, 7200)]
    store(database, [*map(run_record, [*old, *new, other]), *events])
    forget = Record(Kind.FORGET, {"job": "books", "before_us": microseconds(START + timedelta(seconds=100))})
    store(database, [forget])
    clock.advance(200.0)
    let_go(database, clock)
    assert run_ids(database) == {run.run_id for run in (*new, other)}
    assert count(database, EVENTS) == 1
    with database.reading() as connection:
        assert connection.execute(select(func.sum(HOURS.c.runs)).where(HOURS.c.job == "books")).scalar() == 10
    store(database, [run_record(make_end(50, run_id="latecomer"))])
    clock.advance(7200.0)
    let_go(database, clock)
    assert "latecomer" not in run_ids(database)
    assert count(database, FORGOTTEN) == 0


def test_pieces_stay_short_and_a_stop_ends_them(
    database: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each transaction takes a part, and whoever stops does not wait for the rest."""
    monkeypatch.setattr("shardsched.history.retention.PIECE", 8)
    monkeypatch.setattr("shardsched.history.retention._FIRST_PIECE", 4)
    store(database, [run_record(make_end(number)) for number in range(50)])
    stop = threading.Event()

    class StopsAfter(type(clock)):  # type: ignore[misc]
        """Time that passes as fast as it is asked for, and a stop at the fourth look."""

        looks = 0

        def boot(self) -> float:
            self.looks += 1
            if self.looks == 4:
                stop.set()
            return float(self.looks)

    assert prune(database, NAMESPACE, stop=stop, clock=StopsAfter(), limits=Limits(run_age=timedelta(days=-1))) == 6
    assert count(database, RUNS) == 44
