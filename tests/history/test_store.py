"""What is written to real databases: an attempt ends once, and is counted once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from shardsched.errors import HistoryError
from shardsched.history.column import event_row, run_row
from shardsched.history.record import Kind, Record
from shardsched.history.rollup import ALL_JOBS
from shardsched.history.sweep import MESSAGE, sweep_lost
from shardsched.history.table import DAYS, EVENTS, HOURS, MINUTES, RUNS
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
from tests.history.test_batch import Rows, records, tell_all

if TYPE_CHECKING:
    from shardsched.history.engine import Database
    from shardsched.history.row import RunRow


def run_in(database: Database, run_id: str) -> RunRow:
    """Return a run as it is stored."""
    with database.reading() as connection:
        return run_row(connection.execute(select(RUNS).where(RUNS.c.run_id == run_id)).mappings().one())


def counted(database: Database) -> dict[str, int]:
    """Return how many runs the roll-ups count, by outcome; all agree, for jobs and for all together."""
    found = []
    for table in (MINUTES, HOURS, DAYS):
        for those in (table.c.job == ALL_JOBS, table.c.job != ALL_JOBS):
            statement = select(table.c.outcome, func.sum(table.c.runs)).where(those).group_by(table.c.outcome)
            with database.reading() as connection:
                found.append({outcome: int(runs) for outcome, runs in connection.execute(statement)})
    assert all(each == found[0] for each in found)
    return found[0]


def lost(run_id: str, message: str = "gone") -> Record:
    """Return the record of a run that is lost."""
    return Record(Kind.LOST, {"run_id": run_id, "ended_us": 1_800_000_000_000_000, "message": message})


def test_run_is_stored_with_all_its_fields(database: Database) -> None:
    """Nothing is changed on the way."""
    run = make_end(
        1,
        "failed",
        message="书 😀",
        traceback="Traceback …",
        exit_code=1,
        signal=None,
        peak_memory_kb=51_200,
        cpu_s=0.25,
        log_path="/logs/run.log",
        log_tail="a\nb\n",
        dropped_bytes=7,
        param="fiction",
        job_param="{}",
        stats={"pages": 12},
        by="ann",
    )
    store(database, [run_record(run)])
    assert run_in(database, run.run_id) == run


def test_run_is_told_of_in_steps(database: Database) -> None:
    """Claimed, begun, ended: one row, which says of the run what its last step said."""
    store(database, [run_record(make_run(1))])
    begun = make_run(1, started_at=make_end(1).started_at)
    store(database, [run_record(begun)])
    assert run_in(database, begun.run_id) == begun
    store(database, [run_record(replace(make_end(1), started_at=None))])
    assert run_in(database, begun.run_id) == make_end(1)
    assert counted(database) == {"ok": 1}


@pytest.mark.parametrize(
    ("later", "told"),
    [
        (make_end(1, "failed"), "an end"),
        (make_run(1), "a claim"),
        (make_end(1), "the same again"),
    ],
)
def test_first_end_stays_whatever_is_told_later(database: Database, later: RunRow, told: str) -> None:
    """Nothing overwrites it, reopens it, or counts it again."""
    store(database, [run_record(make_end(1))])
    store(database, [run_record(later)])
    store(database, [lost(later.run_id), run_record(later)])
    assert run_in(database, later.run_id) == make_end(1), told
    assert counted(database) == {"ok": 1}


def test_run_that_is_lost_stays_lost(database: Database) -> None:
    """It keeps what was known of it; its late end changes nothing."""
    store(database, [run_record(make_run(1))])
    store(database, [lost(make_run(1).run_id), lost("nobody knows it")])
    store(database, [run_record(make_end(1)), lost(make_run(1).run_id, "again")])
    found = run_in(database, make_run(1).run_id)
    assert (found.outcome, found.message, found.executor) == ("lost", "gone", "e1")
    assert counted(database) == {"lost": 1}


@pytest.mark.parametrize("is_together", [False, True])
def test_run_whose_end_another_tells_keeps_what_its_own_told(database: Database, *, is_together: bool) -> None:
    """What another does not know, and what is said once, stays as it was told first."""
    own = make_run(1, log_path="/logs/run.log", by="ann", started_at=make_end(1).started_at)
    told = replace(make_run(1), outcome="lost", ended_at=make_end(1).ended_at, incarnation="", cause="failover")
    for records_told in [[own, told]] if is_together else [[own], [told]]:
        store(database, [run_record(row) for row in records_told])
    assert run_in(database, own.run_id) == replace(own, outcome="lost", ended_at=told.ended_at)
    assert counted(database) == {"lost": 1}


def test_event_is_stored_once(database: Database) -> None:
    """However often it is told."""
    event = make_event(1, job="books", item=3, run_id="r", by="ann", message="书", detail={"a": [1]})
    store(database, [event_record(1, event)])
    store(database, [event_record(1, event), event_record(2, event)])
    with database.reading() as connection:
        found = [event_row(values) for values in connection.execute(select(EVENTS)).mappings()]
    assert found == [event, event]


def test_namespaces_share_a_database_and_nothing_else(database: Database) -> None:
    """The same run id in two fleets is two runs."""
    store(database, [run_record(make_end(1))], "one")
    store(database, [run_record(make_end(1, "failed"))], "other")
    with database.reading() as connection:
        found = connection.execute(select(RUNS.c.namespace, RUNS.c.outcome).order_by(RUNS.c.namespace)).all()
    assert found == [("one", "ok"), ("other", "failed")]


def test_transaction_that_fails_leaves_nothing(database: Database) -> None:
    """Neither rows nor counts."""
    bad = Record(Kind.RUN, run_record(make_end(2)).values | {"job": None})
    with pytest.raises(HistoryError, match="cannot store"):
        store(database, [run_record(make_end(1)), bad])
    assert counted(database) == {}


numbers = count()
batches = st.lists(st.lists(records, max_size=5), max_size=5)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=batches, doubled=st.booleans())
def test_batches_leave_what_the_records_one_by_one_would(
    database: Database, batches: list[list[Record]], *, doubled: bool
) -> None:
    """Also when each batch is written twice, since its answer was lost; and the roll-ups count what ended."""
    namespace = str(next(numbers))
    expected: Rows = {}
    for batch in batches:
        tell_all(expected, batch)
        for _ in range(1 + doubled):
            store(database, batch, namespace)
    with database.reading() as connection:
        stored = connection.execute(select(RUNS).where(RUNS.c.namespace == namespace)).mappings().all()
        sums = connection.execute(
            select(HOURS.c.outcome, func.sum(HOURS.c.runs))
            .where(HOURS.c.namespace == namespace, HOURS.c.job == ALL_JOBS)
            .group_by(HOURS.c.outcome)
        ).all()
    kept = ("outcome", "started_us", "ended_us", "message", "duration_s")
    assert {row["run_id"]: [row[name] for name in kept] for row in stored} == {
        run_id: [row[name] for name in kept] for run_id, row in expected.items()
    }
    ended = [row["outcome"] for row in expected.values() if row["outcome"] is not None]
    assert {outcome: int(runs) for outcome, runs in sums} == {outcome: ended.count(outcome) for outcome in ended}


def test_sweep_marks_what_nobody_will_finish(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of living executors, young runs and ended runs stay; nothing is counted twice."""
    monkeypatch.setattr("shardsched.history.sweep.PIECE", 2)
    dead = [make_run(number, incarnation="dead") for number in range(5)]
    alive = [make_run(number, incarnation="alive") for number in range(5, 10)]
    young = make_run(100, incarnation="dead")
    done = make_end(3, incarnation="dead", run_id="done")
    other = make_run(1, incarnation="dead", run_id="other")
    store(database, [run_record(run) for run in (*dead, *alive, young, done)])
    store(database, [run_record(other)], "other")

    def sweep() -> int:
        return sweep_lost(
            database,
            NAMESPACE,
            alive_incarnations={"alive"},
            older_than=START + timedelta(seconds=50),
            now=START + timedelta(seconds=60),
        )

    assert sweep() == 5
    assert sweep() == 0
    assert counted(database) == {"ok": 1, "lost": 5}
    found: dict[str, Any] = {run.run_id: run_in(database, run.run_id) for run in (*dead, *alive, young, other)}
    assert {found[run.run_id].outcome for run in dead} == {"lost"}
    assert {found[run.run_id].message for run in dead} == {MESSAGE}
    assert {found[run.run_id].ended_at for run in dead} == {START + timedelta(seconds=60)}
    assert {found[run.run_id].outcome for run in (*alive, young, other)} == {None}
