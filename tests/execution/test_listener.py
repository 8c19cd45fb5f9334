"""Listeners are told of items where these run, and of fires in a process of their own; their failures change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.execution.call import Ending
from shardsched.execution.context import ShardingContext
from shardsched.execution.handlers import TABLE
from shardsched.execution.listener import JobListener, call_fire_listeners, call_heard, hears_fires
from shardsched.execution.outcome import Outcome
from shardsched.execution.run import RunSpec
from shardsched.execution.stop_flag import StopFlag
from tests.execution import listener_jobs
from tests.execution.pool_harness import EPOCH, PoolUnderTest

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRE: dict[str, Any] = {
    "call": "fire_completed",
    "job": "heard",
    "fire_time": "2026-03-01T12:00:00+00:00",
    "trigger": 0,
    "items": 3,
    "outcome": "failure",
    "ended": {"done": [0, 2], "failed": [1]},
}


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PoolUnderTest]:
    """A pool whose handlers have listeners."""
    some = PoolUnderTest(tmp_path_factory.mktemp("listeners"), modules=("tests.execution.listener_jobs",))
    some.start()
    some.ready()
    yield some
    some.pool.close(5)


def lines(path: str) -> list[str]:
    """Return what was printed."""
    return [line for line in Path(path).read_text().splitlines() if not line.startswith(" ")]


@pytest.mark.parametrize(
    ("param", "after", "outcome"), [("", "None", Outcome.OK), ("lost", "LookupError", Outcome.FAILED)]
)
def test_listeners_are_told_around_the_handler(pool: PoolUnderTest, param: str, after: str, outcome: Outcome) -> None:
    """Before it in their order, after it in the opposite one, with what the handler raised."""
    end = pool.run("heard", param)
    assert end.outcome is outcome
    told = [line for line in lines(end.log_path) if line.startswith(("first", "second", "handler"))]
    assert told == ["first before 0", "second before 0", "handler", f"second after {after}", f"first after {after}"]


def test_listeners_are_told_around_a_coroutine(pool: PoolUnderTest) -> None:
    """An async handler has ended when they are told so."""
    told = lines(pool.run("heard-async").log_path)
    assert told == ["first before 0", "handler", "first after None"]


def test_listener_that_fails_changes_no_outcome(pool: PoolUnderTest) -> None:
    """What it raises is in the log of the run, and the others are told all the same."""
    end = pool.run("badly-heard")
    assert end.outcome is Outcome.OK
    text = pool.log(end)
    assert "before_item of Teller failed" in text
    assert "RuntimeError: bad fails" in text
    assert "good before 0" in text
    assert "good after None" in text


def test_listeners_in_a_thread_are_told_too(capsys: pytest.CaptureFixture[str]) -> None:
    """The same calls are made where items run in threads."""
    handler, flag = TABLE.get("heard"), StopFlag()
    assert handler is not None
    end = call_heard(handler.function, handler.listeners, ShardingContext(job="heard", item=1, items=2), flag)
    assert end.ending is Ending.OK
    assert capsys.readouterr().out.splitlines()[0] == "first before 1"


def test_fire_listeners_are_called_in_a_process(pool: PoolUnderTest) -> None:
    """A call goes through the pool like a run, and every listener is told all of the fire."""
    spec = RunSpec(run_id="call-1", job="heard", item=0, items=3, handler="heard", context=FIRE)
    pool.pool.launch(spec, EPOCH)
    end = pool.ended("call-1")
    assert end.outcome is Outcome.OK
    ended = "{'done': (0, 2), 'failed': (1,)}"
    assert lines(end.log_path) == [f"first completed failure {ended}", f"second completed failure {ended}"]


def test_fire_listener_that_fails_is_told_of_and_the_others_are_called(pool: PoolUnderTest) -> None:
    """One that raises keeps no other from being told."""
    context = FIRE | {"call": "fire_started", "outcome": None, "ended": {}}
    spec = RunSpec(run_id="call-2", job="heard", item=0, items=3, handler="badly-heard", context=context)
    pool.pool.launch(spec, EPOCH)
    end = pool.ended("call-2")
    assert (end.outcome, "bad fails" in end.message) == (Outcome.FAILED, True)
    assert "good started 12:00 3 None" in pool.log(end)


def test_fire_call_with_bad_fields_is_refused(pool: PoolUnderTest) -> None:
    """What is no fire is told as a call that could not start."""
    spec = RunSpec(run_id="call-3", job="heard", item=0, items=3, handler="heard", context={"call": "fire_started"})
    pool.pool.launch(spec, EPOCH)
    assert pool.ended("call-3").outcome is Outcome.START_FAILED


def test_only_listeners_of_fires_have_fires_counted() -> None:
    """Those that are told of items alone cost nothing."""
    assert hears_fires([listener_jobs.Teller("x")])
    assert not hears_fires([listener_jobs.ItemsOnly(), JobListener()])
    assert {"heard", "heard-async", "badly-heard"} <= TABLE.listening()
    assert "items-heard" not in TABLE.listening()


def test_base_listener_does_nothing() -> None:
    """Whatever is not overridden is a listener's silence."""
    context = ShardingContext(job="j", item=0, items=1)
    JobListener().before_item(context)
    JobListener().after_item(context, None)
    for call in ("fire_started", "fire_completed"):
        assert call_fire_listeners([JobListener()], FIRE | {"call": call}).ending is Ending.OK
