"""Answers what running items ask of their executor, so that a slow registry holds up only the items that ask."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from shardsched.coordination.checkpoint import RunCheckpoint
from shardsched.core.events import Event
from shardsched.errors import CheckpointError, StaleTokenError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shardsched.clock import Clock
    from shardsched.coordination.ledger import Claimed
    from shardsched.coordination.session import Lease
    from shardsched.core.paths import Paths
    from shardsched.execution.run import RunAsked
    from shardsched.registry.base import Registry

    Answer = Mapping[str, Any]

logger = logging.getLogger(__name__)

THREAD_COUNT = 4
"""How many items in processes are answered at once; a guess."""
_RUN_IS_OVER = {
    "error": StaleTokenError.__name__,
    "message": "the checkpoint cannot be saved or loaded: its run is over",
}
_FAULT = {
    "error": CheckpointError.__name__,
    "message": "the checkpoint may have been saved or not: its executor failed, see its log",
}


class Clerk:
    """What one executor does for its items while they run. **Thread:** any."""

    def __init__(self, registry: Registry, paths: Paths, lease: Lease, clock: Clock) -> None:
        self._closing = threading.Event()
        self._parts = (registry, paths, lease, clock, self._closing)
        self._checkpoints: dict[str, RunCheckpoint] = {}
        self._threads = ThreadPoolExecutor(THREAD_COUNT, thread_name_prefix="shardsched-clerk")

    def admit(self, claimed: Claimed) -> None:
        """Answer a run from now on."""
        self._checkpoints[claimed.marker.run] = RunCheckpoint(*self._parts, claimed)

    def dismiss(self, run_id: str) -> None:
        """Answer a run no more: its code has ended."""
        self._checkpoints.pop(run_id, None)

    def answer(self, run_id: str, request: Mapping[str, Any]) -> Answer:
        """Return the answer to a request of a run, however long that takes; one at a time for each run."""
        checkpoint = self._checkpoints.get(run_id)
        if checkpoint is None:
            return _RUN_IS_OVER
        try:
            if request["what"] == "load":
                return {"state": checkpoint.load()}
            checkpoint.save(request["number"], request["state"])
        except CheckpointError as error:
            return {"error": type(error).__name__, "message": str(error)}
        return {}

    def take(self, asked: RunAsked, reply: Callable[[str, Answer], None]) -> None:
        """Have a request answered on a thread of the clerk's, and the answer given to `reply` with the run's id."""
        self._threads.submit(self._serve, asked, reply)

    def _serve(self, asked: RunAsked, reply: Callable[[str, Answer], None]) -> None:
        try:
            answer = self.answer(asked.run_id, asked.request)
        except Exception:  # the top of a thread: whatever it is, the item must not wait for ever
            logger.exception("a request of an item failed", extra={"event": Event.LOOP_FAILED, "run": asked.run_id})
            answer = _FAULT
        reply(asked.run_id, {"number": asked.request["number"], **answer})

    def close(self) -> None:
        """Answer nobody any more, and have what waits for the registry give up."""
        self._closing.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
