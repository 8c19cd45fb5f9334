"""Dask has no schedule: a client of ours submits what is due, each second, to a cluster of two workers."""

from __future__ import annotations

import math
import sys
import threading

from distributed import Client, fire_and_forget

from benchmarks.peers import record

LONG_S = 60.0
_never = threading.Event()


def fire(due: float, job: str) -> None:
    """Record one run."""
    record.write(due, job)


def crawl() -> None:
    """Record the begin of a run that lasts."""
    record.write(record.wall(), "long")
    _never.wait(LONG_S)


def main(address: str, jobs: int) -> None:
    """Submit until killed; without a job, submit the long one once."""
    client = Client(address, set_as_default=False)
    if not jobs:
        kept = client.submit(crawl, pure=False)
        _never.wait()
        del kept
    due = math.floor(record.wall()) + 1
    while True:
        _never.wait(max(due - record.wall(), 0.0))
        fire_and_forget([client.submit(fire, due, f"job-{number}", pure=False) for number in range(jobs)])
        due += 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
