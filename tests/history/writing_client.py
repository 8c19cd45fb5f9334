"""Processes that record runs.

``writing_client.py URL SPOOL prepare COUNT`` has so many children make the tables at once.
``writing_client.py URL SPOOL write COUNT`` has so many children record 500 runs each, at once; each prints how many
records were written and dropped.
``writing_client.py URL SPOOL kill COUNT`` has so many children, one after the other, that record without end, kills each
in the middle of it, and prints how long the slowest write took that came next, in seconds.

They are forked, so that libraries are loaded once.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import alembic.command  # noqa: F401 - before any fork

from shardsched.history.engine import Database
from tests.history.stage import make_end, make_recorder, make_run, run_record, store
from tests.waiting import pass_time

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 500


def prepare(url: str) -> None:
    """Make the tables."""
    database = Database(url)
    database.prepare()
    database.close()


def record(url: str, spool: Path, number: int) -> None:
    """Record so many runs."""
    name = f"e{number}"
    recorder = make_recorder(url, spool / name, executor=name)
    recorder.start()
    for run in range(RUNS):
        fields: dict[str, Any] = {"run_id": f"{name}-{run}", "executor": name, "job": f"job{run % 3}"}
        recorder.queued(make_run(run, **fields))
        recorder.ended(make_end(run, **fields))
    recorder.close(60.0)
    state = recorder.state()
    print(state.written_count, state.dropped_count, flush=True)  # noqa: T201 - it is the answer


def together(count: int, work: Callable[[int], None]) -> None:
    """Have so many children do the work at once."""
    children = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            work(number)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * count


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


def kill_again_and_again(url: str, spool: Path, kills: int) -> None:
    """Kill children while they write, and write after each."""
    slowest_s = 0.0
    for number in range(kills):
        told, pipe = os.pipe()
        child = os.fork()
        if child == 0:
            record_for_ever(url, spool, f"e{number}", pipe)
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
        database.close()
    print(slowest_s)  # noqa: T201 - it is the answer


def main() -> None:
    """Do what the arguments say."""
    logging.basicConfig(level=logging.WARNING)
    url, spool, what, count = sys.argv[1:]
    if what == "kill":
        kill_again_and_again(url, Path(spool), int(count))
    elif what == "prepare":
        together(int(count), lambda _: prepare(url))
    else:
        together(int(count), lambda number: record(url, Path(spool), number))


if __name__ == "__main__":
    main()
