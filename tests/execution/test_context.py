"""What a handler is told and may ask."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from shardsched.execution.context import ShardingContext, StopRequested
from shardsched.execution.stop_flag import StopFlag

FIELDS: dict[str, Any] = {
    "job": "books",
    "item": 1,
    "items": 4,
    "param": "science",
    "job_param": "all",
    "fire_time": "2026-01-01T08:00:00+08:00",
    "run_id": "r1",
    "attempt": 2,
    "cause": "failover",
    "fencing_token": 7,
    "executor": "host-1",
}


def test_context_from_fields_has_them_all() -> None:
    """Every field that is sent arrives, the time with its zone."""
    context = ShardingContext.from_fields(json.loads(json.dumps(FIELDS)), StopFlag())
    fire_time = datetime(2026, 1, 1, 8, tzinfo=timezone(timedelta(hours=8)))
    assert {name: getattr(context, name) for name in FIELDS} == FIELDS | {"fire_time": fire_time}
    assert context.fire_time.utcoffset() == timedelta(hours=8)


def test_context_from_fields_of_another_release_is_taken() -> None:
    """Unknown fields are passed over, and missing ones have their defaults."""
    context = ShardingContext.from_fields({"job": "j", "item": 0, "items": 1, "new": 1, "param": None}, StopFlag())
    assert (context.param, context.attempt, context.cause) == ("", 1, "schedule")
    assert context.fire_time.tzinfo is UTC


@pytest.mark.parametrize("missing", ["job", "item", "items"])
def test_context_without_what_it_is_for_is_refused(missing: str) -> None:
    """There is no default for the job and the item."""
    fields = {name: value for name, value in FIELDS.items() if name != missing}
    with pytest.raises(KeyError, match=missing):
        ShardingContext.from_fields(fields, StopFlag())


def test_checkpoint_raises_only_when_asked_to_stop() -> None:
    """Before the request nothing happens; after it the handler is left."""
    flag = StopFlag()
    context = ShardingContext(job="j", item=0, items=1, stop_flag=flag)
    context.checkpoint()
    looks = [context.should_stop]
    flag.request()
    looks.append(context.should_stop)
    assert looks == [False, True]
    with pytest.raises(StopRequested):
        context.checkpoint()


def test_stop_request_passes_through_except_exception() -> None:
    """A crawler that catches every exception of a page does not swallow the request."""
    assert not issubclass(StopRequested, Exception)


def test_context_by_hand_serves_to_test_a_handler() -> None:
    """Job and item are enough; nothing stops it, and all keys of a single item are its own."""
    context = ShardingContext(job="j", item=0, items=1)
    context.checkpoint()
    assert list(context.mine(range(3))) == [0, 1, 2]
    assert "job='j'" in repr(context)


def test_log_names_job_and_item(caplog: pytest.LogCaptureFixture) -> None:
    """Records of ctx.log can be told apart by any handler."""
    context = ShardingContext.from_fields(FIELDS, StopFlag())
    with caplog.at_level(logging.INFO):
        context.log.info("fetched %d", 3)
    (record,) = caplog.records
    assert record.getMessage() == "fetched 3"
    assert {name: getattr(record, name) for name in ("job", "item", "run_id")} == {
        "job": "books",
        "item": 1,
        "run_id": "r1",
    }


def test_mine_reads_lazily() -> None:
    """An endless iterable can be filtered."""

    def numbers() -> Any:
        number = 0
        while True:
            yield number
            number += 1

    found = ShardingContext(job="j", item=1, items=3).mine(numbers())
    assert len([next(found) for _ in range(5)]) == 5


def test_flag_tells_its_first_watcher_once() -> None:
    """The first look is told, later ones are not, and looking from outside is no look."""
    flag, looks = StopFlag(), []
    flag.call_on_watch(lambda: looks.append(1))
    assert not flag.requested
    assert looks == []
    flag.watch()
    flag.watch()
    assert looks == [1]


@pytest.mark.parametrize("is_early", [True, False])
def test_flag_calls_back_whenever_it_is_asked(is_early: bool) -> None:
    """A callback given before or after the request is called."""
    flag, calls = StopFlag(), []
    if is_early:
        flag.request()
    flag.call_on_request(lambda: calls.append(1))
    if not is_early:
        assert calls == []
        flag.request()
    assert calls == [1]
