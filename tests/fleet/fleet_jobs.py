"""Handlers for tests with real executors: they write their own record, whatever the product says of them.

A line is appended for the start, for every 50 ms of life and for the end, so that a killed run's last sign of life is
known. What a run does is said by its job's parameter: words such as ``hold=2`` (seconds), ``fail``, ``fail=2`` (the
first two attempts), ``ignore``, or ``save=3`` (checkpoints saved in each of those 50 ms). What is loaded and saved has
a record of its own.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from shardsched import FireInfo, JobListener, ShardingContext, sharded_job
from shardsched.errors import CheckpointError, StaleTokenError

if TYPE_CHECKING:
    from shardsched.execution.failure import FailureReport

TICK_S = 0.05
NEVER = "0 0 0 1 1 ? 2099"


def write_line(fields: dict[str, object], kind: str = "") -> None:
    """Append one line to the record, or to that of a kind, whole."""
    line = json.dumps(fields, separators=(",", ":")) + "\n"
    record = os.open(os.environ["FLEET_RECORD"] + kind, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
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


class Counter:
    """Counts in the item's checkpoint, from where the run before it ended."""

    def __init__(self, ctx: ShardingContext) -> None:
        self._ctx = ctx
        state = ctx.load(self._state(0))
        self.count: int = state["count"]
        self._note(loaded=self.count, is_whole=state == self._state(self.count))

    @staticmethod
    def _state(count: int) -> dict[str, object]:
        return {"count": count, "pad": str(count) * 500}

    def _note(self, **fields: object) -> None:
        run = {"job": self._ctx.job, "item": self._ctx.item, "run": self._ctx.run_id, "executor": self._ctx.executor}
        write_line(run | fields, ".saves")

    def add(self, times: int = 1) -> None:
        """Count on, and save each number."""
        for _ in range(times):
            self.count += 1
            self._note(saving=self.count)
            self._ctx.save(self._state(self.count))
            self._note(saved=self.count)

    def add_until_refused(self) -> None:
        """Count on until the claim is over."""
        pause = threading.Event()
        while True:
            try:
                self.add()
            except CheckpointError as error:
                self._note(refused=type(error).__name__)
                if isinstance(error, StaleTokenError):
                    return
            pause.wait(TICK_S)


def run_as_told(ctx: ShardingContext) -> None:
    """Do what the job's parameter says, and record it."""
    words = dict(word.partition("=")[::2] for word in ctx.job_param.split())
    write_line(_fields(ctx, "start"))
    if "ignore" in words:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pause = threading.Event()
    counter = Counter(ctx) if "save" in words else None
    until = time.clock_gettime(time.CLOCK_BOOTTIME) + float(words.get("hold", "0"))
    while time.clock_gettime(time.CLOCK_BOOTTIME) < until:
        pause.wait(TICK_S)
        if counter is not None:
            counter.add(int(words["save"]))
        write_line(_fields(ctx, "alive"))
        if "poll" in words and ctx.should_stop:
            write_line(_fields(ctx, "gave way"))
            return
    if "fail" in words and ctx.attempt <= int(words["fail"] or 1_000):
        write_line(_fields(ctx, "failed"))
        message = "as told"
        raise RuntimeError(message)
    write_line(_fields(ctx, "end"))


def mourn(report: FailureReport) -> None:
    """Write down what failed for good, and in which process that is told."""
    line = json.dumps({**report.fields(), "pid": os.getpid(), "parent": os.getppid()}) + "\n"
    with Path(os.environ["FLEET_RECORD"]).with_suffix(".failures").open("a", encoding="utf-8") as record:
        record.write(line)


@sharded_job("told", cron=NEVER, paused=True)
def told(ctx: ShardingContext) -> None:
    """Run as told, in a process."""
    run_as_told(ctx)


@sharded_job("told-async", cron=NEVER, paused=True)
async def told_async(ctx: ShardingContext) -> None:
    """Run as told, from a coroutine."""
    run_as_told(ctx)


@sharded_job("saver", cron=NEVER, paused=True)
def saver(ctx: ShardingContext) -> None:
    """Save without looking whether to stop, until it is refused; for threads, which nothing else ends."""
    Counter(ctx).add_until_refused()


class FireTeller(JobListener):
    """Records what it is told of fires; how long it takes is said by the environment."""

    def fire_started(self, fire: FireInfo) -> None:
        """Record it."""
        self._tell("fire_started", fire)

    def fire_completed(self, fire: FireInfo) -> None:
        """Record it."""
        self._tell("fire_completed", fire)

    @staticmethod
    def _tell(what: str, fire: FireInfo) -> None:
        fields: dict[str, object] = {
            "what": what,
            "job": fire.job,
            "fire": fire.fire_time.isoformat(),
            "outcome": fire.outcome,
            "ended": {state: list(items) for state, items in fire.ended.items()},
            "pid": os.getpid(),
        }
        write_line(fields | {"step": "begin"}, ".calls")
        threading.Event().wait(float(os.environ.get("FLEET_CALL_S", "0")))
        write_line(fields | {"step": "end"}, ".calls")


@sharded_job("listened", cron=NEVER, paused=True, listeners=[FireTeller()])
def listened(ctx: ShardingContext) -> None:
    """Run as told, heard by a listener of fires."""
    run_as_told(ctx)
