"""Lines on disk, in order, while the database is away: written at the end, read from the beginning.

They stand in segments, files of a few MiB. One that was read to its end is deleted; one that a dead process left is
taken over by the next that opens the folder, whole, since nothing is harmed when a record is told twice. Each is
locked by whoever writes or reads it, so that processes may share a folder. Nothing is forced to the disk's surface: a
spool outlives processes, not power failures.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SEGMENT_BYTES = 4 * 1024 * 1024
"""A segment that reached this is followed by another."""
DEFAULT_LIMIT_BYTES = 64 * 1024 * 1024
"""How much a spool holds unless told otherwise: an hour of 25 runs a second."""
_ENDING = ".jsonl"


@dataclass(slots=True, eq=False)
class _Segment:
    path: Path
    fd: int
    size: int = 0
    read: int = 0


class Spool:
    """A first-in, first-out store of lines. **Thread:** one at a time.

    Args:
        folder: Where the segments are; made when it is first needed.
        limit_bytes: How much is kept at most.
    """

    def __init__(self, folder: Path, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._segments = list(_left_behind(folder))
        self._own: _Segment | None = None
        self._number = max((_number(segment.path) for segment in self._segments), default=0)
        self._peeked = 0

    @property
    def size_bytes(self) -> int:
        """How much is still to be read."""
        return sum(segment.size - segment.read for segment in self._segments)

    def append(self, lines: Sequence[bytes]) -> str:
        """Keep lines, all or none; return why they could not be kept, or an empty text.

        Args:
            lines: Each with a line feed at its end and none before.
        """
        data = b"".join(lines)
        if sum(segment.size for segment in self._segments) + len(data) > self._limit_bytes:
            return f"the spool holds {self._limit_bytes} bytes, which is its limit"
        try:
            self._put(data)
        except OSError as error:
            return f"the spool in {self._folder} takes no more ({error.strerror})"
        return ""

    def peek(self, count: int) -> list[bytes]:
        """Return the oldest lines, at most so many and all of one segment; none if there are no more."""
        while self._segments:
            segment = self._segments[0]
            lines = _read(segment, count)
            self._peeked = sum(map(len, lines))
            # What a killed process had not finished has no line feed, and is the last.
            whole = [line for line in lines if line.endswith(b"\n")]
            if whole:
                return whole
            self._remove(segment)
        return []

    def advance(self) -> None:
        """Be done with the lines last returned by `peek`."""
        if self._segments:
            segment = self._segments[0]
            segment.read += self._peeked
            if segment.read >= segment.size:
                self._remove(segment)
        self._peeked = 0

    def close(self) -> None:
        """Leave what is there to the next that opens the folder."""
        for segment in self._segments:
            os.close(segment.fd)
        self._segments.clear()
        self._own = None

    def _put(self, data: bytes) -> None:
        segment = self._own
        if segment is None or segment.size >= SEGMENT_BYTES:
            segment = self._own = self._make()
        try:
            written = 0
            while written < len(data):
                written += os.write(segment.fd, data[written:])
        except OSError:
            # A piece of a line must not come before the next whole one.
            self._own = None
            with contextlib.suppress(OSError):
                os.ftruncate(segment.fd, segment.size)
                self._own = segment
            raise
        segment.size += len(data)

    def _make(self) -> _Segment:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:
            self._number += 1
            path = self._folder / f"{self._number:012}-{os.getpid()}{_ENDING}"
            # Process ids are unique in their own container only, and a folder may be shared by several.
            with contextlib.suppress(FileExistsError):
                fd = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    segment = _Segment(path, fd)
                    self._segments.append(segment)
                    return segment
                # Another process was quicker; it finds the file empty and deletes it.
                os.close(fd)

    def _remove(self, segment: _Segment) -> None:
        with contextlib.suppress(OSError):
            segment.path.unlink()
        os.close(segment.fd)
        self._segments.remove(segment)
        if self._own is segment:
            self._own = None


_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC


def _left_behind(folder: Path) -> Iterator[_Segment]:
    with contextlib.suppress(OSError):
        for path in sorted(folder.glob(f"*{_ENDING}")):
            with contextlib.suppress(OSError):
                yield _taken_over(path)


def _taken_over(path: Path) -> _Segment:
    fd = os.open(path, _FLAGS)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        stat = os.fstat(fd)
        if not stat.st_nlink:
            raise FileNotFoundError(path)
    except OSError:
        os.close(fd)
        raise
    return _Segment(path, fd, stat.st_size)


def _read(segment: _Segment, count: int) -> list[bytes]:
    # What cannot be read now never will be.
    with contextlib.suppress(OSError), open(segment.fd, "rb", closefd=False) as file:
        file.seek(segment.read)
        return list(islice(file, count))
    return []


def _number(path: Path) -> int:
    head = path.name.partition("-")[0]
    return int(head) if head.isdecimal() else 0
