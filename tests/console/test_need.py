"""What needs attention, and its words."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from console import need_text
from console.need import needs
from shardsched.admin.executor_status import ExecutorStatus
from shardsched.admin.live_value import LiveExecutor, LiveJob, Picture
from shardsched.admin.status import JobStatus
from shardsched.core.executor import DrainMark, ExecutorRecord, LeaderRecord, LoadReport
from shardsched.core.reason import JobState
from shardsched.core.setting import new_job
from shardsched.core.sight import ItemSight
from shardsched.core.view import JobEntry

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


def job(name: str, unowned: int) -> LiveJob:
    """A job of four items, of which some have no owner."""
    config = new_job(name, "u", {"handler": "news:crawl", "items": 4}, NOON)
    sights = (ItemSight.UNOWNED,) * unowned + (ItemSight.DONE,) * (4 - unowned)
    status = JobStatus(
        entry=JobEntry(name=name, version=0, created_id=1, config=config),
        state=JobState.ENABLED,
        reasons=("items wait for the leader",) if unowned else (),
        next_fire=None,
        owners={"a": tuple(range(unowned, 4))},
        items=(),
    )
    return LiveJob(changed=1, status=status, sights=sights, owners=(0,) * 4, text="", counts=Counter(sights))


def job_needs(*jobs: LiveJob, hosted: str = "news:crawl", leader: LeaderRecord | None = LEADER) -> list[Need]:
    """What jobs need in a fleet of one executor that hosts a handler."""
    record = ExecutorRecord(
        name="a",
        incarnation="i",
        host="h",
        ip="10.0.0.1",
        pid=1,
        process_start="1",
        started_at=NOON,
        version="1",
        handlers={hosted: hosted},
    )
    by_name = {one.status.entry.name: one for one in jobs}
    found = needs(Picture(boot="b", number=1, executors=(executor(record=record),), leader=leader, jobs=by_name), NOON)
    return [one for one in found if one.code != "no-leader"]


def test_items_that_are_just_moved_are_told_together() -> None:
    """Of a few jobs one by one, of many in one line; not where nobody could own them or nobody leads."""
    many = [job("news", 2), job("shop", 1), job("stock", 4), job("whole", 0)]
    assert [(one.code, one.name) for one in job_needs(*many[:2])] == [("unowned", "news"), ("unowned", "shop")]
    together = job_needs(*many)
    assert [(one.code, one.count, one.number) for one in together] == [("moving", 7, 3)]
    assert need_text.need_words(together[0]).what.startswith("7 items of 3 jobs wait")
    assert [one.code for one in job_needs(*many, hosted="else:where")] == ["unowned"] * 3
    assert [one.code for one in job_needs(*many, leader=None)] == ["unowned"] * 3


def test_every_need_has_words_and_a_cure() -> None:
    """Either our advice or what the scheduler says."""
    assert set(need_text._WHAT) == set(need_text._CURES) | need_text._SAID
