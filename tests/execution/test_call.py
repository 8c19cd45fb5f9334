"""How a call of user code ends is told whatever it raises."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.execution.call import MAX_MESSAGE_CHARS, MAX_TRACEBACK_CHARS, CallEnd, Ending, call_handler
from shardsched.execution.context import ShardingContext, StopRequested
from shardsched.execution.stop_flag import StopFlag

if TYPE_CHECKING:
    from collections.abc import Callable


def call(function: Callable[..., Any], flag: StopFlag | None = None) -> CallEnd:
    """Call a handler with a context of one item."""
    flag = flag or StopFlag()
    return call_handler(function, ShardingContext(job="j", item=0, items=1, stop_flag=flag), flag)


def raising(error: BaseException) -> Callable[[ShardingContext], None]:
    """Return a handler that raises."""

    def handler(_: ShardingContext) -> None:
        raise error

    return handler


class UnprintableError(Exception):
    """An error that cannot even be written out."""

    def __str__(self) -> str:
        raise ValueError


def test_call_that_returns_is_ok() -> None:
    """What a handler returns does not matter."""
    assert call(lambda ctx: ctx.items) == CallEnd(ending=Ending.OK)


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        (ValueError("no\nline"), "ValueError: no\nline", 1),
        (KeyboardInterrupt(), "KeyboardInterrupt", 1),
        (StopRequested(), "StopRequested", 1),
        (asyncio.CancelledError(), "CancelledError", 1),
        (UnprintableError(), "<exception str() failed>", 1),
        (SystemExit(7), "exited with code 7", 7),
        (SystemExit(256), "exited with code 256", 1),
        (SystemExit(-1), "exited with code -1", 255),
        (SystemExit("bad day"), "SystemExit: bad day", 1),
        (SystemExit(True), "exited with code 1", 1),
    ],
)
def test_call_that_raises_failed(error: BaseException, message: str, code: int) -> None:
    """Every exception is a failure with a word on it and a code other than 0."""
    end = call(raising(error))
    assert (end.ending, end.exit_code) == (Ending.FAILED, code)
    assert message in end.message


@pytest.mark.parametrize("error", [SystemExit(), SystemExit(0), SystemExit(None), SystemExit(False)])
def test_call_that_exits_without_a_fault_is_ok(error: SystemExit) -> None:
    """Leaving as a script does is returning."""
    assert call(raising(error)).ending is Ending.OK


@pytest.mark.parametrize("error", [StopRequested(), asyncio.CancelledError()])
def test_call_that_gives_way_to_a_request_was_stopped(error: BaseException) -> None:
    """The same exceptions after a request are no failure."""
    flag = StopFlag()
    flag.request()
    assert call(raising(error), flag).ending is Ending.STOPPED


def test_call_that_fails_with_very_much_text_is_cut() -> None:
    """The message keeps its start, the traceback its end."""
    end = call(raising(ValueError("x" * 1_000_000 + "end")))
    assert len(end.message) == MAX_MESSAGE_CHARS
    assert len(end.traceback) == MAX_TRACEBACK_CHARS
    assert end.traceback.endswith("end\n")


def test_traceback_begins_in_the_handler() -> None:
    """Our own frames are no news to the reader."""
    end = call(raising(ValueError("no")))
    assert "test_call.py" in end.traceback
    assert "call_handler" not in end.traceback


async def awaiting(ctx: ShardingContext) -> None:
    """Wait until cancelled."""
    await asyncio.Event().wait()


def test_call_of_a_coroutine_is_cancelled_by_the_flag() -> None:
    """A request from another thread, before or after the loop runs, cancels the task."""
    flag = StopFlag()
    timer = threading.Timer(0.05, flag.request)
    timer.start()
    assert call(awaiting, flag).ending is Ending.STOPPED
    timer.join()
    assert call(awaiting, flag).ending is Ending.STOPPED


def test_call_of_a_wrapped_coroutine_is_awaited() -> None:
    """A partial function and a plain function that returns a coroutine are async handlers too."""
    done = []

    async def work(ctx: ShardingContext, word: str) -> None:
        await asyncio.sleep(0)
        done.append(word)

    assert call(functools.partial(work, word="partial")).ending is Ending.OK
    assert call(lambda ctx: work(ctx, "plain")).ending is Ending.OK
    assert done == ["partial", "plain"]


def test_second_request_does_not_strike_the_clean_up() -> None:
    """A task is cancelled once, so that what it does in finally can finish."""
    flag, steps = StopFlag(), []

    async def work(_: ShardingContext) -> None:
        try:
            flag.request()
            await asyncio.sleep(10)
        finally:
            flag.request()
            await asyncio.sleep(0.01)
            steps.append("cleaned")

    assert call(work, flag).ending is Ending.STOPPED
    assert steps == ["cleaned"]


def test_tasks_left_behind_are_cancelled() -> None:
    """What a coroutine has started ends with it, its finally blocks included."""
    steps = []

    async def other() -> None:
        try:
            await asyncio.sleep(100)
        finally:
            steps.append("cancelled")

    tasks = []

    async def work(_: ShardingContext) -> None:
        tasks.append(asyncio.get_running_loop().create_task(other()))
        await asyncio.sleep(0)

    assert call(work).ending is Ending.OK
    assert steps == ["cancelled"]
