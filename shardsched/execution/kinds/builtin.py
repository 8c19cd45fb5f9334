"""The handlers that every executor hosts: which there are here, and what an item calls."""

from __future__ import annotations

import importlib.util
from functools import partial
from typing import TYPE_CHECKING, Any

from shardsched.core.task import HTTP, SCRAPY, SHELL, check_task
from shardsched.execution.kinds.request import make_request
from shardsched.execution.kinds.spider import run_spider

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.execution.context import ShardingContext
    from shardsched.execution.stop_flag import StopFlag

_PLACES = {
    SHELL: "shardsched.execution.kinds.shell:become_program",
    HTTP: "shardsched.execution.kinds.request:make_request",
    SCRAPY: "shardsched.execution.kinds.spider:run_spider",
}


def builtin_places() -> dict[str, str]:
    """Return the built-in handlers that this Python can run, with the ``module:function`` behind each."""
    has_scrapy = importlib.util.find_spec("scrapy") is not None
    return {name: place for name, place in _PLACES.items() if name != SCRAPY or has_scrapy}


def builtin_function(name: str, task: Any, stop_flag: StopFlag) -> Callable[[ShardingContext], None]:
    """Return what is called in the place of a handler.

    Args:
        name: Of a built-in handler; not `SHELL`, which calls nothing.
        task: As it is stored.
        stop_flag: The run's request to stop.

    Raises:
        JobConfigError: The task is not valid.
    """
    check_task(name, task)
    if name == HTTP:
        return partial(make_request, task=task)
    return partial(run_spider, task=task, stop_flag=stop_flag)
