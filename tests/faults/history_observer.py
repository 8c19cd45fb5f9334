"""Reads the history of a fleet while it is written, as long as a campaign lasts."""

from __future__ import annotations

import contextlib
import threading
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import HistoryError
from shardsched.history.column import microseconds, run_row
from shardsched.history.filter import RUN_ORDER, EventFilter
from shardsched.history.query import History
from shardsched.history.table import RUNS
from shardsched.history.writer import RECORDS_DROPPED
from tests.faults.history_verdict import Drop
from tests.faults.site import NAMES, PATIENCE_S, boot_s
from tests.fleet.fleet_harness import NAMESPACE, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shardsched.history.row import EventRow, RunRow
    from tests.fleet.fleet_record import RecordedRun

_SAMPLE_S = 0.5
_LATEST = timedelta(minutes=10)
"""Rows come at most so late; those of earlier runs are not looked for in every sample."""


class HistoryObserver:
    """Notes in which sample each run was first seen.

    Attributes:
        seen: The samples by run id.
        figures: What it held in the end.
    """

    def __init__(self, url: str) -> None:
        self.seen: dict[str, int] = {}
        self.figures: dict[str, Any] = {}
        self._history = History(url, namespace=NAMESPACE)
        self._count = 0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._look, name="history-observer", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join(40)
        self._history.close()

    def rows(self) -> list[RunRow]:
        """Return all runs, without their long texts.

        Raises:
            HistoryError: The database gives no answer.
        """
        with self._history.database.reading() as connection:
            statement = select(*RUN_ORDER.columns).where(RUNS.c.namespace == NAMESPACE)
            return [run_row(values) for values in connection.execute(statement).mappings()]

    def _events(self, kind: str) -> list[EventRow]:
        found: list[EventRow] = []
        after: str | None = None
        while True:
            page = self._history.events(EventFilter(kinds=frozenset({kind})), after=after)
            found.extend(page.rows)
            after = page.next
            if after is None:
                return found

    def drops(self) -> list[Drop]:
        """Return what executors say they gave up.

        Raises:
            HistoryError: The database gives no answer.
        """
        shift_s = boot_s() - SYSTEM_CLOCK.now().timestamp()
        return [
            Drop(
                executor=event.executor,
                since=datetime.fromisoformat(event.detail["from"]).timestamp() + shift_s,
                until=datetime.fromisoformat(event.detail["to"]).timestamp() + shift_s,
                count=event.detail["count"],
            )
            for event in self._events(RECORDS_DROPPED)
        ]

    def await_all(self, runs: Callable[[], Iterable[RecordedRun]], since: float) -> list[str]:
        """Wait until the history has what each executor began since, and so all from before; return who is late."""

        def late() -> list[str]:
            return sorted(set(NAMES) - {run.executor for run in runs() if run.start > since and run.run in self.seen})

        with contextlib.suppress(AssertionError):
            wait_until(lambda: not late(), "all to write history again", PATIENCE_S)
        return late()

    def counts(self) -> dict[str, int]:
        """Return how many runs the figures say have ended, by outcome.

        Raises:
            HistoryError: The database gives no answer.
        """
        return dict(self._history.summary(since=SYSTEM_CLOCK.now() - _LATEST).counts)

    def _look(self) -> None:
        while not self._ending.wait(_SAMPLE_S):
            try:
                run_ids = self._latest()
            except HistoryError:
                continue
            self._count += 1
            for run_id in run_ids:
                self.seen.setdefault(run_id, self._count)

    def _latest(self) -> list[str]:
        # In one statement, so that it sees one moment.
        since = microseconds(SYSTEM_CLOCK.now() - _LATEST)
        statement = select(RUNS.c.run_id).where(RUNS.c.namespace == NAMESPACE, RUNS.c.queued_us >= since)
        with self._history.database.reading() as connection:
            return list(connection.execute(statement).scalars())
