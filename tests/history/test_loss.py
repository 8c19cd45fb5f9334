"""Records that were given up are told of, and leave no run open."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from shardsched.clock import SYSTEM_CLOCK
from shardsched.coordination.ledger import Claimed
from shardsched.core.decision import Run
from shardsched.core.fire import Cause, Cursor, ItemState, Marker
from shardsched.execution.outcome import Outcome
from shardsched.execution.run import RunEnded
from shardsched.historian import UNTOLD_END, Historian
from shardsched.history.filter import EventFilter
from shardsched.history.query import History
from shardsched.history.recorder import Storing
from shardsched.history.writer import RECORDS_DROPPED
from shardsched.settings import ExecutorSettings
from tests.coordination.stage import NOON, Stage
from tests.history.stage import NAMESPACE, make_end
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from shardsched.history.recorder import Recorder

UNWRITABLE = replace(make_end(1), fire="not a time")  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shardsched.history.writer.RETRY_MIN_S", 0.02)
    monkeypatch.setattr("shardsched.history.writer.RETRY_MAX_S", 0.1)


def told_losses(history: History) -> list[int]:
    """Return the numbers that history was told of, the last first."""
    rows = history.events(EventFilter(kinds=frozenset({RECORDS_DROPPED}))).rows
    return [row.detail["count"] for row in rows]


def test_loss_soon_after_another_is_told_although_nothing_follows(
    sqlite_url: str, start_recorder: Callable[..., Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for its turn, not for the next record."""
    monkeypatch.setattr("shardsched.history.writer.LOSS_INTERVAL_S", 1.5)
    recorder, history = start_recorder(sqlite_url), History(sqlite_url, namespace=NAMESPACE)
    for count in (1, 2):
        recorder.ended(UNWRITABLE)
        eventually(lambda count=count: len(told_losses(history)) == count)  # type: ignore[misc]
    assert told_losses(history) == [1, 1]
    history.close()


def test_loss_soon_after_another_is_told_at_the_close(sqlite_url: str, start_recorder: Callable[..., Recorder]) -> None:
    """Nobody is there to tell it later."""
    recorder, history = start_recorder(sqlite_url), History(sqlite_url, namespace=NAMESPACE)
    recorder.ended(UNWRITABLE)
    eventually(lambda: told_losses(history) == [1])
    recorder.ended(UNWRITABLE)
    recorder.close(10.0)
    assert told_losses(history) == [1, 1]
    history.close()


def make_claimed(run_id: str, incarnation: str) -> Claimed:
    """Return a run that was claimed."""
    run = Run(
        item=0, cause=Cause.SCHEDULE, run_fire=NOON, fire=NOON, trigger=0, attempt=1, items=1, job_param="",
        param="", first_cause=Cause.SCHEDULE,
    )  # fmt: skip
    marker = Marker(uid="u", run=run_id, incarnation=incarnation, executor="e1", fire=NOON, attempt=1, started_at=NOON)
    cursor = Cursor(uid="u", state=ItemState.RUNNING, token=1)
    return Claimed(job="j", item=0, run=run, cursor=cursor, marker=marker, incarnation=incarnation)


def outcome_of(history: History, run_id: str) -> tuple[str | None, str] | None:
    """Return how a run ended and what is said of it; None if it is not known."""
    row = history.run(run_id)
    return None if row is None else (row.outcome, row.message)


def test_run_whose_end_was_given_up_is_lost_although_its_executor_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs stays open, and what ends later ends as it does."""
    monkeypatch.setattr("shardsched.historian.SWEEP_S", 0.05)
    place, aside = tmp_path / "place", tmp_path / "aside"
    place.mkdir()
    settings = ExecutorSettings(
        registry="memory://", namespace="f", name="e1", state_dir=tmp_path, history=f"sqlite:///{place / 'history.db'}"
    )
    client = Stage().client()
    incarnation = client.mirror.fleet().executors["e1"].incarnation
    historian = Historian(settings, SYSTEM_CLOCK, client.mirror)
    history = History(settings.history, namespace="f")
    settings.home().mkdir(parents=True)
    (settings.home() / "spool").touch()  # a disk that takes nothing
    historian.start()
    try:
        for run_id in ("ended", "running"):
            historian.chronicle.launched(make_claimed(run_id, incarnation))
            eventually(partial(outcome_of, history, run_id))
        place.rename(aside)
        place.touch()
        historian.chronicle.ended(RunEnded(run_id="ended", job="j", item=0, outcome=Outcome.OK))
        eventually(lambda: historian.state().storing is Storing.DROPPING)
        place.unlink()
        aside.rename(place)
        eventually(lambda: outcome_of(history, "ended") == ("lost", UNTOLD_END))
        assert outcome_of(history, "running") == (None, "")
        historian.chronicle.ended(RunEnded(run_id="running", job="j", item=0, outcome=Outcome.OK))
        eventually(lambda: outcome_of(history, "running") == ("ok", ""))
    finally:
        historian.stop()
        history.close()
