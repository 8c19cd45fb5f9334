"""How the warden makes a process for a ward: by its fork server, or by a fresh interpreter where that cannot be.

The fork server is started when the executor has said which modules to import, and again whenever it is needed and
not there. A ward is handed over as two descriptors; all else the warden tells the new process itself.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shardsched.execution.frame import Channel, FrameError
from shardsched.execution.process_tree import signal_process

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shardsched.execution.ward import Ward

PRELOAD_PATIENCE_S = 60.0
"""How long importing the modules may take; a guess, ten times what a heavy crawler takes on a busy machine."""
_LAUNCH = str(Path(__file__).resolve().with_name("launch.py"))
_BY_DEFAULT = [
    signum for signum in signal.valid_signals() if signum < 32 and signum not in {signal.SIGKILL, signal.SIGSTOP}
]
"""An ignored signal stays ignored through fork and exec, as a blocked one stays blocked, and would make every item deaf
to it: the warden ignores some, and so does what a shell script's ``&`` or nohup has started."""


class Starter:
    """The source of processes for wards.

    Attributes:
        failure: Why the last fork server did not come up, empty if it did.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        nofile: int,
        watch: Callable[[Channel], None],
        forget: Callable[[Channel], None],
    ) -> None:
        """Take the executor's configuration; nothing is started yet.

        Args:
            config: ``python``, ``paths`` and ``modules``, as the executor sees them.
            nofile: The limit of open files that items get.
            watch: Called with the stream to a new fork server; `receive` is to be called when it is readable.
            forget: Called before that stream is closed.
        """
        self._watch = watch
        self._forget = forget
        self._python: str = config["python"]
        self._order = {
            "warden": os.getpid(),
            "paths": config["paths"],
            "modules": config["modules"],
            "nofile": nofile,
        }
        self._is_forking = sys.platform == "linux"
        self._pid = 0
        self._is_ready = False
        self._is_dying = False
        self._ready_by = 0.0
        self._channel: Channel | None = None
        self.failure = ""

    @property
    def pid(self) -> int:
        """Process id of the fork server, 0 while there is none."""
        return self._pid

    @property
    def ready_by(self) -> float:
        """When the fork server must be ready; infinite when nothing is waited for."""
        return self._ready_by if self._pid and not self._is_ready else float("inf")

    def warm_up(self, now: float) -> None:
        """Start the fork server, if one is used and there is none."""
        if not self._is_forking or self._pid:
            return
        ours, theirs = socket.socketpair()
        self._pid = self._spawn("forkserver", {"socket": theirs.fileno()}, [theirs.fileno()])
        theirs.close()
        self._channel = Channel(ours)
        self._watch(self._channel)
        self._is_ready = False
        self._ready_by = now + PRELOAD_PATIENCE_S
        self.failure = ""

    def hand_over(self, ward: Ward, now: float) -> bool:
        """Give a ward a process; return False when that must wait until the fork server is ready for it.

        Raises:
            OSError: The system has no descriptors or processes left.
        """
        if self._is_forking and (self._is_dying or not self._is_ready):
            self.warm_up(now)
            return False
        channel, output_fd = ward.open_ends()
        try:
            if self._is_forking:
                return self._send(channel, output_fd)
            descriptors = {"channel": channel.fileno(), "output": output_fd}
            self._spawn("item", descriptors, list(descriptors.values()))
        finally:
            channel.close()
            os.close(output_fd)
        return True

    def _send(self, channel: socket.socket, output_fd: int) -> bool:
        if self._channel is None:
            return False
        try:
            socket.send_fds(self._channel.sock, [b"s"], [channel.fileno(), output_fd])
        except (BlockingIOError, BrokenPipeError, ConnectionResetError):
            # It is behind with its work, or dead, of which `reap` tells.
            return False
        return True

    def receive(self) -> dict[str, Any] | None:
        """Return what the fork server said when it became ready, None if it has not."""
        if self._channel is None:
            return None
        try:
            messages = self._channel.receive()
        except FrameError:
            messages, self._channel.is_open = [], False
        if not messages and self._channel.is_open:
            return None
        if not messages:
            # It is ending, or what it says is nonsense. Either way it is of no use; `reap` tells when it is gone.
            self._close_channel()
            self.kill()
            return None
        self._is_ready = True
        if messages[0]["threads"] > 1:
            # A lock that one of those threads holds would be locked for ever in each forked item.
            self._is_forking = False
            self.kill()
        return messages[0] | {"forking": self._is_forking}

    def reap(self) -> bool:
        """Return whether the fork server has ended since the last call."""
        if not self._pid:
            return False
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid == 0:
            return False
        if not self._is_ready and not self.failure:
            code = os.waitstatus_to_exitcode(status)
            self.failure = f"the fork server ended with code {code} while importing {', '.join(self._order['modules'])}"
        self._pid = 0
        self._is_ready = self._is_dying = False
        self._close_channel()
        return True

    def give_up(self) -> None:
        """Kill a fork server that has not become ready in time."""
        self.failure = f"importing {', '.join(self._order['modules'])} took longer than {PRELOAD_PATIENCE_S:g} s"
        self._ready_by = float("inf")
        self.kill()

    def _close_channel(self) -> None:
        if self._channel is not None:
            # A closed descriptor's number is soon another's, so the selector must let go of it first.
            self._forget(self._channel)
            self._channel.close()
            self._channel = None

    def kill(self) -> None:
        """Kill the fork server; its items do not notice, and it gets no more of them."""
        if self._pid:
            self._is_dying = True
            signal_process(self._pid, signal.SIGKILL)

    def _spawn(self, role: str, extra: Mapping[str, Any], inherited: list[int]) -> int:
        for descriptor in inherited:
            os.set_inheritable(descriptor, True)
        arguments = [self._python, "-P", _LAUNCH, role, json.dumps({**self._order, **extra})]
        return os.posix_spawn(self._python, arguments, os.environ, setsigdef=_BY_DEFAULT, setsigmask=())
