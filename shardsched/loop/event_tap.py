"""Taking from the log what belongs into the history.

Whatever is worth telling is logged with its event's name and fields, so this is the one place that sees all of it. The
logger ``shardsched`` must let INFO pass for that: `attach` sees to it where nobody has set its level.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from shardsched.core.events import Event
from shardsched.history.row import EventRow, RunRow, missed_run_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shardsched.core.job import JobConfig
    from shardsched.history.recorder import Recording

UNTOLD = frozenset(
    {
        Event.ITEM_CLAIMED,
        Event.CLAIM_LOST,
        Event.CLAIM_UNKNOWN,
        Event.ITEMS_READ,
        Event.RUN_STARTED,
        Event.RUN_ENDED,
        Event.RUN_FAILED,
        Event.RUN_STOPPED,
        Event.COMPLETION_DEFERRED,
        Event.FIRE_COMPLETED,
        Event.JOB_FOLLOWED,
        Event.CALLBACK_FAILED,
        Event.LOGS_PRUNED,
    }
)
"""Events that are steps of one run, which has a row of its own, or say nothing to an operator."""
_KNOWN = frozenset({"event", "job", "item", "run", "executor"})
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_LOGGER = logging.getLogger("shardsched")


class EventTap(logging.Handler):
    """Hands events to the history. **Thread:** any; nothing here waits or fails.

    Args:
        recorder: The history.
        executor: Name of this executor.
        config_of: Gives a job's configuration as this executor knows it.
    """

    def __init__(self, recorder: Recording, executor: str, config_of: Callable[[str], JobConfig | None]) -> None:
        super().__init__(logging.INFO)
        self._recorder = recorder
        self._executor = executor
        self._config_of = config_of

    def attach(self) -> None:
        """Begin to listen."""
        if _LOGGER.level == logging.NOTSET:
            _LOGGER.setLevel(logging.INFO)
        _LOGGER.addHandler(self)

    def detach(self) -> None:
        """End it."""
        _LOGGER.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Take one record of the log."""
        kind = getattr(record, "event", None)
        if not isinstance(kind, Event) or kind in UNTOLD:
            return
        fields = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        row = _event_row(record, kind, fields, self._executor)
        self._recorder.event(row)
        if kind is Event.FIRES_MISSED:
            self._missed(row)

    def _missed(self, row: EventRow) -> None:
        config = self._config_of(row.job)
        last = row.detail.get("last")
        if config is None or row.item is None or not isinstance(last, str):
            return
        fire = datetime.fromisoformat(last)
        missed = RunRow(
            run_id=missed_run_id(config.uid, row.item, fire),
            job=row.job,
            uid=config.uid,
            item=row.item,
            items=config.items,
            fire=fire,
            cause="schedule",
            attempt=0,
            executor=self._executor,
            incarnation="",
            token=0,
            queued_at=row.at,
            message=f"{row.message}, first of them {row.detail.get('first')}",
        )
        self._recorder.missed(missed)


def _event_row(record: logging.LogRecord, kind: Event, fields: Mapping[str, Any], executor: str) -> EventRow:
    item = fields.get("item")
    return EventRow(
        at=datetime.fromtimestamp(record.created, UTC),
        kind=str(kind),
        executor=str(fields.get("executor") or executor),
        job=str(fields.get("job") or ""),
        item=item if isinstance(item, int) else None,
        run_id=str(fields.get("run") or ""),
        message=record.getMessage(),
        detail={name: value for name, value in fields.items() if name not in _KNOWN},
    )
