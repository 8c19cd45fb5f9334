"""What executors tell history through; telling never waits and never fails."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from shardsched.history.column import event_values, forget_values, microseconds, run_values
from shardsched.history.engine import Database
from shardsched.history.record import Kind, Record
from shardsched.history.row import MISSED, missed_run_id
from shardsched.history.spool import DEFAULT_LIMIT_BYTES, Spool
from shardsched.history.text import clean_text
from shardsched.history.writer import Writer

if TYPE_CHECKING:
    import random
    from datetime import datetime
    from pathlib import Path

    from shardsched.clock import Clock
    from shardsched.history.row import EventRow, RunRow


LOCK_WAIT_S = 5.0
"""How long SQLite waits for another writer until records go to disk: twice what four busy processes needed at most.
Until then they are in memory only, and a process that is killed takes them along."""


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


class Recorder:
    """Tells a database of runs and events, from a thread of its own; on disk while the database is away.

    Args:
        url: The database, ``sqlite:///…`` or ``postgresql://…``; nobody waits for it, ever.
        spool_dir: Where records are kept while it is away; also those that a predecessor left there are written.
        namespace: The fleet's.
        executor: Name of the executor.
        clock: The machine's clocks.
        rng: Spreads the attempts of many executors to reach a database that was away.
        spool_limit_bytes: How much is kept on disk at most.
        lock_wait_s: How long SQLite waits for another writer until records go to disk.

    Raises:
        SettingsError: The URL cannot be read. All else is shown by `state`.

    Example:
        >>> import random, tempfile
        >>> from pathlib import Path
        >>> from shardsched.clock import SYSTEM_CLOCK
        >>> from shardsched.history.row import EventRow
        >>> folder = Path(tempfile.mkdtemp())
        >>> recorder = Recorder(
        ...     f"sqlite:///{folder / 'history.db'}", folder / "spool", namespace="books", executor="e1",
        ...     clock=SYSTEM_CLOCK, rng=random.Random(),
        ... )
        >>> recorder.start()
        >>> recorder.event(EventRow(at=SYSTEM_CLOCK.now(), kind="executor_joined", executor="e1"))
        >>> recorder.close(timeout_s=10.0)
        >>> recorder.state().written_count
        1
    """

    def __init__(
        self,
        url: str,
        spool_dir: Path,
        *,
        namespace: str,
        executor: str,
        clock: Clock,
        rng: random.Random,
        spool_limit_bytes: int = DEFAULT_LIMIT_BYTES,
        lock_wait_s: float = LOCK_WAIT_S,
    ) -> None:
        self._writer = Writer(
            database=Database(url, lock_wait_s=lock_wait_s),
            spool=Spool(spool_dir, spool_limit_bytes),
            namespace=namespace,
            executor=executor,
            clock=clock,
            rng=rng,
        )

    def start(self) -> None:
        """Begin to write."""
        self._writer.start()

    def queued(self, run: RunRow) -> None:
        """Tell that a run was claimed, or has begun since."""
        self._writer.put(partial(_run_record, run))

    def ended(self, run: RunRow) -> None:
        """Tell how a run ended."""
        self._writer.put(partial(_run_record, run))

    def lost(self, run_id: str, at: datetime, message: str) -> None:
        """Tell that a run will never be finished."""
        self._writer.put(partial(_lost_record, run_id, at, message))

    def missed(self, run: RunRow) -> None:
        """Tell that nobody started an item's fire."""
        self._writer.put(partial(_missed_record, run))

    def event(self, event: EventRow) -> None:
        """Tell that something happened."""
        self._writer.put(partial(_event_record, uuid4().hex, event))

    def forget_job(self, job: str, at: datetime) -> None:
        """Have everything of a deleted job removed in time."""
        self._writer.put(partial(_forget_record, job, at))

    def state(self) -> RecorderState:
        """Return how it fares."""
        writer = self._writer
        storing, reason = Storing.CONNECTED, writer.reason
        if writer.spool_reason:
            storing, reason = Storing.DROPPING, f"{reason}; {writer.spool_reason}"
        elif reason or writer.spooled_bytes:
            storing = Storing.SPOOLING
            reason = reason or "what was kept on disk is being written"
        return RecorderState(
            storing=storing,
            reason=reason,
            queued_count=writer.queued_count,
            spooled_bytes=writer.spooled_bytes,
            dropped_count=writer.tally.total,
            written_count=writer.written_count,
        )

    def close(self, timeout_s: float) -> None:
        """Write what is left: into the database, or to disk if that takes longer."""
        self._writer.close(timeout_s)


def _run_record(run: RunRow) -> Record:
    return Record(Kind.RUN, run_values(run))


def _missed_record(run: RunRow) -> Record:
    run_id = missed_run_id(run.uid, run.item, run.fire)
    return _run_record(replace(run, run_id=run_id, outcome=MISSED, ended_at=run.ended_at or run.queued_at))


def _lost_record(run_id: str, at: datetime, message: str) -> Record:
    values = {"run_id": clean_text(run_id), "ended_us": microseconds(at), "message": clean_text(message)}
    return Record(Kind.LOST, values)


def _event_record(event_id: str, event: EventRow) -> Record:
    return Record(Kind.EVENT, event_values(event_id, event))


def _forget_record(job: str, at: datetime) -> Record:
    return Record(Kind.FORGET, forget_values(job, at))


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
