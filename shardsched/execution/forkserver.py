"""Imports the handlers' modules once and forks a process for each item.

It stays single-threaded, since a fork copies only the thread that makes it: a lock that another one holds would stay
locked in the child for ever. Modules that start threads when imported are noticed, and the warden then starts a
fresh interpreter for each item instead.

For each item it forks twice. The process in between ends at once, and since the warden is the subreaper of its
descendants, the item becomes the warden's own child: only a parent learns of an exact end and of what it cost.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from shardsched.errors import HandlerImportError
from shardsched.execution.frame import send_blocking
from shardsched.execution.handlers import TABLE, load_modules
from shardsched.execution.item import await_adoption, greet, prepare_streams, run_item

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MAX_TRACEBACK_CHARS = 16_000
_DESCRIPTOR_COUNT = 2
"""Each request is one byte with two descriptors: the item's channel and its output."""


def serve(order: Mapping[str, Any]) -> None:
    """Import the modules and fork items until the warden is gone.

    Args:
        order: ``warden`` (process id), ``socket`` (descriptor), ``nofile`` (limit) and ``modules``.
    """
    await_adoption(order["warden"])
    prepare_streams()
    _limit_files(order["nofile"])
    warden = socket.socket(fileno=order["socket"])
    os.set_inheritable(warden.fileno(), False)
    failures = _import_modules(order["modules"])
    with contextlib.suppress(OSError, ValueError):
        faulthandler.enable()
    # What is alive now is alive in every item: the collector need not touch, and so copy, these pages again.
    gc.collect()
    gc.freeze()
    ready = {"type": "ready", "threads": _thread_count(), "failures": failures, "handlers": TABLE.names()}
    send_blocking(warden, ready)
    while True:
        data, descriptors, _, _ = socket.recv_fds(warden, 1, _DESCRIPTOR_COUNT)
        if not data:
            return
        for descriptor in descriptors:
            # Not by a flag of the call: recv_fds takes flags and does not hand them on (CPython 3.11).
            os.set_inheritable(descriptor, False)
        _start_item(warden, descriptors, order["warden"], failures)


def _start_item(
    warden: socket.socket, descriptors: Sequence[int], warden_pid: int, failures: Mapping[str, str]
) -> None:
    channel, output_fd = socket.socket(fileno=descriptors[0]), descriptors[1]
    _flush_streams()
    try:
        between = os.fork()
        if between == 0:
            _fork_again(warden, channel, output_fd, warden_pid, failures)
        os.waitpid(between, 0)
    except OSError as error:
        _report_failed_fork(channel, error)
    channel.close()
    os.close(output_fd)


def _fork_again(
    warden: socket.socket, channel: socket.socket, output_fd: int, warden_pid: int, failures: Mapping[str, str]
) -> NoReturn:
    try:
        if os.fork() != 0:
            os._exit(0)
        warden.close()
        run_item(channel, greet(channel, output_fd, warden_pid), failures)
    except OSError as error:
        _report_failed_fork(channel, error)
    finally:
        os._exit(1)


def run_alone(order: Mapping[str, Any]) -> NoReturn:
    """Run one item in a fresh interpreter.

    Args:
        order: ``warden`` (process id), ``channel`` and ``output`` (descriptors), ``nofile`` (limit) and ``modules``.
    """
    prepare_streams()
    _limit_files(order["nofile"])
    channel = socket.socket(fileno=order["channel"])
    os.set_inheritable(channel.fileno(), False)
    go = greet(channel, order["output"], order["warden"])
    run_item(channel, go, _import_modules(order["modules"]))


def _report_failed_fork(channel: socket.socket, error: OSError) -> None:
    message = f"the process could not be forked: {error.strerror}; the machine is short of processes or memory"
    with contextlib.suppress(OSError):
        send_blocking(channel, {"type": "end", "ending": "start_failed", "message": message})


def _import_modules(modules: Sequence[str]) -> dict[str, str]:
    """Import each module that can be, and return the tracebacks of the others by name."""
    failures = {}
    for module in modules:
        try:
            load_modules([module])
        except HandlerImportError as error:
            failures[module] = error.traceback[-_MAX_TRACEBACK_CHARS:]
    return failures


def _limit_files(soft: int) -> None:
    """Put back the limit of open files that the warden raised for itself."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - absent on some platforms

        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def _thread_count() -> int:
    """Return how many threads this process has, those of C libraries included."""
    try:
        return sum(1 for _ in Path("/proc/self/task").iterdir())
    except OSError:
        return 1


def _flush_streams() -> None:
    """Empty the buffers, which each item would else write out once more."""
    for stream in (sys.stdout, sys.stderr):
        # A module may have put any object there.
        with contextlib.suppress(Exception):
            stream.flush()
