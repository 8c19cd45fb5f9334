"""Figures of runs and executors as people read them."""

from __future__ import annotations

import math
import signal
from typing import TYPE_CHECKING, NamedTuple

from console import locale
from console.text import gettext as _

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from shardsched.history.row import RunRow


NONE = "\u2013"
"""In place of a figure that there is not."""


def seconds_text(seconds: float | None) -> str:
    """Return a duration, such as ``0.42 s``, ``3 min 7 s`` or ``2 h 5 min``; a dash for none."""
    if seconds is None:
        return NONE
    if seconds < 59.95:
        pattern = "0" if seconds == 0 else "0.000" if seconds < 0.1 else "0.00" if seconds < 10 else "0.0"
        return _("%(number)s s", number=locale.number_text(seconds, pattern))
    whole = round(seconds)
    if whole < 3600:
        return _("%(minutes)s min %(seconds)s s", minutes=whole // 60, seconds=whole % 60)
    if whole < 86_400:
        return _("%(hours)s h %(minutes)s min", hours=whole // 3600, minutes=whole % 3600 // 60)
    return _("%(days)s d %(hours)s h", days=whole // 86_400, hours=whole % 86_400 // 3600)


def offset_text(seconds: float) -> str:
    """Return how far a clock is off, such as ``+0.02 s``; what rounds to nothing has no sign."""
    shown = round(seconds, 2) or 0.0
    return _("%(number)s s", number=locale.number_text(shown, "+0.00;-0.00" if shown else "0.00"))


def bytes_text(count: float) -> str:
    """Return an amount of memory or disk, such as ``24.1 MB``."""
    power = min(int(math.log(count, 1000)), 4) if count >= 1 else 0
    unit = ("B", "KB", "MB", "GB", "TB")[power]
    count /= 1000**power
    pattern = "0.0" if count < 100 and unit != "B" else "#,##0"
    return f"{locale.number_text(count, pattern)} {unit}"


def percent_text(share: float | None) -> str:
    """Return a share of one in percent; never 100 where something is missing, and a dash for none."""
    if share is None:
        return NONE
    shown = min(share, 0.9999) if share < 1 else share
    return locale.share_text(shown, "#,##0.##%" if shown > 0.99 else "#,##0.#%")


def number_text(number: float) -> str:
    """Return a number with separators."""
    return locale.number_text(number)


def signal_text(number: int) -> str:
    """Return the name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


class Bar(NamedTuple):
    """One attempt on a line of time, in percent of its length."""

    run: RunRow
    """The attempt."""
    wait_at: float
    """Where it was claimed."""
    start_at: float
    """Where its handler began."""
    end_at: float
    """Where it ended, or now."""

    @property
    def wait_width(self) -> float:
        """How long it waited for its handler to begin."""
        return round(max(self.start_at - self.wait_at, 0.0), 2)

    @property
    def width(self) -> float:
        """How long it ran; never too little to be seen."""
        return round(max(self.end_at - self.start_at, 0.75), 2)


def timeline(attempts: Sequence[RunRow], now: datetime) -> list[Bar]:
    """Return attempts on one line of time, from the first claim to the last end."""
    if not attempts:
        return []
    begin = min(run.queued_at for run in attempts)
    ends = [run.ended_at or (now if run.outcome is None else run.started_at or run.queued_at) for run in attempts]
    length_s = max((max(ends) - begin).total_seconds(), 0.001)

    def place(at: datetime) -> float:
        return round(min(max((at - begin).total_seconds() / length_s, 0.0), 1.0) * 99.25, 2)

    return [
        Bar(run, place(run.queued_at), place(run.started_at or run.queued_at), place(end))
        for run, end in zip(attempts, ends, strict=True)
    ]
