"""What one executor does about one job now: every item's decision, put together.

This module decides; it does not act. Planning again after the plan was carried out gives nothing more to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.core.decision import Await, Release, Run, Settle
from shardsched.core.due import due
from shardsched.core.retry import retry_starts_at
from shardsched.core.terms import Moment, Terms
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from shardsched.core.assignment import Assignment
    from shardsched.core.command import Commands
    from shardsched.core.job import JobConfig
    from shardsched.core.schedule import Schedule
    from shardsched.core.view import JobEntry, JobView


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """What is to be done about one job."""

    runs: tuple[Run, ...] = ()
    """Items to claim and run, as far as there are slots."""
    settles: tuple[Settle, ...] = ()
    """Cursors to write without a run."""
    releases: tuple[Release, ...] = ()
    """Markers of ours to give back."""
    awaits: tuple[Await, ...] = ()
    """Items that run elsewhere: wait for their markers to vanish."""
    unread: tuple[int, ...] = ()
    """Items of ours whose cursor and marker must be read before anything can be said."""
    wake_at: datetime | None = None
    """When to plan again if nothing else happens before; None: never."""
    reason: str | None = None
    """Why nothing starts although items are owned, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """Who plans."""

    name: str
    """The executor."""
    incarnation: str
    """Its session's fence."""


def plan(view: JobView, me: Me, moment: Moment, next_fire: datetime | None) -> JobPlan:
    """Return what an executor does about a job now.

    Args:
        view: The job and the executor's own items.
        me: The executor.
        moment: Now, with the job's latest fire.
        next_fire: The job's first fire after now.
    """
    usable = usable_entry(view.entry)
    if isinstance(usable, str):
        return JobPlan(reason=usable)
    config, schedule, assignment = usable
    owned = assignment.owners.get(me.name, ())
    terms = Terms(
        config=config,
        schedule=schedule,
        assignment=assignment,
        commands=view.entry.commands,
        incarnation=me.incarnation,
        running=view.running,
        moment=moment,
        disabled=frozenset(config.disabled_items),
    )
    decisions = [due(terms, item, view.items[item]) for item in owned if item in view.items]
    hold = _hold(config, assignment)
    moments = (next_fire, moment.opens_at, *_retry_moments(terms, view))
    is_waking = bool(owned) and not config.paused and not config.deleting
    return JobPlan(
        runs=() if hold else tuple(decision for decision in decisions if isinstance(decision, Run)),
        settles=tuple(decision for decision in decisions if isinstance(decision, Settle)),
        releases=tuple(decision for decision in decisions if isinstance(decision, Release)),
        awaits=tuple(decision for decision in decisions if isinstance(decision, Await)),
        unread=tuple(item for item in owned if item not in view.items),
        wake_at=min((at for at in moments if at is not None), default=None) if is_waking else None,
        reason=hold,
    )


def _retry_moments(terms: Terms, view: JobView) -> list[datetime]:
    """Return when items are tried again; one that could be now already waits for something else."""
    waiting = [one.cursor for one in view.items.values() if one.cursor is not None and one.cursor.is_retried]
    moments = (retry_starts_at(terms, cursor) for cursor in waiting)
    return [at for at in moments if at is not None and at > terms.moment.now]


def usable_entry(entry: JobEntry) -> tuple[JobConfig, Schedule, Assignment] | str:
    """Return what is needed to plan a job, or why it cannot be planned."""
    if entry.held is not None or entry.config is None:
        return entry.held or Sentence("unreadable configuration")
    if entry.assignment is None or entry.assignment_version is None:
        return entry.assignment_fault or Sentence("waits for the leader to assign its items")
    return entry.config, entry.config.schedule(), entry.assignment


def _hold(config: JobConfig, assignment: Assignment) -> str | None:
    """Return why nothing may be claimed although all can be read.

    While the configuration asks for another item count than the newest layout, nobody claims: that is what lets the
    leader read which fires were claimed under the old count, and begin the new one after them.
    """
    if config.deleting:
        return "being deleted"
    if assignment.newest.items != config.items:
        return f"waits for the leader to lay out {config.items} items"
    return None


def moment_of(schedule: Schedule, now: datetime, latest_fire: datetime | None, drift_limit_s: float) -> Moment:
    """Return the moment at which a job is looked at."""
    opens_at = schedule.opens_at(now)
    return Moment(
        now=now,
        latest_fire=latest_fire,
        drift_limit=timedelta(seconds=drift_limit_s),
        opens_at=opens_at if opens_at > now else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A run that is due, with what decides its turn."""

    job: str
    """The job."""
    priority: int
    """The job's priority."""
    run: Run
    """The run."""


def admit(candidates: Sequence[Candidate], free_slots: int) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """Return those that start now and those that wait for a slot.

    Higher priority goes first, then the older fire; a run that waits is not claimed, so that a change of the
    assignment can still help it.
    """
    if len(candidates) <= free_slots:
        return tuple(candidates), ()
    ordered = sorted(candidates, key=lambda one: (-one.priority, one.run.run_fire, one.job, one.run.item))
    return tuple(ordered[: max(free_slots, 0)]), tuple(ordered[max(free_slots, 0) :])


def stopped_runs(commands: Commands | None, claimed: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    """Return the runs that a stop command ends.

    Args:
        commands: What was asked of the job.
        claimed: Run ids with the stop counter under which each was claimed.
    """
    if commands is None:
        return ()
    return tuple(run for run, stop in claimed if commands.stop > stop)
