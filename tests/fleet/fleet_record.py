"""The record that the jobs wrote, as runs, and the invariants that it must show (pure)."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


@dataclass(slots=True, kw_only=True)
class RecordedRun:
    """One run as its own code saw it; times are of the boot clock, in seconds."""

    run: str
    job: str
    item: int
    items: int
    fire: datetime
    executor: str
    cause: str
    attempt: int
    token: int
    param: str
    job_param: str
    pid: int
    start: float
    last: float
    end: float | None = None
    outcome: str = ""


def read_runs(record: Path) -> list[RecordedRun]:
    """Return the runs of a record, in the order of their starts; a torn last line is passed over."""
    runs: dict[str, RecordedRun] = {}
    if not record.exists():
        return []
    for line in record.read_text().splitlines(keepends=True):
        if not line.endswith("\n"):
            continue
        fields = json.loads(line)
        if fields["what"] == "start":
            runs[fields["run"]] = _begun(fields)
            continue
        run = runs[fields["run"]]
        run.last = fields["at"]
        if fields["what"] != "alive":
            run.end, run.outcome = fields["at"], fields["what"]
    return sorted(runs.values(), key=lambda run: run.start)


def _begun(fields: dict[str, object]) -> RecordedRun:
    known = {name: fields[name] for name in RecordedRun.__dataclass_fields__ if name in fields}
    known |= {"fire": datetime.fromisoformat(str(fields["fire"])), "start": fields["at"], "last": fields["at"]}
    return RecordedRun(**known)  # type: ignore[arg-type]


def overlaps(runs: Iterable[RecordedRun]) -> list[str]:
    """I1: no two runs of one item at once."""
    faults: list[str] = []
    by_item: dict[tuple[str, int], list[RecordedRun]] = defaultdict(list)
    for run in runs:
        by_item[run.job, run.item].append(run)
    for (job, item), some in by_item.items():
        for earlier, later in itertools.pairwise(some):
            if later.start < earlier.last:
                faults.append(
                    f"{job}/{item}: {later.executor} began {earlier.last - later.start:.3f} s before "
                    f"{earlier.executor} showed its last sign of life"
                )
    return faults


TRIGGERED = frozenset({"manual", "dependency"})
"""Causes of runs whose fire is no scheduled time."""
UNRECORDED_S = 1.0
"""A run that ended this shortly before its executor was struck may not have been recorded, and rightly runs again."""


def _is_unrecorded(run: RecordedRun, strikes: Iterable[tuple[str, float]]) -> bool:
    end = run.last if run.end is None else run.end
    return any(run.executor == name and run.start <= at <= end + UNRECORDED_S for name, at in strikes)


def doubles(runs: Iterable[RecordedRun], strikes: Sequence[tuple[str, float]] = ()) -> list[str]:
    """I2: one run per item and fire, unless the earlier attempt did not come to its end, or could not be recorded.

    One that failed may be tried again.

    Args:
        runs: The record.
        strikes: Executors that were killed or frozen, and when.
    """
    faults: list[str] = []
    by_fire: dict[tuple[str, int, datetime], list[RecordedRun]] = defaultdict(list)
    for run in runs:
        by_fire[run.job, run.item, run.fire].append(run)
    for (job, item, fire), some in by_fire.items():
        ended = [
            earlier
            for earlier, later in itertools.pairwise(some)
            if earlier.outcome == "end" or (earlier.outcome == "failed" and later.cause != "retry")
        ]
        again = [earlier for earlier in ended if not _is_unrecorded(earlier, strikes)]
        faults.extend(f"{job}/{item} at {fire.isoformat()} ran again after it had come to its end" for _ in again)
        attempts = [run.attempt for run in some]
        if attempts != sorted(set(attempts)):
            faults.append(f"{job}/{item} at {fire.isoformat()} has attempts {attempts}")
    return faults


def counts(runs: Iterable[RecordedRun]) -> list[str]:
    """All items of one fire run with one item count."""
    seen: dict[tuple[str, datetime], set[int]] = defaultdict(set)
    for run in runs:
        seen[run.job, run.fire].add(run.items)
    return [
        f"{job} at {fire.isoformat()} ran with counts {some}" for (job, fire), some in seen.items() if len(some) > 1
    ]


def tokens(runs: Iterable[RecordedRun]) -> list[str]:
    """The fencing token of an item grows with every claim."""
    faults: list[str] = []
    last: dict[tuple[str, int], int] = {}
    for run in runs:
        if run.token <= last.get((run.job, run.item), 0):
            faults.append(f"{run.job}/{run.item}: token {run.token} after {last[run.job, run.item]}")
        last[run.job, run.item] = run.token
    return faults


def orders(runs: Iterable[RecordedRun]) -> list[str]:
    """I3: the scheduled fires of an item only go forward."""
    faults: list[str] = []
    last: dict[tuple[str, int], datetime] = {}
    for run in runs:
        if run.cause in TRIGGERED or run.attempt > 1:
            continue
        if (run.job, run.item) in last and run.fire <= last[run.job, run.item]:
            faults.append(
                f"{run.job}/{run.item}: fire {run.fire.isoformat()} after {last[run.job, run.item].isoformat()}"
            )
        last[run.job, run.item] = run.fire
    return faults


def violations(runs: Sequence[RecordedRun], strikes: Sequence[tuple[str, float]] = ()) -> list[str]:
    """Everything that a record must never show."""
    return [*overlaps(runs), *doubles(runs, strikes), *counts(runs), *tokens(runs), *orders(runs)]
