"""Celery on Redis: what workers run, and a schedule that RedBeat keeps in Redis."""

from __future__ import annotations

import os
import threading
from typing import Any

from celery import Celery
from redbeat.schedules import rrule

from benchmarks.peers import record

JOBS = int(os.environ["PEER_JOBS"])
TIMEOUT_S = int(os.environ["PEER_TIMEOUT_S"])
LONG_S = 60.0

app = Celery("peer", broker=os.environ["PEER_REDIS"])
app.conf.update(
    task_ignore_result=True,
    # So that a task that a dead worker left is run again: it is acknowledged at its end, and handed to another worker
    # when that has not come in time. Redis cannot tell a dead worker from a slow one: a task that runs longer than
    # this is run twice. The default is an hour.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    broker_transport_options={
        "visibility_timeout": TIMEOUT_S,
        "unacked_restore_interval": 1,
        "unacked_restore_throttle": 1,
    },
    broker_connection_retry_on_startup=True,
    # A standby beat waits for the lock of the one that runs. The default is 25 minutes.
    redbeat_redis_url=os.environ["PEER_REDIS"],
    redbeat_lock_timeout=TIMEOUT_S,
    beat_max_loop_interval=1,
    # Crontab entries know minutes only; RedBeat's rules know seconds.
    beat_schedule={
        f"job-{number}": {"task": "fire", "schedule": rrule("SECONDLY"), "args": [f"job-{number}"]}
        for number in range(JOBS)
    },
)


def _fire(task: Any, job: str) -> None:
    # Standing in the message, put there by the scheduler of `celery_beat`.
    record.write(float(task.request.headers["fire"]), job)


def _crawl() -> None:
    record.write(record.wall(), "long")
    threading.Event().wait(LONG_S)


fire = app.task(name="fire", bind=True)(_fire)
crawl = app.task(name="crawl")(_crawl)
