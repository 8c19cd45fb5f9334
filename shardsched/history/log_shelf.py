"""The outputs of runs on this machine, found by what history says of a run and by nothing else.

Rows of history are not trusted: a path is never opened as it is stored. Only its last parts count, they must be those
of that very run, and every folder on the way is opened without following links, below the one folder that holds them.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from shardsched.history.text import plain_output

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from shardsched.history.row import RunRow

MAX_BLOCK_BYTES = 256 * 1024
"""Most that is read at once."""
MAX_HITS = 200
"""Most lines that a search returns; it counts all."""
MAX_HIT_CHARS = 300
"""How much of such a line."""
_STEP_BYTES = 256 * 1024
_PLACE = re.compile(r"[0-9a-f]{12}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBlock:
    """Some lines of an output."""

    begin: int
    """Offset of the first byte."""
    end: int
    """Offset behind the last byte."""
    size: int
    """Bytes in all, so far."""
    first_line: int
    """Number of the first line, from 1 on; 0 where it was not asked for."""
    text: str
    """The lines, without what steers terminals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """Lines in which a text was found."""

    count: int
    """How many."""
    lines: tuple[tuple[int, str], ...]
    """The first of them, with their numbers from 1 on."""


class OpenLog:
    """One output that can be read. **Thread:** one.

    Args:
        fd: The open file; whoever opened it closes it.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @property
    def size(self) -> int:
        """Bytes in all, so far."""
        return os.fstat(self._fd).st_size

    def raw(self, offset: int, length: int) -> bytes:
        """Return bytes as they are, at most `MAX_BLOCK_BYTES`.

        Raises:
            OSError: The disk does not give them.
        """
        return os.pread(self._fd, min(max(length, 0), MAX_BLOCK_BYTES), max(offset, 0))

    def before(self, end: int, limit: int) -> LogBlock:
        """Return the whole lines before an offset, about so many bytes; raises as `raw`."""
        size = self.size
        end = min(max(end, 0), size)
        begin = max(end - limit, 0)
        data = self.raw(begin, end - begin)
        cut = data.find(b"\n") + 1 if begin else 0
        begin, data = begin + cut, data[cut:]
        return LogBlock(begin=begin, end=end, size=size, first_line=self._line_at(begin), text=plain_output(data))

    def after(self, begin: int, limit: int, *, is_over: bool) -> LogBlock:
        """Return the whole lines from an offset on, about so many bytes; raises as `raw`.

        Args:
            begin: Where.
            limit: How many bytes.
            is_over: Whether no more comes, so that a last line without an end is one.
        """
        size = self.size
        begin = min(max(begin, 0), size)
        data = self.raw(begin, limit)
        is_last = begin + len(data) >= size and is_over
        end = data.rfind(b"\n") + 1
        if end and not is_last:
            data = data[:end]
        elif not is_last and len(data) < limit:
            data = b""
        return LogBlock(begin=begin, end=begin + len(data), size=size, first_line=0, text=plain_output(data))

    def around(self, line: int, limit: int) -> LogBlock:
        """Return the lines about one, about so many bytes; the last where there is no such line; raises as `raw`."""
        number, begin = 1, 0
        for offset, data in self._steps():
            ends = data.count(b"\n")
            if number + ends >= line:
                at = -1
                for _ in range(max(line - number, 0)):
                    at = data.find(b"\n", at + 1)
                begin = offset + at + 1
                break
            number += ends
        else:
            return self.before(self.size, limit)
        first = self.before(begin, limit // 4).begin
        block = self.after(first, limit, is_over=True)
        return LogBlock(begin=first, end=block.end, size=block.size, first_line=self._line_at(first), text=block.text)

    def search(self, text: str) -> Hits:
        """Return the lines that hold a text in whatever case; raises as `raw`."""
        wanted, count = text.casefold(), 0
        lines: list[tuple[int, str]] = []
        for number, line in enumerate(self._lines(), 1):
            shown = plain_output(line)
            if wanted in shown.casefold():
                count += 1
                if len(lines) < MAX_HITS:
                    lines.append((number, shown[:MAX_HIT_CHARS]))
        return Hits(count=count, lines=tuple(lines))

    def _line_at(self, offset: int) -> int:
        return 1 + sum(data[: max(offset - at, 0)].count(b"\n") for at, data in self._steps() if at < offset)

    def _lines(self) -> Iterator[bytes]:
        rest = b""
        for _, data in self._steps():
            *whole, rest = (rest + data).split(b"\n")
            yield from whole
            if len(rest) > _STEP_BYTES:
                yield rest
                rest = b""
        if rest:
            yield rest

    def _steps(self) -> Iterator[tuple[int, bytes]]:
        offset = 0
        while data := self.raw(offset, _STEP_BYTES):
            yield offset, data
            offset += len(data)


class LogShelf:
    """The outputs of all executors of one user of this machine. **Thread:** any.

    Args:
        folder: Where the executors keep their state.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextlib.contextmanager
    def opened(self, run: RunRow) -> Iterator[OpenLog | None]:
        """Open the output of a run; None if it is not on this machine, or no more."""
        parts = _parts(run)
        fd = None if parts is None else self._open(parts)
        try:
            yield None if fd is None else OpenLog(fd)
        finally:
            if fd is not None:
                os.close(fd)

    def _open(self, parts: tuple[str, ...]) -> int | None:
        *folders, name = parts
        opened: list[int] = []
        try:
            opened.append(os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
            for folder in folders:
                opened.append(os.open(folder, _FOLDER, dir_fd=opened[-1]))
            fd = os.open(name, _FILE, dir_fd=opened[-1])
        except (OSError, ValueError):
            return None
        finally:
            for each in opened:
                os.close(each)
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
        return None


def _parts(run: RunRow) -> tuple[str, ...] | None:
    """Return where an output is below the folder: place, executor, ``logs``, job, file; None if the path is not so."""
    parts = PurePosixPath(run.log_path).parts[-5:]
    expected = (run.executor, "logs", run.job, f"{run.run_id}.log")
    if len(parts) < 5 or parts[1:] != expected or not _PLACE.fullmatch(parts[0]):
        return None
    return None if {".", ".."} & set(parts) else parts
