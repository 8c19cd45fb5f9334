"""Between rows as people use them and the columns of the tables."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from shardsched.history.row import EventRow, RunRow
from shardsched.history.text import (
    MAX_TRACEBACK,
    clean_count,
    clean_end,
    clean_json,
    clean_seconds,
    clean_tail,
    clean_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """Return a time as whole microseconds since 1970."""
    return (at - _EPOCH) // _MICROSECOND


def moment(us: int) -> datetime:
    """Return the time of so many microseconds since 1970, in UTC; the nearest that there is."""
    try:
        return _EPOCH + timedelta(microseconds=us)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if us > 0 else datetime.min.replace(tzinfo=UTC)


def run_values(run: RunRow) -> dict[str, Any]:
    """Return the columns of a run, as every database takes them."""
    return {
        "run_id": clean_text(run.run_id),
        "job": clean_text(run.job),
        "uid": clean_text(run.uid),
        "item": clean_count(run.item),
        "items": clean_count(run.items),
        "fire_us": microseconds(run.fire),
        "cause": clean_text(run.cause),
        "attempt": clean_count(run.attempt),
        "executor": clean_text(run.executor),
        "incarnation": clean_text(run.incarnation),
        "token": clean_count(run.token),
        "queued_us": microseconds(run.queued_at),
        "started_us": None if run.started_at is None else microseconds(run.started_at),
        "ended_us": None if run.ended_at is None else microseconds(run.ended_at),
        "outcome": None if run.outcome is None else clean_text(run.outcome),
        "message": clean_text(run.message),
        "exit_code": None if run.exit_code is None else clean_count(run.exit_code),
        "signal": None if run.signal is None else clean_count(run.signal),
        "peak_memory_kb": clean_count(run.peak_memory_kb),
        "cpu_s": clean_seconds(run.cpu_s),
        "duration_s": clean_seconds(run.duration_s),
        "log_path": clean_text(run.log_path),
        "dropped_bytes": clean_count(run.dropped_bytes),
        "param": clean_text(run.param),
        "job_param": clean_text(run.job_param),
        "stats": clean_json(run.stats),
        "actor": clean_text(run.by),
        "traceback": clean_end(run.traceback, MAX_TRACEBACK),
        "log_tail": clean_tail(run.log_tail),
    }


def run_row(values: Mapping[Any, Any]) -> RunRow:
    """Return the run in columns of which ``traceback`` and ``log_tail`` may be missing."""
    return RunRow(
        run_id=values["run_id"],
        job=values["job"],
        uid=values["uid"],
        item=values["item"],
        items=values["items"],
        fire=moment(values["fire_us"]),
        cause=values["cause"],
        attempt=values["attempt"],
        executor=values["executor"],
        incarnation=values["incarnation"],
        token=values["token"],
        queued_at=moment(values["queued_us"]),
        started_at=None if values["started_us"] is None else moment(values["started_us"]),
        ended_at=None if values["ended_us"] is None else moment(values["ended_us"]),
        outcome=values["outcome"],
        message=values["message"],
        traceback=values.get("traceback", ""),
        exit_code=values["exit_code"],
        signal=values["signal"],
        peak_memory_kb=values["peak_memory_kb"],
        cpu_s=values["cpu_s"],
        duration_s=values["duration_s"],
        log_path=values["log_path"],
        log_tail=values.get("log_tail", ""),
        dropped_bytes=values["dropped_bytes"],
        param=values["param"],
        job_param=values["job_param"],
        stats=_mapping(values["stats"]),
        by=values["actor"],
    )


def event_values(event_id: str, event: EventRow) -> dict[str, Any]:
    """Return the columns of an event, as every database takes them."""
    return {
        "event_id": event_id,
        "at_us": microseconds(event.at),
        "kind": clean_text(event.kind),
        "executor": clean_text(event.executor),
        "job": clean_text(event.job),
        "item": None if event.item is None else clean_count(event.item),
        "run_id": clean_text(event.run_id),
        "actor": clean_text(event.by),
        "message": clean_text(event.message),
        "detail": clean_json(event.detail),
    }


def forget_values(job: str, at: datetime) -> dict[str, Any]:
    """Return the columns that have everything of a job removed in time that is from before a moment."""
    return {"job": clean_text(job), "before_us": microseconds(at)}


def event_row(values: Mapping[Any, Any]) -> EventRow:
    """Return the event in columns."""
    return EventRow(
        at=moment(values["at_us"]),
        kind=values["kind"],
        executor=values["executor"],
        job=values["job"],
        item=values["item"],
        run_id=values["run_id"],
        by=values["actor"],
        message=values["message"],
        detail=_mapping(values["detail"]),
    )


def _mapping(text: str) -> dict[str, Any]:
    # Somebody may have written the column by hand.
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"unreadable": text[:200]}
    return value if isinstance(value, dict) else {"value": value}
