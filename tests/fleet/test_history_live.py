"""What real executors leave in the history."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from shardsched.history.filter import EventFilter, RunFilter
from shardsched.history.query import History
from tests.fleet.fleet_harness import NAMESPACE, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shardsched.history.row import RunRow
    from tests.fleet.fleet_harness import Fleet

pytestmark = pytest.mark.fleet


@pytest.fixture
def history(sqlite_fleet: Fleet) -> Iterator[History]:
    """The history of a fleet on SQLite."""
    reader = History(f"sqlite:///{sqlite_fleet.folder / 'history.db'}", namespace=NAMESPACE)
    yield reader
    reader.close()


def keep(fleet: Fleet, *names: str) -> None:
    """Start executors that keep a history."""
    fleet.start(*names, history=f"sqlite:///{fleet.folder / 'history.db'}")


def ended(history: History, job: str, count: int) -> tuple[RunRow, ...]:
    """Wait until so many runs of a job have ended, and return them, the first first."""

    def look() -> tuple[RunRow, ...] | None:
        rows = history.runs(RunFilter(job=job)).rows
        return rows[::-1] if len(rows) == count and all(row.outcome for row in rows) else None

    found: tuple[RunRow, ...] = wait_until(look, f"{count} runs of {job} in the history")
    return found


def test_history_has_a_run_as_it_was(sqlite_fleet: Fleet, history: History) -> None:
    """A good and a bad run are there with cause, times, outcome and output; so is who joined and led."""
    keep(sqlite_fleet, "e1")
    sqlite_fleet.create("good", items=2)
    sqlite_fleet.create("bad", param="fail")
    sqlite_fleet.admin.commands.trigger("good", by="ada")
    sqlite_fleet.admin.commands.trigger("bad", by="ada")
    for row in ended(history, "good", 2):
        assert (row.outcome, row.cause, row.executor, row.by) == ("ok", "manual", "e1", "ada")
        assert row.started_at is not None
        assert row.ended_at is not None
        assert row.queued_at <= row.started_at <= row.ended_at
    (bad,) = ended(history, "bad", 1)
    assert (bad.outcome, bad.attempt, bad.exit_code) == ("failed", 1, 1)
    whole = history.run(bad.run_id)
    assert whole is not None
    assert "Traceback" in whole.traceback
    assert "Traceback" in whole.log_tail
    kinds = {event.kind for event in history.events(EventFilter(executor="e1"), limit=200).rows}
    assert {"executor_joined", "leader_elected", "resharded"} <= kinds


def test_history_names_the_run_that_a_killed_executor_left(sqlite_fleet: Fleet, history: History) -> None:
    """The run of a dead executor is lost, and the attempt that follows is a failover with the next number."""
    keep(sqlite_fleet, "e1", "e2")
    sqlite_fleet.create("long", param="hold=2")
    sqlite_fleet.admin.commands.trigger("long")
    (first,) = wait_until(lambda: sqlite_fleet.running("long"), "the run to begin")
    wait_until(lambda: history.runs(RunFilter(job="long")).rows, "the run to be in the history")
    sqlite_fleet.executors[first.executor].signal(signal.SIGKILL)
    lost, again = ended(history, "long", 2)
    assert (lost.run_id, lost.outcome, lost.executor) == (first.run, "lost", first.executor)
    assert (again.outcome, again.cause, again.attempt) == ("ok", "failover", 2)
    assert again.executor != first.executor


def test_history_has_the_run_of_which_a_killed_executor_told_nobody(sqlite_fleet: Fleet, history: History) -> None:
    """Whoever runs it again tells of it: when, which attempt, by whom, and that it is lost."""
    sqlite_fleet.start("e1", history="postgresql://nobody@127.0.0.1:1/none")
    sqlite_fleet.create("long", param="hold=2")
    sqlite_fleet.admin.commands.trigger("long")
    (first,) = wait_until(lambda: sqlite_fleet.running("long"), "the run to begin")
    keep(sqlite_fleet, "e2")
    sqlite_fleet.executors["e1"].kill()
    lost, again = ended(history, "long", 2)
    assert (lost.run_id, lost.outcome, lost.executor, lost.cause) == (first.run, "lost", "e1", "manual")
    assert (lost.attempt, lost.token, lost.fire, lost.job_param) == (1, first.token, first.fire, first.job_param)
    assert (again.outcome, again.cause, again.attempt) == ("ok", "failover", 2)


def test_history_that_is_away_keeps_nobody_from_running(sqlite_fleet: Fleet, history: History) -> None:
    """With a database that nobody answers for, jobs run; what happened is kept on disk and written at the next start."""
    sqlite_fleet.start("e1", history="postgresql://nobody@127.0.0.1:1/none")
    sqlite_fleet.create("good")
    sqlite_fleet.admin.commands.trigger("good")
    wait_until(lambda: sqlite_fleet.cursors("good")[0]["state"] == "done", "the run to be done")
    assert sqlite_fleet.executors["e1"].stop() == 0
    keep(sqlite_fleet, "e1")
    (row,) = ended(history, "good", 1)
    assert (row.outcome, row.executor) == ("ok", "e1")
