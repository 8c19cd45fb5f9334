"""Flows of batches."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from shardsched import ShardingContext, dataflow_job, sharded_job
from shardsched.errors import ConfigurationError
from shardsched.execution.dataflow import Dataflow
from shardsched.execution.handlers import TABLE
from shardsched.execution.pool import Outcome
from shardsched.execution.stop_flag import StopFlag, StopRequested
from tests.waiting import eventually

if TYPE_CHECKING:
    from tests.execution.pool_harness import PoolUnderTest


def context(stop_flag: StopFlag | None = None) -> ShardingContext:
    """Return a context for a test."""
    return ShardingContext(job="flow", item=0, items=1, stop_flag=stop_flag)


class Sized:
    """A batch whose truth is an error, as that of an array."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        """How many records."""
        return self.count

    def __bool__(self) -> bool:
        """Refuse."""
        raise ValueError


@pytest.mark.parametrize("last", [None, [], (), "", Sized(0)])
def test_flow_goes_on_until_there_is_no_batch(last: Any) -> None:
    """Each batch is worked in order; None or an empty one ends it; batches and records are counted."""
    batches = iter([["a", "b"], ["c"], Sized(4), object(), last])
    worked: list[Any] = []
    ctx = context()
    flow = Dataflow(fetch=lambda _: next(batches), process=lambda _, batch: worked.append(batch))
    assert flow.run(ctx) is None
    assert worked[:2] == [["a", "b"], ["c"]]
    assert ctx.stats == {"batches": 4, "records": 8}


def test_flow_that_is_no_stream_works_one_batch() -> None:
    """Without streaming one batch is worked and no other fetched."""
    fetched: list[int] = []

    def fetch(_: ShardingContext) -> list[int]:
        fetched.append(1)
        return [1, 2]

    ctx = context()
    assert Dataflow(fetch=fetch, process=lambda *_: None, streaming=False).run(ctx) is None
    assert (len(fetched), ctx.stats) == (1, {"batches": 1, "records": 2})


@pytest.mark.parametrize(("is_fetch_async", "is_process_async"), [(True, True), (True, False), (False, True)])
def test_flow_awaits_either_part(is_fetch_async: bool, is_process_async: bool) -> None:
    """A part may be async whatever the other is."""
    left, worked = [["a"], ["b"]], []

    def fetch(_: ShardingContext) -> Any:
        return left.pop(0) if left else None

    async def fetch_later(ctx: ShardingContext) -> Any:
        await asyncio.sleep(0)
        return fetch(ctx)

    def process(_: ShardingContext, batch: list[str]) -> None:
        worked.append(batch)

    async def process_later(ctx: ShardingContext, batch: list[str]) -> None:
        await asyncio.sleep(0)
        process(ctx, batch)

    ctx = context()
    flow = Dataflow(
        fetch=fetch_later if is_fetch_async else fetch, process=process_later if is_process_async else process
    )
    waiting = flow.run(ctx)
    assert waiting is not None
    asyncio.run(waiting)
    assert (worked, ctx.stats) == ([["a"], ["b"]], {"batches": 2, "records": 2})


def test_flow_stops_between_batches_only() -> None:
    """A request to stop that comes while a batch is worked takes effect when it is done."""
    stop_flag, worked = StopFlag(), []

    def process(_: ShardingContext, batch: list[int]) -> None:
        stop_flag.request()
        worked.append(batch)

    ctx = context(stop_flag)
    with pytest.raises(StopRequested):
        Dataflow(fetch=lambda _: [1], process=process).run(ctx)
    assert (worked, ctx.stats["batches"]) == ([[1]], 1)


def test_error_in_a_part_is_the_error_of_the_run() -> None:
    """It comes out as it was raised, and the batch is not counted."""

    def process(_: ShardingContext, __: Any) -> None:
        raise LookupError("no such page")

    ctx = context()
    with pytest.raises(LookupError, match="no such page"):
        Dataflow(fetch=lambda _: [1], process=process).run(ctx)
    assert ctx.stats == {"batches": 0, "records": 0}


def test_flow_class_stays_a_class_and_is_made_anew_for_each_run() -> None:
    """The decorator returns the class; each run has its own object."""

    class Pages:
        def __init__(self) -> None:
            self.left = [["a"]]

        def fetch(self, _: ShardingContext) -> Any:
            return self.left.pop() if self.left else None

        def process(self, ctx: ShardingContext, batch: list[str]) -> None:
            pass

    assert sharded_job("flow-class-of-a-test", cron="@yearly")(Pages) is Pages
    handler = TABLE.get("flow-class-of-a-test")
    assert handler is not None
    for _ in range(2):
        ctx = context()
        assert handler.function(ctx) is None
        assert ctx.stats["batches"] == 1


def test_two_flows_of_one_name_are_refused() -> None:
    """The name is that of the first."""
    dataflow_job("flow-twice", fetch=context, process=lambda *_: None, cron="@yearly")  # type: ignore[arg-type]  # any
    with pytest.raises(ConfigurationError, match="flow-twice"):
        dataflow_job("flow-twice", fetch=lambda _: None, process=lambda *_: None, cron="@yearly")


@pytest.mark.parametrize(
    ("handler", "log", "batches"),
    [("flow", "a b\n" * 3, 3), ("flow_once", "a b\n", 1), ("flow_async", "async a b\n" * 3, 3)],
)
def test_flow_runs_in_a_process(pool: PoolUnderTest, handler: str, log: str, batches: int) -> None:
    """Its output and its counts are those of the run."""
    end = pool.run(handler)
    assert (end.outcome, pool.log(end)) == (Outcome.OK, log)
    assert end.stats == {"batches": batches, "records": 2 * batches}


def test_flow_is_stopped_with_its_batch_done(pool: PoolUnderTest) -> None:
    """Within the grace the batch under way is worked to its end; what was counted is told."""
    run_id = pool.launch("flow_endless")
    pool.pids(run_id)
    pool.pool.stop_run(run_id, "asked by the test", 20)
    end = pool.ended(run_id)
    assert end.outcome is Outcome.STOPPED
    assert end.stats["batches"] == eventually(lambda: pool.log(end).count("batch done"))
