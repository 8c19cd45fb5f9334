"""Rows become columns, columns become lines, and both come back."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.errors import CorruptNodeError
from shardsched.history.column import event_row, event_values, microseconds, moment, run_row, run_values
from shardsched.history.record import Kind, Record, from_line, to_line
from shardsched.history.row import EventRow, RunRow, missed_run_id
from tests.history.stage import START, make_end, make_event, make_run, run_record

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
times = st.datetimes(datetime(1900, 1, 1), datetime(2099, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - Hypothesis wants them so
counts = st.integers(0, 2**62)
seconds = st.floats(0, 1e9)
mappings = st.dictionaries(texts, texts | counts | st.none(), max_size=3)

runs = st.builds(
    RunRow,
    **dict.fromkeys(("run_id", "job", "uid", "cause", "executor", "incarnation", "message", "traceback"), texts),
    **dict.fromkeys(("log_path", "log_tail", "param", "job_param", "by"), texts),
    **dict.fromkeys(("item", "items", "attempt", "token", "peak_memory_kb", "dropped_bytes"), counts),
    **dict.fromkeys(("fire", "queued_at"), times),
    **{name: times | st.none() for name in ("started_at", "ended_at")},
    **{name: counts | st.none() for name in ("exit_code", "signal")},
    outcome=texts | st.none(),
    cpu_s=seconds,
    duration_s=seconds,
    stats=mappings,
)
events = st.builds(
    EventRow,
    at=times,
    **dict.fromkeys(("kind", "executor", "job", "run_id", "by", "message"), texts),
    item=counts | st.none(),
    detail=mappings,
)


@given(runs)
def test_run_comes_back_from_columns_and_from_a_line(run: RunRow) -> None:
    """What a database and a disk are given says all of it."""
    record = run_record(run)
    assert run_row(record.values) == run
    line = to_line(record)
    assert line.count(b"\n") == 1
    assert from_line(line, "here") == record


@given(events)
def test_event_comes_back_from_columns_and_from_a_line(event: EventRow) -> None:
    """Likewise."""
    record = Record(Kind.EVENT, event_values("id", event))
    assert event_row(record.values) == event
    assert from_line(to_line(record), "here") == record


@pytest.mark.parametrize(
    "record",
    [
        Record(Kind.LOST, {"run_id": "r", "ended_us": -5, "message": ""}),
        Record(Kind.FORGET, {"job": "books", "before_us": 7}),
    ],
)
def test_other_records_come_back_from_a_line(record: Record) -> None:
    """Likewise."""
    assert from_line(to_line(record), "here") == record


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff\n",
        b"[]\n",
        b"{}\n",
        b'{"format":1,"record":"riddle"}\n',
        b'{"format":99,"record":"forget","job":"a","before_us":1}\n',
        b'{"format":1,"record":"forget","job":"a"}\n',
        b'{"format":1,"record":"forget","job":"a","before_us":"1"}\n',
        b'{"format":1,"record":"forget","job":"\\ud800","before_us":1}\n',
        b'{"format":1,"record":"forget","job":"a","before_us":1' + b"0" * 5000 + b"}\n",
        to_line(run_record(make_run()))[:-20],
    ],
)
def test_line_that_is_no_record_of_ours_is_refused(line: bytes) -> None:
    """A disk may hold anything."""
    with pytest.raises(CorruptNodeError):
        from_line(line, "here")


@given(runs, st.sampled_from([field for field in RunRow.__dataclass_fields__ if field not in {"stats"}]))
def test_line_with_a_field_of_another_type_is_refused(run: RunRow, field: str) -> None:
    """No value of a wrong type reaches a database."""
    record = json.loads(to_line(run_record(run)))
    column = {"fire": "fire_us", "by": "actor"}.get(field, field.replace("_at", "_us"))
    record[column] = ["x"]
    with pytest.raises(CorruptNodeError):
        from_line(json.dumps(record).encode(), "here")


def test_times_are_kept_to_the_microsecond_whatever_their_zone() -> None:
    """Two clocks' words for one moment are one moment."""
    at = datetime(2026, 3, 1, 12, 0, 0, 123457, timezone(timedelta(hours=5, minutes=45)))
    assert moment(microseconds(at)) == at
    assert moment(10**30).year == 9999
    assert moment(-(10**30)).year == 1


def test_hostile_texts_of_a_run_become_columns() -> None:
    """No message keeps a run's row from being written."""
    values = run_values(make_end(message="a\0\ud800" + "b" * 5_000_000, traceback="c" * 50_000 + "end", item=2**80))
    assert len(values["message"]) == 2_000
    assert len(values["traceback"]) == 32_000
    assert values["traceback"].endswith("end")
    assert values["item"] == 2**63 - 1
    json.dumps(values).encode()


def test_json_column_that_somebody_wrote_by_hand_is_shown_as_it_is() -> None:
    """A page of history does not fail for one bad cell."""
    values = run_values(make_end())
    assert run_row(values | {"stats": "{"}).stats == {"unreadable": "{"}
    assert run_row(values | {"stats": "[1]"}).stats == {"value": [1]}
    assert event_row(event_values("id", make_event()) | {"detail": "nonsense"}).detail == {"unreadable": "nonsense"}


def test_missed_run_id_is_that_of_the_item_and_fire() -> None:
    """Whoever tells of a missed fire makes the same row of it."""
    one = missed_run_id("uid", 1, START)
    assert one == missed_run_id("uid", 1, START.astimezone(timezone(timedelta(hours=8))))
    others = [missed_run_id("uid2", 1, START), missed_run_id("uid", 2, START)]
    assert len({one, *others, missed_run_id("uid", 1, START + timedelta(seconds=1))}) == 4


def test_row_is_a_value() -> None:
    """Rows can be compared and changed copies made."""
    assert replace(make_run(1), item=2) == make_run(1, item=2)
