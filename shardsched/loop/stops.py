"""Stopping runs: because people asked, because the executor is drained, because it ends."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shardsched.core.events import Event
from shardsched.core.plan import stopped_runs
from shardsched.loop.message import Stopping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shardsched.coordination.mirror import Mirror
    from shardsched.loop.launcher import Launcher
    from shardsched.loop.runs import ActiveRun, RunTable

logger = logging.getLogger(__name__)

DRAIN_GRACE_S = 5.0
"""How long runs have to stop when their executor is drained at once."""


class Stops:
    """The stopping part of the loop. **Thread:** the loop's."""

    def __init__(self, *, name: str, mirror: Mirror, launcher: Launcher, runs: RunTable) -> None:
        self._name = name
        self._mirror = mirror
        self._launcher = launcher
        self._runs = runs

    def stop_asked(self, jobs: Iterable[str], *, is_fleet_changed: bool) -> None:
        """Stop the runs of those jobs that a person stopped, and all when the executor was drained at once."""
        for job in jobs:
            entry = self._mirror.entry(job)
            live = {run.claimed.marker.run: run for run in self._runs.of_job(job)}
            if entry is None or entry.config is None or not live:
                continue
            claimed = [(run_id, run.claimed.cursor.stop) for run_id, run in live.items()]
            for run_id in stopped_runs(entry.commands, claimed):
                self._stop(live[run_id], Stopping.STOP, entry.config.stop_grace_s)
        mark = self._mirror.drain_mark(self._name) if is_fleet_changed else None
        if mark is not None and mark.now:
            self.stop_all(Stopping.DRAIN, DRAIN_GRACE_S)

    def stop_all(self, stopping: Stopping, grace_s: float) -> None:
        """Stop all runs, for them to go on elsewhere."""
        for run in self._runs.live():
            self._stop(run, stopping, grace_s)

    def _stop(self, run: ActiveRun, stopping: Stopping, grace_s: float) -> None:
        """Ask a run to stop; a person's stop outweighs others, and asking twice the same is asking once."""
        if run.stopping in {stopping, Stopping.STOP}:
            return
        run.stopping = stopping
        claimed = run.claimed
        fields = {"job": claimed.job, "item": claimed.item, "run": claimed.marker.run, "event": Event.RUN_STOPPED}
        logger.info("asks a run to stop: %s", stopping, extra=fields)
        self._launcher.stop_run(claimed.marker.run, stopping, grace_s)
