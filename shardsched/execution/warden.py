"""The supervisor of items: one thread, nothing but the standard library, no user code.

Why it exists: an item must not outlive its executor's right to run it, and nothing inside the executor or the item
can promise that. The executor may be frozen or killed, and an item may hold the interpreter in C code, where no
handler, thread or alarm of its own runs. So a third process stands between them. It does little, and it holds the
deadline.

**What ends an item.** Its handler returns. The executor asks (`stop`). Its own time-out passes. The lease runs out:
`soft` asks it to stop, `until` kills it, both moments of the boot clock, which neither steps nor stands still while the
machine sleeps. Another epoch's lease arrives, or `revoke`: the session that claimed it is over, so it is killed at
once. The executor's end of the socket closes, or the executor is no longer our parent: everything is killed.
If the warden itself ends, the kernel kills the leaders (``PR_SET_PDEATHSIG``) and the executor sweeps the rest by
their marks.

**How.** An item leads a process group: SIGTERM to the group, after the grace SIGKILL to the group. What left the group
becomes our child when its parent dies, since we are the subreaper, and is known by its mark (see `process_tree`). A run
is reported as ended only when nothing of it is left; that holds for a normal end too. The phases of a run are those
of `ward`; `custody` has all of them.

**Messages**, JSON in frames. From the executor: ``config`` (first), ``lease``, ``revoke``, ``launch``, ``stop``,
``answer``, ``ping``, ``quit``. To the executor: ``ready``, ``started``, ``warned``, ``asked``, ``ended``, ``pong``. To
an item: ``go``, ``answer``. From an item: ``hello``, ``ask``, ``end``. The warden never waits for a reader: what is not
taken is kept, and deadlines pass on time. What items ask and are answered it only passes on (see `passage`).
"""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import signal
import socket
import time
from typing import Any

from shardsched.execution.custody import Custody
from shardsched.execution.frame import Channel
from shardsched.execution.kernel import become_subreaper
from shardsched.execution.lease import Lease
from shardsched.execution.outcome import Outcome, Stop
from shardsched.execution.process_tree import Mark, wear
from shardsched.execution.sweep import kill_all_children

_TICK_S = 0.25
"""Longest wait: after the machine slept, deadlines have passed although the wait, which stood still, has not ended."""
_KILL_LEAD_S = 0.1
"""SIGKILL is sent this long before the lease ends, so that everything is dead by its end; 0.04 s was the worst seen."""
_UNSENT_WAIT_S = 0.02
"""How soon a reader that took no more is tried again."""
_GONE_PATIENCE_S = 10.0
"""How long the warden stays to see everything dead after its executor is gone."""
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def boot_s() -> float:
    """Return seconds on a clock that never steps and counts suspension."""
    return time.clock_gettime(_CLOCK)


class Warden:
    """The supervisor of all items of one executor."""

    def __init__(self, executor: Channel, executor_pid: int, config: dict[str, Any], nofile: int) -> None:
        self._executor = executor
        self._executor_pid = executor_pid
        self._lease = Lease()
        self._is_quitting = False
        self._has_deaths = True
        self._selector = selectors.DefaultSelector()
        self._selector.register(executor, selectors.EVENT_READ, self._on_executor)
        self._wake_fd = self._watch_deaths()
        self._custody = Custody(config, nofile, self._selector, executor.send, self._refusal, boot_s)

    def _refusal(self, epoch: str) -> str | None:
        return "the executor is closing" if self._is_quitting else self._lease.refusal(epoch, boot_s())

    def _watch_deaths(self) -> int:
        read_fd, write_fd = os.pipe()
        for descriptor in (read_fd, write_fd):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(write_fd, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(read_fd, selectors.EVENT_READ, self._on_death)
        return read_fd

    def run(self, messages: list[dict[str, Any]]) -> None:
        """Supervise until the executor is gone or says quit; nothing is alive when this returns.

        Args:
            messages: What the executor has said already.
        """
        try:
            self._custody.warm_up()
            for message in messages:
                self._obey(message)
            while self._is_needed():
                self._turn(self._selector.select(self._wait_s()))
        finally:
            self._custody.abandon()
            self._end_everything()
            self._custody.close_logs()

    def _turn(self, ready: list[tuple[selectors.SelectorKey, int]]) -> None:
        for key, _ in ready:
            key.data()
        # Without events a tick has passed: deaths are looked for then too, should a SIGCHLD have been missed.
        if self._has_deaths or not ready:
            self._has_deaths = False
            self._custody.check_deaths()
        self._check_lease(boot_s())
        self._custody.check()
        self._custody.sweep()
        self._custody.pump()
        self._custody.flush()
        self._executor.flush()

    def _is_needed(self) -> bool:
        # The parent is looked at too: another process may hold a copy of the executor's end of the socket.
        is_wanted = self._executor.is_open and os.getppid() == self._executor_pid
        return is_wanted and not (self._is_quitting and self._custody.is_empty and not self._executor.has_unsent)

    def _wait_s(self) -> float:
        now = boot_s()
        moments = [self._custody.next_moment(), self._lease.soft, self._lease.until - _KILL_LEAD_S]
        wait_s = min((moment - now for moment in moments if moment > now), default=_TICK_S)
        if self._executor.has_unsent or self._custody.has_unsent:
            wait_s = min(wait_s, _UNSENT_WAIT_S)
        return min(wait_s, _TICK_S)

    def _on_death(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_fd, 4096)
        self._has_deaths = True

    def _on_executor(self) -> None:
        for message in self._executor.receive():
            self._obey(message)

    def _obey(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "ping":
                self._executor.send({"type": "pong"})
            case "lease":
                self._take_lease(Lease(message["epoch"], message["until"], message["soft"]))
            case "revoke":
                self._take_lease(Lease())
            case "launch":
                self._custody.launch(message)
            case "stop":
                stop = Stop(Outcome.STOPPED, message["reason"])
                self._custody.stop(message["run"], stop, message["grace"])
            case "answer":
                self._custody.answer(message)
            case "quit":
                self._is_quitting = True
                self._custody.stop_all(Stop(Outcome.STOPPED, "the executor is closing"), 0.0)
            case unknown:
                message_text = f"the executor sent {unknown!r}, which this warden does not know"
                raise ValueError(message_text)

    def _take_lease(self, lease: Lease) -> None:
        self._lease = lease
        stop = Stop(Outcome.LEASE_LOST, "the session that claimed it is over")
        self._custody.stop_all(stop, 0.0, but_epoch=lease.epoch)

    def _check_lease(self, now: float) -> None:
        left_s = self._lease.until - _KILL_LEAD_S - now
        if now >= self._lease.soft or left_s <= 0:
            stop = Stop(Outcome.LEASE_LOST, "the lease of the registry has run out")
            self._custody.stop_all(stop, max(0.0, left_s))

    def _end_everything(self) -> None:
        """See all descendants dead: as their subreaper this process gets every orphan, so it ends with no child."""
        give_up_at = boot_s() + _GONE_PATIENCE_S
        while not kill_all_children() and boot_s() < give_up_at:
            select.select([self._wake_fd], [], [], 0.005)
            self._on_death()


def _raise_file_limit() -> int:
    """Allow this process as many open files as it may have, and return how many it was to have."""
    try:
        import resource  # noqa: PLC0415 - absent on some platforms
    except ImportError:
        return 1024
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return soft


def main(executor_fd: int, executor_pid: int) -> None:
    """Be the warden of an executor.

    Args:
        executor_fd: Our end of the socket to the executor.
        executor_pid: Its process id.
    """
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    become_subreaper()
    sock = socket.socket(fileno=executor_fd)
    os.set_inheritable(executor_fd, False)
    executor = Channel(sock)
    messages: list[dict[str, Any]] = []
    while executor.is_open and not messages:
        select.select([executor], [], [])
        messages = executor.receive()
    if messages:
        config, *others = messages
        wear(Mark(config["cookie"], 0))
        Warden(executor, executor_pid, config, _raise_file_limit()).run(others)
