"""Handlers for the tests of pools: each misbehaves in one way."""

# ruff: noqa: T201 - what print() writes is what is tested
from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shardsched import ShardingContext, dataflow_job, sharded_job
from shardsched.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Callable

_NEVER = threading.Event()
YEARLY = "0 0 1 1 *"


def job(function: Callable[[ShardingContext], Any]) -> Callable[[ShardingContext], Any]:
    """Register a handler under its function's name."""
    return sharded_job(function.__name__, cron=YEARLY)(function)


def hang() -> None:
    """Wait for ever in a way that a signal handler of Python can interrupt."""
    while True:
        _NEVER.wait(1000)


def note_pid(ctx: ShardingContext, pid: int) -> None:
    """Tell the test a process id, through the folder named by the job's parameter."""
    Path(ctx.job_param, f"{ctx.run_id}.{pid}").touch()


@job
def quick(ctx: ShardingContext) -> None:
    """Return at once."""


@job
def talk(ctx: ShardingContext) -> None:
    """Write in every way there is."""
    print("by print")
    sys.stderr.write("by stderr\n")
    logging.getLogger("crawler").warning("by logging")
    ctx.log.info("by ctx.log")
    os.write(1, b"by os.write\n")
    subprocess.run(["sh", "-c", "echo by shell; echo by shell error >&2"], check=True)
    sys.stdout.write("without a newline at the end")


@job
def flood(ctx: ShardingContext) -> None:
    """Write 200 MB."""
    os.write(1, b"first line\n")
    block = b"x" * 1023 + b"\n"
    for _ in range(200 * 1024 // 64):
        os.write(1, block * 64)
    os.write(1, b"last line\n")


@job
def cooperative(ctx: ShardingContext) -> None:
    """End when asked, and say that the clean-up ran."""
    try:
        assert not ctx.should_stop
        note_pid(ctx, os.getpid())
        while True:
            ctx.checkpoint()
            _NEVER.wait(0.01)
    finally:
        print("cleaned up")


@job
def watched_from_a_thread(ctx: ShardingContext) -> None:
    """Look at the flag in another thread only."""

    def watch() -> None:
        while not ctx.should_stop:
            _NEVER.wait(0.01)
        print("seen")

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()


@job
def busy(ctx: ShardingContext) -> None:
    """Compute for ever."""
    while True:
        pass


@job
def recv(ctx: ShardingContext) -> None:
    """Read from a socket to which nobody writes."""
    ours, _theirs = socket.socketpair()
    ours.recv(1)


@job
def sleeping(ctx: ShardingContext) -> None:
    """Wait for ever."""
    hang()


@job
def ignores_sigterm(ctx: ShardingContext) -> None:
    """Be deaf to SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    note_pid(ctx, os.getpid())
    hang()


@job
def regex(ctx: ShardingContext) -> None:
    """Hold the interpreter in a regular expression that backtracks for years."""
    re.match(r"(a+)+$", "a" * 60 + "b")


@job
def power(ctx: ShardingContext) -> None:
    """Hold the interpreter in one multiplication."""
    pow(3, 10**9)


@job
def deaf_power(ctx: ShardingContext) -> None:
    """Hold the interpreter after having promised to stop by itself."""
    assert not ctx.should_stop
    note_pid(ctx, os.getpid())
    pow(3, 10**9)


def sleeper(**options: Any) -> int:
    """Start a child that sleeps and return its process id."""
    return subprocess.Popen(["sleep", "1000"], **options).pid


@job
def child(ctx: ShardingContext) -> None:
    """Have a child."""
    note_pid(ctx, sleeper())
    hang()


@job
def child_in_session(ctx: ShardingContext) -> None:
    """Have a child in a session of its own, without our environment."""
    note_pid(ctx, sleeper(start_new_session=True, env={}))
    hang()


def daemonise(ctx: ShardingContext) -> None:
    """Start a process that detaches itself as daemons do."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            note_pid(ctx, os.getpid())
            hang()
        os._exit(0)
    os.wait()


@job
def daemon(ctx: ShardingContext) -> None:
    """Have a daemon."""
    daemonise(ctx)
    hang()


@job
def daemon_left_behind(ctx: ShardingContext) -> None:
    """Return, and leave a daemon, a child and one in another session."""
    daemonise(ctx)
    note_pid(ctx, sleeper())
    note_pid(ctx, sleeper(start_new_session=True, env={}))


@job
def own_pid(ctx: ShardingContext) -> None:
    """Tell the process id, then hang."""
    note_pid(ctx, os.getpid())
    hang()


@job
def raises(ctx: ShardingContext) -> None:
    """Fail."""
    message = "no such shelf \0\udcff"
    raise LookupError(message)


@job
def exits_hard(ctx: ShardingContext) -> None:
    """Leave without a word, with the code in the item's parameter."""
    os._exit(int(ctx.param))


@job
def exits(ctx: ShardingContext) -> None:
    """Leave as scripts do."""
    sys.exit(int(ctx.param))


@job
def signals_itself(ctx: ShardingContext) -> None:
    """Be ended by the signal in the item's parameter."""
    os.kill(os.getpid(), int(ctx.param))
    hang()


@job
def thread_left_behind(ctx: ShardingContext) -> None:
    """Return although a thread that is no daemon goes on."""
    threading.Thread(target=hang, daemon=False).start()


@job
def counts(ctx: ShardingContext) -> None:
    """Count in every way there is."""
    ctx.stats |= {
        "pages": 3,
        "share": 0.5,
        "shelf": "fiction",
        "huge": 10**30,
        "nan": float("nan"),
        "at": ctx.fire_time,
    }
    ctx.stats["text"] = "x" * 5_000 + "\0"
    ctx.stats[3] = None  # type: ignore[index]  # as some will do


@job
def counts_too_much(ctx: ShardingContext) -> None:
    """Count more than is kept, and a thing that cannot be written out."""

    class Odd:
        def __str__(self) -> str:
            raise RuntimeError

    ctx.stats["odd"] = Odd()
    ctx.stats |= {f"page {number}": "x" * 100 for number in range(10_000)}


@job
def raises_unpicklable(ctx: ShardingContext) -> None:
    """Fail with an exception that cannot leave the process as an object."""

    class LocalError(Exception):
        def __init__(self, lock: object) -> None:
            super().__init__("holds a lock")
            self.lock = lock

        def __reduce__(self) -> str:
            raise TypeError

    raise LocalError(threading.Lock())


@job
def says_nonsense(ctx: ShardingContext) -> None:
    """Tell the warden of an end that no item of ours would tell, over every socket there is."""
    message = {"type": "end", "ending": "ok", "message": "\u20ac" * 2_000_000, "stats": {"n": 10**400, "deep": [[]]}}
    body = json.dumps(message, ensure_ascii=False).encode().replace(b'"deep"', b'"bad": NaN, "deep"')
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            sock = socket.socket(fileno=os.dup(descriptor))
            sock.sendall(len(body).to_bytes(4, "big") + body)
    os._exit(0)


@job
def hungry(ctx: ShardingContext) -> None:
    """Take memory until there is none."""
    note_pid(ctx, os.getpid())
    taken = []
    while True:
        taken.append(bytearray(b"x" * (8 << 20)))


@job
def refuses(ctx: ShardingContext) -> None:
    """Fail with one sentence."""
    raise RunFailedError("the shop is shut")


@job
def pools_processes(ctx: ShardingContext) -> None:
    """Share work among processes of its own."""
    with ProcessPoolExecutor(2) as pool:
        print(sum(pool.map(abs, range(-10, 0))))


class _Flow:
    """Batches of pages; the item's parameter says how many there are."""

    def __init__(self) -> None:
        self.left = 0

    def fetch(self, ctx: ShardingContext) -> list[str] | None:
        """Return two pages, or None."""
        if "batches" in ctx.stats and ctx.stats["batches"] >= int(ctx.param or "3"):
            return None
        return ["a", "b"]

    def process(self, ctx: ShardingContext, batch: list[str]) -> None:
        """Print them."""
        print(*batch)


@sharded_job("flow", cron=YEARLY)
class Flow(_Flow):
    """Goes on until there are no pages."""


@sharded_job("flow_once", cron=YEARLY)
class FlowOnce(_Flow):
    """Works one batch."""

    streaming = False


@sharded_job("flow_async", cron=YEARLY)
class FlowAsync(_Flow):
    """Works batches as a coroutine."""

    async def process(self, ctx: ShardingContext, batch: list[str]) -> None:  # type: ignore[override]  # as users may
        """Print them after a while."""
        await asyncio.sleep(0.001)
        print("async", *batch)


def _endless(ctx: ShardingContext) -> list[int]:
    return [1]


def _slow(ctx: ShardingContext, batch: list[int]) -> None:
    note_pid(ctx, os.getpid())
    _NEVER.wait(0.3)
    print("batch done")


dataflow_job("flow_endless", fetch=_endless, process=_slow, cron=YEARLY)


@job
async def async_quick(ctx: ShardingContext) -> None:
    """Wait a little."""
    await asyncio.sleep(0.01)
    print("awaited")


@job
async def async_hang(ctx: ShardingContext) -> None:
    """Wait for ever, and say that the clean-up ran."""
    try:
        note_pid(ctx, os.getpid())
        await asyncio.Event().wait()
    finally:
        print("cleaned up")


@job
async def async_thread_left_behind(ctx: ShardingContext) -> None:
    """Return although a thread of the loop's executor goes on."""
    asyncio.get_running_loop().run_in_executor(None, hang)
    await asyncio.sleep(0)


@job
async def async_raises(ctx: ShardingContext) -> None:
    """Fail after a while."""
    await asyncio.sleep(0.01)
    message = "no such shelf"
    raise LookupError(message)
