"""What one executor does for the history of its fleet: it tells its runs and events, and keeps the store in order."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from shardsched.history.recorder import NullRecorder, Recorder
from shardsched.loop.chronicle import Chronicle
from shardsched.loop.event_tap import EventTap
from shardsched.settings import NO_HISTORY

if TYPE_CHECKING:
    from shardsched.clock import Clock
    from shardsched.coordination.mirror import Mirror
    from shardsched.core.job import JobConfig
    from shardsched.history.recorder import RecorderState, Recording
    from shardsched.settings import ExecutorSettings

CLOSE_S = 3.0
"""How long the last records may take to reach the database; what is left then is kept on disk."""


class Historian:
    """The history's side of one executor. **Thread:** any; only `stop` waits, and nothing fails.

    Attributes:
        chronicle: Is told of the runs.
    """

    def __init__(self, settings: ExecutorSettings, clock: Clock, mirror: Mirror) -> None:
        self._mirror = mirror
        self._recorder = _recorder(settings, clock)
        self._tap = EventTap(self._recorder, settings.name, self._config_of)
        self.chronicle = Chronicle(self._recorder, clock)

    def start(self) -> None:
        """Begin."""
        self._recorder.start()
        self._tap.attach()

    def stop(self) -> None:
        """End, when nothing happens any more."""
        self._tap.detach()
        self._recorder.close(CLOSE_S)

    def state(self) -> RecorderState:
        """Return where records go at present."""
        return self._recorder.state()

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
