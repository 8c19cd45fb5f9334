"""What is done about runs that failed: they are tried again, or their failure is for good and somebody is told."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shardsched.core.events import Event
from shardsched.core.job import OnFailure, is_function_place
from shardsched.execution.failure import FailureReport

if TYPE_CHECKING:
    from shardsched.coordination.ledger import Ending
    from shardsched.core.decision import GivenUp
    from shardsched.core.fire import Cursor
    from shardsched.core.job import JobConfig
    from shardsched.loop.launcher import Launcher
    from shardsched.loop.runs import ActiveRun

logger = logging.getLogger(__name__)


class Failing:
    """Tells of failures, once they stand in the registry. **Thread:** the loop's."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher

    def ended(self, run: ActiveRun, ending: Ending) -> None:
        """Tell of a run's outcome, if it is a failure."""
        if not ending.is_failure:
            return
        claimed, code = run.claimed, run.ended
        report = FailureReport(
            job=claimed.job,
            item=claimed.item,
            items=claimed.run.items,
            fire=claimed.run.run_fire,
            attempt=claimed.run.attempt,
            executor=claimed.marker.executor,
            run_id=claimed.marker.run,
            outcome=(code.outcome if code else "") or ending.state,
            message=ending.message,
            traceback=code.traceback if code else "",
            log_path=code.log_path if code else "",
        )
        if ending.retry_at is None:
            self._failed(report, run.config)
            return
        at = ending.retry_at.isoformat(timespec="seconds")
        fields = _fields(report) | {"event": Event.RETRY_PLANNED, "retry_at": at}
        logger.warning("a run failed and is tried again at %s: %s", at, report.message, extra=fields)

    def gave_up(self, job: str, item: int, given_up: GivenUp, config: JobConfig | None) -> None:
        """Tell that a run which failed will not be tried again as it should have been."""
        cursor = given_up.cursor
        report = FailureReport(
            job=job,
            item=item,
            items=cursor.items,
            fire=given_up.fire,
            attempt=cursor.attempt,
            executor=cursor.executor,
            run_id=cursor.run,
            outcome=cursor.state,
            message=f"{cursor.message}; not tried again: {given_up.reason}",
        )
        fields = _fields(report) | {"event": Event.RETRY_GIVEN_UP}
        logger.warning("gives up the retry of a failed run: %s", given_up.reason, extra=fields)
        self._failed(report, config)

    def abandoned(self, job: str, item: int, cursor: Cursor, reason: str) -> None:
        """Tell that a run was left unfinished, whose executor may have died before it told anybody of it."""
        self._launcher.abandoned(job, item, cursor, reason)

    def _failed(self, report: FailureReport, config: JobConfig | None) -> None:
        how = config.on_failure if config is not None else OnFailure.LOG
        fields = _fields(report)
        place = (report.item, report.job, report.fire.isoformat(timespec="seconds"), report.message)
        logger.log(
            logging.DEBUG if how == OnFailure.IGNORE else logging.ERROR,
            "item %d of job %s failed for good, for the fire of %s: %s",
            *place,
            extra=fields | {"event": Event.RUN_FAILED_FOR_GOOD, "log": report.log_path},
        )
        if how == OnFailure.RAISE:
            # Its handlers are those of the process, whatever that does with the records of this library.
            told = f"{report.message}\n{report.traceback}".rstrip()
            text = "item %d of job %s failed for good, for the fire of %s: %s"
            logging.getLogger().critical(text, *place[:-1], told, extra=fields)
        elif is_function_place(how):
            self._launcher.report_failure(how, report)


def _fields(report: FailureReport) -> dict[str, object]:
    return {
        "job": report.job,
        "item": report.item,
        "run": report.run_id,
        "fire": report.fire.isoformat(),
        "attempt": report.attempt,
        "outcome": report.outcome,
    }
