"""``shardsched history``, and what commands leave in it."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from shardsched.clock import SYSTEM_CLOCK
from shardsched.history.recorder import Recorder
from shardsched.history.row import RunRow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.admin.stage import Stage
    from tests.cli.conftest import CommandLine

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CREATE = ("job", "create", "books", "--handler", "crawl", "--cron", "0 */5 * * * ?")


@pytest.fixture
def kept(shell: CommandLine, tmp_path: Path) -> CommandLine:
    """The command line with a history."""
    return replace(shell, history=f"sqlite:///{tmp_path / 'history.db'}")


def fill(shell: CommandLine, folder: Path, *rows: RunRow) -> None:
    """Have a recorder write runs."""
    recorder = Recorder(
        shell.history,
        folder / "spool",
        namespace=shell.namespace,
        executor="e1",
        clock=SYSTEM_CLOCK,
        rng=random.Random(1),  # noqa: S311 - a test
    )
    recorder.start()
    for row in rows:
        recorder.ended(row)
    recorder.close(30.0)
    assert recorder.state().written_count == len(rows)


def run(number: int, **changes: object) -> RunRow:
    """Return a run that ended well."""
    at = NOON + timedelta(seconds=number)
    row = RunRow(
        run_id=f"r{number}", job="books", uid="u", item=number % 2, items=2, fire=NOON, cause="schedule", attempt=1,
        executor="e1", incarnation="i", token=number, queued_at=at, started_at=at, ended_at=at, outcome="ok",
    )  # fmt: skip
    return replace(row, **changes)  # type: ignore[arg-type]  # of mixed types


def test_history_prints_the_last_runs_first(kept: CommandLine, tmp_path: Path) -> None:
    """The promised fields are there, newest first, and the next page goes on behind them."""
    fill(kept, tmp_path, *(run(number) for number in range(5)))
    first = kept.json("history", "-n", "3")
    assert [one["run_id"] for one in first["runs"]] == ["r4", "r3", "r2"]
    promised = {
        *("run_id", "job", "item", "items", "fire", "cause", "attempt", "executor", "started_at", "ended_at"),
        *("outcome", "message"),
    }
    assert promised <= set(first["runs"][0])
    second = kept.json("history", "-n", "3", "--after", first["next"])
    assert [one["run_id"] for one in second["runs"]] == ["r1", "r0"]


def test_history_of_one_item_and_outcome_is_only_that(kept: CommandLine, tmp_path: Path) -> None:
    """Filters hold together."""
    fill(kept, tmp_path, run(0), run(1, outcome="failed", message="no"), run(2), run(3))
    found = kept.json("history", "--job", "books", "--item", "1", "--outcome", "failed")
    assert [one["run_id"] for one in found["runs"]] == ["r1"]
    assert kept.json("history", "--job", "other")["runs"] == []


def test_history_of_one_run_has_its_traceback(kept: CommandLine, tmp_path: Path) -> None:
    """A single run is shown whole; one that is not there is told with the exit code for it."""
    fill(kept, tmp_path, run(1, outcome="failed", traceback="Traceback: a\nValueError: no"))
    assert "ValueError: no" in kept.ok("history", "--run", "r1")
    assert kept.json("history", "--run", "r1")["traceback"].endswith("ValueError: no")
    assert "no run 'r9'" in kept.error(4, "history", "--run", "r9")


def test_history_summary_adds_up(kept: CommandLine, tmp_path: Path) -> None:
    """Counts and percentiles of a span are shown."""
    fill(kept, tmp_path, *(run(number, duration_s=2.0) for number in range(3)), run(3, outcome="failed"))
    summary = kept.json("history", "--summary", "--since", "2026-01-01T00:00+00:00")
    assert summary["outcomes"] == {"ok": 3, "failed": 1}
    assert summary["success_rate"] == pytest.approx(0.75)
    assert summary["p50_s"] == pytest.approx(2.0, rel=0.2)


def test_history_that_is_away_is_one_line(kept: CommandLine) -> None:
    """A database that does not answer, or none at all, is told in one sentence."""
    away = replace(kept, history="postgresql://nobody@127.0.0.1:1/none")
    assert "gave no answer" in away.error(1, "history")
    assert "switched off" in replace(kept, history="none").error(2, "history")
    assert "no offset" in kept.error(2, "history", "--since", "2026-01-01T00:00")


def test_commands_are_kept_with_who_gave_them(stage: Stage, kept: CommandLine) -> None:
    """Each command that changes something leaves an event; one that changes nothing leaves none."""
    stage.join("e1")
    kept.ok(*CREATE)
    kept.ok("job", "pause", "books")
    kept.ok("job", "pause", "books")
    kept.ok("job", "update", "books", "--items", "3")
    kept.ok("executor", "drain", "e1", "--reason", "disk")
    kept.ok("job", "delete", "books", "-y")
    events = json.loads(kept.ok("history", "--events", "--json"))["events"]
    kinds = [event["kind"] for event in reversed(events)]
    assert kinds == ["command_create", "command_pause", "command_update", "command_drain", "command_delete"]
    assert all("@" in event["by"] for event in events)


def test_command_with_its_history_away_is_done_and_warns(stage: Stage, kept: CommandLine) -> None:
    """What was asked is carried out; that the history lacks it is told on standard error."""
    stage.join("e1")
    away = replace(kept, history="postgresql://nobody@127.0.0.1:1/none")
    result = away(*CREATE)
    assert result.exit_code == 0
    assert stage.config("books").items == 1
    assert len(result.stderr.splitlines()) == 1
    assert "the history could not be told" in result.stderr
