"""Dask has no schedule: a client of ours submits what is due, each second, to a cluster of two workers."""

from __future__ import annotations

import math
import sys
import threading

from distributed import Client, fire_and_forget

from benchmarks.peers import record
from benchmarks.peers.program.dask_task import crawl, fire

_never = threading.Event()


def main(address: str, jobs: int) -> None:
    """Submit until killed; without a job, submit the long one once."""
    client = Client(address, set_as_default=False)
    names = [f"job-{number}" for number in range(jobs)]
    if not names:
        fire_and_forget(client.submit(crawl, pure=False))
        _never.wait()
    due = math.floor(record.wall()) + 1
    while True:
        _never.wait(max(due - record.wall(), 0.0))
        fire_and_forget(client.map(fire, [due] * jobs, names, pure=False))
        due += 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
