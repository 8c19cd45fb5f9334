"""A database that gives no answer is left alone for a while, so that people do not wait for it one after the other."""

from __future__ import annotations

import contextlib
import itertools
import socket
import sqlite3
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.errors import HistoryUnavailableError
from shardsched.history.engine import Database
from shardsched.history.outage import REST_S, Outage, after_asking, after_failure
from shardsched.history.schema import HEAD
from shardsched.testing import FakeClock

if TYPE_CHECKING:
    from pathlib import Path

NOW = FakeClock().now()
ERROR = HistoryUnavailableError("no answer")


def test_nothing_is_refused_without_a_failure() -> None:
    """As long as there are answers nothing is kept."""
    assert after_asking(None, 5.0, 15.0) is None


def test_outage_begins_with_its_first_failure() -> None:
    """And keeps that moment, with what was said last."""
    first = after_failure(None, ERROR, NOW, 10.0)
    later = HistoryUnavailableError("still none")
    assert after_failure(first, later, NOW + timedelta(seconds=9), 19.0) == Outage(
        since=NOW, error=later, asked_again_at=19.0
    )


@given(st.lists(st.floats(0, 60), min_size=1, max_size=30))
def test_who_waits_for_an_answer_waits_alone(steps: list[float]) -> None:
    """However many ask during an outage, no two are let through within the rest of one another."""
    outage: Outage | None
    outage, boot, asked = after_failure(None, ERROR, NOW, REST_S), 0.0, [0.0]
    for step in steps:
        boot += step
        with contextlib.suppress(HistoryUnavailableError):
            outage = after_asking(outage, boot, boot + REST_S)
            asked.append(boot)
    assert all(later >= earlier + REST_S for earlier, later in itertools.pairwise(asked))


def test_locked_file_can_be_read_and_is_waited_for_once(tmp_path: Path) -> None:
    """Who only reads goes on; who writes is told at once, until the lock is gone and somebody finds out."""
    clock, path = FakeClock(), tmp_path / "history.db"
    database = Database(f"sqlite:///{path}", patience_s=0.1, clock=clock)
    database.prepare()
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(HistoryUnavailableError, match="busy"), database.writing():
            pass
        assert database.version() == HEAD
        assert (database.reading_outage is None, database.writing_outage is None) == (True, False)
        other.execute("ROLLBACK")
        with pytest.raises(HistoryUnavailableError, match="busy"), database.writing():
            pass  # nobody has asked since
        clock.advance(REST_S)
        with database.writing():
            pass
    assert database.writing_outage is None
    other.close()
    database.close()


def test_file_that_is_taken_away_is_not_made_anew(tmp_path: Path) -> None:
    """A new one would be empty; when it is back all goes on."""
    path, aside = tmp_path / "history.db", tmp_path / "aside.db"
    database = Database(f"sqlite:///{path}", patience_s=0.1, clock=FakeClock())
    database.prepare()
    path.rename(aside)
    with pytest.raises(HistoryUnavailableError, match="is gone; put it back"):
        database.version()
    assert not path.exists()
    aside.rename(path)
    with pytest.raises(HistoryUnavailableError, match="is gone"):
        database.version()
    database.probe()
    assert database.version() == HEAD
    database.close()


def test_server_that_never_answers_is_waited_for_once() -> None:
    """A port that takes connections and says nothing, as behind a broken proxy."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        database = Database(f"postgresql://me@127.0.0.1:{port}/x", patience_s=2.0, clock=FakeClock())
        for _ in range(50):  # of which only the first one waits, or this would take minutes
            with pytest.raises(HistoryUnavailableError):
                database.version()
        assert database.reading_outage is not None
        database.close()
