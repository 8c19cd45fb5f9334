"""Describing a flow of batches by two functions."""

from __future__ import annotations

from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any

from shardsched.execution.dataflow import Dataflow
from shardsched.execution.decorator import sharded_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from shardsched.execution.context import ShardingContext
    from shardsched.execution.kinds.description import JobSettings


def dataflow_job(
    name: str,
    *,
    fetch: Callable[[ShardingContext], Any],
    process: Callable[[ShardingContext, Any], Any],
    streaming: bool = True,
    cron: str = "",
    **settings: Unpack[JobSettings],
) -> None:
    """Describe a job that fetches batches and works them.

    A class with ``fetch`` and ``process`` under ``@sharded_job`` is another way to say it. Either part may be
    ``async``. Between two batches the run can be stopped; ``ctx.stats`` counts ``batches`` and ``records``.

    Args:
        name: Name of the job and of its handler.
        fetch: Called with the context, returns a batch; None or an empty one when there is nothing.
        process: Called with the context and a batch.
        streaming: Whether it goes on until there is no batch any more, or works one.
        cron: When it fires; empty for only when it is triggered.
        settings: As for `sharded_job`.

    Raises:
        ConfigurationError: Another function is the handler of that name.
    """
    flow = Dataflow(fetch=fetch, process=process, streaming=streaming)
    handler = update_wrapper(partial(flow.run), fetch)
    sharded_job(name, cron=cron, **settings)(handler)
