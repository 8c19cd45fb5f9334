"""What the warden says, made into events; nothing an item can put into it is trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shardsched.execution.outcome import Outcome
from shardsched.execution.run import PoolReady, RunAsked, RunEnded, RunSpec, RunWarned
from shardsched.execution.stats import clean_stats

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_MESSAGE_CHARS = 4_000
_MAX_TRACEBACK_CHARS = 64_000


def plain_text(value: object, max_chars: int) -> str:
    """Return text that any database and terminal can take: no lone surrogate, no NUL, and not too long.

    The end is kept where it is cut, since that is where an exception is named.
    """
    text = str(value)[-max_chars:]
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def ready_event(message: Mapping[str, Any]) -> PoolReady:
    """Return the event for a fork server that has imported its modules."""
    return PoolReady(
        handlers=tuple(message["handlers"]),
        failures={name: plain_text(text, _MAX_TRACEBACK_CHARS) for name, text in message["failures"].items()},
        thread_count=message["threads"],
    )


def word_event(spec: RunSpec, message: Mapping[str, Any]) -> RunWarned | RunAsked:
    """Return the event for a word on a run that goes on."""
    if message["type"] == "warned":
        return RunWarned(run_id=spec.run_id, job=spec.job, item=spec.item, message=message["message"])
    return RunAsked(run_id=spec.run_id, request={name: message[name] for name in ("number", "what", "state")})


def ended_event(spec: RunSpec, message: Mapping[str, Any]) -> RunEnded:
    """Return the event for a run that is over."""
    return RunEnded(
        run_id=spec.run_id,
        job=spec.job,
        item=spec.item,
        outcome=Outcome(message["outcome"]),
        message=plain_text(message["message"], _MAX_MESSAGE_CHARS),
        traceback=plain_text(message["traceback"], _MAX_TRACEBACK_CHARS),
        exit_code=message.get("exit_code"),
        signal=message.get("signal"),
        peak_memory_kb=message.get("peak_memory_kb", 0),
        cpu_s=message.get("cpu_s", 0.0),
        duration_s=message.get("duration_s", 0.0),
        log_path=message["log"],
        dropped_bytes=message["dropped_bytes"],
        stats=clean_stats(message.get("stats")),
    )


def unstarted(message: str, traceback_text: str = "") -> dict[str, Any]:
    """Return what an item says of itself when its code cannot be started."""
    return {
        "type": "end",
        "ending": "start_failed",
        "message": message,
        "traceback": traceback_text,
        "exit_code": 1,
    }


def lost_event(spec: RunSpec, outcome: Outcome, message: str, duration_s: float, log_path: str) -> RunEnded:
    """Return the event for a run of which no warden can tell any more."""
    return RunEnded(
        run_id=spec.run_id,
        job=spec.job,
        item=spec.item,
        outcome=outcome,
        message=message,
        duration_s=duration_s,
        log_path=log_path,
    )
