"""Runs in threads: the same events, and stops that can only be asked for."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import ShutdownError
from shardsched.execution.handlers import Handler, HandlerTable
from shardsched.execution.pool import Outcome, RunEnded, RunStarted, RunWarned
from shardsched.execution.threads import ThreadPool
from tests.execution.pool_harness import EPOCH, spec, stopwatch
from tests.waiting import Recorder, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shardsched.execution.context import ShardingContext
    from shardsched.execution.pool import PoolEvent


def run_id_of(event: PoolEvent) -> str:
    """Return which run an event tells of."""
    assert isinstance(event, RunStarted | RunWarned | RunEnded)
    return event.run_id


class ThreadsUnderTest:
    """A thread pool, its handlers and what it told."""

    def __init__(self, slots: int = 8) -> None:
        self.release = threading.Event()
        self.table = HandlerTable()
        self.events: Recorder[PoolEvent] = Recorder()
        self.pool = ThreadPool(slots=slots, on_event=self.events, table=self.table)
        self._numbers = itertools.count(1)
        for function in (self.quick, self.blocks, self.heeds, self.raises, self.waits):
            self.add(function.__name__, function)
        self.lease(600)

    def add(self, name: str, function: Callable[[ShardingContext], Any]) -> None:
        """Add a handler."""
        self.table.add(Handler(name=name, function=function, module="test", qualname=name))

    def lease(self, until_s: float, epoch: str = EPOCH) -> None:
        """Give a lease whose soft end is half way."""
        now = SYSTEM_CLOCK.boot()
        self.pool.set_lease(epoch, now + until_s, now + until_s / 2)

    def quick(self, ctx: ShardingContext) -> None:
        """Return at once."""

    def blocks(self, ctx: ShardingContext) -> None:
        """Heed nothing but the test."""
        assert self.release.wait(60)

    def heeds(self, ctx: ShardingContext) -> None:
        """Stop when asked."""
        while True:
            ctx.checkpoint()
            self.release.wait(0.01)

    def raises(self, ctx: ShardingContext) -> None:
        """Fail."""
        message = "no such shelf"
        raise LookupError(message)

    async def waits(self, ctx: ShardingContext) -> None:
        """Wait for ever, the async way."""
        await asyncio.Event().wait()

    def launch(self, handler: str, epoch: str = EPOCH, **settings: Any) -> str:
        """Launch a handler and return the run's id."""
        run_id = f"run{next(self._numbers)}"
        self.pool.launch(spec(handler, run_id, isolation="thread", **settings), epoch)
        return run_id

    def wait_for(self, kind: type, run_id: str) -> Any:
        """Wait for an event of a run; there must be one of its kind only."""

        def found() -> list[Any]:
            return [event for event in self.events.values if isinstance(event, kind) and run_id_of(event) == run_id]

        self.events.wait_for(lambda _: bool(found()))
        (event,) = found()
        return event

    def run(self, handler: str, **settings: Any) -> RunEnded:
        """Launch a handler and wait for its end."""
        end = self.wait_for(RunEnded, self.launch(handler, **settings))
        assert isinstance(end, RunEnded)
        return end


@pytest.fixture
def threads() -> Iterator[ThreadsUnderTest]:
    """A thread pool that is closed with nothing left."""
    threads = ThreadsUnderTest()
    yield threads
    threads.release.set()
    threads.pool.close(10)
    assert threads.pool.running() == frozenset()


def test_run_in_a_thread_is_told_like_one_in_a_process(threads: ThreadsUnderTest) -> None:
    """Start and end are told once each, in this order, with this process's id."""
    end = threads.run("quick")
    assert end.outcome is Outcome.OK
    first, last = threads.events.values
    assert isinstance(first, RunStarted)
    assert first.pid == os.getpid()
    assert last is end


def test_exception_in_a_thread_is_told(threads: ThreadsUnderTest) -> None:
    """The traceback comes with the event."""
    end = threads.run("raises")
    assert (end.outcome, end.message) == (Outcome.FAILED, "LookupError: no such shelf")
    assert "in raises" in end.traceback


@pytest.mark.parametrize("handler", ["heeds", "waits"])
def test_stop_is_heeded_by_handlers_that_look_and_by_coroutines(threads: ThreadsUnderTest, handler: str) -> None:
    """A checkpoint raises, and an async task is cancelled."""
    run_id = threads.launch(handler)
    threads.wait_for(RunStarted, run_id)
    threads.pool.stop_run(run_id, "asked by the test", 30)
    end = threads.wait_for(RunEnded, run_id)
    assert (end.outcome, end.message) == (Outcome.STOPPED, "asked by the test")


def test_stop_that_is_ignored_is_told_and_the_run_goes_on(threads: ThreadsUnderTest) -> None:
    """No end is told while the thread runs, and the run keeps its place."""
    run_id = threads.launch("blocks")
    threads.wait_for(RunStarted, run_id)
    threads.pool.stop_run(run_id, "asked by the test", 0.1)
    assert "ignores the request to stop (asked by the test)" in threads.wait_for(RunWarned, run_id).message
    assert threads.pool.running() == {run_id}
    threads.release.set()
    assert threads.wait_for(RunEnded, run_id).outcome is Outcome.STOPPED


def test_timeout_asks_and_tells(threads: ThreadsUnderTest) -> None:
    """A handler that looks ends at its time-out; one that does not is told of, and has its outcome when it ends."""
    assert threads.run("heeds", timeout_s=0.1).outcome is Outcome.TIMEOUT
    run_id = threads.launch("blocks", timeout_s=0.1, stop_grace_s=0.1)
    assert "ignores" in threads.wait_for(RunWarned, run_id).message
    threads.release.set()
    assert threads.wait_for(RunEnded, run_id).outcome is Outcome.TIMEOUT


def test_warning_in_a_thread_is_told_once(threads: ThreadsUnderTest) -> None:
    """A run that takes long is reported once."""
    run_id = threads.launch("heeds", warn_after_s=0.1, timeout_s=1.0)
    threads.wait_for(RunEnded, run_id)
    assert threads.wait_for(RunWarned, run_id).message.startswith("runs for")


def test_lease_governs_threads_as_far_as_it_can(threads: ThreadsUnderTest) -> None:
    """Its soft end, another session and a revocation ask runs to stop; nothing starts without it."""
    run_ids = [threads.launch("heeds")]
    threads.wait_for(RunStarted, run_ids[0])
    threads.lease(0.4)
    ends = [threads.wait_for(RunEnded, run_ids[0])]
    assert threads.run("quick").outcome is Outcome.REFUSED
    for void in (partial(threads.lease, 600, "session-2"), threads.pool.revoke):
        threads.lease(600)
        run_id = threads.launch("heeds")
        threads.wait_for(RunStarted, run_id)
        void()
        ends.append(threads.wait_for(RunEnded, run_id))
    assert [end.outcome for end in ends] == [Outcome.LEASE_LOST] * 3
    assert threads.run("quick").outcome is Outcome.REFUSED


def test_handler_that_is_missing_and_context_that_is_bad_fail_to_start(threads: ThreadsUnderTest) -> None:
    """Neither ends the thread that found out."""
    assert threads.run("missing").outcome is Outcome.START_FAILED
    order = spec("quick", "bad", isolation="thread")
    object.__setattr__(order, "context", {"job": "j"})
    threads.pool.launch(order, EPOCH)
    assert "bad context" in threads.wait_for(RunEnded, "bad").message
    assert threads.run("quick").outcome is Outcome.OK


def test_launches_beyond_the_slots_wait(threads: ThreadsUnderTest) -> None:
    """No more threads are made than there are slots; a waiting run can be stopped without having run."""
    blockers = [threads.launch("blocks") for _ in range(8)]
    for run_id in blockers:
        threads.wait_for(RunStarted, run_id)
    waiting, stopped = threads.launch("quick"), threads.launch("raises")
    threads.pool.stop_run(stopped, "not needed", 1)
    threads.release.set()
    assert threads.wait_for(RunEnded, waiting).outcome is Outcome.OK
    end = threads.wait_for(RunEnded, stopped)
    assert (end.outcome, end.traceback, end.duration_s) == (Outcome.STOPPED, "", 0.0)


def test_thousand_empty_runs_at_once_are_cheap(threads: ThreadsUnderTest) -> None:
    """They share the slots' threads and take no time to speak of."""
    before, begun = threading.active_count(), stopwatch()
    for _ in range(1000):
        threads.launch("quick")
    assert threading.active_count() - before <= 8 + 1
    threads.events.wait_for(lambda events: sum(isinstance(event, RunEnded) for event in events) == 1000)
    assert stopwatch() - begun < 5.0
    eventually(lambda: threads.pool.running() == frozenset())


def test_close_asks_waits_and_refuses(threads: ThreadsUnderTest) -> None:
    """What heeds has ended when closing returns, what does not is still named, and nothing starts any more."""
    heeding, blocking = threads.launch("heeds"), threads.launch("blocks")
    threads.wait_for(RunStarted, blocking)
    threads.wait_for(RunStarted, heeding)
    threads.pool.close(0.5)
    assert threads.wait_for(RunEnded, heeding).outcome is Outcome.STOPPED
    assert threads.pool.running() == {blocking}
    with pytest.raises(ShutdownError):
        threads.launch("quick")


def test_listener_may_launch_from_within_an_event(threads: ThreadsUnderTest) -> None:
    """A chain of runs, each launched when the one before it ends, does not lock itself up."""
    ids: list[str] = []
    done = threading.Event()

    def listen(event: PoolEvent) -> None:
        threads.events(event)
        if isinstance(event, RunEnded):
            if len(ids) < 20:
                ids.append(threads.launch("quick"))
            else:
                done.set()

    threads.pool._on_event = listen
    threads.launch("quick")
    assert done.wait(20)


def test_listener_of_a_thread_pool_that_raises_is_survived(threads: ThreadsUnderTest) -> None:
    """An exception in the listener is logged; the threads go on."""

    def listen(event: PoolEvent) -> None:
        raise RuntimeError(event)

    threads.pool._on_event = listen
    threads.launch("quick")
    threads.pool._on_event = threads.events
    assert threads.run("quick").outcome is Outcome.OK
