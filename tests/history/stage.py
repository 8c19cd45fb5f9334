"""Rows to try history with."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from shardsched.clock import SYSTEM_CLOCK
from shardsched.history.column import event_values, run_values
from shardsched.history.record import Kind, Record
from shardsched.history.recorder import Recorder
from shardsched.history.row import EventRow, RunRow
from shardsched.history.store import write

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from shardsched.history.engine import Database

NAMESPACE = "fleet"
START = datetime(2026, 1, 1, tzinfo=UTC)


def make_run(number: int = 0, **fields: Any) -> RunRow:
    """Return a run that was claimed so many seconds after the start, and has not ended unless that is said."""
    usual: dict[str, Any] = {
        "run_id": f"run-{number:06}",
        "job": "books",
        "uid": "uid-1",
        "item": 0,
        "items": 4,
        "fire": START,
        "cause": "schedule",
        "attempt": 1,
        "executor": "e1",
        "incarnation": "i1",
        "token": number,
        "queued_at": START + timedelta(seconds=number),
    }
    return RunRow(**usual | fields)


def make_end(number: int = 0, outcome: str = "ok", took_s: float = 2.0, **fields: Any) -> RunRow:
    """Return a run that has ended, a tenth of a second after it was claimed plus the time it took."""
    begun = START + timedelta(seconds=number + 0.1)
    ended = {
        "started_at": begun,
        "ended_at": begun + timedelta(seconds=took_s),
        "outcome": outcome,
        "duration_s": took_s,
    }
    return make_run(number, **ended | fields)


def make_event(number: int = 0, kind: str = "run_failed", **fields: Any) -> EventRow:
    """Return an event that happened so many seconds after the start."""
    return EventRow(at=START + timedelta(seconds=number), kind=kind, **fields)


def run_record(run: RunRow) -> Record:
    """Return the record of a run."""
    return Record(Kind.RUN, run_values(run))


def event_record(number: int, event: EventRow) -> Record:
    """Return the record of an event."""
    return Record(Kind.EVENT, event_values(f"event-{number:06}", event))


def store(database: Database, records: Iterable[Record], namespace: str = NAMESPACE) -> None:
    """Write records in one transaction."""
    with database.writing() as connection:
        write(connection, namespace, records)


def make_recorder(url: str, spool_dir: Path, **options: Any) -> Recorder:
    """Return a recorder that is not started."""
    usual: dict[str, Any] = {
        "namespace": NAMESPACE,
        "executor": "e1",
        "clock": SYSTEM_CLOCK,
        "rng": random.Random(1),  # noqa: S311 - it spreads attempts
    }
    return Recorder(url, spool_dir, **usual | options)
