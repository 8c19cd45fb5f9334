"""The last runs of a job as a grid: its items by its last fires."""

from __future__ import annotations

from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from console.context import context

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shardsched.history.row import RunRow

GRID_ITEMS = 25
"""Items on one page of the grid."""
GRID_FIRES = 50
"""Fires shown, the latest."""
_SHOWN = attrgetter("run_id", "outcome", "executor", "ended_at", "duration_s", "attempt", "message")


class Column(NamedTuple):
    """One fire."""

    fire: datetime
    """When it was due, or asked for."""
    cause: str
    """Why it was run."""


class Grid(NamedTuple):
    """Runs by item and fire."""

    columns: tuple[Column, ...]
    """The fires, the latest last."""
    lines: tuple[tuple[int, tuple[RunRow | None, ...]], ...]
    """By item: the last attempt at each fire, None where there was none."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing has run yet."""
        return not self.columns

    @property
    def shown_key(self) -> Any:
        """What pages show of it; a thousand rows have much more."""
        return self.columns, [(item, [run and _SHOWN(run) for run in runs]) for item, runs in self.lines]


def last_runs_grid(job: str, items: Sequence[int]) -> Grid:
    """Return the last runs of some items.

    Raises:
        HistoryError: They cannot be read.
    """
    found = context().history.last_runs(job, items, GRID_FIRES)
    return make_grid(found.items(), GRID_FIRES)


def make_grid(found: Iterable[tuple[int, Sequence[RunRow]]], width: int) -> Grid:
    """Return runs, given by item with the last first, laid out by their fires."""
    latest: dict[int, dict[datetime, RunRow]] = {}
    causes: dict[datetime, str] = {}
    for item, runs in found:
        mine = latest.setdefault(item, {})
        for run in runs:
            fire = run.fire.astimezone(UTC)
            if fire not in mine or run.attempt > mine[fire].attempt:
                mine[fire] = run
            causes.setdefault(fire, run.cause)
    fires = sorted(causes)[-width:]
    columns = tuple(Column(fire, causes[fire]) for fire in fires)
    lines = tuple((item, tuple(mine.get(fire) for fire in fires)) for item, mine in sorted(latest.items()))
    return Grid(columns, lines)
