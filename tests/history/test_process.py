"""Several processes write into one file, and are killed at it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import func, select, text

from shardsched.history.query import History
from shardsched.history.schema import HEAD
from shardsched.history.table import DAYS, HOURS, MINUTES, RUNS
from tests.history.stage import NAMESPACE, START

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.history.engine import Database
    from shardsched.history.recorder import Recorder

HERE = Path(__file__).parent
KILLS = 20


def client(url: str, spool: Path, what: str, count: int) -> str:
    """Return what processes print that record; they have no word to say of trouble."""
    answer = subprocess.run(
        [sys.executable, "-W", "error", str(HERE / "writing_client.py"), url, str(spool), what, str(count)],
        env=os.environ | {"PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    return answer.stdout


def test_processes_that_start_at_once_make_the_tables_once(url: str, database: Database, tmp_path: Path) -> None:
    """Nobody fails because others do the same."""
    client(url, tmp_path, "prepare", 4)
    assert database.version() == HEAD


def test_four_processes_write_one_file_and_none_meets_a_lock(sqlite_url: str, tmp_path: Path) -> None:
    """All rows are there and counted, nothing was dropped, and nobody has a word to say."""
    assert client(sqlite_url, tmp_path / "spool", "write", 4) == "1000 0\n" * 4
    history = History(sqlite_url, namespace=NAMESPACE)
    assert history.summary(since=START).counts == {"ok": 2_000}
    with history.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(RUNS)).scalar() == 2_000
    history.close()


def test_writer_that_is_killed_leaves_a_file_that_is_written_at_once(
    sqlite_url: str, tmp_path: Path, start_recorder: Callable[..., Recorder]
) -> None:
    """Again and again, in the middle of it: no lock stays, nothing is half written, and roll-ups agree with rows."""
    assert float(client(sqlite_url, tmp_path / "spool", "kill", KILLS)) < 5.0
    start_recorder(sqlite_url).close(30.0)
    history = History(sqlite_url, namespace=NAMESPACE)
    with history.database.reading() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
        ended = connection.execute(select(func.count()).where(RUNS.c.outcome == "ok")).scalar()
        sums = [select(func.sum(table.c.runs)).where(table.c.job == "books") for table in (MINUTES, HOURS, DAYS)]
        counted = [connection.execute(statement).scalar() for statement in sums]
    assert ended is not None
    assert ended > 2 * KILLS
    assert counted == [ended] * 3
    history.close()
