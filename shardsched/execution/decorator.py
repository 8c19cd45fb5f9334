"""The decorator with which crawler code says what is to run when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from shardsched.execution.dataflow import as_function
from shardsched.execution.handlers import TABLE, Handler

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shardsched.execution.listener import JobListener

_F = TypeVar("_F", bound="Callable[..., Any]")


def sharded_job(
    name: str,
    *,
    cron: str = "",
    items: int = 1,
    item_params: Mapping[int, str] | str | None = None,
    param: str = "",
    timezone: str = "UTC",
    pause: Sequence[str] = (),
    after: Sequence[str] | str = (),
    after_mode: str = "all",
    after_on: str = "success",
    retries: int = 0,
    retry_delay: float = 10,
    retry_backoff: float = 2,
    retry_max_delay: float = 600,
    on_failure: str = "log",
    failover: bool = True,
    misfire: str = "once",
    misfire_grace: float = 60,
    timeout: float | None = None,
    warn_after: float | None = None,
    stop_grace: float = 5,
    isolation: str = "process",
    strategy: str = "sticky",
    labels: Mapping[str, str] | None = None,
    priority: int = 0,
    description: str = "",
    paused: bool = False,
    overwrite: bool = False,
    listeners: Sequence[JobListener] = (),
) -> Callable[[_F], _F]:
    """Make a function the handler of a job, and describe the job.

    The function is called with a `ShardingContext`, once for each sharding item of each fire, and may be ``async``. It
    is returned unchanged, so that a test can call it. A class with ``fetch`` and ``process`` is a flow of batches.

    What is said here creates the job when an executor that imports the module joins a fleet without it; afterwards the
    registry's copy wins unless `overwrite` is set. Settings are checked at that moment.

    Args:
        name: Name of the job and of the handler, unique in the fleet.
        cron: When it fires: 5 fields are Unix cron, 6 or 7 are Quartz; empty for only when it is triggered.
        items: Number of sharding items.
        item_params: A parameter for each item, as a mapping or as text such as ``0=a,1=b``.
        param: A parameter for the whole job.
        timezone: Zone in which `cron` is read.
        pause: Windows of time, in `timezone`, in which it does not fire: ``22:00-06:00``, ``12/24-01/02``, ``sat,sun``.
        after: Upstream jobs whose completed fires trigger it.
        after_mode: Whether it waits for ``all`` of them or ``any``.
        after_on: Which of their fires count: ``success`` (every item done), ``failure`` or ``always``.
        retries: How often a failed run is tried again for the same fire.
        retry_delay: Seconds before the first retry.
        retry_backoff: By what each further delay is multiplied.
        retry_max_delay: Longest delay of a retry, in seconds.
        on_failure: What is done when a run has failed for good: ``log``, ``ignore``, ``raise`` (to the process's
            root logger), or ``module:function``.
        failover: Whether another executor runs again what a dead one left unfinished.
        misfire: What happens to fires that nobody could start in time: ``once``, ``skip`` or ``all``.
        misfire_grace: How late a fire may start and still be on time, in seconds.
        timeout: Seconds after which a run is killed; None for never.
        warn_after: Seconds after which a run is reported; None for never.
        stop_grace: Seconds from asking a run to stop to killing it.
        isolation: ``process``, which can really be stopped, or ``thread``, which stops only where it asks to.
        strategy: How items are spread: ``sticky``, ``average``, ``odevity`` or ``round-robin``.
        labels: Only executors with all of these labels take its items.
        priority: Which job starts first when slots are short; higher goes first.
        description: For people.
        paused: Whether the job is created paused.
        overwrite: Whether this description replaces the registry's copy at every start.
        listeners: Told of its items and of its fires; they live in the code alone.

    Raises:
        ConfigurationError: Another function is the handler of that name.

    Example:
        >>> from shardsched import ShardingContext, sharded_job
        >>> @sharded_job("hello", cron="0 * * * * ?", items=2)
        ... def hello(ctx: ShardingContext) -> None:
        ...     ctx.log.info("item %d of %d", ctx.item, ctx.items)
    """
    settings = {
        "cron": cron,
        "items": items,
        "item_params": item_params,
        "param": param,
        "timezone": timezone,
        "pause": tuple(pause),
        "after": after,
        "after_mode": after_mode,
        "after_on": after_on,
        "retries": retries,
        "retry_delay_s": retry_delay,
        "retry_backoff": retry_backoff,
        "retry_max_delay_s": retry_max_delay,
        "on_failure": on_failure,
        "failover": failover,
        "misfire": misfire,
        "misfire_grace_s": misfire_grace,
        "timeout_s": timeout,
        "warn_after_s": warn_after,
        "stop_grace_s": stop_grace,
        "isolation": isolation,
        "strategy": strategy,
        "labels": dict(labels or {}),
        "priority": priority,
        "description": description,
        "paused": paused,
        "overwrite": overwrite,
    }

    def decorate(function: _F) -> _F:
        module = getattr(function, "__module__", "")
        qualname = getattr(function, "__qualname__", repr(function))
        handler = Handler(
            name=name,
            function=as_function(function),
            module=module,
            qualname=qualname,
            settings=settings,
            listeners=tuple(listeners),
        )
        TABLE.add(handler)
        return function

    return decorate
