"""What the loop is told from outside its own thread."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shardsched.core.fire import ItemState


class Stopping(StrEnum):
    """Why a run was asked to stop."""

    STOP = "stop"
    """A person stopped the job: the run is over."""
    DRAIN = "drain"
    """The executor's items were taken away at once: the run goes on elsewhere."""
    SHUTDOWN = "shutdown"
    """The executor stops: the run goes on elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A run's code has ended, all of its processes gone."""

    run_id: str
    """Which."""
    state: ItemState | None
    """What became of it; None if it was interrupted by no fault of its own and is to go on elsewhere."""
    message: str = ""
    """A short word on it."""
    outcome: str = ""
    """How it ended, as its pool says."""
    traceback: str = ""
    """The exception in full, where there was one."""
    log_path: str = ""
    """Where its output is, empty if it could not be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded:
    """A call of fire listeners has ended, all of its processes gone."""

    call_id: str
    """Which."""
    is_returned: bool
    """Whether it was made; False if it was interrupted by no fault of its own and is to be made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vanished:
    """The marker that an item of ours waited for has gone."""

    job: str
    """The job."""
    item: int
    """The item."""


@dataclass(frozen=True, slots=True)
class Resync:
    """Everything is to be planned anew."""


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """Everything that was claimed under the session is void."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """All runs are to stop and go on elsewhere."""

    stopping: Stopping
    """Why."""
    grace_s: float
    """Seconds until they are killed."""


Message = Ended | CallEnded | Vanished | Resync | SessionEnded | Interrupt
