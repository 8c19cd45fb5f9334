"""The reckoning of fires, on made-up good and bad records."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.faults.strike import Kind, Strike
from tests.faults.targets import (
    Fate,
    MissedFires,
    Schedule,
    fires_of,
    losses,
    repeats,
    strays,
    targets,
    unexcused_repeats,
)
from tests.fleet.fleet_record import RecordedRun

ARMED = datetime(2026, 1, 1, tzinfo=UTC)
SCHEDULE = Schedule(job="j", cron="0/5 * * * * ?", items=1, armed_at=ARMED, until=ARMED + timedelta(seconds=12))
FIRST, SECOND = ARMED + timedelta(seconds=5), ARMED + timedelta(seconds=10)
RUN = RecordedRun(
    run="r1", job="j", item=0, items=1, fire=FIRST, executor="e1", cause="schedule", attempt=1, token=1, param="",
    job_param="", pid=1, start=10.0, last=12.0, end=12.0, outcome="end",
)  # fmt: skip
NEXT = replace(RUN, run="r2", fire=SECOND, token=2, start=15.0, last=16.0, end=16.0)
CUT_DOWN = replace(RUN, end=None, outcome="")
AGAIN = replace(RUN, run="r3", attempt=2, executor="e2", cause="failover", start=13.0, last=14.0, end=14.0)
STRIKE = Strike(fault="cut", victims=("e1",), kind=Kind.SILENT, begun_at=12.5, healed_at=20.0, settled_at=22.0)


def fates(*runs: RecordedRun, missed: tuple[MissedFires, ...] = ()) -> list[Fate]:
    """Return what became of both fires."""
    return [target.fate for target in targets([SCHEDULE], runs, missed)]


def test_schedule_names_fires_after_it_was_armed_and_up_to_its_end() -> None:
    """The moment of arming is no fire; the end is."""
    assert list(fires_of(SCHEDULE)) == [FIRST, SECOND]
    assert list(fires_of(replace(SCHEDULE, until=FIRST))) == [FIRST]


def test_targets_that_ran_are_once_re_run_or_repeated() -> None:
    """The fate tells how a target came to its end."""
    assert fates(RUN, NEXT) == [Fate.ONCE, Fate.ONCE]
    assert fates(CUT_DOWN, AGAIN, NEXT) == [Fate.RERUN, Fate.ONCE]
    assert fates(RUN, AGAIN, NEXT) == [Fate.REPEATED, Fate.ONCE]
    assert fates(replace(RUN, outcome="failed"), NEXT) == [Fate.ONCE, Fate.ONCE]


def test_target_without_a_run_is_missed_if_the_log_says_so_and_else_a_silent_loss() -> None:
    """A reason in the log is the difference between a policy and a loss."""
    missed = MissedFires(job="j", item=0, first=FIRST, last=FIRST)
    assert fates(NEXT, missed=(missed,)) == [Fate.MISSED, Fate.ONCE]
    assert fates(NEXT) == [Fate.SILENT, Fate.ONCE]
    assert fates(NEXT, missed=(replace(missed, item=1),)) == [Fate.SILENT, Fate.ONCE]
    assert fates(NEXT, missed=(replace(missed, job="k"),)) == [Fate.SILENT, Fate.ONCE]
    assert len(losses(targets([SCHEDULE], [NEXT], []))) == 1


def test_target_that_began_and_never_ended_is_unfinished() -> None:
    """A run that nobody finished is a loss too."""
    assert fates(CUT_DOWN, NEXT) == [Fate.UNFINISHED, Fate.ONCE]
    assert len(losses(targets([SCHEDULE], [CUT_DOWN, NEXT], []))) == 1


@given(st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3)))
def test_losses_are_the_targets_that_neither_ran_nor_were_given_up(ran: set[int], missed: set[int]) -> None:
    """Whatever ran and whatever was given up, the rest is lost, and nothing else is."""
    schedule = replace(SCHEDULE, until=ARMED + timedelta(seconds=20))
    fires = list(fires_of(schedule))
    runs = [replace(RUN, run=str(n), fire=fires[n]) for n in ran]
    given_up = [MissedFires(job="j", item=0, first=fires[n], last=fires[n]) for n in missed]
    lost = [target.fire for target in targets([schedule], runs, given_up) if target.fate is Fate.SILENT]
    assert lost == [fires[n] for n in range(4) if n not in ran | missed]


def test_run_of_a_time_that_the_cron_does_not_name_is_a_stray() -> None:
    """An invented fire is seen; a manual run is none."""
    odd = replace(RUN, fire=FIRST + timedelta(seconds=1))
    assert strays([SCHEDULE], [RUN, NEXT]) == []
    assert len(strays([SCHEDULE], [odd])) == 1
    assert strays([SCHEDULE], [replace(odd, cause="manual")]) == []


def test_repeat_after_an_end_is_excused_only_by_a_fault_of_its_executor_at_that_time() -> None:
    """A fault in the moment after the end may keep the outcome from being written; nothing else may."""
    assert unexcused_repeats([RUN, AGAIN], [STRIKE]) == []
    assert repeats([RUN, AGAIN], STRIKE) == 1
    assert repeats([CUT_DOWN, AGAIN], STRIKE) == 0
    assert len(unexcused_repeats([RUN, AGAIN], [])) == 1
    assert len(unexcused_repeats([RUN, AGAIN], [replace(STRIKE, kind=Kind.ASKED)])) == 1
    assert len(unexcused_repeats([RUN, AGAIN], [replace(STRIKE, victims=("e2",))])) == 1
    assert len(unexcused_repeats([RUN, AGAIN], [replace(STRIKE, begun_at=13.0)])) == 1
    assert unexcused_repeats([RUN, AGAIN], [replace(STRIKE, prepared_at=9.0, begun_at=13.0)]) == []
    assert len(unexcused_repeats([RUN, AGAIN], [replace(STRIKE, begun_at=1.0, settled_at=11.0)])) == 1


def test_attempts_that_count_wrongly_are_seen() -> None:
    """Two first attempts at one fire are two claims of it."""
    assert unexcused_repeats([CUT_DOWN, AGAIN], []) == []
    assert len(unexcused_repeats([CUT_DOWN, replace(AGAIN, attempt=1)], [])) == 1
