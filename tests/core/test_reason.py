"""Why a job does not fire."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from shardsched.core.assignment import Assignment, Layout
from shardsched.core.executor import DrainMark, ExecutorRecord, LeaderRecord
from shardsched.core.job import JobConfig
from shardsched.core.reason import JobState, judge, live_owners
from shardsched.core.view import FleetView, JobEntry
from shardsched.sentence import Sentence

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CONFIG = JobConfig(name="books", uid="u", handler="crawl", cron="0 * * * *", armed_at=NOW, items=3)
LEADER = LeaderRecord(name="e1", incarnation="i", epoch=1)


def executor(name: str, **fields: Any) -> ExecutorRecord:
    """Return an executor that hosts the handler, unless told otherwise."""
    defaults: dict[str, Any] = {"handlers": {"crawl": "shop:crawl"}}
    return ExecutorRecord(
        name=name,
        incarnation=f"{name}-1",
        host="h",
        ip="",
        pid=1,
        process_start="",
        started_at=NOW,
        version="",
        **(defaults | fields),
    )


def fleet(*executors: ExecutorRecord, leader: LeaderRecord | None = LEADER, **fields: Any) -> FleetView:
    """Return a fleet with these executors."""
    return FleetView(executors={one.name: one for one in executors}, leader=leader, **fields)


def entry(
    config: JobConfig | None = CONFIG, owners: dict[str, tuple[int, ...]] | None = None, **fields: Any
) -> JobEntry:
    """Return a job, assigned where owners are given."""
    layout = Layout(items=3, config=0)
    assignment = None if owners is None else Assignment(uid="u", layouts=(layout,), owners=owners)
    return JobEntry(name="books", version=0, config=config, assignment=assignment, **fields)


def test_judge_owned_job_has_no_reason() -> None:
    """A job whose items all have living owners is enabled and has nothing in its way."""
    verdict = judge(entry(owners={"e1": (0, 1, 2)}), fleet(executor("e1")))
    assert (verdict.state, verdict.reasons, verdict.reason) == (JobState.ENABLED, (), None)


@pytest.mark.parametrize(
    ("job", "members", "state", "word"),
    [
        (entry(None, held="unreadable configuration: x"), fleet(), JobState.HELD, "unreadable"),
        (entry(None), fleet(), JobState.HELD, "unreadable"),
        (entry(held="invalid cron"), fleet(executor("e1")), JobState.HELD, "invalid cron"),
        (entry(replace(CONFIG, deleting=True)), fleet(executor("e1")), JobState.HELD, "being deleted"),
        (entry(replace(CONFIG, paused=True), {"e1": (0, 1, 2)}), fleet(executor("e1")), JobState.PAUSED, "paused"),
        (entry(replace(CONFIG, paused=True)), fleet(), JobState.PAUSED, "paused"),
        (entry(), fleet(), JobState.UNOWNED, "no executor is running"),
        (entry(), fleet(executor("e1", handlers={})), JobState.UNOWNED, "hosts the handler"),
        (entry(), fleet(executor("e1"), drained={"e1": DrainMark(at=NOW)}), JobState.UNOWNED, "drained"),
        (entry(), fleet(executor("e1", unfit="its clock is 75 s ahead")), JobState.UNOWNED, "75 s ahead"),
        (entry(), fleet(executor("e1"), leader=None), JobState.UNOWNED, "no executor leads"),
        (entry(), fleet(executor("e1")), JobState.UNOWNED, "waits for the leader to assign"),
        (entry(assignment_fault="it is not JSON"), fleet(executor("e1")), JobState.UNOWNED, "writes it anew"),
        (entry(owners={"e0": (0, 1, 2)}), fleet(executor("e1")), JobState.UNOWNED, "waits for the leader to assign"),
        (entry(owners={"e1": (0, 1)}), fleet(executor("e1")), JobState.ENABLED, "items 2 have no owner"),
        (
            entry(replace(CONFIG, disabled_items=(0, 1, 7)), {"e1": (0, 1, 2)}),
            fleet(executor("e1")),
            JobState.ENABLED,
            "items 0-1 are disabled",
        ),
        (
            entry(replace(CONFIG, items=5), {"e1": (0, 1, 2)}),
            fleet(executor("e1")),
            JobState.ENABLED,
            "to lay out 5 items",
        ),
    ],
)
def test_judge_gives_state_and_weightiest_reason(job: JobEntry, members: FleetView, state: JobState, word: str) -> None:
    """Each thing in the way of a job gives its state and names itself first."""
    verdict = judge(job, members)
    assert verdict.state is state
    assert word in (verdict.reason or "")
    assert all(isinstance(reason, Sentence) or reason == job.held for reason in verdict.reasons)


def test_judge_paused_and_unowned_tells_both() -> None:
    """A paused job that nobody could own says so too, so that resuming holds no surprise."""
    verdict = judge(entry(replace(CONFIG, paused=True)), fleet())
    assert verdict.reasons == ("paused", "no executor is running")


def test_live_owners_leaves_out_the_dead_and_the_empty() -> None:
    """Only living executors that own something are owners."""
    job = entry(owners={"e1": (0,), "e2": (1,), "e3": ()})
    assert live_owners(job.assignment, fleet(executor("e1"), executor("e3"))) == {"e1": (0,)}
    assert live_owners(None, fleet(executor("e1"))) == {}
