"""What holds for every stored record: it comes back as it was, and no value found in its place does harm."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.assignment import Assignment, Layout, decode_assignment, encode_assignment
from shardsched.core.command import Commands, Trigger, UpstreamFire, decode_commands, encode_commands
from shardsched.core.executor import (
    DrainMark,
    ExecutorRecord,
    LeaderRecord,
    LoadReport,
    decode_drain,
    decode_executor,
    decode_leader,
    decode_load,
    encode_drain,
    encode_executor,
    encode_leader,
    encode_load,
)
from shardsched.core.fire import (
    Cause,
    Cursor,
    ItemState,
    Marker,
    decode_cursor,
    decode_marker,
    encode_cursor,
    encode_marker,
)
from shardsched.core.job import JobConfig
from shardsched.core.job_record import decode_job, encode_job
from shardsched.core.tally import ClosedFire, FireCall, FireKey, FireOutcome, ItemEnd, OpenFire, PendingCall, Tally
from shardsched.core.tally_record import decode_tally, encode_tally
from shardsched.errors import CorruptNodeError
from tests.strategies import (
    ANY_SPEED,
    assignments,
    command_records,
    cursors,
    drain_marks,
    executors,
    job_configs,
    leader_records,
    load_reports,
    markers,
    tallies,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Kind(NamedTuple):
    """One kind of record."""

    encode: Callable[[Any], bytes]
    """Makes its stored form."""
    decode: Callable[[bytes], Any]
    """Reads it."""
    records: st.SearchStrategy[Any]
    """Any records of the kind."""
    full: Any
    """A record with every field given."""


KINDS = {
    "job": Kind(
        encode_job,
        lambda value: decode_job("/p", "books", value),
        job_configs("books"),
        JobConfig(
            name="books",
            uid="u",
            handler="crawl",
            cron="0 * * * *",
            armed_at=NOW,
            items=2,
            item_params={0: "a"},
            timeout_s=5.0,
            warn_after_s=4.0,
            labels={"zone": "eu"},
        ),
    ),
    "assignment": Kind(
        encode_assignment,
        lambda value: decode_assignment("/p", value),
        assignments(),
        Assignment(
            uid="u",
            layouts=(Layout(items=2, config=1), Layout(items=3, config=2, from_fire=NOW)),
            owners={"e1": (0, 1), "e2": (2,)},
        ),
    ),
    "commands": Kind(
        encode_commands,
        lambda value: decode_commands("/p", value),
        command_records(),
        Commands(
            uid="u",
            triggers=(
                Trigger(number=1, at=NOW, items=3, only=(0, 2), param="p", by="ann"),
                Trigger(number=2, at=NOW, items=3, cause=Cause.DEPENDENCY, upstream=(UpstreamFire(job="a", at=NOW),)),
            ),
            upstream=(UpstreamFire(job="a", at=NOW, trigger=3),),
            stop=2,
            stop_at=NOW,
        ),
    ),
    "tally": Kind(
        encode_tally,
        lambda value: decode_tally("/p", value),
        tallies(),
        Tally(
            uid="u",
            open=(OpenFire(key=FireKey(at=NOW), items=2, begun_by="s", ended={1: ItemEnd.LOST}),),
            closed=(ClosedFire(key=FireKey(at=NOW, trigger=1), outcome=FireOutcome.SUCCESS),),
            pending=(
                PendingCall(
                    call=FireCall.COMPLETED,
                    key=FireKey(at=NOW),
                    items=1,
                    ended={0: ItemEnd.DONE},
                    outcome=FireOutcome.SUCCESS,
                    by="s",
                ),
            ),
        ),
    ),
    "cursor": Kind(
        encode_cursor,
        lambda value: decode_cursor("/p", value),
        cursors(),
        Cursor(
            uid="u",
            state=ItemState.RUNNING,
            fire=NOW,
            run_fire=NOW,
            started_at=NOW,
            ended_at=NOW,
            job_param="p",
            param="q",
        ),
    ),
    "marker": Kind(
        encode_marker,
        lambda value: decode_marker("/p", value),
        markers(),
        Marker(uid="u", run="r", incarnation="i", executor="e1", fire=NOW, attempt=1, started_at=NOW),
    ),
    "executor": Kind(
        encode_executor,
        lambda value: decode_executor("/p", "e1", value),
        executors("e1"),
        ExecutorRecord(
            name="e1",
            incarnation="i",
            host="h",
            ip="::1",
            pid=7,
            process_start="b-9",
            started_at=NOW,
            version="1",
            handlers={"crawl": "shop:crawl"},
            labels={"zone": "eu"},
            unfit="its clock is off",
        ),
    ),
    "load": Kind(
        encode_load, lambda value: decode_load("/p", value), load_reports(), LoadReport(at=NOW, cpu=0.5, drift_s=-3.5)
    ),
    "drain": Kind(
        encode_drain, lambda value: decode_drain("/p", value), drain_marks(), DrainMark(at=NOW, by="ann", reason="disk")
    ),
    "leader": Kind(
        encode_leader,
        lambda value: decode_leader("/p", value),
        leader_records(),
        LeaderRecord(name="e1", incarnation="i", epoch=3),
    ),
}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)

HOSTILE: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1.5,
    -0.0,
    10**30,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
    "",
    "x",
    "\ud800",
    "\0\x1b[31m",
    "3",
    "0-9999",
    "0-9999," * 9,
    "\u0663",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999-14:00",
    "9999-12-31T23:59:59.999999+00:00",
    "2026-01-01",
    "2026-01-01T00:00:00",
    "2026-01-01T00:00:00+99:00",
    "2026-02-30T00:00:00Z",
    "2026-W01-1T00:00:00Z",
    [],
    [None],
    [True],
    [-1],
    [[]],
    [{}],
    {},
    {"": ""},
    {"1": None},
    {"1": 1},
    {"-1": "x"},
    {"\ud800": "x"},
    {"1" * 5000: "x"},
    {"e1": "0", "e2": "0"},
)
"""Values that may stand where they should not."""


def places(record: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container of a record with every key of it."""
    for key in list(record) if isinstance(record, dict) else range(len(record)):
        yield record, key
        if isinstance(record[key], dict | list):
            yield from places(record[key])


def mutants(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the record with one value at a time replaced or taken out; restored after each."""
    for container, key in places(record):
        value = copy.deepcopy(container[key])
        for hostile in HOSTILE:
            container[key] = hostile
            yield record
        if isinstance(container, dict):
            del container[key]
            yield record
        container[key] = value


def read(kind: Kind, document: Any) -> Any:
    """Return the record that a document makes, or the one error that there may be."""
    try:
        return kind.decode(json.dumps(document).encode())
    except CorruptNodeError as error:
        return error


@kinds
@ANY_SPEED
@given(data=st.data())
def test_record_any_comes_back_as_it_was(kind: Kind, data: st.DataObject) -> None:
    """What is written is read as the same value, whatever it holds."""
    record = data.draw(kind.records)
    assert kind.decode(kind.encode(record)) == record


@kinds
def test_record_hostile_value_anywhere_is_refused_or_read_as_promised(kind: Kind) -> None:
    """Any value in any place gives a record of promised types, which can be written again, or `CorruptNodeError`."""
    results = [read(kind, mutant) for mutant in mutants(json.loads(kind.encode(kind.full)))]
    reasons = [result.reason for result in results if isinstance(result, CorruptNodeError)]
    records = [result for result in results if not isinstance(result, CorruptNodeError)]
    assert len(reasons) > len(HOSTILE)
    assert max(map(len, reasons)) < 400
    for record in records:
        assert kind.decode(kind.encode(record)) == record


@kinds
@ANY_SPEED
@given(value=st.binary(max_size=50) | st.text(max_size=50).map(str.encode))
def test_record_bytes_of_nobody_are_refused(kind: Kind, value: bytes) -> None:
    """Bytes that nobody here wrote are refused by one error."""
    with pytest.raises(CorruptNodeError):
        kind.decode(value)


@kinds
@ANY_SPEED
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
)
def test_record_json_of_nobody_is_refused(kind: Kind, value: Any) -> None:
    """JSON of every shape is refused by the same error, with a format version too."""
    for document in (value, {"format": 1, "value": value}):
        with pytest.raises(CorruptNodeError):
            kind.decode(json.dumps(document).encode())


@kinds
@pytest.mark.parametrize(
    "value",
    [b"", b"null", b"[]", b"\xff\xfe", b"\xef\xbb\xbf{}", b"{", b'{"format":1', b"[" * 100_000, b'{"a":' * 100_000],
    ids=["empty", "null", "list", "not UTF-8", "byte order mark", "cut", "cut later", "deep lists", "deep objects"],
)
def test_record_broken_document_is_refused(kind: Kind, value: bytes) -> None:
    """An empty, cut, deep or differently encoded document is refused."""
    with pytest.raises(CorruptNodeError):
        kind.decode(value)


@kinds
@pytest.mark.parametrize(
    ("form", "reason"),
    [
        (2, "newer release"),
        (0, "no format"),
        (-1, "no format"),
        (True, "no format"),
        ("1", "no format"),
        (1.0, "no format"),
    ],
)
def test_record_other_format_is_held_not_guessed_at(kind: Kind, form: Any, reason: str) -> None:
    """A record of a newer release says so, and one without a version is not ours."""
    record = json.loads(kind.encode(kind.full)) | {"format": form}
    with pytest.raises(CorruptNodeError) as caught:
        kind.decode(json.dumps(record).encode())
    assert reason in caught.value.reason
    assert caught.value.path == "/p"


@kinds
def test_record_unknown_fields_are_passed_over(kind: Kind) -> None:
    """What a newer release of the same format adds does not keep an older one from reading the rest."""
    record = json.loads(kind.encode(kind.full)) | {"added": {"later": [1]}}
    assert kind.decode(json.dumps(record).encode()) == kind.full


@kinds
def test_record_times_are_stored_in_utc_and_none_is_left_out(kind: Kind) -> None:
    """The stored form has an offset with every time, and no field that is null."""
    stored = kind.encode(kind.full).decode()
    assert None not in json.loads(stored).values()
    assert "2026-01-01T00:00:00" not in stored.replace("2026-01-01T00:00:00+00:00", "")


def test_record_time_of_another_zone_is_the_same_instant() -> None:
    """A time written with an offset comes back in UTC."""
    zone = timezone(timedelta(hours=8))
    mark = DrainMark(at=NOW.astimezone(zone))
    assert decode_drain("/p", encode_drain(mark)).at == NOW
    assert decode_drain("/p", encode_drain(mark)).at.tzinfo is UTC


def test_cursor_message_with_half_a_character_is_stored_all_the_same() -> None:
    """The outcome of a run is written whatever its exception said."""
    cursor = Cursor(uid="u", state=ItemState.FAILED, message="bad \ud800\0 text \U0001f600")
    assert decode_cursor("/p", encode_cursor(cursor)).message == "bad \\ud800\0 text \U0001f600"
