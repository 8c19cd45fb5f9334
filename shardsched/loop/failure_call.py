"""Calling the functions that jobs name for their failures, each in a process of its own, a few at once."""

from __future__ import annotations

import logging
import threading
import uuid
from collections import deque
from typing import TYPE_CHECKING

from shardsched.core.events import Event
from shardsched.errors import ExecutionError
from shardsched.execution.failure import CALL, is_of_modules
from shardsched.execution.outcome import Outcome
from shardsched.execution.run import RunSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shardsched.execution.failure import FailureReport
    from shardsched.execution.run import RunEnded

logger = logging.getLogger(__name__)

MAX_CALL_COUNT = 4
"""Calls at once, so that a thousand items that fail together do not become a thousand processes. A guess."""
MAX_WAITING = 1_000
"""Calls that wait; a further one is dropped with a word, since nobody reads so many."""
CALL_S = 60.0
"""How long a call may take, in seconds."""


class FailureCalls:
    """The calls of one executor. **Thread:** any.

    Args:
        modules: The modules that the executor was told to import; only functions of their packages are called.
        launch: Starts a run in a process.
    """

    def __init__(self, modules: Sequence[str], launch: Callable[[RunSpec], None]) -> None:
        self._modules = modules
        self._launch = launch
        self._lock = threading.Lock()
        self._waiting: deque[RunSpec] = deque()
        self._running: set[str] = set()

    def call(self, place: str, report: FailureReport) -> None:
        """Have ``module:function`` called with a report."""
        fault = None
        if not is_of_modules(place, self._modules):
            fault = f"it is in none of the packages that this executor imports ({', '.join(self._modules)})"
        elif len(self._waiting) >= MAX_WAITING:
            fault = f"{MAX_WAITING} others wait already"
        if fault is not None:
            fields = {"event": Event.FAILURE_REPORTED, "job": report.job, "item": report.item, "run": report.run_id}
            logger.error("%s is not told of a failure: %s", place, fault, extra=fields)
            return
        with self._lock:
            self._waiting.append(_spec(place, report))
        self._start_some()

    def ended(self, event: RunEnded) -> bool:
        """Take note that a run has ended; return whether it was a call."""
        with self._lock:
            if event.run_id not in self._running:
                return False
            self._running.discard(event.run_id)
        fields = {"event": Event.FAILURE_REPORTED, "job": event.job, "item": event.item, "log": event.log_path}
        if event.outcome is Outcome.OK:
            logger.debug("a function was told of a failure", extra=fields)
        else:
            logger.error("a function could not be told of a failure: %s", event.message, extra=fields)
        self._start_some()
        return True

    def _start_some(self) -> None:
        with self._lock:
            while self._waiting and len(self._running) < MAX_CALL_COUNT:
                spec = self._waiting.popleft()
                self._running.add(spec.run_id)
                try:
                    self._launch(spec)
                except ExecutionError as error:
                    self._running.discard(spec.run_id)
                    fields = {"event": Event.FAILURE_REPORTED, "job": spec.job, "item": spec.item}
                    logger.error("%s is not told of a failure: %s", spec.handler, error, extra=fields)  # noqa: TRY400 - expected


def _spec(place: str, report: FailureReport) -> RunSpec:
    run_id = f"{report.run_id}-{uuid.uuid4().hex[:8]}"
    return RunSpec(
        run_id=run_id,
        job=report.job,
        item=report.item,
        items=report.items,
        handler=place,
        context={
            "call": CALL,
            "report": report.fields(),
            "job": report.job,
            "item": report.item,
            "items": report.items,
            "run_id": run_id,
        },
        timeout_s=CALL_S,
        log_path=f"{report.job}/{run_id}.log",
    )
