"""What is stored of an item's fires: the cursor (what was last handled) and the marker (it runs now)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from shardsched.core.codec import Fields, encode, time_text

if TYPE_CHECKING:
    from datetime import datetime

MAX_MESSAGE_LENGTH = 500
"""Characters of an outcome's message kept in the cursor; the whole stands in the run's log."""


class Cause(StrEnum):
    """Why a run was started."""

    SCHEDULE = "schedule"
    """Its moment came."""
    MISFIRE = "misfire"
    """Its moment had passed; the misfire policy had it run."""
    FAILOVER = "failover"
    """Another executor, or an earlier session of this one, left it unfinished."""
    MANUAL = "manual"
    """A person triggered it."""
    DEPENDENCY = "dependency"
    """A job that it waits for has completed a fire."""
    RETRY = "retry"
    """It had failed."""


TRIGGERED = frozenset({Cause.MANUAL, Cause.DEPENDENCY})
"""Causes of runs whose fire is a trigger, known by its number, and no scheduled time."""


class ItemState(StrEnum):
    """What became of the last fire that an item handled."""

    RUNNING = "running"
    """It was claimed; with no marker it is abandoned."""
    DONE = "done"
    """The handler returned."""
    FAILED = "failed"
    """The handler raised, crashed or was killed at its time-out."""
    STOPPED = "stopped"
    """A person stopped it."""
    LOST = "lost"
    """Its executor or session ended in the middle, and it was not run again."""
    MISSED = "missed"
    """Nobody could start it in time, and the misfire policy dropped it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """What an item last handled, at ``/items/{job}/{i}``. It is what makes a fire happen once."""

    uid: str
    """The job's."""
    state: ItemState
    """What became of the last run."""
    fire: datetime | None = None
    """The last scheduled fire handled; a manual run leaves it where it is."""
    trigger: int = 0
    """The last manual trigger handled."""
    token: int = 0
    """The fencing token of the last claim."""
    run: str = ""
    """Identity of the last run."""
    run_fire: datetime | None = None
    """The fire of the last run: a scheduled time, or when it was triggered."""
    cause: Cause = Cause.SCHEDULE
    """Why the fire was first run."""
    attempt: int = 0
    """Which attempt at that fire this was, from 1."""
    items: int = 1
    """How many items that fire has."""
    stop: int = 0
    """The job's stop counter when it was claimed."""
    executor: str = ""
    """Who ran it."""
    started_at: datetime | None = None
    """When it was claimed."""
    ended_at: datetime | None = None
    """When it ended; None while it runs."""
    message: str = ""
    """A short word on the outcome."""
    job_param: str | None = None
    """While it runs, or waits to be tried again: the job's parameter that it began with."""
    param: str | None = None
    """While it runs, or waits to be tried again: the item's parameter that it began with."""
    failures: int = 0
    """How often the fire of the last run has failed."""
    retry_at: datetime | None = None
    """When the last run, which failed, is tried again; None if it is not."""

    @property
    def is_retried(self) -> bool:
        """Whether the last run failed and is to be tried again: its fire is not over."""
        return self.state is ItemState.FAILED and self.retry_at is not None

    @property
    def run_cause(self) -> Cause:
        """Why the last run was started; failover where some attempts before it failed and others were abandoned."""
        if self.attempt <= 1:
            return self.cause
        return Cause.RETRY if self.failures >= self.attempt - 1 else Cause.FAILOVER


def encode_cursor(cursor: Cursor) -> bytes:
    """Return the stored form."""
    fields = {name: getattr(cursor, name) for name in cursor.__dataclass_fields__}
    for name in ("fire", "run_fire", "started_at", "ended_at", "retry_at"):
        fields[name] = time_text(fields[name])
    # Half a character in what an exception says must not keep the outcome of the run from being written.
    fields["message"] = cursor.message.encode(errors="backslashreplace").decode()
    return encode(fields)


def decode_cursor(path: str, value: bytes) -> Cursor:
    """Return the record stored at ``/items/{job}/{i}``.

    Raises:
        CorruptNodeError: The value is not such a record.
    """
    fields = Fields(path, value)
    return Cursor(
        uid=fields.text("uid"),
        state=fields.choice("state", ItemState),
        fire=fields.time_or_none("fire"),
        trigger=fields.integer("trigger", 0),
        token=fields.integer("token", 0),
        run=fields.text("run", ""),
        run_fire=fields.time_or_none("run_fire"),
        cause=fields.choice("cause", Cause, "schedule"),
        attempt=fields.integer("attempt", 0),
        items=fields.integer("items", 1, low=1),
        stop=fields.integer("stop", 0),
        executor=fields.text("executor", ""),
        started_at=fields.time_or_none("started_at"),
        ended_at=fields.time_or_none("ended_at"),
        message=fields.text("message", ""),
        job_param=fields.text("job_param") if fields.has("job_param") else None,
        param=fields.text("param") if fields.has("param") else None,
        failures=fields.integer("failures", 0),
        retry_at=fields.time_or_none("retry_at"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """That an item runs now, at ``/running/{job}/{i}``; it vanishes with the session that runs it."""

    uid: str
    """The job's."""
    run: str
    """Identity of the run."""
    incarnation: str
    """The session's fence."""
    executor: str
    """Who runs it."""
    fire: datetime
    """The fire."""
    attempt: int
    """Which attempt at it."""
    started_at: datetime
    """When it was claimed."""


def encode_marker(marker: Marker) -> bytes:
    """Return the stored form."""
    fields = {name: getattr(marker, name) for name in marker.__dataclass_fields__}
    return encode(fields | {"fire": time_text(marker.fire), "started_at": time_text(marker.started_at)})


def decode_marker(path: str, value: bytes) -> Marker:
    """Return the record stored at ``/running/{job}/{i}``.

    Raises:
        CorruptNodeError: The value is not such a record.
    """
    fields = Fields(path, value)
    return Marker(
        uid=fields.text("uid"),
        run=fields.text("run"),
        incarnation=fields.text("incarnation"),
        executor=fields.text("executor", ""),
        fire=fields.time("fire"),
        attempt=fields.integer("attempt", 1),
        started_at=fields.time("started_at"),
    )
