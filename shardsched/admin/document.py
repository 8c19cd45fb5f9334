"""What is seen of a fleet as plain JSON values. Times are ISO 8601 in UTC; fields may be added, never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shardsched.admin.reader import is_abandoned
from shardsched.core.codec import time_text
from shardsched.core.dependency import waits_for
from shardsched.core.item import format_items
from shardsched.core.secret import shown_task
from shardsched.core.setting import public_settings
from shardsched.core.view import ItemView

if TYPE_CHECKING:
    from shardsched.admin.executor_status import ExecutorStatus
    from shardsched.admin.status import CheckpointStatus, FleetStatus, ItemStatus, JobStatus
    from shardsched.core.command import UpstreamFire
    from shardsched.core.tally import OpenFire, Tally

Document = dict[str, Any]
MAX_STATE_SHOWN = 200
"""Characters of a checkpoint's state that are shown."""


def fleet_document(status: FleetStatus) -> Document:
    """Return the status of a fleet.

    Executors that live are under ``executors``; drain marks whose executor does not live are under ``drained_gone``.
    """
    leader = status.leader
    return {
        "at": time_text(status.at),
        "leader": None if leader is None else leader.name,
        "epoch": None if leader is None else leader.epoch,
        "executors": [executor_document(one) for one in status.executors if one.state != "gone"],
        "drained_gone": [executor_document(one) for one in status.executors if one.state == "gone"],
        "jobs": [job_document(job) for job in status.jobs],
    }


def executor_document(status: ExecutorStatus) -> Document:
    """Return the status of one executor."""
    record, load, drain = status.record, status.load, status.drain
    return {
        "name": status.name,
        "host": record.host if record else None,
        "ip": record.ip if record else None,
        "pid": record.pid if record else None,
        "state": status.state,
        "reason": status.reason,
        "is_leader": status.is_leader,
        "items": status.items,
        "running": status.running,
        "slots": record.slots if record else None,
        "queued": load.queued if load else None,
        "drift_s": load.drift_s if load else None,
        "cpu": load.cpu if load else None,
        "memory_mb": load.memory_mb if load else None,
        "load_at": time_text(load.at) if load else None,
        "started_at": time_text(record.started_at) if record else None,
        "version": record.version if record else None,
        "incarnation": record.incarnation if record else None,
        "handlers": dict(record.handlers) if record else {},
        "labels": dict(record.labels) if record else {},
        "drained": None
        if drain is None
        else {"at": time_text(drain.at), "by": drain.by, "reason": drain.reason, "now": drain.now},
    }


def job_document(status: JobStatus) -> Document:
    """Return the status of one job, as lists show it."""
    entry = status.entry
    config = entry.config
    return {
        "name": entry.name,
        "state": str(status.state),
        "reason": status.reason,
        "reasons": list(status.reasons),
        "cron": config.cron if config else None,
        "pause": list(config.pause) if config else [],
        "disabled_items": list(config.disabled_items) if config else [],
        "timezone": config.timezone if config else None,
        "items": config.items if config else None,
        "handler": config.handler if config else None,
        "next_fire": time_text(status.next_fire),
        "owners": {name: list(items) for name, items in status.owners.items()},
        "running": [_running_document(item) for item in status.items if item.marker is not None],
        "after": list(config.after) if config else [],
        "waits_for": list(waits_for(config, entry.commands)) if config else [],
        "last_completed": _last_completed(status.tally),
        "abandoned": [item.item for item in status.items if _is_abandoned(item)],
        "version": status.entry.version,
    }


def job_details(status: JobStatus) -> Document:
    """Return all of one job: its settings, its items' cursors, and what is waited for."""
    entry = status.entry
    config, commands, assignment = entry.config, entry.commands, entry.assignment
    document = job_document(status)
    document |= public_settings(config) | {"task": shown_task(config.task)} if config else {}
    document |= {
        "uid": config.uid if config else None,
        "armed_at": time_text(config.armed_at) if config else None,
        "deleting": config.deleting if config else None,
        "cursors": [_cursor_document(item) for item in status.items],
        "layouts": [
            {"from": time_text(layout.from_fire), "items": layout.items, "config": layout.config}
            for layout in (assignment.layouts if assignment else ())
        ],
        "triggers": [
            {
                "number": trigger.number,
                "at": time_text(trigger.at),
                "items": trigger.items,
                "only": None if trigger.only is None else list(trigger.only),
                "param": trigger.param,
                "by": trigger.by,
                "cause": str(trigger.cause),
                "upstream": [_upstream_document(fire) for fire in trigger.upstream],
            }
            for trigger in (commands.triggers if commands else ())
        ],
        "upstream_done": [_upstream_document(fire) for fire in (commands.upstream if commands else ())],
        "open_fires": [_open_document(fire) for fire in (status.tally.open if status.tally else ())],
        "stopped_at": time_text(commands.stop_at) if commands else None,
    }
    return document


def _last_completed(tally: Tally | None) -> Document | None:
    fire = tally.last_completed if tally is not None else None
    if fire is None:
        return None
    return {"fire": time_text(fire.key.at), "trigger": fire.key.trigger, "outcome": str(fire.outcome)}


def _open_document(fire: OpenFire) -> Document:
    by_state = {state: [item for item, was in fire.ended.items() if was is state] for state in fire.ended.values()}
    return {
        "fire": time_text(fire.key.at),
        "trigger": fire.key.trigger,
        "items": fire.items,
        "ended": {str(state): format_items(items) for state, items in by_state.items()},
        "waits_for": format_items(item for item in range(fire.items) if fire.waits_for(item)),
    }


def _upstream_document(fire: UpstreamFire) -> Document:
    return {"job": fire.job, "fire": time_text(fire.at), "trigger": fire.trigger}


def _is_abandoned(item: ItemStatus) -> bool:
    return item.reason is not None and is_abandoned(ItemView(cursor=item.cursor, marker=item.marker))


def _running_document(item: ItemStatus) -> Document:
    marker = item.marker
    return {
        "item": item.item,
        "executor": marker.executor if marker else None,
        "fire": time_text(marker.fire) if marker else None,
        "attempt": marker.attempt if marker else None,
        "started_at": time_text(marker.started_at) if marker else None,
        "run_id": marker.run if marker else None,
    }


def _cursor_document(item: ItemStatus) -> Document:
    cursor = item.cursor
    return {
        "item": item.item,
        "owner": item.owner,
        "fire": time_text(cursor.fire) if cursor else None,
        "state": str(cursor.state) if cursor else None,
        "attempt": cursor.attempt if cursor else None,
        "executor": cursor.executor if cursor else None,
        "token": cursor.token if cursor else None,
        "run_id": cursor.run if cursor else None,
        "run_fire": time_text(cursor.run_fire) if cursor else None,
        "cause": str(cursor.cause) if cursor else None,
        "trigger": cursor.trigger if cursor else None,
        "failures": cursor.failures if cursor else None,
        "retry_at": time_text(cursor.retry_at) if cursor and cursor.is_retried else None,
        "items": cursor.items if cursor else None,
        "started_at": time_text(cursor.started_at) if cursor else None,
        "ended_at": time_text(cursor.ended_at) if cursor else None,
        "message": cursor.message if cursor else None,
        "is_running": item.marker is not None,
        "reason": item.reason,
        "checkpoint": _checkpoint_document(item.checkpoint),
    }


def _checkpoint_document(checkpoint: CheckpointStatus | None) -> Document | None:
    if checkpoint is None:
        return None
    record = checkpoint.record
    return {
        "saved_at": time_text(record.saved_at) if record else None,
        "bytes": checkpoint.bytes,
        "state": (record.state or "")[:MAX_STATE_SHOWN] if record else None,
        "token": record.token if record else None,
        "run_id": record.run if record else None,
        "fault": checkpoint.fault,
    }
