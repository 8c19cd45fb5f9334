"""When a job fires by itself: its cron trigger less its pause windows, or never.

Windows are jumped over stretch by stretch, not fire by fire: a job of every second costs as much as one of every day.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from shardsched.core.cron import check_can_fire, fires_after, parse_cron
from shardsched.core.pause_window import Pauses, parse_pause_window
from shardsched.core.zone import load_zone
from shardsched.errors import JobConfigError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.core.cron import Cron

MAX_JUMPS = 4_000
"""Stretches of pause, a day long at most, behind which a fire is looked for, in a fifth of a second. A guess: eight
years, the longest time from one 29 February to the next, and some more."""

_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The fires of a job. Equal ones have equal texts; made by `make_schedule`."""

    cron: Cron | None
    """The trigger, None where the job never fires by itself."""
    timezone: str = "UTC"
    """The zone in which trigger and windows are read."""
    pauses: Pauses | None = None
    """When it does not fire, None where there is no such time."""

    def next_fire(self, after: datetime) -> datetime | None:
        """Return the first fire strictly after an aware time, in UTC; None if there is none.

        Raises:
            ValueError: The time is naive.
        """
        if self.cron is None:
            return None
        fire = self.cron.next_fire(after)
        if self.pauses is None:
            return fire
        zone = load_zone(self.timezone)
        for _ in range(MAX_JUMPS):
            end = None if fire is None else self.pauses.end_of(zone, fire)
            if end is None:
                return fire
            fire = self.cron.next_fire(end - _MICROSECOND)
        return None

    def latest_fire(self, at: datetime) -> datetime | None:
        """Return the latest fire at or before an aware time, in UTC; None if there is none.

        Raises:
            ValueError: The time is naive.
        """
        if self.cron is None:
            return None
        fire = self.cron.latest_fire(at)
        if self.pauses is None:
            return fire
        zone = load_zone(self.timezone)
        for _ in range(MAX_JUMPS):
            before = None if fire is None else self.pauses.begin_of(zone, fire)
            if before is None:
                return fire
            fire = self.cron.latest_fire(before)
        return None

    def fires(self, after: datetime, count: int) -> tuple[datetime, ...]:
        """Return the first fires strictly after an aware time, in UTC; fewer if there are no more.

        Raises:
            ValueError: The time is naive.
        """
        return fires_after(self.next_fire, after, count)

    def opens_at(self, at: datetime) -> datetime:
        """Return an aware time itself, or the end of the pause that it lies in.

        Where the pause has no end the last moment looked at is returned, years ahead.
        """
        if self.pauses is None:
            return at
        zone, opens = load_zone(self.timezone), at
        for _ in range(MAX_JUMPS):
            end = self.pauses.end_of(zone, opens)
            if end is None:
                break
            opens = end
        return opens


@lru_cache(maxsize=4096)
def make_schedule(cron: str, timezone: str = "UTC", pause: tuple[str, ...] = ()) -> Schedule:
    """Return the fires that a job's settings name.

    Raises:
        CronExpressionError: The expression or the zone is not valid.
        JobConfigError: A pause window is not valid.
    """
    trigger = parse_cron(cron, timezone) if cron else None
    if trigger is None:
        load_zone(timezone)
    windows = tuple(parse_pause_window(text) for text in pause)
    return Schedule(trigger, timezone, Pauses(windows) if windows else None)


def check_schedule(schedule: Schedule, after: datetime) -> None:
    """Refuse a schedule with a trigger that will never fire.

    Raises:
        CronExpressionError: The trigger has no fire after that time.
        JobConfigError: The pause windows leave it none.
        ValueError: The time is naive.
    """
    if schedule.cron is None:
        return
    check_can_fire(schedule.cron, after)
    if schedule.next_fire(after) is None:
        message = Sentence(
            "the pause windows leave %(expression)r no fire; it never fires: make them shorter",
            expression=schedule.cron.expression,
        )
        raise JobConfigError(message, setting="pause")
