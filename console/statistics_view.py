"""Statistics as pages and programs get them: from roll-ups alone, compared with the period before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from console.context import context
from shardsched.history.figure import Metric, Ranked, Ranking, Standing, Sum, without

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from shardsched.history.figure import Point


class Range(NamedTuple):
    """How far back somebody looks."""

    span: timedelta
    """So far."""
    step: timedelta
    """How much time each point of a chart stands for."""


RANGES = {
    "1h": Range(timedelta(hours=1), timedelta(minutes=1)),
    "24h": Range(timedelta(hours=24), timedelta(hours=1)),
    "7d": Range(timedelta(days=7), timedelta(hours=2)),
    "30d": Range(timedelta(days=30), timedelta(hours=12)),
}
USUAL = "24h"
MAX_RANKED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A figure, and what it was in the period before."""

    now: float | None
    """The figure."""
    before: float | None
    """What it was."""
    is_more_better: bool | None
    """Whether more of it is good; None if it is neither."""

    @property
    def ratio(self) -> float | None:
        """By which share it grew; None if that says nothing."""
        return None if self.now is None or not self.before else self.now / self.before - 1

    @property
    def mood(self) -> str:
        """``good``, ``bad`` or empty."""
        ratio = self.ratio
        if ratio is None or self.is_more_better is None or abs(ratio) < 0.005:
            return ""
        return "good" if (ratio > 0) == self.is_more_better else "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One period and the one before."""

    since: datetime
    """When it began."""
    now: Sum
    """Its runs."""
    before: Sum
    """Those of the period before, which was as long."""

    def change(self, of: Callable[[Sum], float | None], *, is_more_better: bool | None = None) -> Change:
        """Return a figure of both."""
        return Change(now=of(self.now), before=of(self.before), is_more_better=is_more_better)

    def changes(self) -> dict[str, Change]:
        """Return all that are shown, by name."""
        return {
            "success_rate": self.change(lambda one: one.success_rate, is_more_better=True),
            "runs": self.change(lambda one: one.runs),
            "failed": self.change(lambda one: one.failed, is_more_better=False),
            "missed": self.change(lambda one: one.counts.get("missed", 0), is_more_better=False),
            "p50_s": self.change(lambda one: one.percentile(0.5), is_more_better=False),
            "p95_s": self.change(lambda one: one.percentile(0.95), is_more_better=False),
            "lateness_s": self.change(lambda one: one.mean_lateness_s, is_more_better=False),
            "busy_s": self.change(lambda one: one.busy_s),
        }


def summary(span: timedelta, job: str | None = None) -> Summary:
    """Return the runs of a period that ends now, and of the one before.

    Raises:
        HistoryError: No answer.
    """
    history, now = context().history, context().clock.now()
    since = now - span
    present = history.summary(since=since, job=job)
    both = history.summary(since=since - span, job=job)
    return Summary(since=since, now=present, before=without(both, present))


def points(metric: Metric, wanted: Range, job: str | None = None) -> tuple[Point, ...]:
    """Return a figure over a period that ends now.

    Raises:
        HistoryError: No answer.
    """
    now = context().clock.now()
    return context().history.series(metric, wanted.step, now - wanted.span, now, job)


def rankings(of: Ranked, since: datetime) -> dict[Ranking, tuple[Standing, ...]]:
    """Return the jobs or executors that fail most, are slowest, and are busiest.

    Raises:
        HistoryError: No answer.
    """
    return context().history.tops(of, MAX_RANKED, since)


def ranking(by: Ranking, of: Ranked, count: int, since: datetime) -> tuple[Standing, ...]:
    """Return the first of one ranking.

    Raises:
        HistoryError: No answer.
    """
    return context().history.top(by, of, count, since)
