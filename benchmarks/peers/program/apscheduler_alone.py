"""APScheduler 3 in one process: a job for each of ours, a pool of threads, nothing shared with anyone."""

from __future__ import annotations

import signal
import sys
from typing import Any

from apscheduler.events import EVENT_JOB_EXECUTED
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from benchmarks.peers import record

_begun: dict[str, float] = {}


def fire(job: str) -> None:
    """Note the moment; when it was due is known to the event that follows."""
    _begun[job] = record.wall()


def told(event: Any) -> None:
    """Record a run with its due moment; a job has one run at a time, so the note is its own."""
    record.write(event.scheduled_run_time.timestamp(), event.job_id, moment=_begun[event.job_id])


def main(jobs: int) -> None:
    """Run until killed."""
    # A misfire grace of a minute, as shardsched's; the default of one second drops what is later.
    defaults = {"coalesce": True, "max_instances": 1, "misfire_grace_time": 60}
    executors = {"default": ThreadPoolExecutor(50)}
    scheduler = BackgroundScheduler(timezone="UTC", executors=executors, job_defaults=defaults)
    scheduler.add_listener(told, EVENT_JOB_EXECUTED)
    for number in range(jobs):
        scheduler.add_job(fire, "cron", second="*", id=f"job-{number}", args=[f"job-{number}"])
    scheduler.start()
    signal.pause()


if __name__ == "__main__":
    main(int(sys.argv[1]))
