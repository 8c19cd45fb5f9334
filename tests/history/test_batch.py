"""A batch comes to the same as its records one after the other; what is added up is right."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.history.batch import FIRST, KNOWN, Batch, fold
from shardsched.history.histogram import SLOT_COUNT, percentile, slot
from shardsched.history.record import Kind, Record
from shardsched.history.rollup import ALL_JOBS, DAY_US, HOUR_US, MINUTE_US, Ending, add_up, ending
from shardsched.history.table import SLOTS
from tests.history.stage import make_end, make_run, run_record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shardsched.history.row import RunRow

Rows = dict[str, dict[str, Any]]


def tell_all(rows: Rows, records: Iterable[Record]) -> None:
    """Do in the plainest way what a database should with records that are told together."""
    too_early: Rows = {}
    for record in records:
        tell(rows, record, too_early)


def tell(rows: Rows, record: Record, too_early: Rows) -> None:
    """Do so with one, given the losses of runs that nobody had told of yet."""
    kind, values = record
    row = rows.get(values["run_id"])
    if kind is Kind.LOST:
        if row is None:
            too_early.setdefault(values["run_id"], values)
        elif row["outcome"] is None:
            row.update(values, outcome="lost")
    elif row is None:
        rows[values["run_id"]] = dict(values)
        if values["outcome"] is None and values["run_id"] in too_early:
            rows[values["run_id"]].update(too_early[values["run_id"]], outcome="lost")
    elif row["outcome"] is None:
        kept = {"started_us": values["started_us"] or row["started_us"]}
        if values["outcome"] is not None:
            kept = values | kept | {name: row[name] for name in FIRST}
            kept |= {name: values[name] or row[name] for name in KNOWN}
        row.update(kept)


def apply(rows: Rows, batch: Batch) -> None:
    """Do what the statements do, in their order."""
    for values in batch.lost.values():
        tell(rows, Record(Kind.LOST, values), {})
    for values in (*batch.opened.values(), *batch.closed.values()):
        tell(rows, Record(Kind.RUN, values), {})


numbers = st.integers(0, 2)


def make_lost(number: int) -> RunRow:
    """Return a run as it is told by another executor, which knows less of it."""
    return replace(
        make_run(number), outcome="lost", ended_at=make_end(number).ended_at, incarnation="", cause="failover"
    )


records = st.one_of(
    st.builds(lambda number: run_record(make_run(number)), numbers),
    st.builds(lambda number: run_record(make_run(number, started_at=make_end(number).started_at)), numbers),
    st.builds(
        lambda number, outcome: run_record(make_end(number, outcome)), numbers, st.sampled_from(["ok", "failed"])
    ),
    st.builds(lambda number: run_record(make_lost(number)), numbers),
    st.builds(
        lambda number: Record(Kind.LOST, {"run_id": make_run(number).run_id, "ended_us": 5, "message": "gone"}), numbers
    ),
)


@given(st.lists(records, max_size=8), st.lists(records, max_size=8))
def test_batch_is_the_same_as_its_records_one_by_one(before: list[Record], told: list[Record]) -> None:
    """Whatever the database had, in whatever order things are told, and if it is written twice."""
    one_by_one: Rows = {}
    tell_all(one_by_one, before)
    batched = {run_id: dict(row) for run_id, row in one_by_one.items()}
    tell_all(one_by_one, told)
    for _ in range(2):
        apply(batched, fold(told))
    kept = ("outcome", "started_us", "ended_us", "message", "duration_s", "cause", *KNOWN)
    assert {run_id: [row[name] for name in kept] for run_id, row in batched.items()} == {
        run_id: [row[name] for name in kept] for run_id, row in one_by_one.items()
    }


@given(st.lists(records, max_size=8))
def test_batch_has_each_run_once(told: list[Record]) -> None:
    """One statement must not touch a row twice."""
    batch = fold(told)
    assert not batch.opened.keys() & batch.closed.keys()


def test_job_that_was_deleted_twice_is_forgotten_up_to_the_last_time() -> None:
    """The order of the records does not matter."""
    told = [Record(Kind.FORGET, {"job": "books", "before_us": us}) for us in (1, 3, 2)]
    assert fold(told).forgotten == {"books": {"job": "books", "before_us": 3}}


durations = st.floats(0.001, 100_000)


@given(st.lists(durations, min_size=1, max_size=200), st.sampled_from([0.0, 0.5, 0.95, 0.99, 1.0]))
def test_percentile_is_off_by_a_slot_at_most(taken: list[float], share: float) -> None:
    """It is what it says, within a factor of 1.42 and the bounds of the slots."""
    counts = [0] * SLOT_COUNT
    for each in taken:
        counts[slot(each)] += 1
    ordered = sorted(max(each, 0.004) for each in taken)
    true = ordered[max(min(-int(-share * len(ordered) // 1), len(ordered)) - 1, 0)]
    found = percentile(counts, share)
    assert found is not None
    assert true / 1.42 <= found <= true * 1.42


@given(durations, durations)
def test_slots_are_in_the_order_of_durations(one: float, other: float) -> None:
    """A longer run is never counted in an earlier slot."""
    assert (slot(one) <= slot(other)) == (one <= other) or slot(one) == slot(other)
    assert 0 <= slot(one) < SLOT_COUNT


def test_slots_at_the_ends_take_all() -> None:
    """Nothing is left out, not even what is no number."""
    assert [slot(each) for each in (0.0, -1.0, float("nan"))] == [0, 0, 0]
    assert slot(1e12) == SLOT_COUNT - 1
    assert percentile([0] * SLOT_COUNT, 0.5) is None


endings = st.builds(
    Ending,
    job=st.sampled_from(["a", "b"]),
    executor=st.sampled_from(["e1", "e2"]),
    outcome=st.sampled_from(["ok", "failed"]),
    ended_us=st.integers(0, 3 * DAY_US),
    duration_us=st.none() | st.integers(0, 10**10),
    lateness_us=st.integers(0, 10**7),
)


@given(st.lists(endings, max_size=20), st.sampled_from([MINUTE_US, HOUR_US, DAY_US]))
def test_rollup_counts_every_run_once(ended: list[Ending], step_us: int) -> None:
    """For its job and for all; sums of the parts are the sums of the whole, and every writer has the same order."""
    by_slot = add_up(ended, step_us)
    timed = [end for end in ended if end.duration_us is not None]
    rows = [row for part in by_slot.values() for row in part]
    for part in ([row for row in rows if row["job"] != ALL_JOBS], [row for row in rows if row["job"] == ALL_JOBS]):
        assert sum(row["runs"] for row in part) == len(ended)
        assert sum(row["timed"] for row in part) == len(timed)
        assert sum(row["duration_us"] for row in part) == sum(end.duration_us or 0 for end in timed)
        assert sum(row["lateness_us"] for row in part) == sum(end.lateness_us for end in timed)
        assert sum(row.get(name, 0) for row in part for name in SLOTS) == len(timed)
    for slot_name, part in by_slot.items():
        keys = [(row["job"], row["start_us"], row["executor"], row["outcome"]) for row in part]
        assert keys == sorted(set(keys))
        assert all(set(SLOTS) & row.keys() == ({slot_name} if slot_name else set()) for row in part)
    assert list(by_slot) == sorted(by_slot)
    assert all(row["start_us"] % step_us == 0 for row in rows)


@pytest.mark.parametrize("outcome", ["lost", "missed"])
def test_run_that_nobody_saw_end_has_no_duration(outcome: str) -> None:
    """It is counted, and its time is not."""
    values = run_record(make_end(outcome=outcome)).values
    assert ending(values).duration_us is None
    assert add_up([ending(values)], HOUR_US)[""][0]["timed"] == 0


def test_run_is_added_up_by_when_it_ended_and_how_late_it_began() -> None:
    """A run that began too early is not late by less than nothing."""
    end = ending(run_record(make_end(7, took_s=3.0)).values)
    assert (end.duration_us, end.lateness_us) == (3_000_000, 7_100_000)
    early = make_end(7, fire=make_run(100).queued_at)
    assert ending(run_record(early).values).lateness_us == 0
    untold = make_end(7, ended_at=None)
    assert ending(run_record(untold).values).ended_us == run_record(untold).values["queued_us"]
