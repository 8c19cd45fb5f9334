"""Telling the history what becomes of runs, from what the pools report."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from shardsched.history.row import LOST, RunRow

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from shardsched.clock import Clock
    from shardsched.coordination.ledger import Claimed
    from shardsched.core.fire import Cursor
    from shardsched.execution.run import RunEnded, RunStarted
    from shardsched.history.recorder import Recording


class Chronicle:
    """The runs of one executor, as its history is told of them. **Thread:** any; nothing here waits or fails.

    Args:
        recorder: The history.
        clock: The machine's clocks.
        log_folder: Where the outputs of runs are kept, in folders by job.
    """

    def __init__(self, recorder: Recording, clock: Clock, log_folder: Path) -> None:
        self._recorder = recorder
        self._clock = clock
        self._log_folder = log_folder
        self.observers: list[Callable[[RunRow], None]] = []
        """Are told of each run that ends; none may wait or fail."""
        self._lock = threading.Lock()
        self._rows: dict[str, RunRow] = {}

    def launched(self, claimed: Claimed) -> None:
        """Tell that a run was claimed and its code is being started."""
        # Told at once, so that an output can be read while it is written, and after its executor died.
        log_path = str(self._log_folder / log_place(claimed.job, claimed.marker.run))
        row = replace(_row(claimed), log_path=log_path)
        with self._lock:
            self._rows[row.run_id] = row
        self._recorder.queued(row)

    def abandoned(self, job: str, item: int, cursor: Cursor, reason: str) -> None:
        """Tell that a run of another executor, or of an earlier session, is lost, whether or not that told of it."""
        now = self._clock.now()
        self._recorder.ended(replace(_abandoned_row(job, item, cursor, now), message=reason))

    def is_running(self, run_id: str) -> bool:
        """Whether a run was told of as begun, and not as ended."""
        with self._lock:
            return run_id in self._rows

    def started(self, event: RunStarted) -> None:
        """Tell that its handler begins."""
        now = self._clock.now()
        with self._lock:
            row = self._rows.get(event.run_id)
            if row is None:
                return
            row = self._rows[event.run_id] = replace(row, started_at=now)
        self._recorder.queued(row)

    def ended(self, event: RunEnded) -> None:
        """Tell how it ended, with everything that is known of it."""
        with self._lock:
            row = self._rows.get(event.run_id)
        if row is None:
            return
        ended = replace(
            row,
            ended_at=self._clock.now(),
            outcome=str(event.outcome),
            message=event.message,
            traceback=event.traceback,
            exit_code=event.exit_code,
            signal=event.signal,
            peak_memory_kb=event.peak_memory_kb,
            cpu_s=event.cpu_s,
            duration_s=event.duration_s,
            log_path=event.log_path,
            dropped_bytes=event.dropped_bytes,
            stats=event.stats,
        )
        self._recorder.ended(ended)
        # Only now: whoever finds that it does not run any more may rely on its end having been told before.
        with self._lock:
            del self._rows[event.run_id]
        for observer in self.observers:
            observer(ended)


def log_place(job: str, run_id: str) -> str:
    """Return where the output of a run stands, below the folder of its executor's logs."""
    return f"{job}/{run_id}.log"


def _row(claimed: Claimed) -> RunRow:
    run, marker, cursor = claimed.run, claimed.marker, claimed.cursor
    return RunRow(
        run_id=marker.run,
        job=claimed.job,
        uid=cursor.uid,
        item=claimed.item,
        items=run.items,
        fire=run.run_fire,
        cause=str(run.cause),
        attempt=run.attempt,
        executor=marker.executor,
        incarnation=claimed.incarnation,
        token=cursor.token,
        queued_at=marker.started_at,
        param=run.param,
        job_param=run.job_param,
        by=run.by,
    )


def _abandoned_row(job: str, item: int, cursor: Cursor, now: datetime) -> RunRow:
    claimed_at = cursor.started_at or now
    return RunRow(
        run_id=cursor.run,
        job=job,
        uid=cursor.uid,
        item=item,
        items=cursor.items,
        fire=cursor.run_fire or cursor.fire or claimed_at,
        cause=str(cursor.run_cause),
        attempt=cursor.attempt,
        executor=cursor.executor,
        incarnation="",
        token=cursor.token,
        queued_at=claimed_at,
        ended_at=now,
        outcome=LOST,
        param=cursor.param or "",
        job_param=cursor.job_param or "",
    )
