"""What statistics are made of, and how figures come from counts. This module decides; it does not act."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from shardsched.history.histogram import SLOT_COUNT, percentile
from shardsched.history.row import MISSED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

OK = "ok"
"""The outcome of a run that did what it was to do."""
NEUTRAL = frozenset({"stopped", "refused", MISSED})
"""Outcomes that count neither as success nor as failure: somebody wanted it, or the handler never began."""


@dataclass(slots=True)
class Sum:
    """Runs added up."""

    counts: dict[str, int] = field(default_factory=dict)
    """How many, by outcome."""
    timed: int = 0
    """How many of them have a duration."""
    duration_us: int = 0
    """Their durations together."""
    lateness_us: int = 0
    """How late they began, together."""
    slots: list[int] = field(default_factory=list)
    """Their histogram; empty if it was not asked for."""

    @property
    def runs(self) -> int:
        """How many in all."""
        return sum(self.counts.values())

    @property
    def failed(self) -> int:
        """How many failed."""
        return sum(count for outcome, count in self.counts.items() if outcome != OK and outcome not in NEUTRAL)

    @property
    def success_rate(self) -> float | None:
        """The share of those that did what they were to do; None if none did or failed."""
        good = self.counts.get(OK, 0)
        judged = good + self.failed
        return good / judged if judged else None

    @property
    def busy_s(self) -> float:
        """How long they took together."""
        return self.duration_us / 1e6

    @property
    def mean_s(self) -> float | None:
        """How long one took on average."""
        return self.duration_us / 1e6 / self.timed if self.timed else None

    @property
    def mean_lateness_s(self) -> float | None:
        """How late one began on average."""
        return self.lateness_us / 1e6 / self.timed if self.timed else None

    def percentile(self, share: float) -> float | None:
        """Return what that share of them did not exceed, in seconds."""
        return percentile(self.slots, share)

    def add(self, outcome: str, runs: int, timed: int, duration_us: int, lateness_us: int, slots: list[int]) -> None:
        """Add runs of one outcome."""
        self.counts[outcome] = self.counts.get(outcome, 0) + runs
        self.timed += timed
        self.duration_us += duration_us
        self.lateness_us += lateness_us
        self.slots = [mine + theirs for mine, theirs in zip(self.slots, slots, strict=True)] if self.slots else slots


def without(whole: Sum, part: Sum) -> Sum:
    """Return what is left of a sum without a part of it: a period from its beginning, without its end."""
    counts = {outcome: max(count - part.counts.get(outcome, 0), 0) for outcome, count in whole.counts.items()}
    return Sum(
        counts={outcome: count for outcome, count in counts.items() if count},
        timed=max(whole.timed - part.timed, 0),
        duration_us=max(whole.duration_us - part.duration_us, 0),
        lateness_us=max(whole.lateness_us - part.lateness_us, 0),
        slots=[max(all_of - some, 0) for all_of, some in zip(whole.slots, part.slots or [0] * SLOT_COUNT, strict=True)]
        if whole.slots
        else [],
    )


class Metric(StrEnum):
    """A figure over time."""

    RUNS = "runs"
    """How many runs ended."""
    OK = "ok"
    """How many did what they were to do."""
    FAILED = "failed"
    """How many failed."""
    MISSED = "missed"
    """How many fires nobody started."""
    SUCCESS_RATE = "success_rate"
    """The share of those that did what they were to do, from 0 to 1."""
    BUSY_S = "busy_s"
    """Seconds of work."""
    MEAN_S = "mean_s"
    """Mean duration in seconds."""
    P50_S = "p50_s"
    """Duration in seconds that half did not exceed."""
    P95_S = "p95_s"
    """And that 95 of 100 did not."""
    P99_S = "p99_s"
    """And that 99 of 100 did not."""
    LATENESS_S = "lateness_s"
    """Seconds that one began after its scheduled time, on average."""

    @property
    def needs_slots(self) -> bool:
        """Whether it comes from the histogram."""
        return self in {Metric.P50_S, Metric.P95_S, Metric.P99_S}

    def of(self, total: Sum) -> float | None:
        """Return the figure; None if there is nothing it could come from."""
        return _FIGURES[self](total)


_FIGURES: Mapping[Metric, Callable[[Sum], float | None]] = {
    Metric.RUNS: lambda total: total.runs,
    Metric.OK: lambda total: total.counts.get(OK, 0),
    Metric.FAILED: lambda total: total.failed,
    Metric.MISSED: lambda total: total.counts.get(MISSED, 0),
    Metric.SUCCESS_RATE: lambda total: total.success_rate,
    Metric.BUSY_S: lambda total: total.busy_s,
    Metric.MEAN_S: lambda total: total.mean_s,
    Metric.P50_S: lambda total: total.percentile(0.5),
    Metric.P95_S: lambda total: total.percentile(0.95),
    Metric.P99_S: lambda total: total.percentile(0.99),
    Metric.LATENESS_S: lambda total: total.mean_lateness_s,
}


class Ranking(StrEnum):
    """What a ranking is by."""

    FAILING = "failing"
    """Failed runs."""
    SLOW = "slow"
    """The duration that 95 of 100 runs do not exceed."""
    BUSY = "busy"
    """Seconds of work."""

    def of(self, total: Sum) -> float:
        """Return what counts."""
        match self:
            case Ranking.FAILING:
                return total.failed
            case Ranking.SLOW:
                return total.percentile(0.95) or 0.0
            case Ranking.BUSY:
                return total.busy_s


class Ranked(StrEnum):
    """What is ranked."""

    JOBS = "jobs"
    """Jobs."""
    EXECUTORS = "executors"
    """Executors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One figure of a series."""

    at: datetime
    """When the time begins that it stands for."""
    value: float | None
    """The figure; None if there is nothing it could come from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A job or executor in a ranking."""

    name: str
    """Its name."""
    value: float
    """What it is ranked by."""
    total: Sum
    """Its runs."""
