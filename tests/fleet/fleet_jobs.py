"""Handlers for tests with real executors: they write their own record, whatever the product says of them.

A line is appended for the start, for every 50 ms of life and for the end, so that a killed run's last sign of life is
known. What a run does is said by its job's parameter: words such as ``hold=2`` (seconds), ``fail``, ``ignore``.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time

from shardsched import ShardingContext, sharded_job

TICK_S = 0.05
NEVER = "0 0 0 1 1 ? 2099"


def write_line(fields: dict[str, object]) -> None:
    """Append one line to the record, whole."""
    line = json.dumps(fields, separators=(",", ":")) + "\n"
    record = os.open(os.environ["FLEET_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(record, line.encode())
    finally:
        os.close(record)


def _fields(ctx: ShardingContext, what: str) -> dict[str, object]:
    return {
        "what": what,
        "at": time.clock_gettime(time.CLOCK_BOOTTIME),
        "job": ctx.job,
        "item": ctx.item,
        "items": ctx.items,
        "run": ctx.run_id,
        "fire": ctx.fire_time.isoformat(),
        "executor": ctx.executor,
        "cause": ctx.cause,
        "attempt": ctx.attempt,
        "token": ctx.fencing_token,
        "param": ctx.param,
        "job_param": ctx.job_param,
        "pid": os.getpid(),
    }


def run_as_told(ctx: ShardingContext) -> None:
    """Do what the job's parameter says, and record it."""
    words = dict(word.partition("=")[::2] for word in ctx.job_param.split())
    write_line(_fields(ctx, "start"))
    if "ignore" in words:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pause = threading.Event()
    until = time.clock_gettime(time.CLOCK_BOOTTIME) + float(words.get("hold", "0"))
    while time.clock_gettime(time.CLOCK_BOOTTIME) < until:
        pause.wait(TICK_S)
        write_line(_fields(ctx, "alive"))
        if "poll" in words and ctx.should_stop:
            write_line(_fields(ctx, "gave way"))
            return
    if "fail" in words:
        write_line(_fields(ctx, "failed"))
        message = "as told"
        raise RuntimeError(message)
    write_line(_fields(ctx, "end"))


@sharded_job("told", cron=NEVER, paused=True)
def told(ctx: ShardingContext) -> None:
    """Run as told, in a process."""
    run_as_told(ctx)


@sharded_job("told-async", cron=NEVER, paused=True)
async def told_async(ctx: ShardingContext) -> None:
    """Run as told, from a coroutine."""
    run_as_told(ctx)
