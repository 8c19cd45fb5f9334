"""What a process does from the moment it becomes an item to its end.

The order matters. The item leaves the group of the fork server first, so that it can be killed with all its
children as one group. It waits until the warden is its parent before it asks the kernel to be killed with it, since
the signal would else come when the process in between ends. Only then does it greet, and it runs nothing before the
warden, which now knows its process id, has said go: no user code ever runs unsupervised.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import logging
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from shardsched.core.task import SHELL, is_builtin
from shardsched.errors import JobConfigError
from shardsched.execution.context import ShardingContext
from shardsched.execution.failure import CALL, report_failure
from shardsched.execution.frame import FrameError, receive_blocking, send_blocking
from shardsched.execution.handlers import TABLE
from shardsched.execution.kernel import SignalSwitch, die_with_parent
from shardsched.execution.kinds.builtin import builtin_function
from shardsched.execution.kinds.shell import become_program
from shardsched.execution.line import Line
from shardsched.execution.listener import FIRE_CALLS, call_fire_listeners, call_heard
from shardsched.execution.process_tree import Mark, wear
from shardsched.execution.report import unstarted
from shardsched.execution.stats import clean_stats
from shardsched.execution.stop_flag import StopFlag

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Callable, Mapping

    from shardsched.execution.call import CallEnd

LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
OOM_SCORE_ADJ = 500
"""Items go before the warden, the executor and its neighbours when memory runs out."""
NICENESS = 5
"""A busy item must not keep the executor from its heartbeats."""


def prepare_streams() -> None:
    """Have output written line by line; to be called while descriptors 1 and 2 are still the inherited ones.

    The order of lines from different streams is kept so. Reconfigured later, a stream that began on a regular file
    would look for its position in the pipe that has taken its place, and fail.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")


def await_adoption(warden_pid: int) -> None:
    """Return when the warden is this process's parent; end the process if another one becomes it."""
    born_by = os.getppid()
    while born_by != warden_pid and os.getppid() == born_by:
        # The process in between ends right after its fork, so this takes a few turns at most.
        os.sched_yield()
    die_with_parent(warden_pid)


def greet(channel: socket.socket, output_fd: int, warden_pid: int) -> dict[str, Any]:
    """Become a supervised process and return the order of the warden, once it has come."""
    signal.set_wakeup_fd(-1)
    for signum in (signal.SIGTERM, signal.SIGCHLD):
        # A handler inherited from an imported module, or SIG_IGN from the warden, would make the item deaf.
        signal.signal(signum, signal.SIG_DFL)
    os.setsid()
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    os.close(output_fd)
    await_adoption(warden_pid)
    try:
        send_blocking(channel, {"type": "hello", "pid": os.getpid()})
        order = receive_blocking(channel)
    except (OSError, FrameError):
        order = None
    if order is None:
        os._exit(1)
    return order


def run_item(channel: socket.socket, order: Mapping[str, Any], failures: Mapping[str, str]) -> NoReturn:
    """Run one handler and end the process.

    Args:
        channel: Where the end is reported.
        order: The warden's order: handler, context and mark.
        failures: Tracebacks of the modules that could not be imported.
    """
    code = 1
    line = Line(channel)
    try:
        _settle(Mark(*order["mark"]))
        end = become_program(channel, order) if order["handler"] == SHELL else _call(order, failures, line)
        code = end["exit_code"]
        if end.get("traceback"):
            sys.stderr.write(end["traceback"])
        _flush()
        line.send(end)
    except BaseException:  # noqa: BLE001 - the last frame of the process: what is not written here is never seen
        traceback.print_exc()
        _flush()
        code = 1
    finally:
        # Not sys.exit: threads that the handler left behind, and exit hooks that wait for them, end here with it.
        os._exit(code)


def _settle(mark: Mark) -> None:
    wear(mark)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE_ADJ), encoding="ascii")
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    with contextlib.suppress(OSError, ValueError):
        faulthandler.enable()
    logging.basicConfig(level=logging.INFO, format=LOG_FORMAT)


def _call(order: Mapping[str, Any], failures: Mapping[str, str], line: Line) -> dict[str, Any]:
    stop_flag = StopFlag()
    try:
        function = _function(order, stop_flag)
    except JobConfigError as error:
        return unstarted(str(error))
    if function is None:
        return _no_handler(order["handler"], failures)
    listeners = TABLE.listeners(order["handler"])
    switch = SignalSwitch(signal.SIGTERM, lambda *_: stop_flag.request())
    stop_flag.call_on_watch(switch.turn_on)
    try:
        if order["context"].get("call") in FIRE_CALLS:
            return _report(call_fire_listeners(listeners, order["context"]), stop_flag, {})
        context = ShardingContext.from_fields(order["context"], stop_flag, line.ask)
    except (KeyError, TypeError, ValueError) as error:
        return unstarted(f"bad context: {error!r}")

    def on_loop(loop: asyncio.AbstractEventLoop) -> None:
        # The loop's own way wakes a loop that is just about to wait; a plain handler could come too early for it.
        loop.add_signal_handler(signal.SIGTERM, stop_flag.request)

    return _report(call_heard(function, listeners, context, stop_flag, on_loop), stop_flag, context.stats)


def _function(order: Mapping[str, Any], stop_flag: StopFlag) -> Callable[[ShardingContext], Any] | None:
    """Return what is to be called: a handler, or what tells of a failure; None if there is no such handler.

    Raises:
        JobConfigError: The stored task of a built-in handler is not valid.
    """
    if order["context"].get("call") == CALL:
        return lambda _: report_failure(order["handler"], order["context"]["report"])
    if is_builtin(order["handler"]):
        return builtin_function(order["handler"], order["context"].get("task"), stop_flag)
    handler = TABLE.get(order["handler"])
    return None if handler is None else handler.function


def _report(end: CallEnd, stop_flag: StopFlag, stats: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "end",
        "ending": end.ending,
        "message": end.message,
        "traceback": end.traceback,
        "exit_code": end.exit_code,
        "asked_to_stop": stop_flag.requested,
        "stats": clean_stats(stats),
    }


def _no_handler(name: str, failures: Mapping[str, str]) -> dict[str, Any]:
    if failures:
        message = f"there is no handler {name!r}, and these modules could not be imported: {', '.join(failures)}"
        return unstarted(message, "\n".join(failures.values()))
    return unstarted(f"there is no handler {name!r} in the modules of this executor; name the module that defines it")


def _flush() -> None:
    """Write out what is buffered; a handler may have closed or replaced anything."""
    # User code may have left any object as stdout or as a logging handler.
    with contextlib.suppress(Exception):
        logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
