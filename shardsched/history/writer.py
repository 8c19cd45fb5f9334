"""The one thread that brings what is told into the database, or onto disk while the database is away.

Records are kept in order: as long as anything is on disk, what is new goes behind it. A batch whose answer was lost
is written again, which changes nothing where it had been written. A record that the database refuses for itself is
given up alone, so that it does not hold up the others for ever.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING
from uuid import uuid4

from shardsched.core.events import Event
from shardsched.errors import CorruptNodeError, HistoryError, HistorySchemaError, HistoryUnavailableError
from shardsched.history.column import event_values
from shardsched.history.intake import Intake
from shardsched.history.log_tail import log_tail
from shardsched.history.record import Kind, Record, from_line, to_line
from shardsched.history.row import EventRow
from shardsched.history.store import write
from shardsched.history.tally import Tally

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from shardsched.clock import Clock
    from shardsched.history.engine import Database
    from shardsched.history.intake import Telling
    from shardsched.history.spool import Spool

logger = logging.getLogger(__name__)

MAX_TOGETHER = 200
"""Most records of one transaction, to keep it short."""
RETRY_MIN_S = 0.25
"""The first pause before a database that was away is tried again; it doubles each time, and varies by half."""
RETRY_MAX_S = 10.0
"""The longest."""
AT_ONCE_S = 2.0
"""A write that fails sooner had no time to wait for anybody: its connection was old, and a new one may do."""
LOSS_INTERVAL_S = 60.0
"""Losses are told of at most so often, and then all together."""
RECORDS_DROPPED = "records_dropped"
"""Kind of the event that tells how many records are missing."""


class Writer:
    """See the module.

    Args:
        database: Where records go.
        spool: Where they go while that is away; used by this object only.
        namespace: The fleet's.
        executor: Name of the executor, for the event that tells of dropped records.
        clock: The machine's clocks.
        rng: Spreads the attempts of many executors.
    """

    def __init__(
        self, *, database: Database, spool: Spool, namespace: str, executor: str, clock: Clock, rng: random.Random
    ) -> None:
        self._database = database
        self._spool = spool
        self._spool_lock = threading.Lock()
        self._namespace = namespace
        self._executor = executor
        self._clock = clock
        self._rng = rng
        self._intake = Intake(clock)
        self._is_abandoned = False
        self._failure_count = 0
        self._retry_at: float | None = None
        self._is_loss_logged = False
        self._tell_loss_at = 0.0
        self._thread = threading.Thread(target=self._run, name="shardsched-history", daemon=True)
        self.tally = Tally(clock)
        """What was given up."""
        self.reason = ""
        """Why the database takes nothing; empty if it does."""
        self.spool_reason = ""
        """Why the disk takes nothing; empty if it does."""
        self.written_count = 0
        """Records that the database took."""

    @property
    def queued_count(self) -> int:
        """Records in memory."""
        return self._intake.count

    @property
    def spooled_bytes(self) -> int:
        """Bytes on disk that the database has still to take."""
        return self._spool.size_bytes

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def put(self, telling: Telling) -> None:
        """Have a record written. **Thread:** any; returns at once."""
        if not self._intake.put(telling):
            self.tally.add(1, "too many records wait in memory")

    def close(self, timeout_s: float) -> None:
        """Write what is left; what cannot be written in time stays on disk for the next start."""
        self._intake.end()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        is_stuck = self._thread.is_alive()
        with self._spool_lock:
            # The thread may still wait for an answer; it touches nothing when it gets it.
            self._is_abandoned = True
            rest = self._intake.rest()
            if rest:
                self._append(self._made(rest))
            self._spool.close()
        if not is_stuck:
            self._database.close()

    def _run(self) -> None:
        self._bring_guarded([])
        while not self._is_abandoned:
            tellings = self._intake.take(MAX_TOGETHER, self._wake_at())
            if self._intake.is_ending and not tellings:
                self._tell_loss_at = 0.0
                self._tell_loss()
                return
            self._bring_guarded(tellings)

    def _wake_at(self) -> float | None:
        if self._retry_at is not None:
            return self._retry_at
        if self._spool.size_bytes:
            return 0.0
        return self._tell_loss_at if self.tally.untold() is not None else None

    def _bring_guarded(self, tellings: Sequence[Telling]) -> None:
        try:
            self._bring(self._made(tellings))
        except Exception:  # top of a thread: whatever it is, later records must not be lost with these
            self.tally.add(len(tellings), "an unexpected error")
            logger.exception("records of history were given up", extra={"event": Event.HISTORY_DROPPED})
            self._put_off("an unexpected error")

    def _made(self, tellings: Sequence[Telling]) -> list[Record]:
        records = []
        for telling in tellings:
            try:
                records.append(telling())
            except (TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
                self._give_up(error)
        return records

    def _bring(self, records: list[Record]) -> None:
        self._log_loss()
        if self._retry_at is None and not self._spool.size_bytes and self._deliver(records):
            self._tell_loss()
            return
        if records:
            self._keep(records)
        if self._retry_at is None or self._clock.boot() >= self._retry_at:
            self._replay()

    def _replay(self) -> None:
        """Write the oldest records on disk; if there are none, see whether the database is there."""
        with self._spool_lock:
            lines = [] if self._is_abandoned else self._spool.peek(MAX_TOGETHER)
        if not self._deliver([record for line in lines if (record := self._read(line)) is not None]):
            return
        with self._spool_lock:
            if self._is_abandoned:
                return
            self._spool.advance()
            is_done = not self._spool.size_bytes
        if is_done:
            self._tell_loss()

    def _deliver(self, records: list[Record]) -> bool:
        """Write records, or with none see whether the database is there; return whether it took them."""
        began_at = self._clock.boot()
        for is_last in (bool(self.reason), True):
            try:
                self._write(records)
            except (HistoryUnavailableError, HistorySchemaError) as error:
                if is_last or self._clock.boot() - began_at > AT_ONCE_S:
                    self._put_off(str(error))
                    break
            else:
                self._be_back()
                return True
        return False

    def _write(self, records: list[Record]) -> None:
        whole = [_with_log(record) for record in records]
        try:
            self._write_once(whole)
        except (HistoryUnavailableError, HistorySchemaError):
            raise
        except (HistoryError, ArithmeticError, TypeError, ValueError) as error:
            # A value that no cleaning foresaw; the other records must not suffer for it.
            if len(whole) == 1:
                self._give_up(error)
                return
            for record in whole:
                self._write([record])

    def _write_once(self, records: list[Record]) -> None:
        with self._database.writing() as connection:
            write(connection, self._namespace, records)
        self.written_count += len(records)

    def _keep(self, records: list[Record]) -> None:
        with self._spool_lock:
            if not self._is_abandoned:
                self._append(records)

    def _append(self, records: list[Record]) -> None:
        self.spool_reason = self._spool.append([to_line(record) for record in records])
        if self.spool_reason:
            self.tally.add(len(records), self.spool_reason)

    def _read(self, line: bytes) -> Record | None:
        try:
            return from_line(line, "the spool of history")
        except CorruptNodeError as error:
            self._give_up(error)
            return None

    def _give_up(self, error: Exception) -> None:
        self.tally.add(1, f"a record cannot be stored ({type(error).__name__}: {str(error)[:200]})")

    def _put_off(self, reason: str) -> None:
        if not self.reason:
            logger.warning(
                "the history database takes nothing, and records are kept on disk: %s",
                reason,
                extra={"event": Event.HISTORY_AWAY},
            )
        self.reason = reason
        pause_s = min(RETRY_MIN_S * 2.0**self._failure_count, RETRY_MAX_S) * self._rng.uniform(0.5, 1.5)
        self._failure_count = min(self._failure_count + 1, 30)
        self._retry_at = self._clock.boot() + pause_s

    def _be_back(self) -> None:
        if self.reason:
            logger.info("the history database takes records again", extra={"event": Event.HISTORY_BACK})
        self.reason = self.spool_reason = ""
        self._failure_count = 0
        self._retry_at = None

    def _log_loss(self) -> None:
        loss = self.tally.untold()
        if loss is not None and not self._is_loss_logged:
            self._is_loss_logged = True
            logger.warning("records of history are given up: %s", loss.reason, extra={"event": Event.HISTORY_DROPPED})

    def _tell_loss(self) -> None:
        loss = self.tally.untold()
        if loss is None or self._clock.boot() < self._tell_loss_at:
            return
        event = EventRow(
            at=self._clock.now(),
            kind=RECORDS_DROPPED,
            executor=self._executor,
            message=f"{loss.records} records of history were given up: {loss.reason}",
            detail={"count": loss.records, "from": loss.since.isoformat(), "to": loss.until.isoformat()},
        )
        if self._deliver([Record(Kind.EVENT, event_values(uuid4().hex, event))]):
            self.tally.tell(loss)
            self._is_loss_logged = False
            self._tell_loss_at = self._clock.boot() + LOSS_INTERVAL_S


def _with_log(record: Record) -> Record:
    values = record.values
    if record.kind is not Kind.RUN or values["outcome"] is None or values["log_tail"] or not values["log_path"]:
        return record
    return record._replace(values=values | {"log_tail": log_tail(values["log_path"])})
