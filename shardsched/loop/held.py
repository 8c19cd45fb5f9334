"""Which jobs are held, so that each is told of once."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shardsched.core.events import Event

if TYPE_CHECKING:
    from shardsched.core.view import JobEntry

logger = logging.getLogger(__name__)


class Held:
    """The jobs that cannot be used as they are stored. **Thread:** used by one."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}

    def note(self, entry: JobEntry, reason: str) -> None:
        """Take note that a job cannot be planned, and say so where it is held and was not for that reason."""
        if entry.held is not None and self._reasons.get(entry.name) != reason:
            self._reasons[entry.name] = reason
            logger.error("a job is held: %s", reason, extra={"event": Event.JOB_HELD, "job": entry.name})

    def forget(self, job: str) -> None:
        """Take note that a job is not held, or is gone."""
        self._reasons.pop(job, None)
