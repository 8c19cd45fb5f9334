"""Telling never waits and never fails, and what was told is there."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest

from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import SettingsError
from shardsched.history import intake
from shardsched.history.filter import EventFilter
from shardsched.history.intake import Intake
from shardsched.history.query import History
from shardsched.history.record import to_line
from shardsched.history.recorder import NullRecorder, Recorder, Recording, Storing
from shardsched.history.row import EventRow, RunRow, missed_run_id
from shardsched.history.spool import Spool
from shardsched.history.tally import Tally
from shardsched.history.writer import RECORDS_DROPPED
from shardsched.testing import FakeClock
from tests.history.stage import NAMESPACE, START, make_end, make_event, make_recorder, make_run, run_record
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_what_is_told_is_there_soon(url: str, history: History, start_recorder: Callable[..., Recorder]) -> None:
    """Without closing, and with all that was told."""
    recorder = start_recorder(url)
    recorder.queued(make_run(1))
    recorder.event(make_event(1, job="books"))
    eventually(lambda: history.run(make_run(1).run_id) == make_run(1))
    recorder.ended(make_end(1))
    eventually(lambda: history.run(make_run(1).run_id) == make_end(1))
    assert history.events().rows == (make_event(1, job="books"),)
    assert recorder.state().storing is Storing.CONNECTED
    assert recorder.state().written_count == 3


def test_close_writes_what_is_left(url: str, history: History, tmp_path: Path) -> None:
    """Also what was told just before, and more than one batch of it."""
    recorder = make_recorder(url, tmp_path / "spool")
    recorder.start()
    for number in range(1_000):
        recorder.ended(make_end(number))
    recorder.queued(make_run(2_000))
    recorder.lost(make_run(2_000).run_id, START, "nobody will finish it")
    recorder.forget_job("news", START)
    recorder.close(30.0)
    assert history.summary(since=START).counts == {"ok": 1_000, "lost": 1}
    assert recorder.state().written_count == 1_003
    assert list((tmp_path / "spool").glob("*")) == []


def test_missed_fire_is_one_row_whoever_tells_of_it(
    url: str, history: History, start_recorder: Callable[..., Recorder], tmp_path: Path
) -> None:
    """Two executors find the same fire missed."""
    for name in ("one", "other"):
        recorder = start_recorder(url, tmp_path / name, executor=name)
        recorder.missed(make_run(1, run_id="", executor=name))
        recorder.close(10.0)
    (run,) = history.runs().rows
    assert run.run_id == missed_run_id("uid-1", 0, START)
    assert (run.outcome, run.ended_at, run.executor) == ("missed", make_run(1).queued_at, "one")
    assert history.summary(since=START).counts == {"missed": 1}


def test_end_of_the_log_is_read_when_it_is_written(
    url: str, history: History, start_recorder: Callable[..., Recorder], tmp_path: Path
) -> None:
    """Of runs that have ended; one that brings its own keeps it."""
    log = tmp_path / "run.log"
    log.write_bytes(b"\x1b[31mfailed\x1b[0m\0 at last\n")
    recorder = start_recorder(url)
    recorder.queued(make_run(1, log_path=str(log)))
    recorder.ended(make_end(2, log_path=str(log)))
    recorder.ended(make_end(3, log_path=str(log), log_tail="its own"))
    recorder.ended(make_end(4, log_path=str(tmp_path / "gone.log")))
    recorder.close(10.0)
    tails = [cast("RunRow", history.run(make_run(number).run_id)).log_tail for number in (1, 2, 3, 4)]
    assert tails == ["", "failed at last\n", "its own", ""]


def test_hostile_texts_are_stored(url: str, history: History, start_recorder: Callable[..., Recorder]) -> None:
    """Five megabytes, NUL, half characters, characters of four bytes."""
    recorder = start_recorder(url)
    nasty = "a\0b\ud800c😀" + "x" * 5_000_000
    fields = ("run_id", "job", "executor", "message", "traceback", "param", "job_param", "log_path", "log_tail", "by")
    texts: dict[str, Any] = dict.fromkeys(fields, nasty)
    recorder.ended(make_end(1, "failed", stats={nasty: nasty, "nan": float("nan")}, **texts))
    recorder.event(EventRow(at=START, kind=nasty, message=nasty, detail={nasty: [nasty]}))
    recorder.close(10.0)
    (run,) = history.runs().rows
    assert run.message.startswith("a�b�c😀x")
    assert len(run.message) == 2_000
    assert history.events().rows[0].kind == run.message
    assert recorder.state().dropped_count == 0


def test_record_that_cannot_be_stored_is_given_up_alone(
    url: str, history: History, start_recorder: Callable[..., Recorder]
) -> None:
    """What was told beside it is there; the loss is counted, and an event tells of it."""
    recorder = start_recorder(url)
    recorder.ended(make_end(1))
    recorder.ended(make_end(2, fire=datetime(2026, 1, 1)))  # noqa: DTZ001 - what must not be
    recorder.ended(cast("RunRow", None))
    recorder.ended(make_end(3, job=cast("Any", 7)))
    recorder.ended(make_end(4))
    eventually(lambda: history.events(EventFilter(kinds=frozenset({RECORDS_DROPPED}))).rows)
    recorder.close(10.0)
    assert {run.run_id for run in history.runs().rows} == {make_run(1).run_id, make_run(4).run_id}
    (event,) = history.events(EventFilter(kinds=frozenset({RECORDS_DROPPED}))).rows
    assert (event.detail["count"], event.executor) == (3, "e1")
    assert recorder.state().dropped_count == 3


def test_value_that_only_the_database_refuses_is_given_up_alone(
    url: str, history: History, start_recorder: Callable[..., Recorder], tmp_path: Path
) -> None:
    """One that got past the cleaning, such as by a hand in the spool, does not hold up all others for ever."""
    records = [run_record(make_end(number)) for number in (1, 2, 3)]
    records[1] = records[1]._replace(values=records[1].values | {"attempt": 2**63 - 1, "run_id": "a\0b"})
    spool = Spool(tmp_path / "spool")
    spool.append([to_line(record) for record in records])
    spool.close()
    recorder = start_recorder(url)
    eventually(lambda: {make_end(1).run_id, make_end(3).run_id} <= {run.run_id for run in history.runs().rows})
    eventually(lambda: recorder.state().spooled_bytes == 0)
    # SQLite stores what PostgreSQL refuses.
    assert recorder.state().dropped_count == (0 if url.startswith("sqlite") else 1)


def test_telling_takes_no_time_while_the_database_is_stuck(
    sqlite_url: str, start_recorder: Callable[..., Recorder]
) -> None:
    """Somebody holds the database's lock: nobody who tells waits, and a close returns in time."""
    history = History(sqlite_url, namespace=NAMESPACE, clock=FakeClock())
    recorder = start_recorder(sqlite_url)
    with history.database.writing():
        recorder.ended(make_end(0))
        eventually(lambda: recorder.state().queued_count == 1)
        took = []
        for number in range(1, 500):
            began = time.perf_counter()
            recorder.ended(make_end(number))
            took.append(time.perf_counter() - began)
        began = time.perf_counter()
        recorder.close(0.5)
        assert time.perf_counter() - began < 10.0
        assert sorted(took)[len(took) // 2] < 0.0005
    assert history.runs().rows == ()
    again = start_recorder(sqlite_url)
    eventually(lambda: history.summary(since=START).counts == {"ok": 500})
    assert again.state().spooled_bytes == 0
    history.close()


def test_url_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A wrong word on the command line is told at once; everything else is shown by the state."""
    with pytest.raises(SettingsError):
        make_recorder("mysql://h/d", tmp_path)


def test_null_recorder_keeps_nothing() -> None:
    """For those who want no history."""
    recorder: Recording = NullRecorder()
    recorder.start()
    recorder.queued(make_run())
    recorder.ended(make_end())
    recorder.lost("r", START, "")
    recorder.missed(make_run())
    recorder.event(make_event())
    recorder.forget_job("books", START)
    recorder.close(1.0)
    assert recorder.state().storing is Storing.OFF


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records beyond are refused, and those taken come in order."""
    monkeypatch.setattr(intake, "MAX_QUEUE", 3)
    taken = Intake(SYSTEM_CLOCK)
    tellings: list[Any] = [lambda: None for _ in range(5)]
    assert [taken.put(telling) for telling in tellings] == [True, True, True, False, False]
    assert taken.take(2, None) == tellings[:2]
    assert taken.count == 3
    assert taken.rest() == tellings[:3]
    taken.end()
    assert taken.take(2, None) == []


def test_intake_waits_for_others_but_not_long_and_not_for_many() -> None:
    """A hundred are due at once, one after a while, and whoever looks may look in between."""
    clock = FakeClock()
    taken = Intake(clock)
    assert taken.take(9, clock.boot()) == []
    telling: Any = lambda: None  # noqa: E731 - one value
    taken.put(telling)
    assert taken._wait_s(None) == pytest.approx(intake.FLUSH_S)
    assert taken._wait_s(clock.boot() + 0.05) == pytest.approx(0.05)
    clock.advance(intake.FLUSH_S)
    assert taken._wait_s(None) == pytest.approx(0.0)
    for _ in range(intake.FLUSH_COUNT):
        taken.put(telling)
    assert len(taken.take(10, None)) == 10
    assert taken._wait_s(None) == pytest.approx(0.0)


def test_tally_tells_of_each_loss_once() -> None:
    """Those that came while it was told are told of later."""
    clock = FakeClock()
    tally = Tally(clock)
    assert tally.untold() is None
    tally.add(2, "full")
    clock.advance(10.0)
    tally.add(3, "fuller")
    loss = tally.untold()
    assert loss is not None
    assert (loss.records, loss.until - loss.since, loss.reason) == (5, timedelta(seconds=10), "fuller")
    tally.add(1, "full")
    tally.tell(loss)
    assert tally.untold() == loss._replace(records=1, reason="full")
    assert tally.total == 6
