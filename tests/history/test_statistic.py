"""Figures come from the roll-ups, and are those that the rows would give."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import delete

from shardsched.errors import ConfigurationError
from shardsched.history.figure import Metric, Ranked, Ranking, Sum
from shardsched.history.table import RUNS
from tests.history.stage import START, make_end, make_run, run_record, store

if TYPE_CHECKING:
    from shardsched.history.query import History
    from shardsched.history.row import RunRow
    from shardsched.testing import FakeClock

HOUR = timedelta(hours=1)


def runs_over_hours() -> list[RunRow]:
    """Return runs of two jobs on two executors: ten in each of six hours, growing slower."""
    runs = []
    for hour in range(6):
        for number in range(10):
            outcome = "failed" if number == 9 else "missed" if number == 8 else "stopped" if number == 7 else "ok"
            at = START + hour * HOUR + number * timedelta(minutes=5)
            runs.append(
                make_end(
                    hour * 10 + number,
                    outcome,
                    took_s=float(hour + 1),
                    job="books" if number % 2 else "news",
                    executor=f"e{number % 3}",
                    fire=at,
                    queued_at=at,
                    started_at=at + timedelta(seconds=3),
                    ended_at=at + timedelta(seconds=3 + hour + 1),
                )
            )
    return runs


@pytest.fixture
def filled(history: History, clock: FakeClock) -> History:
    """A history of six hours whose runs are gone, so that only the roll-ups can answer."""
    store(history.database, [*map(run_record, runs_over_hours()), run_record(make_run(1, run_id="running"))])
    with history.database.writing() as connection:
        connection.execute(delete(RUNS))
    clock.advance(6 * 3600.0)
    return history


def test_summary_adds_up_what_ended_since(filled: History) -> None:
    """Of all jobs or one, from minutes for a short time and from hours for a long one."""
    total = filled.summary(since=START)
    assert total.counts == {"ok": 42, "failed": 6, "missed": 6, "stopped": 6}
    assert (total.runs, total.failed, total.timed) == (60, 6, 54)
    assert total.success_rate == pytest.approx(42 / 48)
    assert total.busy_s == pytest.approx(9 * 21)
    assert total.mean_s == pytest.approx(9 * 21 / 54)
    assert total.mean_lateness_s == pytest.approx(3.0)
    assert filled.summary(since=START + 5 * HOUR + timedelta(minutes=30)).counts == {
        "ok": 1,
        "failed": 1,
        "missed": 1,
        "stopped": 1,
    }
    assert filled.summary(since=START, job="news").counts == {"ok": 24, "missed": 6}
    assert filled.summary(since=START, job="no such job") == Sum()
    assert Sum().success_rate is Sum().mean_s is Sum().percentile(0.5) is None


def test_percentiles_are_about_what_the_runs_took(filled: History) -> None:
    """Within the width of a slot."""
    p50, p95, p99 = filled.percentiles(since=START)
    assert p50 == pytest.approx(3.5, rel=0.42)
    assert p95 == pytest.approx(6.0, rel=0.42)
    assert p99 == pytest.approx(6.0, rel=0.42)
    assert filled.percentiles(since=START + 100 * HOUR) == (None, None, None)


def test_series_has_a_point_for_each_step(filled: History) -> None:
    """Also where nothing happened; counts are 0 there and means are unknown."""
    end = START + 8 * HOUR
    runs = filled.series(Metric.RUNS, HOUR, START, end)
    assert [point.at for point in runs] == [START + hour * HOUR for hour in range(8)]
    assert [point.value for point in runs] == [10] * 6 + [0, 0]
    assert [point.value for point in filled.series(Metric.FAILED, 2 * HOUR, START, end)] == [2, 2, 2, 0]
    means = [point.value for point in filled.series(Metric.MEAN_S, HOUR, START, end, "books")]
    assert means == [pytest.approx(hour + 1) for hour in range(6)] + [None, None]
    slow = [point.value for point in filled.series(Metric.P95_S, HOUR, START, START + 6 * HOUR)]
    assert slow == [pytest.approx(hour + 1, rel=0.42) for hour in range(6)]
    minutes = filled.series(Metric.OK, timedelta(minutes=5), START, START + HOUR)
    assert [point.value for point in minutes] == [1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    for metric in Metric:
        assert len(filled.series(metric, HOUR, START, end)) == 8


def test_series_begins_at_a_whole_step_of_the_rollup(filled: History) -> None:
    """A moment within an hour is taken back to its beginning; an end within counts as one more point."""
    points = filled.series(Metric.RUNS, HOUR, START + timedelta(minutes=59), START + HOUR + timedelta(seconds=1))
    assert [(point.at, point.value) for point in points] == [(START, 10), (START + HOUR, 10)]
    assert filled.series(Metric.RUNS, HOUR, START, START) == ()


@pytest.mark.parametrize(
    "step", [timedelta(0), timedelta(seconds=30), timedelta(minutes=-1), timedelta(minutes=1.5), timedelta(minutes=1)]
)
def test_series_of_odd_or_too_many_steps_is_refused(history: History, step: timedelta) -> None:
    """Before anything is read."""
    with pytest.raises(ConfigurationError):
        history.series(Metric.RUNS, step, START, START + 2_001 * timedelta(minutes=1))


def test_top_ranks_jobs_and_executors(filled: History) -> None:
    """The first is the worst; those with nothing of it are left out."""
    failing = filled.top(Ranking.FAILING, Ranked.JOBS, 10, START)
    assert [(one.name, one.value) for one in failing] == [("books", 6)]
    assert failing[0].total.counts["ok"] == 18
    assert [one.name for one in filled.top(Ranking.FAILING, Ranked.EXECUTORS, 10, START)] == ["e0"]
    busy = filled.top(Ranking.BUSY, Ranked.JOBS, 10, START)
    assert [one.name for one in busy] == ["books", "news"]
    assert [one.value for one in busy] == [pytest.approx(105), pytest.approx(84)]
    assert len(filled.top(Ranking.BUSY, Ranked.EXECUTORS, 2, START)) == 2
    slow = filled.top(Ranking.SLOW, Ranked.JOBS, 10, START + 5 * HOUR)
    assert [one.value for one in slow] == [pytest.approx(6.0, rel=0.42)] * 2


def test_rows_of_the_future_are_kept_as_they_are(history: History, clock: FakeClock) -> None:
    """An executor's clock may be ahead; its runs are shown where it says they are."""
    ahead = START + timedelta(days=900)
    run = make_end(1, queued_at=ahead, started_at=ahead, ended_at=ahead)
    store(history.database, [run_record(run)])
    assert history.runs().rows == (run,)
    assert history.summary(since=clock.now()).runs == 1
