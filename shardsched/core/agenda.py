"""When each job is to be looked at next: a heap, with fire times remembered.

One job at the head of the heap is all that a timer must know, so that thousands of jobs cost one wake-up each time
something is due. Used by one thread at a time.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.core.schedule import Schedule


class Agenda:
    """The next moment of each job."""

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, str]] = []
        self._wake_at: dict[str, datetime] = {}

    def schedule(self, job: str, wake_at: datetime | None) -> None:
        """Set when a job is looked at next; None for never."""
        if wake_at is None:
            self._wake_at.pop(job, None)
            return
        if self._wake_at.get(job) != wake_at:
            self._wake_at[job] = wake_at
            heapq.heappush(self._heap, (wake_at, job))

    def head(self) -> datetime | None:
        """Return the earliest moment, None if there is none."""
        heap = self._heap
        while heap and self._wake_at.get(heap[0][1]) != heap[0][0]:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def pop_due(self, now: datetime) -> list[str]:
        """Return the jobs whose moment has come, and forget their moments."""
        jobs: list[str] = []
        head = self.head()
        while head is not None and head <= now:
            job = heapq.heappop(self._heap)[1]
            del self._wake_at[job]
            jobs.append(job)
            head = self.head()
        return jobs

    def jobs(self) -> tuple[str, ...]:
        """Return the jobs that have a moment."""
        return tuple(self._wake_at)


class FireTable:
    """Latest and next fire of each schedule, computed once for all jobs that share it.

    For each schedule the half-open span between two fires around the last question is kept, so that asking again within
    it costs nothing, and stepping into the following one costs one fire time.
    """

    _MAX_SCHEDULES = 20_000

    def __init__(self) -> None:
        self._spans: dict[Schedule, tuple[datetime | None, datetime | None]] = {}

    def around(self, schedule: Schedule, now: datetime) -> tuple[datetime | None, datetime | None]:
        """Return the latest fire up to now and the first one after now."""
        span = self._spans.get(schedule)
        if span is not None:
            latest, following = span
            if (latest is None or latest <= now) and (following is None or now < following):
                return span
            if following is not None and following <= now:
                after = schedule.next_fire(following)
                if after is None or now < after:
                    return self._keep(schedule, (following, after))
        return self._keep(schedule, (schedule.latest_fire(now), schedule.next_fire(now)))

    def _keep(
        self, schedule: Schedule, span: tuple[datetime | None, datetime | None]
    ) -> tuple[datetime | None, datetime | None]:
        if len(self._spans) >= self._MAX_SCHEDULES:
            self._spans.clear()
        self._spans[schedule] = span
        return span
