"""The item's end of the stream to its warden, from which its executor can be asked."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from shardsched.execution.frame import FrameError, FrameReader, send_blocking

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

_READ_BYTES = 256 * 1024
_GONE = {
    "error": "CheckpointError",
    "message": "a checkpoint cannot be saved or loaded: the warden of this run does not answer",
}
_FORKED = {
    "error": "CheckpointError",
    "message": "a checkpoint cannot be saved or loaded by a process that the item has forked; its own may",
}


class Line:
    """A stream to the warden.

    **Thread:** `send` any; `ask` one at a time.
    """

    def __init__(self, channel: socket.socket) -> None:
        # A module may have set a time-out for all sockets.
        channel.settimeout(None)
        self._channel = channel
        self._pid = os.getpid()
        self._sending = threading.Lock()
        self._reader = FrameReader()
        self._inbox: list[dict[str, Any]] = []

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message whole, whatever other threads send.

        Raises:
            OSError: The warden is gone.
        """
        with self._sending:
            send_blocking(self._channel, message)

    def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a request with a ``number`` of its own and return its answer, however long that takes."""
        if os.getpid() != self._pid:
            return _FORKED
        try:
            self.send({"type": "ask", **request})
            while True:
                answer = self._receive()
                # An earlier one answers a request whose caller was interrupted by an exception of a signal handler.
                if answer.get("number") == request["number"]:
                    return answer
        except TimeoutError:
            # None of ours: a signal handler of the user's has raised it.
            raise
        except (OSError, FrameError):
            return _GONE

    def _receive(self) -> dict[str, Any]:
        while not self._inbox:
            data = self._channel.recv(_READ_BYTES)
            if not data:
                raise FrameError("the stream has ended")
            self._inbox += self._reader.feed(data)
        return self._inbox.pop(0)
