"""Telling history what people did here; it is done, whether history takes it or not."""

from __future__ import annotations

import logging
from typing import Any

from console.context import actor, context
from shardsched.errors import HistoryError
from shardsched.history.row import EventRow

logger = logging.getLogger(__name__)

DELETED = "command_delete"
"""A job was deleted: what is from before goes in time."""


def tell(kind: str, *, job: str = "", executor: str = "", run_id: str = "", message: str = "", **detail: Any) -> None:
    """Keep that whoever asks did something.

    Args:
        kind: What, such as ``command_drain``.
        job: The job concerned.
        executor: The executor concerned.
        run_id: The run concerned.
        message: One line for people.
        **detail: More of it, as JSON.
    """
    parts = context()
    event = EventRow(
        at=parts.clock.now(),
        kind=kind,
        job=job,
        executor=executor,
        run_id=run_id,
        by=actor().name,
        message=message,
        detail=detail,
    )
    try:
        if kind == DELETED:
            parts.journal.tell_deleted(event)
        else:
            parts.journal.tell(event)
    except HistoryError:
        logger.exception("history could not be told", extra={"event": "console_history_untold"})
