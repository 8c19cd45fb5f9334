"""Several processes write into one file, and are killed at it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import func, select, text

from shardsched.history.query import History
from shardsched.history.table import HOURS, MINUTES, RUNS
from tests.history.stage import NAMESPACE, START

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.history.recorder import Recorder

HERE = Path(__file__).parent
KILLS = 30


def start_client(url: str, *arguments: str | Path) -> subprocess.Popen[str]:
    """Start a process that records."""
    return subprocess.Popen(
        [sys.executable, str(HERE / "writing_client.py"), url, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(HERE.parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_four_processes_write_one_file_and_none_meets_a_lock(sqlite_url: str, tmp_path: Path) -> None:
    """All rows are there and counted, nothing was dropped, and nobody has a word to say."""
    clients = [start_client(sqlite_url, tmp_path / f"spool{number}", f"e{number}", "500") for number in range(4)]
    answers = [client.communicate(timeout=90) for client in clients]
    assert answers == [("1000 0\n", "")] * 4
    history = History(sqlite_url, namespace=NAMESPACE)
    assert history.summary(since=START).counts == {"ok": 2_000}
    with history.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(RUNS)).scalar() == 2_000
    history.close()


def test_writer_that_is_killed_leaves_a_file_that_is_written_at_once(
    sqlite_url: str, tmp_path: Path, start_recorder: Callable[..., Recorder]
) -> None:
    """Again and again, in the middle of it: no lock stays, nothing is half written, and roll-ups agree with rows."""
    client = start_client(sqlite_url, tmp_path / "spool", "e", "kill", str(KILLS))
    output, errors = client.communicate(timeout=100)
    assert errors == ""
    slowest_s, written = output.split()
    assert int(written) == KILLS
    assert float(slowest_s) < 5.0
    start_recorder(sqlite_url).close(30.0)
    history = History(sqlite_url, namespace=NAMESPACE)
    with history.database.reading() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
        ended = connection.execute(select(func.count()).where(RUNS.c.outcome == "ok")).scalar()
        counted = [connection.execute(select(func.sum(table.c.runs))).scalar() for table in (MINUTES, HOURS)]
    assert ended is not None
    assert ended > 2 * KILLS
    assert counted == [ended, ended]
    history.close()
