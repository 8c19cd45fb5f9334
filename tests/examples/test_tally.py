"""The demo's history is held against what its job wrote."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from shardsched.demo.record import Records, RunRecord
from shardsched.demo.tally import read_tally, tally
from shardsched.history.row import RunRow

if TYPE_CHECKING:
    from pathlib import Path

FIRE = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)


def wrote(run_id: str, executor: str = "e1", *, has_ended: bool = True, is_finished: bool = True) -> RunRecord:
    """A run as the job wrote of it."""
    return RunRecord(
        item=0,
        fire=FIRE,
        run_id=run_id,
        executor=executor,
        cause="schedule",
        attempt=1,
        token=1,
        started_at=FIRE,
        ended_at=FIRE if has_ended else None,
        is_finished=is_finished,
    )


def row(run_id: str, outcome: str | None, executor: str = "e1") -> RunRow:
    """A run as history has it."""
    return RunRow(
        run_id=run_id,
        job="pydoc",
        uid="u",
        item=0,
        items=6,
        fire=FIRE,
        cause="schedule",
        attempt=1,
        executor=executor,
        incarnation="i",
        token=1,
        queued_at=FIRE,
        outcome=outcome,
    )


def test_tally_counts_runs_by_outcome() -> None:
    """The most frequent first; what has no end yet is told too."""
    rows = [row("1", "lost", "e2"), row("2", "ok"), row("3", "ok"), row("4", None)]
    runs = (wrote("1", "e2", has_ended=False, is_finished=False), wrote("2"), wrote("3"), wrote("4", has_ended=False))
    found = tally(rows, Records(runs=runs), "e2")
    assert found.words == "4 runs: 2 ok, 1 lost, 1 unfinished"
    assert found.faults == ()


@pytest.mark.parametrize(
    ("rows", "runs", "fault"),
    [
        ([], [wrote("1")], "is not in the history"),
        ([row("1", "failed")], [wrote("1")], "says failed of run 1 of item 0, which was finished"),
        ([row("1", None)], [wrote("1")], "which was finished"),
        ([row("1", "ok")], [wrote("1", is_finished=False)], "which was not finished"),
        ([row("1", "ok")], [], "of which the job knows nothing"),
    ],
)
def test_tally_finds_what_is_told_in_two_ways(rows: list[RunRow], runs: list[RunRecord], fault: str) -> None:
    """Each run that history has otherwise than the job is one fault."""
    found = tally(rows, Records(runs=tuple(runs)), "e2")
    assert len(found.faults) == 1
    assert fault in found.faults[0]


def test_tally_excuses_the_killed() -> None:
    """The last words of an executor that was killed may not have reached the history."""
    runs = (wrote("1", "e2"), wrote("2", "e2", has_ended=False, is_finished=False))
    assert tally([row("1", "lost", "e2")], Records(runs=runs), "e2").faults == ()


def test_history_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    """The demo says so and judges the rest."""
    (tmp_path / "history.db").write_bytes(b"no database at all, of whatever kind" * 100)
    found = read_tally(f"sqlite:///{tmp_path / 'history.db'}", "demo", "pydoc", Records(), None)
    assert len(found.faults) == 1
    assert found.faults[0].startswith("the history cannot be read: ")
