"""What needs attention, and its words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from console import need_text
from console.need import needs
from shardsched.admin.executor_status import ExecutorStatus
from shardsched.admin.live_value import LiveExecutor, Picture
from shardsched.core.executor import DrainMark, LeaderRecord, LoadReport

if TYPE_CHECKING:
    from console.need import Need

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LEADER = LeaderRecord(name="a", incarnation="i", epoch=1)


def codes(*executors: LiveExecutor, leader: LeaderRecord | None = LEADER) -> list[str]:
    """What a fleet of these executors needs."""
    found: list[Need] = needs(Picture(boot="b", number=1, executors=executors, leader=leader), NOON)
    return [one.code for one in found]


def executor(name: str = "a", left_at: datetime | None = None, **fields: Any) -> LiveExecutor:
    """An executor, live unless told otherwise."""
    status = ExecutorStatus(name=name, **({"state": "live"} | fields))
    return LiveExecutor(number=1, status=status, left_at=left_at)


def test_fleet_needs_executors_and_a_leader() -> None:
    """Without the first the second is not asked for."""
    assert codes() == ["no-executor"]
    assert codes(executor(), leader=None) == ["no-leader"]
    assert codes(executor()) == []


def test_executors_tell_what_they_need() -> None:
    """Clocks, slots, drains that were forgotten, and who left."""
    drift = LoadReport(at=NOON, drift_s=-6.0)
    queue = LoadReport(at=NOON, queued=3)
    day = DrainMark(at=NOON - timedelta(hours=25))
    hour = DrainMark(at=NOON - timedelta(hours=1))
    assert codes(executor(load=drift)) == ["clock-drift"]
    assert codes(executor(load=queue)) == ["slots-short"]
    assert codes(executor(state="drained", drain=day)) == ["drained-long"]
    assert codes(executor(state="drained", drain=hour)) == []
    assert codes(executor(), executor("b", state="unfit", reason="clock")) == ["executor-unfit"]
    assert codes(executor(), executor("b", state="gone", left_at=NOON)) == ["executor-left"]


def test_every_need_has_words_and_a_cure() -> None:
    """Either our advice or what the scheduler says."""
    assert set(need_text._WHAT) == set(need_text._CURES) | need_text._SAID
