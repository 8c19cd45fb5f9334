"""The warden as its executor sees it: a child process at the other end of a socket."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import select
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shardsched.execution.frame import Channel, FrameError, pack
from shardsched.execution.process_tree import ENVIRONMENT_NAME, Mark, kill_marked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

logger = logging.getLogger(__name__)

_PING_S = 0.5
_PATIENCE_PINGS = 4
"""So many pings without any answer, 2 s in all, and the warden is taken to be frozen."""
_START_PATIENCE_PINGS = 20
"""Before its first answer the warden's interpreter has to start, which a busy machine delays."""
_LAUNCH = str(Path(__file__).resolve().with_name("launch.py"))
_END_PATIENCE_S = 5.0
"""How long killed processes may take to be gone; only one that hangs in the kernel takes longer."""
_SWEEP_PAUSE_S = 0.01
_SWEEP_ROUNDS = 300
"""With the scans themselves this is some 5 s, should something fork faster than it is killed."""


def cookie_of(executor: str) -> str:
    """Return the mark of all processes of an executor, the same at every start."""
    return hashlib.blake2b(executor.encode(), digest_size=8).hexdigest()


def sweep_orphans(executor_cookie: str) -> int:
    """Kill what an executor's warden and items left behind; return how many processes that were.

    To be called by an executor at its start, before its pool's: if a predecessor was killed together with its warden,
    grandchildren of its items may still be alive.

    Args:
        executor_cookie: Of `cookie_of`.
    """
    count, pause = 0, threading.Event()
    for _ in range(_SWEEP_ROUNDS):
        found = kill_marked(executor_cookie)
        if not found:
            break
        count += found
        pause.wait(_SWEEP_PAUSE_S)
    return count


class WardenProcess:
    """A running warden, and the talk with it.

    Thread: `send` and `give_up` may be called from any thread; the other methods belong to the one that listens.

    Attributes:
        has_answered: Whether it ever said anything.
    """

    def __init__(self, cookie: str, modules: Sequence[str], paths: Sequence[str]) -> None:
        """Start a warden and tell it what to import.

        Raises:
            OSError: The system has no descriptors or processes left.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", _LAUNCH, "warden", str(theirs.fileno()), str(os.getpid())],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    env=os.environ | {ENVIRONMENT_NAME: Mark(cookie, 0).text},
                    start_new_session=True,
                )
            except OSError:
                ours.close()
                raise
        self._channel = Channel(ours)
        self._lock = threading.Lock()
        self._wake_r, self._wake_w = os.pipe()
        for descriptor in (self._wake_r, self._wake_w):
            os.set_blocking(descriptor, False)
        self._is_given_up = False
        self.has_answered = False
        config = {"cookie": cookie, "python": sys.executable, "modules": list(modules), "paths": list(paths)}
        self.send(pack({"type": "config"} | config))

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def send(self, frame: bytes) -> None:
        """Send a frame of `pack`; what the warden does not take now is sent by the thread that listens."""
        with self._lock:
            self._channel.send_packed(frame)
            if self._channel.has_unsent:
                self._wake()

    def give_up(self) -> None:
        """Have `listen` return although the warden has not ended."""
        self._is_given_up = True
        with self._lock:
            self._wake()

    def _wake(self) -> None:
        """Have `listen` look; called under the lock, since the number of a closed descriptor is soon another's."""
        with contextlib.suppress(OSError):
            os.write(self._wake_w, b"w")

    def listen(self, handle: Callable[[Mapping[str, Any]], None]) -> str:
        """Hand on what the warden says until it is of no use any more, and return why."""
        unanswered, patience = 0, _START_PATIENCE_PINGS
        ping_at = time.monotonic()
        while True:
            messages = self._receive(max(0.0, ping_at - time.monotonic()))
            for message in messages:
                handle(message)
            if messages:
                self.has_answered = True
                unanswered, patience = 0, _PATIENCE_PINGS
            if not self._channel.is_open:
                return "it ended"
            if self._is_given_up:
                return "it did not end in time"
            if time.monotonic() < ping_at:
                continue
            # Counted in turns of this loop, not by the clock: after a freeze of this process, the answers that came
            # meanwhile are read before the next turn counts.
            if unanswered >= patience:
                return f"it has not answered for {patience * _PING_S:g} s"
            unanswered += 1
            ping_at = time.monotonic() + _PING_S
            self.send(pack({"type": "ping"}))

    def _receive(self, wait_s: float) -> list[dict[str, Any]]:
        poller = select.poll()
        poller.register(self._wake_r, select.POLLIN)
        poller.register(self._channel, select.POLLIN | (select.POLLOUT if self._channel.has_unsent else 0))
        poller.poll(wait_s * 1000)
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_r, 4096)
        with self._lock:
            self._channel.flush()
        try:
            return self._channel.receive()
        except FrameError:
            logger.exception("The warden sent what is no message")
            self._channel.is_open = False
            return []

    def kill(self) -> str:
        """Make sure it is dead, release what it used here and return how it ended."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_PATIENCE_S)
        with self._lock:
            self._channel.close()
            for descriptor in (self._wake_r, self._wake_w):
                os.close(descriptor)
            self._wake_w = -1
        code = self._process.returncode
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


def import_paths_of_executor(extra: Sequence[str]) -> list[str]:
    """Return where the fork server looks for modules: folders given, then this process's own path."""
    return [*(str(Path(path).resolve()) for path in extra), *(path or str(Path.cwd()) for path in sys.path)]
