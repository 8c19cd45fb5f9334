"""What must hold of a fleet while it is troubled, judged from records and samples (pure)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.faults.strike import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tests.faults.strike import Strike
    from tests.fleet.fleet_record import RecordedRun

LAUNCH_S = 2.0
"""A run whose claim was answered before a fault may write its first line this much later, on a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The fleet at one moment."""

    at: float
    """When it was read."""
    owners: Mapping[tuple[str, int], tuple[str, ...]] | None
    """Who owns each item of each job; None if the registry did not answer."""
    able: frozenset[str]
    """The executors that run, are connected and are not drained, as the faults made tell."""
    leader: str | None = None
    """Who leads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ban:
    """A time in which something must not start."""

    what: str
    """Why, for the message."""
    since: float
    """From when on."""
    until: float
    """Until when."""
    job: str | None = None
    """Only this job, None for all."""
    executor: str | None = None
    """Only on this executor, None for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """A process of an item that was alive when it must not be."""

    run: str
    """Whose."""
    pid: int
    """Which."""
    late_s: float
    """How long after the end of its lease it was seen."""


@dataclass(slots=True)
class Orphans:
    """I4: within T + 3 s of a change of membership each item has exactly one owner, who is alive."""

    limit_s: float
    """T + 3 s."""
    faults: list[str] = field(default_factory=list)
    """What was found."""
    _fine_at: dict[tuple[str, int], float] = field(default_factory=dict)
    _told: set[tuple[str, int]] = field(default_factory=set)

    def see(self, sample: Sample, changed_at: float) -> None:
        """Take one sample more.

        Args:
            sample: The fleet now.
            changed_at: When the membership last changed.
        """
        if sample.owners is None or not sample.able:
            # Without the registry nobody can move items: the time counts anew from when it answers.
            self._fine_at.clear()
            return
        for item, owners in sample.owners.items():
            if len(owners) == 1 and owners[0] in sample.able:
                self._fine_at[item] = sample.at
                self._told.discard(item)
                continue
            since = max(self._fine_at.setdefault(item, sample.at), changed_at)
            if sample.at - since > self.limit_s and item not in self._told:
                self._told.add(item)
                self.faults.append(
                    f"{item[0]}/{item[1]} had owners {list(owners)} of {sorted(sample.able)} for "
                    f"{sample.at - since:.1f} s at {sample.at:.1f}"
                )


def outlived(runs: Iterable[RecordedRun], strikes: Sequence[Strike], t_s: float) -> list[str]:
    """I7: no item of a silenced executor lives T after its last answered request."""
    faults = []
    for run in runs:
        for strike in strikes:
            if strike.kind is not Kind.SILENT or run.executor not in strike.victims or run.start > strike.begun_at:
                continue
            over_s = min(run.last, strike.healing_at) - (strike.begun_at + t_s)
            if over_s > 0:
                faults.append(f"{run.job}/{run.item} on {run.executor} lived {over_s:.3f} s over T in {strike.fault}")
    return faults


def bans_of(strikes: Iterable[Strike]) -> list[Ban]:
    """I5: a silenced executor starts nothing."""
    return [
        Ban(what=f"without a lease ({strike.fault})", since=strike.begun_at, until=strike.healing_at, executor=name)
        for strike in strikes
        if strike.kind is Kind.SILENT
        for name in strike.victims
    ]


def forbidden(runs: Iterable[RecordedRun], bans: Sequence[Ban]) -> list[str]:
    """I5: nothing starts while it is banned."""
    return [
        f"{run.job}/{run.item} began on {run.executor} {run.start - ban.since:.3f} s into a time {ban.what}"
        for run in runs
        for ban in bans
        if ban.since + LAUNCH_S < run.start < ban.until
        and ban.job in {None, run.job}
        and ban.executor in {None, run.executor}
    ]


def takeovers(runs: Sequence[RecordedRun], strikes: Iterable[Strike]) -> dict[str, list[float]]:
    """Return by fault the seconds from it to the first line of each re-run of what it left unfinished."""
    found: dict[str, list[float]] = {}
    for strike in strikes:
        cut_down = [
            run
            for run in runs
            if run.executor in strike.victims and run.end is None and run.start <= strike.begun_at
            and strike.begun_at - 1.0 < run.last <= strike.settled_at
        ]  # fmt: skip
        for run in cut_down:
            again = next_attempt(runs, run)
            if again is not None:
                found.setdefault(strike.fault, []).append(again.start - strike.begun_at)
    return found


def gaps(runs: Sequence[RecordedRun]) -> list[float]:
    """Return the seconds between the last sign of life of each unfinished run and its re-run's first, on another."""
    found = []
    for run in runs:
        again = next_attempt(runs, run) if run.end is None else None
        if again is not None and again.executor != run.executor:
            found.append(again.start - run.last)
    return found


def lives(runs: Iterable[RecordedRun], strikes: Iterable[Strike]) -> dict[str, list[float]]:
    """Return by silencing fault how long after it each item that it ended showed life."""
    found: dict[str, list[float]] = {}
    some = list(runs)
    for strike in strikes:
        if strike.kind is Kind.SILENT:
            found.setdefault(strike.fault, []).extend(
                run.last - strike.begun_at
                for run in some
                if run.executor in strike.victims and run.end is None
                and run.start <= strike.begun_at < run.last < strike.healing_at
            )  # fmt: skip
    return found


def next_attempt(runs: Sequence[RecordedRun], run: RecordedRun) -> RecordedRun | None:
    """Return the first later attempt at a run's fire, None if there is none."""
    return next(
        (
            one
            for one in runs
            if (one.job, one.item, one.fire) == (run.job, run.item, run.fire) and one.attempt > run.attempt
        ),
        None,
    )
