"""Runs that ended, added up by job, executor, outcome and time. This module decides; it does not act."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from shardsched.history.histogram import slot
from shardsched.history.row import LOST, MISSED
from shardsched.history.table import SLOTS

if TYPE_CHECKING:
    from collections.abc import Iterable

MINUTE_US = 60_000_000
"""Microseconds in a minute."""
HOUR_US = 60 * MINUTE_US
"""And in an hour."""

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


def add_up(endings: Iterable[Ending], step_us: int) -> list[dict[str, Any]]:
    """Return rows of a roll-up without the namespace, in an order that every writer shares.

    Args:
        endings: The runs.
        step_us: `MINUTE_US` or `HOUR_US`.
    """
    sums: dict[tuple[str, int, str, str], Counter[str]] = {}
    for end in endings:
        key = (end.job, end.ended_us // step_us * step_us, end.executor, end.outcome)
        count = sums.setdefault(key, Counter())
        count["runs"] += 1
        if end.duration_us is not None:
            count["timed"] += 1
            count["duration_us"] += end.duration_us
            count["lateness_us"] += end.lateness_us
            count[SLOTS[slot(end.duration_us / 1e6)]] += 1
    # Two writers that lock the same rows in the same order cannot wait for each other in a circle.
    return [_row(key, sums[key]) for key in sorted(sums)]


def _row(key: tuple[str, int, str, str], count: Counter[str]) -> dict[str, Any]:
    job, start_us, executor, outcome = key
    return (
        {"job": job, "start_us": start_us, "executor": executor, "outcome": outcome}
        | {name: count[name] for name in ("runs", "timed", "duration_us", "lateness_us")}
        | {name: count[name] or None for name in SLOTS}
    )
