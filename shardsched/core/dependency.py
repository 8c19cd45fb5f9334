"""Jobs that fire after others: what a completed fire has them do, and who waits for whom.

This module decides; it does not act.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shardsched.core.command import MAX_WAITING_TRIGGERS, Commands, Trigger, UpstreamFire, next_number, waiting_triggers
from shardsched.core.fire import Cause
from shardsched.core.job import AfterMode, AfterOn
from shardsched.core.tally import FireOutcome
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping
    from datetime import datetime

    from shardsched.core.fire import Cursor
    from shardsched.core.job import JobConfig
    from shardsched.core.tally import ClosedFire
    from shardsched.core.view import JobEntry

MAX_DEPENDENTS = 100
"""Jobs that may wait for one; what they are told must fit one transaction."""
MAX_UPSTREAM = 500
"""Jobs that may stand before one, directly or not; those of a chain are checked together when it is written."""

_COUNTED: Mapping[AfterOn, frozenset[FireOutcome]] = {
    AfterOn.SUCCESS: frozenset({FireOutcome.SUCCESS}),
    AfterOn.FAILURE: frozenset({FireOutcome.FAILURE}),
    AfterOn.ALWAYS: frozenset({FireOutcome.SUCCESS, FireOutcome.FAILURE}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """What a completed fire has a dependent job do."""

    commands: Commands | None = None
    """What is to be stored of it, None for nothing."""
    trigger: Trigger | None = None
    """The trigger among it, None if the job still waits for others."""
    dropped: str | None = None
    """Why the job does not fire although the fire counts for it, or None."""


_NOTHING = Following()


def needs_cursors(entry: JobEntry) -> bool:
    """Whether `following` must know the dependent job's cursors: to number its triggers, or to drop those handled."""
    triggers = entry.commands.triggers if entry.commands else ()
    return not triggers or len(triggers) >= MAX_WAITING_TRIGGERS


def following(
    entry: JobEntry | None, upstream: str, fire: ClosedFire, cursors: Mapping[int, Cursor] | None, now: datetime
) -> Following:
    """Return what a completed fire has a job do.

    Args:
        entry: The dependent job as it is stored now, None if it has gone.
        upstream: The job that completed a fire.
        fire: The fire.
        cursors: The dependent job's cursors by item, if `needs_cursors` says so.
        now: The time.
    """
    config = entry.config if entry is not None else None
    if entry is None or config is None or config.deleting or upstream not in config.after:
        return _NOTHING
    if fire.outcome not in _COUNTED[config.after_on]:
        return _NOTHING
    if entry.held is not None:
        return Following(dropped=f"it is held: {entry.held}")
    if config.paused:
        return Following(dropped="it is paused")
    done = UpstreamFire(job=upstream, at=fire.key.at, trigger=fire.key.trigger)
    commands = entry.commands or Commands(uid=config.uid)
    seen = _seen(config, commands, done)
    if config.after_mode is AfterMode.ALL and {one.job for one in seen} < set(config.after):
        return Following(commands=replace(commands, upstream=seen))
    return _triggered(entry, config, commands, seen if config.after_mode is AfterMode.ALL else (done,), cursors, now)


def _seen(config: JobConfig, commands: Commands, done: UpstreamFire) -> tuple[UpstreamFire, ...]:
    """Return the completed fires that the job has seen since it last fired for them, one of each job."""
    others = (one for one in commands.upstream if one.job in config.after and one.job != done.job)
    return (*others, done)


def _triggered(
    entry: JobEntry,
    config: JobConfig,
    commands: Commands,
    seen: tuple[UpstreamFire, ...],
    cursors: Mapping[int, Cursor] | None,
    now: datetime,
) -> Following:
    waiting = commands.triggers if cursors is None else waiting_triggers(commands, entry.assignment, cursors)
    if len(waiting) >= MAX_WAITING_TRIGGERS:
        return Following(dropped=f"{len(waiting)} of its triggers still wait to run")
    trigger = Trigger(
        number=next_number(commands, entry.assignment, cursors or {}),
        at=now,
        # Not the configuration's count, which may be edited again before the leader has laid it out.
        items=entry.assignment.newest.items if entry.assignment is not None else config.items,
        by=f"after {', '.join(one.job for one in seen)}",
        cause=Cause.DEPENDENCY,
        upstream=seen,
    )
    return Following(commands=replace(commands, triggers=(*waiting, trigger), upstream=()), trigger=trigger)


def upstream_of(job: str, after: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """Return the jobs that stand before a job, directly or not; the job itself is among them if there is a circle.

    Args:
        job: The job.
        after: Tells what a job waits for.
    """
    found: set[str] = set()
    left = list(after(job))
    while left and len(found) <= MAX_UPSTREAM:
        name = left.pop()
        if name not in found:
            found.add(name)
            left.extend(after(name))
    return frozenset(found)


def waits_for(config: JobConfig, commands: Commands | None) -> tuple[str, ...]:
    """Return the upstream jobs of which a completed fire is still to come before the job fires for them."""
    if config.after_mode is AfterMode.ANY:
        return tuple(dict.fromkeys(config.after))
    seen = {one.job for one in commands.upstream} if commands is not None else set()
    return tuple(name for name in dict.fromkeys(config.after) if name not in seen)


def upstream_fault(config: JobConfig, jobs: Container[str]) -> str | None:
    """Return what is wrong with the jobs that a job waits for, None if they all exist."""
    unknown = sorted(name for name in set(config.after) if name not in jobs)
    if not unknown:
        return None
    names = ", ".join(unknown)
    if len(unknown) == 1:
        return Sentence("waits for %(names)s, which does not exist", names=names)
    return Sentence("waits for %(names)s, which do not exist", names=names)
