"""What history says of the runs, beside what the job itself wrote."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardsched.errors import HistoryError
from shardsched.history.figure import OK
from shardsched.history.filter import RunFilter
from shardsched.history.query import History

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shardsched.demo.record import Records
    from shardsched.history.row import RunRow

_PAGE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What history says."""

    counts: Mapping[str, int]
    """Runs by how they ended; those without an end count as ``unfinished``."""
    faults: tuple[str, ...]
    """One sentence for each run of which the job wrote something else."""

    @property
    def words(self) -> str:
        """The counts for people."""
        named = [f"{count} {outcome}" for outcome, count in sorted(self.counts.items(), key=lambda one: -one[1])]
        return f"{sum(self.counts.values())} runs: {', '.join(named) or 'none'}"


def tally(rows: Sequence[RunRow], records: Records, killed: str | None) -> Tally:
    """Return what history says, compared with what the job wrote.

    Args:
        rows: All runs that history has.
        records: All that the job wrote.
        killed: The executor that was killed: what it did last may not have reached the history.
    """
    counts = Counter(row.outcome or "unfinished" for row in rows)
    return Tally(counts=dict(counts), faults=tuple(_faults({row.run_id: row for row in rows}, records, killed)))


def _faults(rows: Mapping[str, RunRow], records: Records, killed: str | None) -> Iterator[str]:
    for run in records.runs:
        if run.executor == killed:
            continue
        row = rows.get(run.run_id)
        if row is None:
            yield f"run {run.run_id} of item {run.item} is not in the history"
        elif run.ended_at is not None and (row.outcome == OK) != run.is_finished:
            wrote = "finished" if run.is_finished else "not finished"
            yield f"history says {row.outcome} of run {run.run_id} of item {run.item}, which was {wrote}"
    known = {run.run_id for run in records.runs}
    for run_id in sorted(rows.keys() - known):
        if rows[run_id].outcome == OK:
            yield f"history says ok of run {run_id} of item {rows[run_id].item}, of which the job knows nothing"


def read_tally(url: str, namespace: str, job: str, records: Records, killed: str | None) -> Tally:
    """Return what the history database says of a job, compared with what the job wrote."""
    history = History(url, namespace=namespace)
    rows: list[RunRow] = []
    after: str | None = None
    try:
        while True:
            page = history.runs(RunFilter(job=job), after=after, limit=_PAGE)
            rows.extend(page.rows)
            after = page.next
            if after is None:
                return tally(rows, records, killed)
    except HistoryError as error:
        return Tally(counts={}, faults=(f"the history cannot be read: {error}",))
    finally:
        history.close()
