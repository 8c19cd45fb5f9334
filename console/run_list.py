"""Which runs somebody wants to see, and those that are new since."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from console.context import context
from console.label import FAILED
from console.locale import zone
from console.text import gettext as _
from shardsched.errors import NotFoundError
from shardsched.history.filter import RunFilter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shardsched.history.row import RunRow

FILTERS = ("job", "item", "executor", "cause", "outcome", "since", "until", "min")
"""Their names in addresses."""
MAX_NEW = 99
_TICK = timedelta(microseconds=1)


class RunNotFoundError(NotFoundError):
    """Raised when history does not have a run."""

    def __init__(self, run_id: str) -> None:
        super().__init__(_("History has no run %(run)s; perhaps it is older than what is kept.", run=repr(run_id[:80])))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunList:
    """Some runs, the newest first."""

    runs: Sequence[RunRow]
    """The runs."""
    next: str | None
    """Where the next page begins."""
    top: datetime
    """Runs that were claimed later are new."""
    new_count: int
    """How many of those there are; no more than `MAX_NEW` are counted."""

    @property
    def longest_s(self) -> float:
        """The longest of the durations, for bars."""
        return max((run.duration_s for run in self.runs), default=0.0)


def wanted_runs(args: Mapping[str, str]) -> RunFilter:
    """Return the filter in an address; what makes no sense is left out."""
    outcome = args.get("outcome", "")
    return RunFilter(
        job=args.get("job", "").strip() or None,
        item=_item(args.get("item", "")),
        executor=args.get("executor", "").strip() or None,
        outcomes=frozenset(FAILED) if outcome == "bad" else frozenset(filter(None, [outcome])),
        causes=frozenset(filter(None, [args.get("cause", "")])),
        since=local_time(args.get("since", "")),
        until=local_time(args.get("until", "")),
        min_duration_s=_seconds(args.get("min", "")),
    )


def list_runs(wanted: RunFilter, *, after: str | None, top: datetime | None, limit: int) -> RunList:
    """Return a page of runs as they are now, and how many are new.

    Args:
        wanted: Which.
        after: Where the page begins; None for the newest.
        top: The page holds no run that was claimed later; None for none that is known.
        limit: How many at most.

    Raises:
        ConfigurationError: The place cannot be.
        HistoryError: No answer.
    """
    history, shown = context().history, wanted
    if top is not None:
        shown = replace(wanted, until=min(filter(None, (wanted.until, top + _TICK))))
    page = history.runs(shown, after=after, limit=limit)
    new_count = 0
    if top is not None and after is None:
        since = max(filter(None, (wanted.since, top + _TICK)))
        new_count = len(history.runs(replace(wanted, since=since), limit=MAX_NEW).rows)
    if top is None:
        top = page.rows[0].queued_at if page.rows and after is None else context().clock.now()
    return RunList(runs=page.rows, next=page.next, top=top, new_count=new_count)


def local_time(text: str) -> datetime | None:
    """Return a time: ISO 8601, in the viewer's zone unless it says which; None if it is none."""
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=zone())).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _item(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and 0 < seconds < 1e12 else None
