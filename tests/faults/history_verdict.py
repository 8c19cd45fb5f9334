"""I8: what the history must say of the runs that the jobs recorded themselves, judged from both (pure)."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.history.row import LOST, MISSED
from tests.faults.strike import Kind
from tests.faults.verdict import LAUNCH_S, next_attempt

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from shardsched.history.row import RunRow
    from tests.faults.strike import Strike
    from tests.fleet.fleet_record import RecordedRun

PROCESS_BEGUN = "process_begun"
"""Stands in an executor's log where a new process begins."""
UNWRITTEN_S = 1.5
"""What an executor was told this shortly before it was struck may not have been written, on a busy machine."""
_ORDER_SLACK = timedelta(seconds=1)
"""Runs that were claimed within this may be told of in any order: each pool has a thread of its own."""
_OUTCOMES = {"end": "ok", "failed": "failed", "gave way": "ok"}
_HARD = frozenset({Kind.KILLED, Kind.SILENT, Kind.TROUBLED})
_ANY = _HARD | {Kind.ASKED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Records that an executor said it had given up; times are of the boot clock, in seconds."""

    executor: str
    """Which executor."""
    since: float
    """When the first was given up."""
    until: float
    """When the last was."""
    count: int
    """How many."""

    def covers(self, executor: str, since: float, until: float) -> bool:
        """Whether a record of a run that was told of in that time may be among them."""
        slack_s = UNWRITTEN_S
        is_within = self.since - slack_s <= until and since <= self.until + slack_s
        return self.count > 0 and executor == self.executor and is_within


def untrue(
    runs: Iterable[RecordedRun], rows: Sequence[RunRow], strikes: Sequence[Strike], drops: Sequence[Drop]
) -> list[str]:
    """Return where the history differs from the record, once all that was ever told has been written.

    Args:
        runs: The jobs' own record.
        rows: The history.
        strikes: The faults: who was struck may have no row of what it had just begun, and ``lost`` for what it ended.
        drops: What executors said they gave up.
    """
    by_run = {row.run_id: row for row in rows}
    recorded = list(runs)
    known = {run.run for run in recorded}
    faults = [
        f"{count} rows have the id {run_id}"
        for run_id, count in Counter(row.run_id for row in rows).items()
        if count > 1
    ]
    for run in recorded:
        row = by_run.get(run.run)
        is_forgotten = row is None and _is_forgotten(run, next_attempt(recorded, run), strikes, drops)
        fault = "" if is_forgotten else _untrue(run, row, strikes, drops)
        if fault:
            faults.append(f"history of {run.run} ({run.job}/{run.item} on {run.executor}): {fault}")
    faults.extend(
        f"history has {row.run_id} as {row.outcome}, of which {row.job}/{row.item} knows nothing"
        for row in rows
        if row.run_id not in known and (row.outcome is None or row.outcome in _OUTCOMES.values())
    )
    return faults


def _untrue(run: RecordedRun, row: RunRow | None, strikes: Sequence[Strike], drops: Sequence[Drop]) -> str:
    end = run.last if run.end is None else run.end
    is_dropped = _is_dropped(run, drops)
    if row is None:
        return "" if is_dropped else "no row, and nobody counted it"
    if row.outcome is None:
        return "no outcome"
    told = (row.job, row.item, row.items, row.fire, row.cause, row.attempt, row.executor, row.token)
    if told != (run.job, run.item, run.items, run.fire, run.cause, run.attempt, run.executor, run.token):
        return f"it is told as {told}"
    wanted = _OUTCOMES.get(run.outcome)
    if row.outcome == wanted:
        return ""
    if wanted is None and (row.outcome in _OUTCOMES.values() or row.outcome == MISSED):
        return f"{row.outcome}, but it was cut down"
    is_lost = row.outcome == LOST
    kinds = _HARD if wanted is not None or is_lost else _ANY
    if _is_struck(run, end, strikes, kinds) or (is_lost and is_dropped):
        return ""
    return f"{row.outcome}, but {'it came to its ' + run.outcome if wanted else 'nobody did anything to its executor'}"


def _is_forgotten(
    run: RecordedRun, again: RecordedRun | None, strikes: Sequence[Strike], drops: Sequence[Drop]
) -> bool:
    """Whether nobody is left who could tell of a run: its executor died at once, and so did who ran it again."""
    # Only a dead process forgets; one that was frozen or cut off tells it later.
    if not _is_killed_at(run, strikes):
        return False
    if run.end is not None or again is None or again.attempt > run.attempt + 1:
        return True
    return _is_killed_at(again, strikes) or _is_dropped(again, drops)


def _is_killed_at(run: RecordedRun, strikes: Iterable[Strike]) -> bool:
    return any(
        strike.kind is Kind.KILLED
        and run.executor in strike.victims
        and run.start - LAUNCH_S <= strike.begun_at <= run.start + UNWRITTEN_S
        for strike in strikes
    )


def _is_dropped(run: RecordedRun, drops: Iterable[Drop]) -> bool:
    return any(drop.covers(run.executor, run.start, run.last if run.end is None else run.end) for drop in drops)


def dropped_runs(runs: Iterable[RecordedRun], drops: Sequence[Drop]) -> set[str]:
    """Return the runs of which a record may have been given up."""
    return {run.run for run in runs if _is_dropped(run, drops)}


def _is_struck(run: RecordedRun, end: float, strikes: Iterable[Strike], kinds: Collection[Kind]) -> bool:
    return any(
        strike.kind in kinds
        and run.executor in strike.victims
        and strike.touched_at - UNWRITTEN_S <= end
        and run.start <= strike.settled_at
        for strike in strikes
    )


def disordered(
    rows: Iterable[RunRow],
    seen: Mapping[str, int],
    *,
    unsteady: Collection[str] = (),
    dropped: Collection[str] = (),
) -> list[str]:
    """Return which rows of one executor came after rows of runs that it had claimed later.

    Args:
        rows: The history.
        seen: In which sample each was first seen, by run id.
        unsteady: Executors whose clocks were shifted, of which this cannot be said.
        dropped: Runs of which something was given up: when the claim was, their rows came with their ends.
    """
    by_session: dict[str, list[RunRow]] = defaultdict(list)
    for row in rows:
        # One without a session was told of by who ran it again.
        if (
            row.run_id in seen
            and row.incarnation
            and row.outcome != MISSED
            and row.executor not in unsteady
            and row.run_id not in dropped
        ):
            by_session[row.incarnation].append(row)
    faults = []
    for some in by_session.values():
        some.sort(key=lambda row: row.queued_at, reverse=True)
        # From the last claimed on: none may have been seen later than all that were claimed well after it.
        later: list[RunRow] = []
        earliest: RunRow | None = None
        for row in some:
            while later and later[0].queued_at > row.queued_at + _ORDER_SLACK:
                one = later.pop(0)
                earliest = one if earliest is None or seen[one.run_id] < seen[earliest.run_id] else earliest
            if earliest is not None and seen[row.run_id] > seen[earliest.run_id]:
                faults.append(f"{row.executor} told of {row.run_id} after {earliest.run_id}, which it claimed later")
            later.append(row)
    return faults


def uncounted(rows: Iterable[RunRow], counts: Mapping[str, int]) -> list[str]:
    """Return the outcomes of which the figures do not count each row once."""
    wanted = Counter(row.outcome for row in rows if row.outcome is not None)
    return [
        f"history counts {counts.get(outcome, 0)} runs as {outcome} and has {wanted[outcome]}"
        for outcome in sorted({*wanted, *counts})
        if counts.get(outcome, 0) != wanted[outcome]
    ]


def nagging(executor: str, told: Iterable[str]) -> list[str]:
    """Return what an executor repeated: one warning for each time that the database was away, and for each loss.

    Args:
        executor: Which executor.
        told: Its events, in order; a new process begins anew.
    """
    faults = []
    said: set[str] = set()
    for event in told:
        if event in said:
            faults.append(f"{executor} said {event} twice while the history was away")
        elif event in {"history_away", "history_dropped"}:
            said.add(event)
        elif event in {"history_back", PROCESS_BEGUN}:
            said.clear()
    return faults
