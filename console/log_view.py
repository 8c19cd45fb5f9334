"""The output of a run as pages show it: from the disk of this machine, else its end as history keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from console.context import context
from shardsched.history.log_shelf import MAX_HIT_CHARS, MAX_HITS, Hits, LogBlock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shardsched.history.log_shelf import OpenLog
    from shardsched.history.row import RunRow

BLOCK_BYTES = 64 * 1024
"""How much of an output a page shows at first, and more at each step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogView:
    """Some lines of an output, and where they come from."""

    source: str
    """``disk``: all of it is on this machine; ``history``: only its end is kept; ``none``: nothing is known of it."""
    block: LogBlock
    """The lines."""
    is_over: bool
    """Whether no more comes."""
    host: str
    """The machine of its executor, as far as that is known."""

    @property
    def lines(self) -> list[tuple[int, str]]:
        """The lines with their numbers."""
        text = self.block.text.removesuffix("\n")
        return list(enumerate(text.split("\n"), self.block.first_line)) if text else []

    def as_json(self) -> dict[str, Any]:
        """Return it for the script of the page."""
        block = self.block
        return {
            "source": self.source,
            "begin": block.begin,
            "end": block.end,
            "size": block.size,
            "first": block.first_line,
            "text": block.text,
            "over": self.is_over,
        }


def log_view(run: RunRow, *, line: int | None = None, before: int | None = None, after: int | None = None) -> LogView:
    """Return the end of an output, or another part of it.

    Args:
        run: Which run's, whole.
        line: About this line.
        before: Before this offset.
        after: From this offset on.

    Raises:
        OSError: The disk does not give it.
    """
    is_over = run.outcome is not None
    with context().logs.opened(run) as log:
        if log is None:
            return _kept(run)
        if after is not None:
            block = log.after(after, BLOCK_BYTES, is_over=is_over)
        elif line is not None:
            block = log.around(line, BLOCK_BYTES)
        else:
            block = log.before(log.size if before is None else before, BLOCK_BYTES)
        return LogView(source="disk", block=block, is_over=is_over, host=host_of(run.executor))


def log_hits(run: RunRow, text: str) -> Hits:
    """Return the lines that hold a text; those of what history keeps where there is no more.

    Raises:
        OSError: The disk does not give them.
    """
    with context().logs.opened(run) as log:
        if log is not None:
            return log.search(text)
    wanted = text.casefold()
    found = [(at, line) for at, line in enumerate(run.log_tail.split("\n"), 1) if wanted in line.casefold()]
    return Hits(count=len(found), lines=tuple((at, line[:MAX_HIT_CHARS]) for at, line in found[:MAX_HITS]))


def log_size(run: RunRow) -> tuple[str, int]:
    """Return where an output comes from, and how many bytes it has there."""
    with context().logs.opened(run) as log:
        if log is not None:
            return "disk", log.size
    return ("history" if run.log_tail else "none"), len(run.log_tail.encode())


def log_bytes(run: RunRow, begin: int, end: int) -> Iterator[bytes]:
    """Give the bytes of an output from one offset to another, a block at a time."""
    # Not the request's context: an answer that is sent in parts outlives it.
    return _bytes(context().logs.opened(run), run.log_tail.encode(), begin, end)


def _bytes(opening: Any, kept: bytes, begin: int, end: int) -> Iterator[bytes]:
    with opening as log:
        while begin < end:
            data = _some(log, kept, begin, min(end - begin, BLOCK_BYTES))
            if not data:
                return
            yield data
            begin += len(data)


def _some(log: OpenLog | None, kept: bytes, begin: int, length: int) -> bytes:
    return kept[begin : begin + length] if log is None else log.raw(begin, length)


def host_of(executor: str) -> str:
    """Return the machine of an executor that lives, empty where that is not known."""
    status = context().fleet.sight(wait_s=0.5).status
    found = next((one for one in status.executors if one.name == executor), None) if status else None
    return found.record.host if found and found.record else ""


def _kept(run: RunRow) -> LogView:
    size = len(run.log_tail.encode())
    block = LogBlock(begin=0, end=size, size=size, first_line=1, text=run.log_tail)
    return LogView(
        source="history" if run.log_tail else "none",
        block=block,
        is_over=run.outcome is not None,
        host=host_of(run.executor),
    )
