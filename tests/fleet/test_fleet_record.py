"""The checker of records, on made-up good and bad ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.fleet.fleet_record import RecordedRun, counts, doubles, orders, overlaps, tokens, violations

FIRE = datetime(2026, 1, 1, tzinfo=UTC)
RUN = RecordedRun(
    run="r1", job="j", item=0, items=2, fire=FIRE, executor="e1", cause="schedule", attempt=1, token=1, param="",
    job_param="", pid=1, start=10.0, last=12.0, end=12.0, outcome="end",
)  # fmt: skip
NEXT = replace(RUN, run="r2", fire=FIRE + timedelta(seconds=5), token=2, start=15.0, last=16.0, end=16.0)


def test_record_of_two_fires_in_order_shows_no_fault() -> None:
    """A good record is good."""
    assert violations([RUN, NEXT]) == []


def test_record_of_an_unfinished_run_and_its_failover_shows_no_fault() -> None:
    """A run that did not come to its end may be run again, later."""
    lost = replace(RUN, end=None, outcome="")
    again = replace(RUN, run="r2", cause="failover", attempt=2, token=2, start=12.5, last=13.0, end=13.0)
    assert violations([lost, again]) == []


def test_record_of_a_start_before_the_last_sign_of_life_shows_an_overlap() -> None:
    """I1 is seen."""
    assert len(overlaps([RUN, replace(NEXT, start=11.9)])) == 1


def test_record_of_a_finished_fire_run_again_shows_a_double() -> None:
    """I2 is seen, and so is an attempt that counts wrongly."""
    assert len(doubles([RUN, replace(RUN, run="r2", attempt=2, start=20.0)])) == 1
    assert len(doubles([replace(RUN, outcome="", end=None), replace(RUN, run="r2", attempt=1, start=20.0)])) == 1


def test_record_of_a_finished_fire_run_again_after_its_executor_was_struck_is_excused() -> None:
    """A run whose end could not be recorded, since its executor was killed just then, may be run again."""
    again = replace(RUN, run="r2", attempt=2, token=2, start=20.0, last=21.0)
    assert doubles([RUN, again], [("e1", 12.3)]) == []
    assert len(doubles([RUN, again], [("e2", 12.3)])) == 1
    assert len(doubles([RUN, again], [("e1", 14.0)])) == 1


def test_record_of_a_failed_run_tried_again_shows_no_fault() -> None:
    """A retry is no double of a run that failed, but would be one of a run that did not."""
    again = replace(RUN, run="r2", attempt=2, token=2, start=20.0, last=21.0, cause="retry")
    assert doubles([replace(RUN, outcome="failed"), again]) == []
    assert len(doubles([RUN, again])) == 1
    assert len(doubles([replace(RUN, outcome="failed"), replace(again, cause="failover")])) == 1


def test_record_of_one_fire_with_two_counts_shows_it() -> None:
    """Two counts in one fire are seen."""
    assert len(counts([RUN, replace(RUN, run="r2", item=1, items=3)])) == 1


def test_record_of_a_token_that_does_not_grow_shows_it() -> None:
    """A token that stands still is seen."""
    assert len(tokens([RUN, replace(NEXT, token=1)])) == 1


def test_record_of_a_fire_that_goes_back_shows_it() -> None:
    """I3 is seen."""
    assert len(orders([NEXT, replace(RUN, run="r3")])) == 1
