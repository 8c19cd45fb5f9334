"""Waits until a fleet's history can be complete, and judges it."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING

from shardsched.errors import HistoryError
from shardsched.historian import SWEEP_S
from shardsched.history.writer import RETRY_MAX_S
from tests.faults.history_verdict import disordered, dropped_runs, uncounted, untrue
from tests.fleet.fleet_harness import wait_until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.faults.history_observer import HistoryObserver
    from tests.faults.strike import Strike
    from tests.fleet.fleet_record import RecordedRun


def judge(observer: HistoryObserver, runs: Sequence[RecordedRun], strikes: Sequence[Strike], t_s: float) -> list[str]:
    """Return what is wrong with the history of a fleet that has come to rest."""

    def faults() -> list[str]:
        return untrue(runs, observer.rows(), strikes, observer.drops())

    # The leader looks for lost runs now and then, and writers pause between two attempts at a database.
    patience_s = 2 * t_s + SWEEP_S + 1.5 * RETRY_MAX_S
    try:
        with contextlib.suppress(AssertionError):
            wait_until(lambda: not faults(), "the history to be complete", patience_s)
        rows = observer.rows()
        drops = observer.drops()
        dropped = dropped_runs(runs, drops)
        observer.figures = {
            "rows": dict(Counter(str(row.outcome) for row in rows)),
            "dropped": sum(drop.count for drop in drops),
        }
        unsteady = {name for strike in strikes if strike.fault.startswith("clock") for name in strike.victims}
        # The figures of a time to come, by a clock that was ahead, are not asked for.
        counted = [] if unsteady else uncounted(rows, observer.counts())
        return [*faults(), *disordered(rows, observer.seen, unsteady=unsteady, dropped=dropped), *counted]
    except HistoryError as error:
        return [f"the history cannot be read: {error}"]
