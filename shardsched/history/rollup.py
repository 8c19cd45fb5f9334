"""Runs that ended, added up by job, executor, outcome and time. This module decides; it does not act."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from shardsched.history.histogram import slot
from shardsched.history.row import LOST, MISSED
from shardsched.history.table import SLOTS

if TYPE_CHECKING:
    from collections.abc import Iterable

MINUTE_US = 60_000_000
"""Microseconds in a minute."""
HOUR_US = 60 * MINUTE_US
"""In an hour."""
DAY_US = 24 * HOUR_US
"""And in a day, of UTC."""
ALL_JOBS = ""
"""In place of a job's name: all of them together, so that nobody adds up a thousand jobs for one figure."""

_UNTIMED = frozenset({LOST, MISSED})
"""Nobody knows how long they took."""


class Ending(NamedTuple):
    """What of a run's end is added up."""

    job: str
    """Its job."""
    executor: str
    """Where it ran."""
    outcome: str
    """How it ended."""
    ended_us: int
    """When."""
    duration_us: int | None
    """How long it took; None if that is not known."""
    lateness_us: int
    """How long after its scheduled time it began."""


def ending(values: dict[str, Any]) -> Ending:
    """Return what of a run is added up, from its columns."""
    is_timed = values["started_us"] is not None and values["outcome"] not in _UNTIMED
    return Ending(
        job=values["job"],
        executor=values["executor"],
        outcome=values["outcome"],
        # One told without its end counts when it was claimed.
        ended_us=values["queued_us"] if values["ended_us"] is None else values["ended_us"],
        duration_us=int(values["duration_s"] * 1e6) if is_timed else None,
        lateness_us=max(values["started_us"] - values["fire_us"], 0) if is_timed else 0,
    )


def add_up(endings: Iterable[Ending], step_us: int) -> dict[str, list[dict[str, Any]]]:
    """Return what is to be added to a roll-up, without the namespace.

    Args:
        endings: The runs.
        step_us: `MINUTE_US`, `HOUR_US` or `DAY_US`.

    Returns:
        Rows by the one column of the histogram that they have, which is empty for runs without a duration: a row with
        all of these columns would cost five times as much to write. All stand in an order that every writer shares.
    """
    sums: dict[tuple[str, str, int, str, str], list[int]] = {}
    for end in endings:
        is_timed = end.duration_us is not None
        name = SLOTS[slot((end.duration_us or 0) / 1e6)] if is_timed else ""
        start_us = end.ended_us // step_us * step_us
        for job in {end.job, ALL_JOBS}:
            sum_ = sums.setdefault((name, job, start_us, end.executor, end.outcome), [0, 0, 0, 0])
            for place, value in enumerate((1, is_timed, end.duration_us or 0, end.lateness_us if is_timed else 0)):
                sum_[place] += value
    rows: dict[str, list[dict[str, Any]]] = {}
    # Two writers that lock the same rows in the same order do not wait for each other in a circle.
    for name, job, start_us, executor, outcome in sorted(sums):
        runs, timed, duration_us, lateness_us = sums[name, job, start_us, executor, outcome]
        row = {
            "job": job,
            "start_us": start_us,
            "executor": executor,
            "outcome": outcome,
            "runs": runs,
            "timed": timed,
            "duration_us": duration_us,
            "lateness_us": lateness_us,
        }
        rows.setdefault(name, []).append(row | {name: timed} if name else row)
    return rows
