"""A call of fire listeners as the process pool is told of it, and as it tells of its end."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from shardsched.core.events import Event
from shardsched.execution.outcome import Outcome
from shardsched.execution.run import RunSpec
from shardsched.loop.message import CallEnded

if TYPE_CHECKING:
    from shardsched.core.job import JobConfig
    from shardsched.core.tally import PendingCall
    from shardsched.execution.run import RunEnded

logger = logging.getLogger(__name__)

CALL_TIMEOUT_S = 60.0
"""After this long a call is killed."""
_INTERRUPTED = frozenset({Outcome.LEASE_LOST, Outcome.REFUSED, Outcome.WARDEN_LOST, Outcome.STOPPED})


def call_spec(call_id: str, config: JobConfig, call: PendingCall) -> RunSpec:
    """Return what has the listeners of a job called."""
    ended: dict[str, list[int]] = {}
    for item, end in sorted(call.ended.items()):
        ended.setdefault(end, []).append(item)
    context: dict[str, Any] = {
        "call": call.call,
        "job": config.name,
        "fire_time": call.key.at.isoformat(),
        "trigger": call.key.trigger,
        "items": call.items,
        "outcome": call.outcome,
        "ended": ended,
    }
    return RunSpec(
        run_id=call_id,
        job=config.name,
        item=0,
        items=call.items,
        handler=config.handler,
        context=context,
        timeout_s=CALL_TIMEOUT_S,
        log_path=f"{config.name}/{call.call}-{call_id}.log",
    )


def ended_call(event: RunEnded) -> CallEnded:
    """Return what the loop is told of the end of a call; a failure is logged, and counts as having returned."""
    is_returned = event.outcome not in _INTERRUPTED
    if is_returned and event.outcome is not Outcome.OK:
        fields = {"event": Event.LISTENER_FAILED, "job": event.job, "outcome": event.outcome, "log": event.log_path}
        logger.error("a listener of fires failed: %s: %s", event.outcome, event.message, extra=fields)
    return CallEnded(call_id=event.run_id, is_returned=is_returned)
