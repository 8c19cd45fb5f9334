"""What wakes kazoo's connection thread, in place of its socket pair.

kazoo wakes its connection thread by a byte in a socket pair. The pair holds about 280 bytes, so that a thread that
asks for more at once blocks; the connection thread itself would block for ever. Answers come to our callers on that
very thread (a callback may ask the next thing at once), so the pair is replaced by a counter that cannot be full.
"""

from __future__ import annotations

import os
import threading


class Bell:
    """Wakes a thread in select(): a count of requests, and a pipe that is readable while it is not 0.

    It stands for both ends of kazoo's socket pair, which only sends, receives, polls and closes.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._read_end, self._write_end = os.pipe()
        self._closed = False

    def send(self, _: bytes) -> None:
        """Count one request more."""
        with self._lock:
            if self._closed:
                raise OSError("the connection was closed")
            self._count += 1
            if self._count == 1:
                os.write(self._write_end, b"\0")

    def recv(self, _: int) -> bytes:
        """Count one request less."""
        with self._lock:
            if not self._count:
                raise BlockingIOError
            self._count -= 1
            if not self._count:
                os.read(self._read_end, 1)
            return b"\0"

    @property
    def is_rung(self) -> bool:
        """Whether requests are counted that were not taken."""
        return self._count > 0

    def fileno(self) -> int:
        """Return what to poll."""
        return self._read_end

    def close(self) -> None:
        """Close the pipe (both ends of the pair are closed; the second time does nothing)."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self._read_end)
                os.close(self._write_end)
