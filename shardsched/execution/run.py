"""One run as the executor orders it and hears of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shardsched.execution.outcome import Outcome

DEFAULT_LOG_CAP = 1 << 20
"""Bytes of output that are kept of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """What is to be run."""

    run_id: str
    """Unique for every run."""
    job: str
    """Name of the job."""
    item: int
    """Which sharding item."""
    items: int
    """How many items the fire has."""
    handler: str
    """Name of the handler."""
    isolation: str = "process"
    """``process`` or ``thread``."""
    context: Mapping[str, Any]
    """Plain JSON fields for `ShardingContext.from_fields`."""
    timeout_s: float | None = None
    """It is stopped after so many seconds; None for never."""
    warn_after_s: float | None = None
    """It is reported after so many seconds; None for never."""
    stop_grace_s: float = 5.0
    """Seconds from SIGTERM to SIGKILL at a time-out."""
    log_path: str = ""
    """Where its output goes; a relative path is below the pool's log folder, empty means ``RUN_ID.log`` there."""
    log_cap: int = DEFAULT_LOG_CAP
    """How many bytes of its output are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """Its handler begins."""

    run_id: str
    """Which run."""
    job: str
    """Its job."""
    item: int
    """Its item."""
    pid: int
    """Its process; the executor's own in a thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWarned:
    """It takes longer than expected, or does not heed a request to stop."""

    run_id: str
    """Which run."""
    job: str
    """Its job."""
    item: int
    """Its item."""
    message: str
    """What is the matter, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAsked:
    """Its process asks for what only the executor can do, and waits for `ProcessPool.answer`."""

    run_id: str
    """Which run."""
    request: Mapping[str, Any]
    """``number`` counts its requests; ``what`` is ``load``, or ``save`` with ``state`` as JSON text or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """It is over, and nothing of it is alive. Sent exactly once for every launch."""

    run_id: str
    """Which run."""
    job: str
    """Its job."""
    item: int
    """Its item."""
    outcome: Outcome
    """How it ended."""
    message: str = ""
    """One line for people."""
    traceback: str = ""
    """The exception in full, where there was one."""
    exit_code: int | None = None
    """Exit code of its process, None if a signal ended it or there was none."""
    signal: int | None = None
    """The signal that ended its process, None if none did."""
    peak_memory_kb: int = 0
    """Most memory its process had in use, in KiB."""
    cpu_s: float = 0.0
    """Processor time of its process and of the children it waited for."""
    duration_s: float = 0.0
    """From the start of the handler to the death of its process."""
    log_path: str = ""
    """Where its output is, empty if it could not be kept."""
    dropped_bytes: int = 0
    """How much output was over the limit."""
    stats: Mapping[str, Any] = field(default_factory=dict)
    """What it counted: numbers and texts by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolReady:
    """The handlers' modules are imported; sent after every start of the fork server."""

    handlers: tuple[str, ...]
    """Names of the handlers found."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Tracebacks of the modules that could not be imported, by name."""
    thread_count: int = 1
    """Threads that the imports left running; with more than one, each item gets a fresh interpreter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFailed:
    """The warden was lost or could not be started; its runs are reported by themselves."""

    message: str
    """What happened, for people."""


PoolEvent: TypeAlias = RunStarted | RunWarned | RunAsked | RunEnded | PoolReady | PoolFailed
"""What a pool tells of itself."""
