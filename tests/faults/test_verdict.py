"""The judge of troubled fleets, on made-up good and bad records and samples."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from tests.faults.strike import Kind, Strike, percentile
from tests.faults.verdict import (
    Ban,
    Orphans,
    Sample,
    bans_of,
    forbidden,
    gaps,
    lives,
    outlived,
    takeovers,
)
from tests.fleet.fleet_record import RecordedRun

RUN = RecordedRun(
    run="r1", job="j", item=0, items=1, fire=datetime(2026, 1, 1, tzinfo=UTC), executor="e1", cause="schedule",
    attempt=1, token=1, param="", job_param="", pid=1, start=9.0, last=12.0, end=None, outcome="",
)  # fmt: skip
AGAIN = replace(RUN, run="r2", executor="e2", attempt=2, start=14.5, last=16.0, end=16.0, outcome="end")
CUT = Strike(fault="cut", victims=("e1",), kind=Kind.SILENT, begun_at=10.0, healing_at=17.0, healed_at=17.1)
KILL = replace(CUT, fault="kill", kind=Kind.KILLED)
T_S = 4.0


def sample(at: float, *owners: str, able: tuple[str, ...] = ("e1", "e2")) -> Sample:
    """Return a sample of one item."""
    return Sample(at=at, owners={("j", 0): owners}, able=frozenset(able))


def orphaned(*samples: Sample, changed_at: float = 0.0) -> list[str]:
    """Return what I4 finds with a limit of 7 s."""
    orphans = Orphans(7.0)
    for one in samples:
        orphans.see(one, changed_at)
    return orphans.faults


def test_item_dead_before_t_after_its_executor_fell_silent_is_in_order() -> None:
    """I7 holds for an item that died in time, and for one that outlived a fault shorter than T."""
    assert outlived([RUN], [CUT], T_S) == []
    assert outlived([replace(RUN, last=30.0)], [replace(CUT, healing_at=13.0)], T_S) == []


def test_item_alive_after_t_is_seen() -> None:
    """I7 is seen broken, whatever the item did later, and only for the victim."""
    assert len(outlived([replace(RUN, last=14.1)], [CUT], T_S)) == 1
    assert len(outlived([replace(RUN, last=30.0)], [CUT], T_S)) == 1
    assert outlived([replace(RUN, last=14.1, executor="e2")], [CUT], T_S) == []
    assert outlived([replace(RUN, last=14.1)], [KILL], T_S) == []


def test_start_without_a_lease_or_in_a_banned_time_is_seen() -> None:
    """I5 is seen broken on the executor or the job concerned, and nowhere else."""
    late = replace(RUN, start=13.0)
    assert forbidden([RUN, AGAIN], bans_of([CUT])) == []
    assert len(forbidden([late], bans_of([CUT]))) == 1
    assert forbidden([replace(late, start=17.5)], bans_of([CUT])) == []
    paused = Ban(what="paused", since=10.0, until=17.0, job="j")
    assert len(forbidden([late], [paused])) == 1
    assert forbidden([replace(late, job="k")], [paused]) == []


def test_owner_that_is_gone_for_too_long_is_seen_once() -> None:
    """I4 is seen broken after the limit, and told once."""
    times = [float(n) for n in range(12)]
    assert len(orphaned(*(sample(at, "e3") for at in times))) == 1
    assert len(orphaned(*(sample(at, "e1", "e2") for at in times))) == 1
    assert len(orphaned(*(sample(at) for at in times))) == 1


def test_owner_that_is_back_in_time_is_in_order() -> None:
    """I4 holds within the limit of a change, and counts anew from each change and after the registry was away."""
    assert orphaned(*(sample(float(n), "e3" if n < 7 else "e1") for n in range(12))) == []
    assert orphaned(*(sample(float(n), "e3") for n in range(12)), changed_at=5.0) == []
    away = Sample(at=6.0, owners=None, able=frozenset({"e1"}))
    assert orphaned(*(away if n == 6 else sample(float(n), "e3") for n in range(13))) == []
    assert orphaned(*(sample(float(n), "e3", able=()) for n in range(12))) == []


def test_figures_tell_takeover_gap_and_life() -> None:
    """The seconds are counted from the fault, from the last sign of life, and to it."""
    assert takeovers([RUN, AGAIN], [KILL]) == {"kill": [4.5]}
    assert takeovers([replace(RUN, end=12.0), AGAIN], [KILL]) == {}
    assert takeovers([RUN, AGAIN], [replace(KILL, settled_at=11.0)]) == {}
    assert gaps([RUN, AGAIN]) == [2.5]
    assert lives([RUN, AGAIN], [CUT, KILL]) == {"cut": [2.0]}


def test_percentile_is_a_value_that_was_seen() -> None:
    """No value is made up."""
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([1.0], 0.95) == 1.0
    assert percentile([float(n) for n in range(1, 101)], 0.95) == 95.0
