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


@sharded_job("save", cron=NEVER, paused=True)
def save(ctx: ShardingContext) -> None:
    """Save as often as the job's parameter says a text of so many characters: ``200x60000``; print each duration."""
    count, size = map(int, ctx.job_param.split("x"))
    ctx.load()
    begun = time.perf_counter()
    lines = []
    for _ in range(count):
        before = time.perf_counter()
        ctx.save("x" * size)
        lines.append(f"{time.perf_counter() - before:.6f}")
    with open(f"{os.environ['BENCH_RECORD']}.{ctx.job}.{ctx.item}", "w") as file:  # noqa: PTH123 - as light as can be
        file.write(f"{time.perf_counter() - begun:.6f} {' '.join(lines)}\n")
