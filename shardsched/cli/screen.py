"""The status of a fleet as text: one screen for a small fleet, tables for any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.cli.error import printable
from shardsched.cli.output import write_line, write_table
from shardsched.core.item import format_items
from shardsched.core.zone import load_zone
from shardsched.errors import ConfigurationError

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.admin.executor_status import ExecutorStatus
    from shardsched.admin.status import CheckpointStatus, FleetStatus, ItemStatus, JobStatus
    from shardsched.core.fire import Cursor


def write_fleet(status: FleetStatus) -> None:
    """Print who leads, the executors, the jobs, what runs, and what does not and why."""
    leader = status.leader
    leads = "nobody leads" if leader is None else f"{leader.name} leads (epoch {leader.epoch})"
    write_line(f"{status.at:%Y-%m-%d %H:%M:%S} UTC, {leads}")
    write_line("")
    if status.executors:
        write_executors(status)
    else:
        write_line("no executor lives; start one with 'shardsched run MODULE'")
    write_line("")
    if status.jobs:
        write_jobs(status)
    else:
        write_line("no job yet; code decorated with @sharded_job makes one, or 'shardsched job create'")


def write_executors(status: FleetStatus) -> None:
    """Print the executors."""
    headings = ("EXECUTOR", "STATE", "HOST", "PID", "OWNS", "RUNS", "CPU", "MEMORY", "DRIFT", "NOTE")
    write_table(headings, [_executor_row(one) for one in status.executors])


def _executor_row(status: ExecutorStatus) -> tuple[str, ...]:
    record, load = status.record, status.load
    slots = f"/{record.slots}" if record else ""
    notes = [note for note in ("leads" if status.is_leader else "", status.reason or "") if note]
    return (
        status.name,
        status.state,
        record.host if record else "-",
        str(record.pid) if record else "-",
        str(status.items),
        f"{status.running}{slots}",
        f"{load.cpu:.0%}" if load else "-",
        f"{load.memory_mb:.0f} MB" if load else "-",
        f"{load.drift_s:+.1f} s" if load else "-",
        "; ".join(notes),
    )


def write_jobs(status: FleetStatus) -> None:
    """Print the jobs, then what runs, then what does not and why."""
    headings = ("JOB", "STATE", "CRON", "NEXT FIRE", "ITEMS", "OWNERS")
    write_table(headings, [_job_row(job) for job in status.jobs])
    running = [_running_line(job, item, status.at) for job in status.jobs for item in job.items if item.marker]
    if running:
        write_line("")
        write_table(("RUNS", "ITEM", "ON", "FIRE", "ATTEMPT", "FOR"), running)
    reasons = [(job.entry.name, reason) for job in status.jobs for reason in job.reasons]
    if reasons:
        write_line("")
        write_table(("NOT", "WHY"), reasons)


def _job_row(job: JobStatus) -> tuple[str, ...]:
    config = job.entry.config
    owners = "  ".join(f"{name}: {format_items(items)}" for name, items in job.owners.items())
    return (
        job.entry.name,
        str(job.state),
        (config.cron or "-") if config else "?",
        zoned(job.next_fire, config.timezone) if config else "-",
        str(config.items) if config else "?",
        owners or "-",
    )


def _running_line(job: JobStatus, item: ItemStatus, at: datetime) -> tuple[str, ...]:
    marker, config = item.marker, job.entry.config
    if marker is None:
        return (job.entry.name, str(item.item), "?", "?", "?", "?")
    return (
        job.entry.name,
        str(item.item),
        marker.executor,
        zoned(marker.fire, config.timezone if config else "UTC"),
        str(marker.attempt),
        duration((at - marker.started_at).total_seconds()),
    )


def zoned(at: datetime | None, timezone: str) -> str:
    """Return a time in a job's zone, with its weekday and zone; UTC where the zone is not valid."""
    if at is None:
        return "-"
    try:
        zone = load_zone(timezone)
    except ConfigurationError:
        zone = load_zone("UTC")
    local = at.astimezone(zone)
    return f"{local:%a %Y-%m-%d %H:%M:%S} {local.tzname()}"


def duration(seconds: float) -> str:
    """Return a length of time for people."""
    if seconds < 0:
        return "0 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = int(seconds // 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def write_job(job: JobStatus) -> None:
    """Print all of one job."""
    details = job.details()
    write_line(f"job {job.entry.name}: {job.state}, version {job.entry.version}")
    for reason in job.reasons:
        write_line(f"  not: {reason}")
    if job.entry.config is not None:
        zone = job.entry.config.timezone
        write_line(f"  next fire: {zoned(job.next_fire, zone)}")
        for name, value in details.items():
            is_told = not name.startswith("after_") or bool(details["after"])
            if name in _SHOWN and is_told and value not in (None, "", {}, []):
                write_line(f"  {name}: {printable(_text(value))}")
    write_line("")
    headings = ("ITEM", "OWNER", "STATE", "FIRE", "ATTEMPT", "EXECUTOR", "TOKEN", "MESSAGE")
    timezone = job.entry.config.timezone if job.entry.config else "UTC"
    write_table(headings, [_item_row(item, timezone) for item in job.items])
    saved = [_saved_row(one.item, one.checkpoint, timezone) for one in job.items if one.checkpoint]
    if saved:
        write_line("")
        write_table(("SAVED", "AT", "TOKEN", "BYTES", "STATE"), saved)


_MAX_STATE_SHOWN = 60
_SHOWN = (
    "handler",
    "task",
    "cron",
    "timezone",
    "pause",
    "items",
    "disabled_items",
    "item_params",
    "param",
    "after",
    "after_mode",
    "after_on",
    "waits_for",
    "last_completed",
    "failover",
    "misfire",
    "misfire_grace",
    "retries",
    "retry_delay",
    "retry_backoff",
    "retry_max_delay",
    "on_failure",
    "timeout",
    "warn_after",
    "stop_grace",
    "isolation",
    "strategy",
    "labels",
    "priority",
    "description",
    "armed_at",
)


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}={text}" for key, text in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _saved_row(item: int, checkpoint: CheckpointStatus, timezone: str) -> tuple[str, ...]:
    record, size = checkpoint.record, str(checkpoint.bytes)
    if record is None:
        return (str(item), "-", "-", size, f"cannot be loaded: {checkpoint.fault}")
    return (
        str(item),
        zoned(record.saved_at, timezone),
        str(record.token),
        size,
        (record.state or "")[:_MAX_STATE_SHOWN],
    )


def _item_row(item: ItemStatus, timezone: str) -> tuple[str, ...]:
    cursor = item.cursor
    return (
        str(item.item),
        item.owner or "-",
        "running" if item.marker else str(cursor.state) if cursor else "-",
        zoned(cursor.run_fire or cursor.fire, timezone) if cursor else "-",
        str(cursor.attempt) if cursor else "-",
        cursor.executor or "-" if cursor else "-",
        str(cursor.token) if cursor else "-",
        item.reason or _note(cursor, timezone),
    )


def _note(cursor: Cursor | None, timezone: str) -> str:
    if cursor is None:
        return ""
    again = f"tried again at {zoned(cursor.retry_at, timezone)}" if cursor.is_retried else ""
    return "; ".join(text for text in (cursor.message, again) if text)
