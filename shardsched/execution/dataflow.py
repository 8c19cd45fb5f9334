"""A handler in two parts: one fetches a batch, the other works it, and so on until there is none.

Between two batches the run is asked whether to stop, so that a stop, a time-out or the end of the lease finds it where
nothing is half done.
"""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from shardsched.execution.context import ShardingContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataflow:
    """The parts of a flow of batches; each may be ``async``."""

    fetch: Callable[[ShardingContext], Any]
    """Returns a batch, None or an empty one when there is nothing."""
    process: Callable[[ShardingContext, Any], Any]
    """Works a batch."""
    streaming: bool = True
    """Whether it goes on until there is no batch any more, or works one."""

    def run(self, ctx: ShardingContext) -> Coroutine[Any, Any, None] | None:
        """Work batches and count them and their records in ``ctx.stats``.

        Returns:
            What is to be awaited, where a part is ``async``.

        Raises:
            StopRequested: The run was asked to stop, between two batches.
        """
        steps = self._steps(ctx)
        try:
            value = next(steps)
            while not isinstance(value, Coroutine):
                value = steps.send(value)
        except StopIteration:
            return None
        return _go_on(steps, value)

    def _steps(self, ctx: ShardingContext) -> Generator[Any, Any, None]:
        """Yield what each part returned, and take its value: what was awaited, where that has to be."""
        ctx.stats |= {"batches": 0, "records": 0}
        is_wanted = True
        while is_wanted:
            ctx.checkpoint()
            batch = yield self.fetch(ctx)
            count = _record_count(batch)
            if count == 0:
                return
            yield self.process(ctx, batch)
            ctx.stats["batches"] += 1
            ctx.stats["records"] += count
            is_wanted = self.streaming


async def _go_on(steps: Generator[Any, Any, None], value: Any) -> None:
    try:
        while True:
            value = steps.send(await value if isinstance(value, Coroutine) else value)
    except StopIteration:
        return


def _record_count(batch: Any) -> int:
    """Return how many records a batch has; one that has no length counts as one."""
    # Not its truth: that of an array or a table of data is an error.
    if batch is None:
        return 0
    return len(batch) if hasattr(batch, "__len__") else 1


def as_function(code: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that runs a handler's code: that of a class with ``fetch`` and ``process`` works batches.

    A new object of such a class is made for each run; its ``streaming`` counts, True where it has none.
    """
    if not isinstance(code, type) or not (hasattr(code, "fetch") and hasattr(code, "process")):
        return code

    def work(ctx: ShardingContext) -> Coroutine[Any, Any, None] | None:
        parts: Any = code()
        flow = Dataflow(fetch=parts.fetch, process=parts.process, streaming=getattr(parts, "streaming", True))
        return flow.run(ctx)

    return work
