"""What happened, a line for each run: ``moment fire job pid``, in wall-clock seconds.

Any process of any peer appends to the file that ``PEER_RECORD`` names. Standard library only.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mark:
    """One run."""

    moment: float
    """When its code began."""
    fire: float
    """When it was due."""
    job: str
    """Of which job."""
    pid: int
    """Which process ran it."""


def wall() -> float:
    """Return the wall clock, in seconds."""
    return time.clock_gettime(time.CLOCK_REALTIME)


@cache
def _file() -> int:
    return os.open(os.environ["PEER_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def write(fire: float, job: str, *, moment: float | None = None) -> None:
    """Record that a run begins, now or at a moment noted before."""
    moment = wall() if moment is None else moment
    os.write(_file(), f"{moment:.6f} {fire:.3f} {job} {os.getpid()}\n".encode())


def read(path: Path) -> list[Mark]:
    """Return all that is recorded; an unfinished last line is left out."""
    if not path.exists():
        return []
    rows = [line.split() for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [Mark(float(row[0]), float(row[1]), row[2], int(row[3])) for row in rows]
