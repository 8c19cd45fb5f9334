"""Saving and loading from a handler: by hand, in threads, and in processes, the hostile ones among them."""

from __future__ import annotations

import os
import re
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.core.checkpoint import MAX_STATE_BYTES
from shardsched.errors import CheckpointError, StaleTokenError
from shardsched.execution.context import ShardingContext
from shardsched.execution.handlers import Handler, HandlerTable
from shardsched.execution.passage import MAX_STATE_CHARS
from shardsched.execution.pool import Outcome, RunAsked, RunEnded
from shardsched.execution.threads import ThreadPool
from tests.execution.pool_harness import EPOCH, spec
from tests.waiting import Recorder, eventually, pass_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.execution.pool_harness import PoolUnderTest

JOBS = "tests.execution.checkpoint_jobs"


class Desk:
    """Keeps one state for whoever asks, as an executor would."""

    def __init__(self) -> None:
        self.state: str | None = None
        self.asked: list[tuple[int, str]] = []
        self.slow = threading.Event()
        self.slow.set()

    def __call__(self, run_id: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer one request; a save of *slow* waits for the test."""
        self.asked.append((request["number"], request["what"]))
        if request["what"] == "load":
            return {"state": self.state}
        if request["state"] == '"slow"':
            self.slow.wait(10)
        self.state = request["state"]
        return {}


@pytest.fixture
def desk() -> Desk:
    """Who answers."""
    return Desk()


@pytest.fixture
def pool(make_pool: Callable[..., PoolUnderTest], desk: Desk) -> PoolUnderTest:
    """A started pool of the handlers that save."""
    pool = make_pool(modules=[JOBS], answer=desk)
    pool.start()
    return pool


def context(**settings: Any) -> ShardingContext:
    """Return a context made by hand."""
    return ShardingContext(job="j", item=3, items=4, **settings)


def test_context_by_hand_keeps_its_state_in_memory() -> None:
    """A handler's test needs no executor; a default stands in for nothing, and None clears."""
    ctx = context()
    assert ctx.load() is None
    assert ctx.load("none") == "none"
    ctx.save({"page": 3, "seen": ["a", "b"]})
    assert ctx.load("none") == {"page": 3, "seen": ["a", "b"]}
    ctx.save(None)
    assert ctx.load("none") == "none"
    assert context().load() is None


def test_loaded_state_is_the_callers_own() -> None:
    """Changing what was saved or loaded changes nothing that is kept."""
    ctx = context()
    state = {"seen": ["a"]}
    ctx.save(state)
    state["seen"].append("b")
    ctx.load()["seen"].append("c")
    assert ctx.load() == {"seen": ["a"]}


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({1, 2}, "not JSON"),
        (float("nan"), "not JSON"),
        ({("a", 1): 2}, "not JSON"),
        ("\udc00", "surrogate"),
        ("x" * MAX_STATE_BYTES, f"{MAX_STATE_BYTES + 2} bytes"),
    ],
)
def test_state_that_cannot_be_saved_leaves_the_earlier_one(state: Any, words: str) -> None:
    """One sentence says why, and nothing has changed."""
    ctx = context()
    ctx.save("earlier")
    with pytest.raises(CheckpointError, match=words) as caught:
        ctx.save(state)
    assert str(caught.value).startswith("the checkpoint of j/3 was not saved: ")
    assert ctx.load() == "earlier"


def test_largest_state_is_saved() -> None:
    """The limit is on the text as JSON."""
    ctx = context()
    ctx.save("é" * (MAX_STATE_BYTES // 2 - 1))
    assert len(ctx.load()) == MAX_STATE_BYTES // 2 - 1


@pytest.mark.parametrize("kind", [StaleTokenError, CheckpointError])
def test_refusal_is_raised_as_what_it_is(kind: type[Exception]) -> None:
    """What the executor answers becomes the error of its name, with its message."""
    ctx = context(ask=lambda _: {"error": kind.__name__, "message": "for a reason"})
    for call in (ctx.load, lambda: ctx.save(1)):
        with pytest.raises(kind, match="for a reason"):
            call()


def test_after_a_failed_save_the_stored_state_is_asked_for() -> None:
    """What was known before is not taken for what is stored."""
    answers: list[dict[str, Any]] = [{"state": "1"}, {"error": "CheckpointError", "message": "unknown"}, {"state": "2"}]
    ctx = context(ask=lambda _: answers.pop(0))
    assert ctx.load() == 1
    with pytest.raises(CheckpointError):
        ctx.save(2)
    assert ctx.load() == 2


def test_warden_passes_what_may_be_saved() -> None:
    """Its limit, which it cannot import, is that of states."""
    assert MAX_STATE_CHARS == MAX_STATE_BYTES


def test_state_outlives_runs(pool: PoolUnderTest, desk: Desk) -> None:
    """A run goes on from what the one before it saved; each asks once to load and once to save."""
    assert pool.log(pool.run("goes_on")) == "loaded 0\nthen 1\n"
    assert pool.log(pool.run("goes_on")) == "loaded 1\nthen 2\n"
    assert pool.log(pool.run("goes_on_async")) == "then 3\n"
    assert desk.asked == [(1, "load"), (2, "save")] * 3


def test_item_that_asks_nothing_costs_nothing(pool: PoolUnderTest, desk: Desk) -> None:
    """Nothing is read before a handler loads."""
    assert pool.run("quick").outcome is Outcome.OK
    assert desk.asked == []


def test_fresh_interpreter_saves_too(make_pool: Callable[..., PoolUnderTest], desk: Desk, tmp_path: Any) -> None:
    """Where modules start threads, and items are not forked, all is the same."""
    (tmp_path / "threaded.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    pool = make_pool(modules=["threaded", JOBS], import_paths=[str(tmp_path)], answer=desk)
    pool.start()
    assert pool.ready().thread_count == 2
    assert pool.log(pool.run("goes_on")) == "loaded 0\nthen 1\n"


def test_saves_from_many_threads_are_each_whole(pool: PoolUnderTest, desk: Desk) -> None:
    """One at a time goes out, and each gets its own answer."""
    end = pool.run("saves_from_threads")
    assert re.fullmatch(r"last \{\d\}\n", pool.log(end)), pool.log(end)
    assert [number for number, _ in desk.asked] == list(range(1, 9))


def test_refusal_reaches_the_handler(make_pool: Callable[..., PoolUnderTest]) -> None:
    """Errors cross the channel with their message."""
    pool = make_pool(modules=[JOBS], answer=lambda *_: {"error": "StaleTokenError", "message": "it was claimed anew"})
    pool.start()
    lines = pool.log(pool.run("is_refused")).splitlines()
    assert [line.split()[0] for line in lines] == ["StaleTokenError"] * 2
    assert "it was claimed anew" in lines[1]


def test_forked_child_is_refused_and_disturbs_nothing(pool: PoolUnderTest, desk: Desk) -> None:
    """A child of the item would read its parent's answers."""
    log = pool.log(pool.run("forks"))
    assert "child: a checkpoint cannot be saved or loaded by a process that the item has forked" in log
    assert log.endswith("parent: 2\n")
    assert desk.asked == [(1, "save")]


def test_save_after_an_interrupted_one_gets_its_own_answer(pool: PoolUnderTest, desk: Desk) -> None:
    """An exception out of a signal handler leaves an answer behind, which is no later save's."""
    desk.slow.clear()
    run_id = pool.launch("interrupted")
    pool.events.wait_for(lambda events: any(isinstance(event, RunAsked) for event in events))
    pass_time(0.5)
    desk.slow.set()
    assert pool.log(pool.ended(run_id)) == "thrown out\nthen second\n"
    assert [what for _, what in desk.asked] == ["save", "save"]


def test_save_within_an_interrupted_save_is_refused(pool: PoolUnderTest, desk: Desk) -> None:
    """A signal handler that saves at the wrong moment is told so, and nothing hangs."""
    desk.slow.clear()
    run_id = pool.launch("saves_in_a_signal_handler")
    pool.events.wait_for(lambda events: any(isinstance(event, RunAsked) for event in events))
    pass_time(0.5)
    desk.slow.set()
    log = pool.log(pool.ended(run_id))
    assert "nested: a checkpoint cannot be saved" in log
    assert log.endswith("then slow\n")


def test_item_waits_for_a_slow_answer_alone(pool: PoolUnderTest) -> None:
    """An item that waits holds up neither the warden nor other items, and can be stopped."""
    pool._answer = None
    waiting = pool.launch("saves_without_end")
    pool.events.wait_for(lambda events: any(isinstance(event, RunAsked) for event in events))
    assert pool.run("quick").outcome is Outcome.OK
    pool.pool.stop_run(waiting, "test", 1)
    assert pool.ended(waiting).outcome is Outcome.STOPPED


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_item_killed_in_the_middle_of_saves_leaves_a_whole_one(
    pool: PoolUnderTest, desk: Desk, number: signal.Signals
) -> None:
    """Whatever arrives is whole, and numbers never go back over several runs."""
    last = 0
    for _ in range(4):
        run_id = pool.launch("saves_without_end")
        (pid,) = pool.pids(run_id)
        pass_time(0.05)
        os.kill(pid, number)
        assert pool.ended(run_id).outcome is Outcome.KILLED
        saved = ShardingContext(job="j", item=0, items=1, ask=lambda request: desk("", request)).load()
        assert saved["number"] == saved["again"] >= last
        last = saved["number"]
    assert last > 0


def test_nonsense_is_not_passed_on(pool: PoolUnderTest, desk: Desk) -> None:
    """Requests without form get no answer and reach nobody; a sound one after them works."""
    end = pool.run("talks_nonsense")
    assert pool.log(end) == "then sound\n"
    assert desk.asked == [(1, "save")]


def test_item_that_asks_at_once_has_one_under_way(pool: PoolUnderTest, desk: Desk) -> None:
    """The first is answered, and of those that came meanwhile the last."""
    pool._answer = None
    run_id = pool.launch("asks_three_times")
    pool.events.wait_for(lambda events: any(isinstance(event, RunAsked) for event in events))
    pass_time(0.3)
    pool.pool.answer(run_id, {"number": 1, "state": None})
    pool.events.wait_for(lambda events: sum(isinstance(event, RunAsked) for event in events) == 2)
    pool.pool.answer(run_id, {"number": 3, "state": None})
    assert pool.log(pool.ended(run_id)) == "[1, 3]\n"
    assert [event.request["number"] for event in pool.events.values if isinstance(event, RunAsked)] == [1, 3]


def test_item_that_reads_no_answer_harms_nobody(pool: PoolUnderTest, desk: Desk) -> None:
    """It gets no more than the stream holds, and others are served."""
    desk.state = '"' + "x" * 60_000 + '"'
    run_id = pool.launch("never_reads")
    pool.pids(run_id)
    eventually(lambda: len(desk.asked) > 2)
    pass_time(0.3)
    asked = len(desk.asked)
    pass_time(0.3)
    assert len(desk.asked) == asked
    desk.state = None
    assert pool.run("goes_on").outcome is Outcome.OK
    pool.pool.stop_run(run_id, "test", 0)
    assert pool.ended(run_id).outcome is Outcome.STOPPED


def test_item_that_breaks_its_stream_harms_itself(pool: PoolUnderTest) -> None:
    """The warden reads it no more, the item is told, and it can be stopped as ever."""
    run_id = pool.launch("speaks_no_frames")
    pids = pool.pids(run_id)
    assert pids
    pool.pool.stop_run(run_id, "test", 0)
    end = pool.ended(run_id)
    assert end.outcome is Outcome.STOPPED
    assert "the warden of this run does not answer" in pool.log(end)


def test_thread_asks_directly(desk: Desk) -> None:
    """A run in a thread is answered by a call in that thread, by the run's id."""
    table, events, said = HandlerTable(), Recorder[Any](), []
    names: list[str] = []

    def answer(run_id: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        names.append(f"{run_id} {threading.current_thread().name}")
        return desk(run_id, request)

    def handler(ctx: ShardingContext) -> None:
        ctx.save(ctx.load(0) + 1)
        said.append(ctx.load())

    table.add(Handler(name="h", function=handler, module="test", qualname="h"))
    pool = ThreadPool(slots=1, on_event=events, table=table, answer=answer)
    pool.set_lease(EPOCH, float("inf"), float("inf"))
    for number in range(2):
        pool.launch(spec("h", f"r{number}"), EPOCH)
    events.wait_for(lambda some: sum(isinstance(event, RunEnded) for event in some) == 2)
    pool.close(5)
    assert said == [1, 2]
    assert names[0].startswith("r0 shardsched-item-")
