"""What should have fired, and what became of each item of it (pure).

A *target* is one item of one fire that a job's cron names while the job was armed. Every target must have come to an
end, or have been given up with a logged reason; one of which nobody tells anything is a silent loss, the worst of all.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from shardsched.core.cron import parse_cron
from tests.faults.strike import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tests.faults.strike import Strike
    from tests.fleet.fleet_record import RecordedRun

_ENDED = frozenset({"end", "failed"})
_INSTANT = timedelta(microseconds=1)


class Fate(StrEnum):
    """What became of a target."""

    ONCE = "once"
    """It ran once and came to its end."""
    RERUN = "re-run"
    """It ran again after an attempt that had not come to its end."""
    REPEATED = "repeated"
    """It ran again although an attempt had come to its end, whose outcome a fault kept from being written."""
    MISSED = "missed"
    """It was given up, and the log says why."""
    UNFINISHED = "unfinished"
    """It began and never came to its end: a violation."""
    SILENT = "silent loss"
    """Nobody tells anything of it: a violation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One stretch of time in which a job was armed."""

    job: str
    """The job."""
    cron: str
    """When it fires."""
    items: int
    """How many items each fire has."""
    armed_at: datetime
    """The first fire lies after this."""
    until: datetime
    """Fires after this are nobody's duty any more: the job was paused, or the record ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedFires:
    """What an executor's log says of fires that were given up."""

    job: str
    """The job."""
    item: int
    """The item."""
    first: datetime
    """The first of them."""
    last: datetime
    """The last of them."""
    reason: str = ""
    """Why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One item of one fire, and what became of it."""

    job: str
    """The job."""
    item: int
    """The item."""
    fire: datetime
    """The fire."""
    fate: Fate
    """What became of it."""

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.job}/{self.item} at {self.fire.isoformat()}: {self.fate}"


def fires_of(schedule: Schedule) -> Iterator[datetime]:
    """Return the fires that a schedule names."""
    cron = parse_cron(schedule.cron)
    fire = cron.next_fire(schedule.armed_at)
    while fire is not None and fire <= schedule.until:
        yield fire
        fire = cron.next_fire(fire)


def targets(schedules: Iterable[Schedule], runs: Iterable[RecordedRun], missed: Iterable[MissedFires]) -> list[Target]:
    """Return each item of each fire that was due, with its fate."""
    by_target: dict[tuple[str, int, datetime], list[RecordedRun]] = defaultdict(list)
    for run in runs:
        by_target[run.job, run.item, run.fire].append(run)
    given_up: dict[tuple[str, int], list[MissedFires]] = defaultdict(list)
    for one in missed:
        given_up[one.job, one.item].append(one)
    return [
        Target(
            job=schedule.job,
            item=item,
            fire=fire,
            fate=_fate(by_target[schedule.job, item, fire], fire, given_up[schedule.job, item]),
        )
        for schedule in schedules
        for fire in fires_of(schedule)
        for item in range(schedule.items)
    ]


def _fate(runs: Sequence[RecordedRun], fire: datetime, given_up: Sequence[MissedFires]) -> Fate:
    ended = [run for run in runs if run.outcome in _ENDED]
    if ended:
        if len(runs) == 1:
            return Fate.ONCE
        return Fate.RERUN if len(ended) == 1 and ended[0] is runs[-1] else Fate.REPEATED
    if any(one.first <= fire <= one.last for one in given_up):
        return Fate.MISSED
    return Fate.UNFINISHED if runs else Fate.SILENT


def losses(found: Iterable[Target]) -> list[str]:
    """No target may be lost silently or stay unfinished."""
    return [str(target) for target in found if target.fate in {Fate.UNFINISHED, Fate.SILENT}]


def strays(schedules: Sequence[Schedule], runs: Iterable[RecordedRun]) -> list[str]:
    """No scheduled run is of a time that the job's cron does not name."""
    crons = {schedule.job: parse_cron(schedule.cron) for schedule in schedules}
    return [
        f"{run.job}/{run.item} ran for {run.fire.isoformat()}, which its cron does not name"
        for run in runs
        if run.cause != "manual" and run.job in crons and crons[run.job].next_fire(run.fire - _INSTANT) != run.fire
    ]


def unexcused_repeats(runs: Iterable[RecordedRun], strikes: Sequence[Strike], slack_s: float = 0.5) -> list[str]:
    """I2: no fire of an item runs again after it came to its end, unless a fault kept its outcome from being written.

    A run's outcome is written a moment after its code has ended; a fault that hits its executor in that moment leaves
    it unwritten, and the fire is rightly run again: that is what *at least once* means.

    Args:
        runs: The record.
        strikes: The faults.
        slack_s: How long before a fault a run may have ended whose outcome was not written yet.
    """
    by_fire: dict[tuple[str, int, datetime, bool], list[RecordedRun]] = defaultdict(list)
    for run in runs:
        by_fire[run.job, run.item, run.fire, run.cause == "manual"].append(run)
    faults = []
    for (job, item, fire, _), some in by_fire.items():
        attempts = [run.attempt for run in some]
        if attempts != sorted(set(attempts)):
            faults.append(f"{job}/{item} at {fire.isoformat()} has attempts {attempts}")
        faults.extend(
            f"{job}/{item} at {fire.isoformat()} ran again after attempt {run.attempt} on {run.executor} had ended"
            for run in some[:-1]
            if run.outcome in _ENDED and not any(_excuses(strike, run, slack_s) for strike in strikes)
        )
    return faults


def repeats(runs: Sequence[RecordedRun], strike: Strike, slack_s: float = 0.5) -> int:
    """Return how many runs had come to their end and were run again by reason of a fault."""
    known = {(run.job, run.item, run.fire, run.attempt) for run in runs if run.cause != "manual"}
    return sum(
        run.outcome in _ENDED
        and (run.job, run.item, run.fire, run.attempt + 1) in known
        and _excuses(strike, run, slack_s)
        for run in runs
    )


def _excuses(strike: Strike, run: RecordedRun, slack_s: float) -> bool:
    # What people ask for loses no outcome.
    is_trouble = strike.kind not in {Kind.ASKED, Kind.BESIDE} and run.executor in strike.victims
    return is_trouble and strike.touched_at - slack_s <= (run.end or run.last) <= strike.settled_at
