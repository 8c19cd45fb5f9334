"""What history keeps: one row for each run, and one for each event."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

LOST = "lost"
"""Outcome of a run that nobody will ever finish."""
MISSED = "missed"
"""Outcome of a fire that nobody started in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One attempt at one item of one fire. Times are aware; unknown numbers are 0, unknown texts empty."""

    run_id: str
    """Unique for every attempt; all that is told of it is kept under this."""
    job: str
    """Name of the job."""
    uid: str
    """Identity of the job; one deleted and made again under its name has another."""
    item: int
    """Which sharding item."""
    items: int
    """How many items the fire has."""
    fire: datetime
    """The scheduled time."""
    cause: str
    """schedule, misfire, failover, manual, dependency or retry."""
    attempt: int
    """Which try at the fire, from 1."""
    executor: str
    """Name of the executor."""
    incarnation: str
    """Identity of its session."""
    token: int
    """The fencing token of the claim."""
    queued_at: datetime
    """When it was claimed."""
    started_at: datetime | None = None
    """When its handler began; None if it did not, or not yet."""
    ended_at: datetime | None = None
    """When it was over; None while it runs."""
    outcome: str | None = None
    """How it ended; None while it runs."""
    message: str = ""
    """One line for people; 2,000 characters are kept."""
    traceback: str = ""
    """The exception in full; 32,000 characters are kept. Empty in lists."""
    exit_code: int | None = None
    """Exit code of its process; None if a signal ended it or there was none."""
    signal: int | None = None
    """The signal that ended its process; None if none did."""
    peak_memory_kb: int = 0
    """Most memory in use, in KiB."""
    cpu_s: float = 0.0
    """Processor time."""
    duration_s: float = 0.0
    """From the start of the handler to its end."""
    log_path: str = ""
    """Where its output is on the executor's machine."""
    log_tail: str = ""
    """The end of its output, 64 KiB at most; the recorder reads it from the log. Empty in lists."""
    dropped_bytes: int = 0
    """How much output was over the limit of the log."""
    param: str = ""
    """The item's parameter."""
    job_param: str = ""
    """The job's parameter."""
    stats: Mapping[str, Any] = field(default_factory=dict)
    """What the run says of itself, as small JSON: pages fetched, rows written."""
    by: str = ""
    """Who asked for it, where somebody did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """Something that happened, or that somebody did."""

    at: datetime
    """When."""
    kind: str
    """What: the value of an `shardsched.core.events.Event`, or an operator's command such as ``command_trigger``."""
    executor: str = ""
    """Which executor it concerns."""
    job: str = ""
    """Which job."""
    item: int | None = None
    """Which item."""
    run_id: str = ""
    """Which run."""
    by: str = ""
    """Who did it, where somebody did."""
    message: str = ""
    """One line for people."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """More of it, as small JSON."""


def missed_run_id(uid: str, item: int, fire: datetime) -> str:
    """Return the run id under which a missed fire is kept: the same whoever tells of it, and however often."""
    text = f"{uid}\0{item}\0{fire.astimezone(UTC).isoformat()}"
    return f"missed-{hashlib.blake2b(text.encode(errors='replace'), digest_size=12).hexdigest()}"
