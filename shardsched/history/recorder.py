"""What executors tell history through; telling never waits and never fails."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.history.row import EventRow, RunRow


class Storing(StrEnum):
    """Where records go at present."""

    OFF = "off"
    """Nowhere: there is no history."""
    CONNECTED = "connected"
    """Into the database."""
    SPOOLING = "spooling"
    """To disk, until the database is back."""
    DROPPING = "dropping"
    """Nowhere: the database is away and the disk takes no more. They are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecorderState:
    """How a recorder fares."""

    storing: Storing
    """Where records go."""
    reason: str = ""
    """Why not into the database."""
    queued_count: int = 0
    """Records in memory."""
    spooled_bytes: int = 0
    """Bytes of records on disk."""
    dropped_count: int = 0
    """Records that were given up since the start."""
    written_count: int = 0
    """Records that the database took since the start."""


class Recording(Protocol):
    """What a recorder takes. **Thread:** any; all but `start` and `close` return at once and raise nothing."""

    def start(self) -> None:
        """Begin to write; never waits for the database."""
        ...

    def queued(self, run: RunRow) -> None:
        """Tell that a run was claimed, or has begun since: told again with ``started_at``, that is filled in."""
        ...

    def ended(self, run: RunRow) -> None:
        """Tell how a run ended, with everything known of it. The first end counts."""
        ...

    def lost(self, run_id: str, at: datetime, message: str) -> None:
        """Tell that a run will never be finished by anyone."""
        ...

    def missed(self, run: RunRow) -> None:
        """Tell that nobody started an item's fire; its run id, outcome and end are filled in."""
        ...

    def event(self, event: EventRow) -> None:
        """Tell that something happened."""
        ...

    def forget_job(self, job: str, at: datetime) -> None:
        """Have everything of a deleted job removed in time that is from before a moment."""
        ...

    def state(self) -> RecorderState:
        """Return how it fares."""
        ...

    def close(self, timeout_s: float) -> None:
        """Write what is left: into the database, or to disk if that takes longer."""
        ...


class NullRecorder:
    """Keeps nothing, for ``--history none``."""

    def start(self) -> None:
        """Do nothing."""

    def queued(self, run: RunRow) -> None:
        """Do nothing."""

    def ended(self, run: RunRow) -> None:
        """Do nothing."""

    def lost(self, run_id: str, at: datetime, message: str) -> None:
        """Do nothing."""

    def missed(self, run: RunRow) -> None:
        """Do nothing."""

    def event(self, event: EventRow) -> None:
        """Do nothing."""

    def forget_job(self, job: str, at: datetime) -> None:
        """Do nothing."""

    def state(self) -> RecorderState:
        """Return that there is no history."""
        return RecorderState(storing=Storing.OFF, reason="history is switched off")

    def close(self, timeout_s: float) -> None:
        """Do nothing."""
