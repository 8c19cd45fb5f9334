"""Handlers for the tests of checkpoints: well-behaved ones, and some that are not."""

# ruff: noqa: T201 - what print() writes is what is tested
from __future__ import annotations

import asyncio
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

from shardsched import ShardingContext, sharded_job
from shardsched.errors import CheckpointError
from shardsched.execution.frame import send_blocking
from tests.execution.item_jobs import YEARLY, hang, note_pid

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from shardsched.execution.line import Line


def job(function: Callable[[ShardingContext], Any]) -> Callable[[ShardingContext], Any]:
    """Register a handler under its function's name."""
    return sharded_job(function.__name__, cron=YEARLY)(function)


@job
def goes_on(ctx: ShardingContext) -> None:
    """Go on counting where the last run ended."""
    print("loaded", ctx.load(0))
    ctx.save(ctx.load(0) + 1)
    print("then", ctx.load(0))


@job
async def goes_on_async(ctx: ShardingContext) -> None:
    """Do so in a coroutine, by way of a thread."""
    number = await asyncio.to_thread(ctx.load, 0)
    await asyncio.to_thread(ctx.save, number + 1)
    print("then", ctx.load(0))


@job
def saves_from_threads(ctx: ShardingContext) -> None:
    """Save from many threads at once."""
    threads = [threading.Thread(target=ctx.save, args=([number] * 1000,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("last", set(ctx.load()))


@job
def saves_without_end(ctx: ShardingContext) -> None:
    """Save growing numbers with much around them, for ever."""
    number = ctx.load({"number": 0})["number"]
    note_pid(ctx, os.getpid())
    while True:
        number += 1
        ctx.save({"number": number, "pad": "x" * 20_000, "again": number})


@job
def is_refused(ctx: ShardingContext) -> None:
    """Tell how a save and a load are refused."""
    for call in (ctx.load, lambda: ctx.save(1)):
        try:
            call()
        except CheckpointError as error:
            print(type(error).__name__, error)


@job
def forks(ctx: ShardingContext) -> None:
    """Save in a child."""
    if os.fork() == 0:
        try:
            ctx.save(1)
        except CheckpointError as error:
            print("child:", error, flush=True)
        os._exit(0)
    os.wait()
    ctx.save(2)
    print("parent:", ctx.load())


@job
def interrupted(ctx: ShardingContext) -> None:
    """Be thrown out of a save by an alarm, then go on saving."""

    def throw(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, throw)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        ctx.save("slow")
    except TimeoutError:
        print("thrown out")
    ctx.save("second")
    print("then", ctx.load())


@job
def saves_in_a_signal_handler(ctx: ShardingContext) -> None:
    """Save while a save is interrupted."""

    def handler(*_: object) -> None:
        try:
            ctx.save("nested")
        except CheckpointError as error:
            print("nested:", error)

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    ctx.save("slow")
    print("then", ctx.load())


def _line(ctx: ShardingContext) -> Line:
    ask: Any = ctx._saved_state._ask
    line: Line = ask.__self__
    return line


def _channel(ctx: ShardingContext) -> socket.socket:
    return _line(ctx)._channel


@job
def talks_nonsense(ctx: ShardingContext) -> None:
    """Send the warden asks that are none, then a sound one."""
    channel = _channel(ctx)
    nonsense: list[dict[str, Any]] = [
        {"number": "1", "what": "load"},
        {"number": True, "what": "load"},
        {"number": -1, "what": "load"},
        {"number": 2**60, "what": "load"},
        {"number": 1, "what": ["load"]},
        {"number": 1, "what": "delete"},
        {"number": 1, "what": "save", "state": {"a": 1}},
        {"number": 1, "what": "save", "state": "x" * (64 * 1024 + 1)},
        {"what": "load"},
    ]
    for message in nonsense:
        send_blocking(channel, {"type": "ask"} | message)
    send_blocking(channel, {"type": "asked", "run": "other", "number": 1, "what": "load"})
    ctx.save("sound")
    print("then", ctx.load())


@job
def never_reads(ctx: ShardingContext) -> None:
    """Ask without end and read no answer."""
    channel = _channel(ctx)
    number = 0
    note_pid(ctx, os.getpid())
    while True:
        number += 1
        send_blocking(channel, {"type": "ask", "number": number, "what": "load"})


@job
def speaks_no_frames(ctx: ShardingContext) -> None:
    """Break the stream to the warden."""
    _channel(ctx).sendall(b"\xff" * 100)
    try:
        ctx.save(1)
    except CheckpointError as error:
        print(error)
    note_pid(ctx, os.getpid())
    hang()


@job
def asks_three_times(ctx: ShardingContext) -> None:
    """Send three requests at once."""
    line = _line(ctx)
    for number in (1, 2, 3):
        line.send({"type": "ask", "number": number, "what": "load"})
    print([line._receive().get("number") for _ in range(2)])
