"""RedBeat's scheduler, which also says in each message when it was due; it changes nothing else."""

from __future__ import annotations

import math
from typing import Any

from redbeat import RedBeatScheduler

from benchmarks.peers import record


class Scheduler(RedBeatScheduler):  # type: ignore[misc]  # redbeat has no types
    """RedBeat, telling."""

    def apply_async(self, entry: Any, *arguments: Any, **options: Any) -> Any:
        """Send an entry's task."""
        last = entry.last_run_at
        due = entry.schedule.rrule.after(last).timestamp() if last else math.floor(record.wall())
        entry.options["headers"] = {"fire": str(due)}
        return super().apply_async(entry, *arguments, **options)
