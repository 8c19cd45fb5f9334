"""Processes that record runs.

``writing_client.py URL SPOOL NAME COUNT`` records so many runs and prints how many records were written and dropped.
``writing_client.py URL SPOOL NAME kill COUNT`` has children that record without end, kills each in the middle of it and
prints how long the slowest write took that came next, in seconds, and how many there were.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

from shardsched.history.engine import Database
from tests.history.stage import make_end, make_recorder, make_run, run_record, store
from tests.waiting import pass_time


def record(url: str, spool: Path, name: str, runs: int) -> None:
    """Record so many runs."""
    recorder = make_recorder(url, spool, executor=name)
    recorder.start()
    for number in range(runs):
        fields: dict[str, Any] = {"run_id": f"{name}-{number}", "executor": name, "job": f"job{number % 3}"}
        recorder.queued(make_run(number, **fields))
        recorder.ended(make_end(number, **fields))
    recorder.close(60.0)
    state = recorder.state()
    print(state.written_count, state.dropped_count)  # noqa: T201 - it is the answer


def record_for_ever(url: str, spool: Path, name: str, pipe: int) -> NoReturn:
    """Record until killed; write a byte into the pipe once the database has taken some."""
    recorder = make_recorder(url, spool, executor=name)
    recorder.start()
    is_told = False
    for number in count():
        recorder.ended(make_end(number, run_id=f"{name}-{number}", executor=name))
        while recorder.state().queued_count > 300:
            pass_time(0.001)
        if not is_told and recorder.state().written_count:
            is_told = os.write(pipe, b"x") == 1
    raise AssertionError


def kill_again_and_again(url: str, spool: Path, name: str, kills: int) -> None:
    """Kill children while they write, and write after each."""
    slowest_s, written = 0.0, 0
    for number in range(kills):
        told, pipe = os.pipe()
        child = os.fork()
        if child == 0:
            record_for_ever(url, spool, f"{name}-{number}", pipe)
        assert os.read(told, 1) == b"x"
        pass_time(0.003 * (number % 10))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(told)
        os.close(pipe)
        database = Database(url)
        began = time.monotonic()
        store(database, [run_record(make_end(number, run_id=f"after-{number}"))])
        slowest_s = max(slowest_s, time.monotonic() - began)
        written += 1
        database.close()
    print(slowest_s, written)  # noqa: T201 - it is the answer


def main() -> None:
    """Do what the arguments say."""
    logging.basicConfig(level=logging.WARNING)
    url, spool, name, *rest = sys.argv[1:]
    if rest[0] == "kill":
        kill_again_and_again(url, Path(spool), name, int(rest[1]))
    else:
        record(url, Path(spool), name, int(rest[0]))


if __name__ == "__main__":
    main()
