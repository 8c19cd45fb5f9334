"""Code that is told of a job's items and of its whole fires."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from shardsched.core.events import Event
from shardsched.execution.call import CallEnd, Ending, call_handler

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from shardsched.execution.context import ShardingContext
    from shardsched.execution.stop_flag import StopFlag

FIRE_CALLS = ("fire_started", "fire_completed")
"""The methods that are called for whole fires."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FireInfo:
    """One fire of a job, over all of its items, as listeners are told of it."""

    job: str
    """Name of the job."""
    fire_time: datetime
    """The moment for which it was planned, or when it was triggered; aware."""
    trigger: int
    """Number of the trigger, 0 for a scheduled fire; with the time it names the fire."""
    items: int
    """How many items it has."""
    outcome: str | None = None
    """``success`` (every item that is not disabled is done) or ``failure``; None when it has just started."""
    ended: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """How its items ended: items by ``done``, ``failed``, ``stopped``, ``lost``, ``missed`` or ``disabled``."""

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> FireInfo:
        """Return the fire that plain JSON fields describe.

        Raises:
            KeyError: A field is missing.
            ValueError: The time is no time.
        """
        return cls(
            job=fields["job"],
            fire_time=datetime.fromisoformat(fields["fire_time"]),
            trigger=fields["trigger"],
            items=fields["items"],
            outcome=fields.get("outcome"),
            ended={state: tuple(items) for state, items in fields.get("ended", {}).items()},
        )


class JobListener:
    """Base of listeners; override what is wanted, and give instances to ``@sharded_job(..., listeners=[...])``.

    What a listener raises is logged and changes nothing else. It lives in the code alone: the registry knows nothing
    of it. `before_item` and `after_item` run where the item runs, around its handler. `fire_started` and
    `fire_completed` are called once for each fire, in a process of their own on one of the executors, within a minute.
    Should that executor die during the call itself, another makes it once more.

    Example:
        >>> class Report(JobListener):
        ...     def fire_completed(self, fire: FireInfo) -> None:
        ...         print(f"{fire.job} of {fire.fire_time}: {fire.outcome}")
    """

    def before_item(self, ctx: ShardingContext) -> None:
        """Be told that an item's handler is about to be called."""

    def after_item(self, ctx: ShardingContext, error: BaseException | None) -> None:
        """Be told that an item's handler has returned, or what it raised."""

    def fire_started(self, fire: FireInfo) -> None:
        """Be told that the first item of a fire was claimed."""

    def fire_completed(self, fire: FireInfo) -> None:
        """Be told that the last item of a fire has ended."""


def hears_fires(listeners: Iterable[JobListener]) -> bool:
    """Whether any of them is told of whole fires; only then is it counted how far a fire has come."""
    return any(
        getattr(type(listener), name) is not getattr(JobListener, name) for listener in listeners for name in FIRE_CALLS
    )


def call_heard(
    function: Callable[..., Any],
    listeners: Sequence[JobListener],
    context: ShardingContext,
    stop_flag: StopFlag,
    on_loop: Callable[[asyncio.AbstractEventLoop], None] | None = None,
) -> CallEnd:
    """Call a handler between its listeners and return how it ended; see `call_handler`."""
    for listener in listeners:
        _guarded(listener, "before_item", context)
    end = call_handler(function, context, stop_flag, on_loop)
    for listener in reversed(listeners):
        _guarded(listener, "after_item", context, end.error)
    return end


def call_fire_listeners(listeners: Sequence[JobListener], fields: Mapping[str, Any]) -> CallEnd:
    """Tell every listener of a fire what its fields say; failed if any of them fails.

    Raises:
        KeyError: A field is missing.
        ValueError: The time is no time.
    """
    fire, name = FireInfo.from_fields(fields), fields["call"]
    failed = [error for listener in listeners if (error := _guarded(listener, name, fire)) is not None]
    if failed:
        return CallEnd(ending=Ending.FAILED, message=f"{type(failed[0]).__name__}: {failed[0]}", exit_code=1)
    return CallEnd(ending=Ending.OK)


def _guarded(listener: JobListener, name: str, *arguments: Any) -> BaseException | None:
    """Call a method of a listener and return what it raised, or None."""
    try:
        getattr(listener, name)(*arguments)
    except (Exception, SystemExit) as error:  # a listener is user code: it may raise anything
        logger.exception("%s of %s failed", name, type(listener).__qualname__, extra={"event": Event.LISTENER_FAILED})
        return error
    return None
