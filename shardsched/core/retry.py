"""When a run that failed is tried again, and when that is given up.

A failed run's cursor holds how often its fire has failed and when it is tried again, so that whoever owns the item then
does it. A run that was stopped, lost or interrupted has not failed, and what a failover runs again uses up no retry.
"""

from __future__ import annotations

import zlib
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.core.fire import Cursor
    from shardsched.core.job import JobConfig
    from shardsched.core.terms import Terms

JITTER = 0.2
"""By which share a delay is longer or shorter, so that what failed together is not tried again together."""


def retry_delay_s(config: JobConfig, failures: int, run_id: str) -> float:
    """Return how long after a failure its fire is tried again, in seconds.

    Args:
        config: The job.
        failures: How often the fire has failed by now, from 1.
        run_id: The run that failed; its name decides the jitter, so that all executors say the same.
    """
    delay_s = min(config.retry_max_delay_s, config.retry_delay_s * config.retry_backoff ** (failures - 1))
    luck = zlib.crc32(run_id.encode(errors="replace")) / 2**32
    return delay_s * (1 - JITTER + 2 * JITTER * luck)


def next_try(config: JobConfig, failures: int, run_id: str, ended_at: datetime) -> datetime | None:
    """Return when a fire is tried again that has failed so often, None if it is not."""
    if failures > config.retries or config.deleting:
        return None
    return ended_at + timedelta(seconds=retry_delay_s(config, failures, run_id))


def retry_starts_at(terms: Terms, cursor: Cursor) -> datetime | None:
    """Return when the retry of an item may start: its time, or the end of the pause window that this lies in.

    None while the job is paused: then nobody knows. A time further ahead than any delay tells of a clock that was set
    back; it has come.
    """
    now = terms.moment.now
    if terms.config.paused or cursor.retry_at is None:
        return None
    longest = timedelta(seconds=terms.config.retry_max_delay_s * (1 + JITTER)) + terms.moment.drift_limit
    at = now if cursor.retry_at > now + longest else max(cursor.retry_at, now)
    return terms.schedule.opens_at(at)


def retry_fault(terms: Terms, item: int, cursor: Cursor) -> str | None:
    """Return why the retry of an item is given up whatever the time, None if it is not."""
    if terms.stop > cursor.stop:
        return "stopped"
    if item in terms.disabled:
        return "the item is disabled"
    if cursor.failures > terms.config.retries:
        return f"the job has {terms.config.retries} retries by now"
    return None
