"""The output of one run on disk: the first half of a size limit as it comes, and the end of it.

A crawl that floods its output must neither fill the disk nor lose the last lines, which say why it failed. So the
first half goes to the file at once, the latest bytes are kept in memory in a ring as large as the other half, and
both are joined when the run ends, with a line between them that says how many bytes were dropped.
"""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_NOTE_BYTES = 64
"""Room within the limit for the line about dropped bytes."""
MIN_CAP_BYTES = 1024
"""Smallest limit, so that the note and something around it fit."""


class LogFile:
    """A file that takes any number of bytes and keeps at most so many.

    A disk that is full or read-only is no reason to stop a run: what cannot be written is dropped and counted.
    """

    def __init__(self, path: Path, cap_bytes: int) -> None:
        cap_bytes = max(cap_bytes, MIN_CAP_BYTES)
        self._head_left = cap_bytes // 2
        self._tail_cap = cap_bytes - self._head_left - _NOTE_BYTES
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0
        self._fd = self._open(path)

    @staticmethod
    def _open(path: Path) -> int | None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Readable by its owner alone: output may hold what the crawler logs in with.
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        except OSError:
            return None

    @property
    def is_written(self) -> bool:
        """Whether there is a file."""
        return self._fd is not None

    def write(self, data: bytes) -> None:
        """Take bytes of output."""
        if self._head_left:
            head, data = data[: self._head_left], data[self._head_left :]
            self._head_left -= len(head)
            self._dropped += self._put(head)
        if data:
            self._keep(data)

    def _keep(self, data: bytes) -> None:
        if len(data) > self._tail_cap:
            self._dropped += len(data) - self._tail_cap
            data = data[-self._tail_cap :]
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= self._tail_cap:
            oldest = self._tail.popleft()
            self._tail_size -= len(oldest)
            self._dropped += len(oldest)

    def close(self) -> int:
        """Write the end of the output and close the file; return how many bytes were dropped."""
        excess = self._tail_size - self._tail_cap
        if excess > 0:
            self._tail[0] = self._tail[0][excess:]
            self._dropped += excess
        tail = b"".join(self._tail)
        if self._dropped:
            self._put(b"\n...[%d bytes dropped]...\n" % self._dropped)
        self._dropped += self._put(tail)
        self._tail.clear()
        self._tail_size = 0
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
        return self._dropped

    def _put(self, data: bytes) -> int:
        """Write bytes and return how many could not be written."""
        while data and self._fd is not None:
            try:
                data = data[os.write(self._fd, data) :]
            except OSError:
                break
        return len(data)
