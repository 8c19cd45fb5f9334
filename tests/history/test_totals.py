"""The runs of each job and executor, added up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.history.figure import Ranked
from tests.history.stage import START, make_end, run_record, store

if TYPE_CHECKING:
    from shardsched.history.engine import Database
    from shardsched.history.query import History
    from shardsched.testing import FakeClock


def test_totals_are_by_name_and_only_of_this_fleet(history: History, database: Database, clock: FakeClock) -> None:
    """Each job and executor that ran something since then has its own sum; no other fleet's counts."""
    runs = [
        make_end(0, job="books"),
        make_end(1, job="books", outcome="failed", executor="e2"),
        make_end(2, job="news", executor="e2"),
    ]
    store(database, [run_record(run) for run in runs])
    store(database, [run_record(make_end(3, job="theirs"))], namespace="another")
    clock.advance(60)
    jobs = history.totals(Ranked.JOBS, since=START)
    assert {name: (total.runs, total.success_rate) for name, total in jobs.items()} == {
        "books": (2, 0.5),
        "news": (1, 1.0),
    }
    executors = history.totals(Ranked.EXECUTORS, since=START)
    assert {name: total.runs for name, total in executors.items()} == {"e1": 1, "e2": 2}
