"""What Dask's workers run; in a module that they import, so that a task carries a name and not code."""

from __future__ import annotations

import threading

from benchmarks.peers import record

LONG_S = 60.0


def fire(due: float, job: str) -> None:
    """Record one run."""
    record.write(due, job)


def crawl() -> None:
    """Record the begin of a run that lasts."""
    record.write(record.wall(), "long")
    threading.Event().wait(LONG_S)
