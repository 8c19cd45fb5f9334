"""What a handler is told about its run, and what it may ask.

Both the process of an item and a thread of the executor build it from the same plain fields.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

from shardsched.execution.checkpoint import SavedState
from shardsched.execution.key import Key, item_of
from shardsched.execution.stop_flag import StopFlag, StopRequested

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from shardsched.execution.checkpoint import Ask

__all__ = ["ShardingContext", "StopRequested"]

_T = TypeVar("_T")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

logger = logging.getLogger("shardsched.job")


class ShardingContext:
    """One run of one sharding item.

    A handler gets it as its only argument. Made by hand it serves to test a handler:

    Example:
        >>> ctx = ShardingContext(job="books", item=0, items=2)
        >>> other = ShardingContext(job="books", item=1, items=2)
        >>> pages = ["a", "b", "c", "d"]
        >>> sorted([*ctx.mine(pages), *other.mine(pages)])
        ['a', 'b', 'c', 'd']

    Attributes:
        job: Name of the job.
        item: Which sharding item this is, from 0.
        items: How many items this fire has; the same for all of them.
        param: This item's parameter, empty where none is given.
        job_param: The job's parameter, empty where none is given.
        fire_time: The moment for which the run was planned, aware; it names the fire, however late the run starts.
        run_id: Unique for every run.
        attempt: 1 for the first run of this item for this fire.
        cause: Why it runs: ``schedule``, ``misfire``, ``failover``, ``manual``, ``dependency`` or ``retry``.
        fencing_token: Grows with every claim of the item; put it into own writes and refuse smaller ones.
        executor: Name of the executor that runs it.
        log: Logger whose records name the job and the item.
        stats: Numbers and texts by name that are kept with the run's end; 16 KiB as JSON at most.
    """

    def __init__(
        self,
        *,
        job: str,
        item: int,
        items: int,
        param: str = "",
        job_param: str = "",
        fire_time: datetime = _EPOCH,
        run_id: str = "",
        attempt: int = 1,
        cause: str = "schedule",
        fencing_token: int = 0,
        executor: str = "",
        stop_flag: StopFlag | None = None,
        ask: Ask | None = None,
    ) -> None:
        self.job = job
        self.item = item
        self.items = items
        self.param = param
        self.job_param = job_param
        self.fire_time = fire_time
        self.run_id = run_id
        self.attempt = attempt
        self.cause = cause
        self.fencing_token = fencing_token
        self.executor = executor
        self.log: logging.LoggerAdapter[logging.Logger] = logging.LoggerAdapter(
            logger, {"job": job, "item": item, "run_id": run_id}
        )
        self.stats: dict[str, Any] = {}
        self._stop_flag = stop_flag or StopFlag()
        self._saved_state = SavedState(job, item, ask)

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any], stop_flag: StopFlag, ask: Ask | None = None) -> ShardingContext:
        """Return the context that plain JSON fields describe; ``fire_time`` is ISO 8601 with an offset.

        Unknown fields are passed over, so that an older fork server can serve a newer executor.

        Args:
            fields: What `RunSpec.context` has.
            stop_flag: The run's request to stop.
            ask: Asks the executor for what only it can do; None to keep checkpoints in memory.

        Raises:
            KeyError: ``job``, ``item`` or ``items`` is missing.
            ValueError: ``fire_time`` is no time.
        """
        optional = ("param", "job_param", "run_id", "attempt", "cause", "fencing_token", "executor")
        known: dict[str, Any] = {name: fields[name] for name in optional if fields.get(name) is not None}
        if fields.get("fire_time") is not None:
            known["fire_time"] = datetime.fromisoformat(fields["fire_time"])
        return cls(job=fields["job"], item=fields["item"], items=fields["items"], stop_flag=stop_flag, ask=ask, **known)

    def __repr__(self) -> str:
        return f"ShardingContext(job={self.job!r}, item={self.item}, items={self.items}, run_id={self.run_id!r})"

    @property
    def should_stop(self) -> bool:
        """Whether the run was asked to stop.

        A process item that never looks here nor calls `checkpoint` is ended by SIGTERM at once; one that has looked
        is taken to end by itself and has the job's ``stop_grace`` for it.
        """
        return self._stop_flag.watch()

    def checkpoint(self) -> None:
        """Raise `StopRequested` if the run was asked to stop; call it where it is safe to end.

        Raises:
            StopRequested: The run was asked to stop.
        """
        if self._stop_flag.watch():
            raise StopRequested

    def save(self, state: Any) -> None:
        """Save a small JSON value for this item, in place of what it saved before; None clears it.

        It is stored when this returns. A later run of the item, for this fire or another, gets it from `load`. In a
        context made by hand it is kept in memory. It waits for the registry, as long as the lease of the executor
        lasts; within a coroutine it holds up the event loop, so use ``await asyncio.to_thread(ctx.save, state)``.

        **Atomicity:** all of it or nothing. **Thread:** any of the item's process; not in processes that it forks.

        Args:
            state: Texts, numbers, truth values and None in lists and dicts with texts as keys; at most 64 KiB as JSON.

        Raises:
            StaleTokenError: The claim of this run is over; nothing was saved.
            CheckpointError: It is not JSON or too large, and the earlier one stays; or the lease ended before the
                registry answered, and it may have been saved or not.
        """
        self._saved_state.save(state)

    def load(self, default: Any = None) -> Any:
        """Return what this item saved last, by whichever run, or a default where there is nothing.

        The registry is asked once, at the first call. What is returned is the caller's own: changing it saves nothing.

        **Thread:** as for `save`.

        Raises:
            CheckpointError: What is stored cannot be read, or the registry did not answer within the lease.
        """
        return self._saved_state.load(default)

    def owns(self, key: Key) -> bool:
        """Return whether a key belongs to this item.

        Every key belongs to exactly one item of a fire, the same on every machine and Python. Keys that are equal
        are one key (``1``, ``True`` and ``1.0``). Another number of items spreads the keys anew.

        Raises:
            TypeError: The key is not made of str, bytes, int, float and tuples.
        """
        return item_of(key, self.items) == self.item

    def mine(self, iterable: Iterable[_T], key: Callable[[_T], Key] | None = None) -> Iterator[_T]:
        """Return those elements that belong to this item, in their order.

        Args:
            iterable: The elements; read lazily, once.
            key: What of an element decides; the element itself when not given.

        Raises:
            TypeError: While iterating: a key is not made of str, bytes, int, float and tuples.
        """
        for element in iterable:
            if self.owns(cast("Key", element) if key is None else key(element)):
                yield element
