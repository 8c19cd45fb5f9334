"""What one executor does for the history of its fleet: it tells its runs and events, and keeps the store in order."""

from __future__ import annotations

import logging
import random
import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.errors import HistoryError
from shardsched.history.engine import Database
from shardsched.history.recorder import NullRecorder, Recorder, Storing
from shardsched.history.retention import prune
from shardsched.history.sweep import open_run_ids, sweep_lost
from shardsched.loop.chronicle import Chronicle
from shardsched.loop.event_tap import EventTap
from shardsched.settings import NO_HISTORY
from shardsched.worker import Worker

if TYPE_CHECKING:
    from shardsched.clock import Clock
    from shardsched.coordination.mirror import Mirror
    from shardsched.core.job import JobConfig
    from shardsched.history.recorder import RecorderState, Recording
    from shardsched.settings import ExecutorSettings

logger = logging.getLogger(__name__)

SWEEP_S = 15.0
"""Between two looks of the leader for runs whose executors are gone."""
PRUNE_S = 3_600.0
"""Between two clearings of what is old."""
UNTOLD_END = "how it ended was told while neither the history database nor the disk took anything"
"""What a run says whose end was given up."""
CLOSE_S = 3.0
"""How long the last records may take to reach the database; what is left then is kept on disk."""


class Historian:
    """The history's side of one executor. **Thread:** any; only `stop` waits, and nothing fails.

    Attributes:
        chronicle: Is told of the runs.
    """

    def __init__(self, settings: ExecutorSettings, clock: Clock, mirror: Mirror) -> None:
        self._settings = settings
        self._clock = clock
        self._mirror = mirror
        self._recorder = _recorder(settings, clock)
        self._tap = EventTap(self._recorder, settings.name, self._config_of)
        self.chronicle = Chronicle(self._recorder, clock, settings.log_folder())
        self._database = None if settings.history == NO_HISTORY else Database(settings.history)
        self._prunes_at = clock.boot() + PRUNE_S
        self._settled_count = 0
        self._ending = threading.Event()
        self._keeper = Worker("shardsched-history", self._keep_order)

    def start(self) -> None:
        """Begin."""
        self._recorder.start()
        self._tap.attach()
        if self._database is not None:
            self._keeper.start()

    def stop(self) -> None:
        """End, when nothing happens any more."""
        self._ending.set()
        self._keeper.stop()
        self._tap.detach()
        self._recorder.close(CLOSE_S)
        if self._database is not None:
            self._database.close()

    def state(self) -> RecorderState:
        """Return where records go at present."""
        return self._recorder.state()

    def _keep_order(self) -> float:
        """Close what was given up and, as the leader, all that is lost or old; a database may be slow."""
        if self._database is not None and self._mirror.is_complete:
            leader = self._mirror.fleet().leader
            try:
                self._close_dropped(self._database)
                if leader is not None and leader.name == self._settings.name:
                    self._sweep(self._database)
                    self._prune(self._database)
            except HistoryError as error:
                logger.debug("the history is not put in order for now: %s", error)
        return SWEEP_S

    def _close_dropped(self, database: Database) -> None:
        """Have our runs marked as lost whose ends were given up; nobody else does, as long as we live."""
        state = self._recorder.state()
        own = self._mirror.fleet().executors.get(self._settings.name)
        if own is None or state.storing is not Storing.CONNECTED or state.dropped_count == self._settled_count:
            return
        for run_id in open_run_ids(database, self._settings.namespace, own.incarnation):
            # Of one that is not running its end was told before this, and counts if it was not given up.
            if not self.chronicle.is_running(run_id):
                self._recorder.lost(run_id, self._clock.now(), UNTOLD_END)
        self._settled_count = state.dropped_count

    def _sweep(self, database: Database) -> None:
        now = self._clock.now()
        alive = {record.incarnation for record in self._mirror.fleet().executors.values()}
        older_than = now - timedelta(seconds=2 * self._settings.session_timeout_s)
        namespace = self._settings.namespace
        sweep_lost(database, namespace, alive_incarnations=alive, older_than=older_than, now=now)

    def _prune(self, database: Database) -> None:
        if self._clock.boot() >= self._prunes_at:
            self._prunes_at = self._clock.boot() + PRUNE_S
            prune(database, self._settings.namespace, stop=self._ending, clock=self._clock)

    def _config_of(self, job: str) -> JobConfig | None:
        entry = self._mirror.entry(job)
        return entry.config if entry is not None else None


def _recorder(settings: ExecutorSettings, clock: Clock) -> Recording:
    if settings.history == NO_HISTORY:
        return NullRecorder()
    return Recorder(
        settings.history,
        settings.home() / "spool",
        namespace=settings.namespace,
        executor=settings.name,
        clock=clock,
        rng=random.Random(),  # noqa: S311 - it only spreads attempts to reach the database
    )
