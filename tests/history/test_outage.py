"""The database is away, wrong, newer or slow: records wait on disk, and all are there in the end."""

from __future__ import annotations

import contextlib
import logging
import socket
import sqlite3
import subprocess
import threading
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Engine, event, select, update
from sqlalchemy.exc import OperationalError

from shardsched.core.events import Event
from shardsched.history.engine import Database
from shardsched.history.filter import EventFilter
from shardsched.history.query import History
from shardsched.history.recorder import Storing
from shardsched.history.schema import HEAD, VERSION
from shardsched.history.table import RUNS
from shardsched.history.writer import RECORDS_DROPPED
from tests.history.stage import NAMESPACE, START, make_end, make_event, make_run
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection, ExceptionContext

    from shardsched.history.recorder import Recorder
    from tests.registry.postgres_server import PostgresServer


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shardsched.history.writer.RETRY_MIN_S", 0.02)
    monkeypatch.setattr("shardsched.history.writer.RETRY_MAX_S", 0.1)


class Load:
    """Runs that are told all the time: of each a claim and an end, a few hundred a second."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._stop = threading.Event()
        self.told = 0
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        for number in count():
            self._recorder.queued(make_run(number))
            self._recorder.ended(make_end(number))
            self.told = number + 1
            if self._stop.wait(0.003):
                return

    def goes_on(self, runs: int = 50) -> None:
        """Return when so many more have been told."""
        wanted = self.told + runs
        eventually(lambda: self.told >= wanted)


def reason_of(recorder: Recorder) -> str:
    """Return why the database takes nothing."""
    return recorder.state().reason


def has_written(recorder: Recorder, records: int) -> bool:
    """Whether the database has taken so many."""
    return recorder.state().written_count == records


def logged(caplog: pytest.LogCaptureFixture, kind: Event) -> list[logging.LogRecord]:
    """Return the log records of one kind."""
    return [record for record in caplog.records if getattr(record, "event", None) == kind]


def assert_complete(history: History, runs: int) -> None:
    """Every run has its row with its end, and is counted once."""
    eventually(lambda: history.summary(since=START).counts == {"ok": runs}, 30)
    with history.database.reading() as connection:
        outcomes = connection.execute(select(RUNS.c.run_id, RUNS.c.outcome)).all()
    assert sorted(outcomes) == [(make_run(number).run_id, "ok") for number in range(runs)]


@pytest.mark.postgres
def test_server_that_restarts_under_load_costs_no_row(
    own_postgres: PostgresServer, start_recorder: Callable[..., Recorder], caplog: pytest.LogCaptureFixture
) -> None:
    """It ends its connections, it falls dead, it stays away: all rows are there in the end, and a word was said once."""
    caplog.set_level(logging.INFO)
    history = History(own_postgres.url(), namespace=NAMESPACE)
    recorder = start_recorder(own_postgres.url())
    with Load(recorder) as load:
        load.goes_on()
        own_postgres.stop()
        eventually(lambda: recorder.state().storing is Storing.SPOOLING)
        load.goes_on()
        assert recorder.state().spooled_bytes > 0
        own_postgres.start()
        eventually(lambda: recorder.state().storing is Storing.CONNECTED, 20)
        load.goes_on()
    recorder.close(10.0)
    assert_complete(history, load.told)
    assert recorder.state().dropped_count == 0
    assert len(logged(caplog, Event.HISTORY_AWAY)) == len(logged(caplog, Event.HISTORY_BACK)) == 1
    history.close()


@pytest.mark.postgres
def test_backend_that_is_ended_costs_no_row_and_nobody_notices(
    postgres: PostgresServer, start_recorder: Callable[..., Recorder], caplog: pytest.LogCaptureFixture
) -> None:
    """The failing write is done again at once on a new connection; readers too get a new one."""
    url = postgres.url(postgres.new_schema())
    history = History(f"{url}&application_name=history_reader", namespace=NAMESPACE)
    history.runs()
    recorder = start_recorder(f"{url}&application_name=history_writer")
    with Load(recorder) as load, postgres.connect() as connection:
        for _ in range(5):
            load.goes_on(30)
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'history_%'"
            )
            history.runs(limit=1)
    recorder.close(10.0)
    assert_complete(history, load.told)
    assert logged(caplog, Event.HISTORY_AWAY) == []
    history.close()


def test_commit_that_fails_now_and_then_costs_no_row(
    url: str, history: History, start_recorder: Callable[..., Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before or after it was done: nothing is lost, nothing is counted twice, and nobody ends."""
    commits = [0]
    connected = Database._connected_engine

    def fail(_: Connection) -> None:
        commits[0] += 1
        if commits[0] % 4 == 0:
            raise OperationalError("COMMIT", {}, Exception("injected"))

    def with_faults(database: Database) -> object:
        engine = connected(database)
        if database is not history.database and not event.contains(engine, "commit", fail):
            event.listen(engine, "commit", fail)
        return engine

    monkeypatch.setattr(Database, "_connected_engine", with_faults)
    recorder = start_recorder(url)
    with Load(recorder) as load:
        load.goes_on()
        eventually(lambda: commits[0] >= 12)
    eventually(lambda: recorder.state().storing is Storing.CONNECTED and not recorder.state().queued_count)
    recorder.close(10.0)
    assert_complete(history, load.told)


def test_locked_file_is_waited_for_once_and_costs_no_row(
    sqlite_url: str, tmp_path: Path, start_recorder: Callable[..., Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After SQLite's own wait, not twice that, records are on disk; when the lock is gone all have their rows."""
    monkeypatch.setattr("shardsched.history.writer.AT_ONCE_S", 0.1)
    monkeypatch.setattr("shardsched.history.writer.RETRY_MIN_S", 600.0)
    monkeypatch.setattr("shardsched.history.writer.RETRY_MAX_S", 600.0)
    history = History(sqlite_url, namespace=NAMESPACE)
    history.runs()
    failures: list[str] = []
    note = partial(_note_failure, failures)
    event.listen(Engine, "handle_error", note)
    try:
        with contextlib.closing(sqlite3.connect(tmp_path / "history" / "history.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            recorder = start_recorder(sqlite_url, lock_wait_s=0.3)
            with Load(recorder) as load:
                eventually(lambda: recorder.state().storing is Storing.SPOOLING)
                eventually(lambda: recorder.state().spooled_bytes > 0)
                load.goes_on()
            assert len(failures) == 1
            assert "locked" in failures[0]
            recorder.close(10.0)
    finally:
        event.remove(Engine, "handle_error", note)
    again = start_recorder(sqlite_url)
    assert_complete(history, load.told)
    assert recorder.state().dropped_count == again.state().dropped_count == 0
    history.close()


def _note_failure(failures: list[str], context: ExceptionContext) -> None:
    failures.append(str(context.original_exception))


def test_database_that_is_away_from_the_beginning_holds_nobody_up(
    tmp_path: Path, start_recorder: Callable[..., Recorder]
) -> None:
    """A closed port, a host that is silent, a place that cannot be: the reason is shown, and a close is short."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        (tmp_path / "file").touch()
        urls = {
            "postgresql://u:secret@127.0.0.1:1/d": "refused",
            f"postgresql://u:secret@127.0.0.1:{silent.getsockname()[1]}/d?connect_timeout=2": "timeout expired",
            f"sqlite:///{tmp_path / 'file' / 'x.db'}": "cannot be made",
        }
        for number, (url, reason) in enumerate(urls.items()):
            recorder = start_recorder(url, tmp_path / f"spool{number}")
            recorder.ended(make_end(1))
            assert reason in eventually(partial(reason_of, recorder))
            state = recorder.state()
            assert state.storing is Storing.SPOOLING
            assert "secret" not in state.reason
            recorder.close(5.0)
            assert list((tmp_path / f"spool{number}").iterdir())


@pytest.mark.postgres
def test_wrong_user_is_a_reason_like_any_other(
    postgres: PostgresServer, start_recorder: Callable[..., Recorder]
) -> None:
    """Somebody may put it right while the executor runs."""
    recorder = start_recorder(postgres.url().replace("shardsched@", "stranger@"))
    recorder.ended(make_end(1))
    eventually(lambda: "stranger" in recorder.state().reason)
    assert recorder.state().storing is Storing.SPOOLING


def test_missing_driver_is_a_reason_like_any_other(
    start_recorder: Callable[..., Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs run without it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    recorder = start_recorder("postgresql://u@127.0.0.1:1/d")
    eventually(lambda: "pip install 'shardsched[postgres]'" in recorder.state().reason)


def test_newer_tables_are_not_written_until_they_fit(
    url: str, history: History, start_recorder: Callable[..., Recorder]
) -> None:
    """Records wait on disk with a clear reason; a restart with the right release writes them."""
    recorder = start_recorder(url)
    recorder.ended(make_end(0))
    eventually(lambda: history.run(make_end(0).run_id))
    with history.database.writing() as connection:
        connection.execute(update(VERSION).values(version_num="9999"))
    recorder.ended(make_end(1))
    eventually(lambda: "'9999'" in recorder.state().reason)
    recorder.close(5.0)
    server = Database(url)
    engine = server._dialect.connect()
    with engine.begin() as connection:
        connection.execute(update(VERSION).values(version_num=HEAD))
    engine.dispose()
    again = start_recorder(url)
    assert_complete(history, 2)
    eventually(lambda: again.state().storing is Storing.CONNECTED)


def test_records_on_disk_come_in_order_and_survive_a_restart(
    url: str, history: History, start_recorder: Callable[..., Recorder], tmp_path: Path
) -> None:
    """A lost run stays lost, an end goes before a later end, and what a predecessor left comes first."""
    away = f"sqlite:///{tmp_path}"
    first = start_recorder(away)
    first.queued(make_run(1))
    first.lost(make_run(1).run_id, START, "gone")
    first.ended(make_end(2, "failed"))
    eventually(lambda: first.state().spooled_bytes)
    first.close(5.0)
    second = start_recorder(away)
    second.ended(make_end(1))
    second.ended(make_end(2))
    second.event(make_event(1))
    second.close(5.0)
    third = start_recorder(url)
    eventually(lambda: third.state().storing is Storing.CONNECTED and third.state().written_count == 6)
    assert history.summary(since=START).counts == {"lost": 1, "failed": 1}
    assert history.events().rows == (make_event(1),)
    assert list((tmp_path / "spool").iterdir()) == []


def test_batch_that_was_written_before_its_segment_went_is_not_counted_twice(
    url: str, history: History, start_recorder: Callable[..., Recorder], tmp_path: Path
) -> None:
    """A process died between the commit and the deletion: the segment is read again."""
    first = start_recorder(f"sqlite:///{tmp_path}")
    for number in range(50):
        first.queued(make_run(number))
        first.ended(make_end(number))
        first.event(make_event(number))
    first.close(5.0)
    (segment,) = (tmp_path / "spool").iterdir()
    content = segment.read_bytes()
    for _ in range(2):
        segment.write_bytes(content)
        recorder = start_recorder(url)
        eventually(partial(has_written, recorder, 150))
        recorder.close(5.0)
    assert_complete(history, 50)
    assert len(history.events(limit=100).rows) == 50


def test_corrupt_lines_on_disk_are_counted_and_passed_over(
    url: str, history: History, start_recorder: Callable[..., Recorder], tmp_path: Path
) -> None:
    """What stands around them is written, and an event tells how many were lost."""
    first = start_recorder(f"sqlite:///{tmp_path}")
    for number in range(3):
        first.ended(make_end(number))
    first.close(5.0)
    (segment,) = (tmp_path / "spool").iterdir()
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(
        b"".join([lines[0], b"\0\xff nonsense\n", lines[1], lines[2], b'{"format":1}\n', lines[0][:30]])
    )
    start_recorder(url)
    assert_complete(history, 3)
    (told,) = eventually(lambda: history.events(EventFilter(kinds=frozenset({RECORDS_DROPPED}))).rows)
    assert told.detail["count"] == 2


@pytest.fixture(params=["limit", "disk"])
def full(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, dict[str, int]]]:
    """A spool folder that is soon full: by its own limit, or since its file system is."""
    folder = tmp_path / "small"
    folder.mkdir()
    if request.param == "limit":
        yield (folder, {"spool_limit_bytes": 64 * 1024})
        return
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a file system can be mounted by root only")
    yield (folder, {})
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_full_spool_drops_the_newest_says_so_once_and_counts(
    tmp_path: Path,
    full: tuple[Path, dict[str, int]],
    start_recorder: Callable[..., Recorder],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """No exception, one warning; the older rows are there when the database is back, and an event has the number."""
    folder, options = full
    place = tmp_path / "blocked"
    place.touch()
    recorder = start_recorder(f"sqlite:///{place / 'history.db'}", folder, **options)
    for number in range(400):
        recorder.ended(make_end(number))
        if number % 20 == 19:
            eventually(lambda: recorder.state().queued_count == 0)
    state = recorder.state()
    assert state.storing is Storing.DROPPING
    assert 100 < state.dropped_count < 400
    assert len(logged(caplog, Event.HISTORY_DROPPED)) == len(logged(caplog, Event.HISTORY_AWAY)) == 1
    place.unlink()
    eventually(lambda: recorder.state().storing is Storing.CONNECTED)
    history = History(f"sqlite:///{place / 'history.db'}", namespace=NAMESPACE)
    (told,) = eventually(lambda: history.events(EventFilter(kinds=frozenset({RECORDS_DROPPED}))).rows)
    assert told.detail["count"] == state.dropped_count
    assert told.detail["from"] <= told.detail["to"]
    assert_complete(history, 400 - state.dropped_count)
    recorder.ended(make_end(400))
    eventually(lambda: history.run(make_end(400).run_id))
    recorder.close(5.0)
    history.close()
