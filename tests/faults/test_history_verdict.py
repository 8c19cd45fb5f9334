"""The judge of a fleet's history, on made-up good and bad records, rows and events."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shardsched.history.row import RunRow
from tests.faults.history_verdict import PROCESS_BEGUN, Drop, disordered, dropped_runs, nagging, uncounted, untrue
from tests.faults.strike import Kind, Strike
from tests.fleet.fleet_record import RecordedRun

START = datetime(2026, 1, 1, tzinfo=UTC)
ENDED = RecordedRun(
    run="r1", job="j", item=0, items=1, fire=START, executor="e1", cause="schedule",
    attempt=1, token=1, param="", job_param="", pid=1, start=9.0, last=12.0, end=12.0, outcome="end",
)  # fmt: skip
CUT_DOWN = replace(ENDED, end=None, outcome="")
STRIKE = Strike(
    fault="f", victims=("e1",), kind=Kind.KILLED, begun_at=12.5, healing_at=17.0, healed_at=17.1, settled_at=20.0
)
DROP = Drop(executor="e1", since=11.0, until=13.0, count=2)


def make_row(outcome: str | None = "ok", **fields: Any) -> RunRow:
    """Return the row of the recorded run."""
    usual: dict[str, Any] = {
        "run_id": "r1", "job": "j", "uid": "u", "item": 0, "items": 1, "fire": START, "cause": "schedule",
        "attempt": 1, "executor": "e1", "incarnation": "i1", "token": 1, "queued_at": START, "outcome": outcome,
    }  # fmt: skip
    return RunRow(**usual | fields)


def struck(kind: Kind, **fields: Any) -> list[Strike]:
    """Return one strike of a kind."""
    return [replace(STRIKE, kind=kind, **fields)]


def found(run: RecordedRun, row: RunRow | None, strikes: list[Strike] | None = None, *drops: Drop) -> list[str]:
    """Return what is found wrong with one run and its row."""
    return untrue([run], [] if row is None else [row], strikes or [], drops)


def test_history_that_says_what_the_record_says_is_in_order() -> None:
    """Runs that ended, that failed, and that a stop or a kill cut down."""
    assert found(ENDED, make_row()) == []
    assert found(replace(ENDED, outcome="failed"), make_row("failed")) == []
    assert found(CUT_DOWN, make_row("stopped"), struck(Kind.ASKED)) == []
    assert found(CUT_DOWN, make_row("lost"), struck(Kind.KILLED)) == []
    assert untrue([], [make_row("missed"), make_row("refused", run_id="r2")], [], []) == []


@pytest.mark.parametrize("outcome", ["lost", "stopped", "failed", "no_result"])
def test_end_that_history_tells_otherwise_is_seen(outcome: str) -> None:
    """What came to its end is ``ok``, unless its executor was struck at about that time."""
    assert len(found(ENDED, make_row(outcome))) == 1
    assert len(found(ENDED, make_row(outcome), struck(Kind.BESIDE))) == 1
    assert len(found(ENDED, make_row(outcome), struck(Kind.ASKED))) == 1
    assert len(found(ENDED, make_row(outcome), struck(Kind.KILLED, victims=("e2",)))) == 1
    assert len(found(ENDED, make_row(outcome), struck(Kind.KILLED, begun_at=14.0))) == 1
    assert found(ENDED, make_row(outcome), struck(Kind.KILLED)) == []


@pytest.mark.parametrize("outcome", ["ok", "failed", "missed"])
def test_run_that_was_cut_down_and_is_told_as_ended_is_seen(outcome: str) -> None:
    """Whoever was struck."""
    assert len(found(CUT_DOWN, make_row(outcome), struck(Kind.KILLED))) == 1


def test_run_that_was_cut_down_by_nobody_is_seen() -> None:
    """People's wishes end runs, but lose none; other executors' faults do neither."""
    assert len(found(CUT_DOWN, make_row("stopped"))) == 1
    assert len(found(CUT_DOWN, make_row("lost"), struck(Kind.ASKED))) == 1
    assert len(found(CUT_DOWN, make_row("lost"), struck(Kind.BESIDE))) == 1
    assert found(CUT_DOWN, make_row("stopped"), struck(Kind.TROUBLED, prepared_at=9.0, begun_at=20.0)) == []


def test_missing_row_is_seen_unless_it_was_counted_or_died_with_its_executor() -> None:
    """A frozen executor tells it later, a killed one only what it had not just begun."""
    assert len(found(ENDED, None)) == 1
    assert len(found(ENDED, None, struck(Kind.KILLED))) == 1
    assert len(found(CUT_DOWN, None, struck(Kind.SILENT, begun_at=9.5))) == 1
    assert len(found(CUT_DOWN, None, struck(Kind.KILLED, begun_at=6.5))) == 1
    assert found(CUT_DOWN, None, struck(Kind.KILLED, begun_at=8.5)) == []
    assert found(CUT_DOWN, None, struck(Kind.KILLED, begun_at=9.5)) == []
    assert found(ENDED, None, None, DROP) == []
    assert found(ENDED, make_row("lost"), None, DROP) == []
    assert len(found(ENDED, None, None, replace(DROP, executor="e2"))) == 1
    assert len(found(ENDED, None, None, replace(DROP, since=20.0, until=30.0))) == 1
    assert len(found(ENDED, None, None, replace(DROP, count=0))) == 1


def test_row_that_whoever_ran_it_again_could_have_told_is_missed() -> None:
    """A run that died before it was told of has its row from the next attempt, unless that died as early."""
    again = replace(ENDED, run="r2", executor="e2", attempt=2, start=13.0)
    kills = struck(Kind.KILLED, begun_at=9.5)
    told = make_row(run_id="r2", attempt=2, executor="e2")
    assert len(untrue([CUT_DOWN, again], [told], kills, [])) == 1
    assert untrue([CUT_DOWN, again], [told, make_row("lost", incarnation="")], kills, []) == []
    assert untrue([ENDED, again], [told], kills, []) == []
    assert untrue([CUT_DOWN, replace(again, attempt=3)], [replace(told, attempt=3)], kills, []) == []
    kills += struck(Kind.KILLED, victims=("e2",), begun_at=13.5)
    assert untrue([CUT_DOWN, again], [told], kills, []) == []
    assert disordered(*seen_in((3, 0.0), (1, 2.0), incarnation="")) == []


def test_row_without_an_outcome_or_of_another_run_is_seen() -> None:
    """Nothing stays open, nothing is mixed up, nothing is told twice or made up."""
    assert len(found(ENDED, make_row(None), struck(Kind.KILLED), DROP)) == 1
    assert len(found(ENDED, make_row(item=1))) == 1
    assert len(found(ENDED, make_row(executor="e2"))) == 1
    assert len(untrue([ENDED], [make_row(), make_row()], [], [])) == 1
    assert len(untrue([], [make_row()], [], [])) == 1
    assert len(untrue([], [make_row(None)], [], [])) == 1


def seen_in(*samples: tuple[int, float], incarnation: str = "i1") -> tuple[list[RunRow], dict[str, int]]:
    """Return rows by when they were claimed, with the sample in which each was first seen."""
    rows = [
        make_row(run_id=f"r{number}", queued_at=START + timedelta(seconds=at), incarnation=incarnation)
        for number, (_, at) in enumerate(samples)
    ]
    return rows, {f"r{number}": sample for number, (sample, _) in enumerate(samples)}


def test_row_that_comes_after_those_claimed_later_is_seen() -> None:
    """By more than a second, within one session."""
    assert disordered(*seen_in((1, 0.0), (1, 3.0), (2, 6.0), (2, 5.5), (3, 5.6))) == []
    assert len(disordered(*seen_in((1, 0.0), (3, 2.0), (2, 4.0), (2, 6.0)))) == 1
    assert len(disordered(*seen_in((3, 0.0), (1, 2.0), (2, 4.0), (2, 6.0)))) == 1
    assert disordered(*seen_in((3, 0.0), (1, 2.0)), unsteady={"e1"}) == []
    assert disordered(*seen_in((3, 0.0), (1, 2.0)), dropped={"r0"}) == []
    assert dropped_runs([ENDED, replace(ENDED, run="r2", executor="e2")], [DROP]) == {"r1"}
    mixed = [seen_in((3, 0.0)), seen_in((1, 2.0), incarnation="i2")]
    assert disordered([rows[0] for rows, _ in mixed], {"r0": 3}) == []


def test_figures_that_count_a_run_twice_or_not_at_all_are_seen() -> None:
    """Each outcome for itself."""
    rows = [make_row(), make_row(run_id="r2"), make_row("lost", run_id="r3"), make_row(None, run_id="r4")]
    assert uncounted(rows, {"ok": 2, "lost": 1}) == []
    assert len(uncounted(rows, {"ok": 3, "lost": 1})) == 1
    assert len(uncounted(rows, {"ok": 2})) == 1
    assert len(uncounted(rows, {"ok": 2, "lost": 1, "failed": 1})) == 1


def test_warning_that_is_repeated_is_seen() -> None:
    """Until the database is back, or another process speaks."""
    assert nagging("e1", ["history_away", "history_dropped", "history_back", "history_away"]) == []
    assert nagging("e1", ["history_away", PROCESS_BEGUN, "history_away"]) == []
    assert len(nagging("e1", ["history_away", "history_away"])) == 1
    assert len(nagging("e1", ["history_away", "history_dropped", "history_dropped"])) == 1
