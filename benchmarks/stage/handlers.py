"""Handlers of the benchmarks: they append one line with the moment of their first line, and end.

A line is ``moment fire job item attempt executor``; moments are wall-clock seconds.
"""

from __future__ import annotations

import os
import time

from benchmarks.stage import NEVER
from shardsched import ShardingContext, sharded_job

# Opened once, so that recording a run costs one write; the fork server's children inherit it.
_record = os.open(os.environ["BENCH_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


@sharded_job("mark", cron=NEVER, paused=True)
def mark(ctx: ShardingContext) -> None:
    """Record the moment."""
    moment = time.clock_gettime(time.CLOCK_REALTIME)
    fire = ctx.fire_time.timestamp()
    os.write(_record, f"{moment:.6f} {fire:.3f} {ctx.job} {ctx.item} {ctx.attempt} {ctx.executor}\n".encode())
