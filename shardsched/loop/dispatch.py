"""Starting and stopping the code of runs, in the pool that a job's isolation asks for."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shardsched.core.events import Event
from shardsched.core.fire import ItemState
from shardsched.core.job import Isolation
from shardsched.execution.outcome import Outcome
from shardsched.execution.pool import ProcessPool, sweep_orphans
from shardsched.execution.run import PoolFailed, PoolReady, RunAsked, RunEnded, RunSpec, RunStarted, RunWarned
from shardsched.execution.threads import ThreadPool
from shardsched.loop.chronicle import log_place
from shardsched.loop.failure_call import FailureCalls
from shardsched.loop.fire_call import call_spec, ended_call
from shardsched.loop.message import Ended

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from shardsched.clock import Clock
    from shardsched.coordination.ledger import Claimed
    from shardsched.core.fire import Cursor
    from shardsched.core.job import JobConfig
    from shardsched.core.tally import PendingCall
    from shardsched.execution.failure import FailureReport
    from shardsched.execution.run import PoolEvent
    from shardsched.loop.chronicle import Chronicle
    from shardsched.loop.clerk import Clerk
    from shardsched.loop.message import CallEnded
    from shardsched.settings import ExecutorSettings

logger = logging.getLogger(__name__)

_STATES = {
    Outcome.OK: ItemState.DONE,
    Outcome.STOPPED: ItemState.STOPPED,
    Outcome.LEASE_LOST: None,
    Outcome.REFUSED: None,
    Outcome.WARDEN_LOST: None,
}
"""What becomes of an item by how its run ended. What is not here has failed; None goes on elsewhere."""


class Dispatch:
    """The pools of one executor, as the loop's launcher.

    **Thread:** any. Reports of the pools are turned into messages for the loop on the pools' threads.
    """

    def __init__(
        self,
        *,
        settings: ExecutorSettings,
        clock: Clock,
        post: Callable[[Ended | CallEnded], None],
        chronicle: Chronicle,
        clerk: Clerk,
    ) -> None:
        self._post = post
        self._chronicle = chronicle
        self._clerk = clerk
        self._identity = str(settings.home())
        self._in_thread: set[str] = set()
        self._calls: set[str] = set()
        self._epoch = ""
        self.log_folder: Path = settings.log_folder()
        """Where the output of runs is kept, in folders by job."""
        self._processes = ProcessPool(
            executor=self._identity,
            modules=settings.modules,
            import_paths=settings.import_paths,
            log_dir=self.log_folder,
            on_event=self._heard,
            clock=clock,
        )
        self._threads = ThreadPool(slots=settings.slots, on_event=self._heard, clock=clock, answer=clerk.answer)
        self._failures = FailureCalls(settings.modules, lambda spec: self._processes.launch(spec, self._epoch))

    def sweep(self) -> None:
        """Kill what a predecessor of this executor left behind on this machine."""
        count = sweep_orphans(self._processes.cookie)
        if count:
            logger.warning("killed %d processes of a predecessor", count, extra={"event": Event.ORPHANS_KILLED})

    def start(self) -> None:
        """Begin: start the warden and have the handlers' modules imported."""
        self.log_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._processes.start()

    def set_lease(self, epoch: str, until: float, soft: float) -> None:
        """Let runs of a session live until a boot-clock time, and be asked to stop at an earlier one."""
        self._epoch = epoch
        self._processes.set_lease(epoch, until, soft)
        self._threads.set_lease(epoch, until, soft)

    def revoke(self) -> None:
        """Kill everything at once: the session is over."""
        self._processes.revoke()
        self._threads.revoke()

    def launch(self, claimed: Claimed, config: JobConfig) -> None:
        """Start a run's code; it ends with exactly one `Ended`, also when it cannot be started."""
        spec = _spec(claimed, config)
        self._chronicle.launched(claimed)
        self._clerk.admit(claimed)
        if spec.isolation is Isolation.THREAD:
            self._in_thread.add(spec.run_id)
            self._threads.launch(spec, claimed.incarnation)
        else:
            self._processes.launch(spec, claimed.incarnation)

    def launch_call(self, call_id: str, config: JobConfig, call: PendingCall, incarnation: str) -> None:
        """Have a job's fire listeners called; it ends with exactly one `CallEnded`, also when it cannot be started."""
        self._calls.add(call_id)
        self._processes.launch(call_spec(call_id, config, call), incarnation)

    def stop_run(self, run_id: str, reason: str, grace_s: float) -> None:
        """Ask a run to stop, and kill it after the grace, in seconds."""
        pool = self._threads if run_id in self._in_thread else self._processes
        pool.stop_run(run_id, reason, grace_s)

    def abandoned(self, job: str, item: int, cursor: Cursor, reason: str) -> None:
        """Have the history tell of a run that its executor left unfinished."""
        self._chronicle.abandoned(job, item, cursor, reason)

    def report_failure(self, place: str, report: FailureReport) -> None:
        """Have ``module:function`` called with a report, in a process; its own fate is only logged."""
        self._failures.call(place, report)

    def close(self) -> None:
        """End both pools; every process is dead when this returns."""
        self._clerk.close()
        self._threads.close(1.0)
        self._processes.close(5.0)

    def _heard(self, event: PoolEvent) -> None:
        if isinstance(event, RunEnded) and self._failures.ended(event):
            return
        if not isinstance(event, RunStarted | RunWarned | RunEnded) or event.run_id not in self._calls:
            self._reported(event)
        elif isinstance(event, RunEnded):
            self._calls.discard(event.run_id)
            self._post(ended_call(event))

    def _reported(self, event: PoolEvent) -> None:
        match event:
            case RunAsked():
                self._clerk.take(event, self._processes.answer)
            case RunEnded():
                self._run_ended(event)
            case RunStarted():
                self._chronicle.started(event)
                fields = {"event": Event.RUN_STARTED, "job": event.job, "item": event.item, "run": event.run_id}
                logger.debug("a run started", extra=fields | {"pid": event.pid})
            case RunWarned():
                fields = {"event": Event.RUN_OVERDUE, "job": event.job, "item": event.item, "run": event.run_id}
                logger.warning("%s", event.message, extra=fields)
            case PoolReady():
                for module, text in event.failures.items():
                    logger.error("module %s cannot be imported: %s", module, text, extra={"event": Event.POOL_FAILED})
            case PoolFailed():
                logger.error("%s", event.message, extra={"event": Event.POOL_FAILED})

    def _run_ended(self, event: RunEnded) -> None:
        if self._failures.ended(event):
            return
        self._in_thread.discard(event.run_id)
        self._clerk.dismiss(event.run_id)
        _log_end(event)
        self._chronicle.ended(event)
        self._post(_ended(event))


def _spec(claimed: Claimed, config: JobConfig) -> RunSpec:
    run, marker = claimed.run, claimed.marker
    return RunSpec(
        run_id=marker.run,
        job=claimed.job,
        item=claimed.item,
        items=run.items,
        handler=config.handler,
        isolation=config.run_isolation,
        context={
            "job": claimed.job,
            "item": claimed.item,
            "items": run.items,
            "param": run.param,
            "job_param": run.job_param,
            "fire_time": run.run_fire.isoformat(),
            "run_id": marker.run,
            "attempt": run.attempt,
            "cause": run.cause,
            "fencing_token": claimed.cursor.token,
            "executor": marker.executor,
            **({"task": dict(config.task)} if config.task else {}),
        },
        timeout_s=config.timeout_s,
        warn_after_s=config.warn_after_s,
        stop_grace_s=config.stop_grace_s,
        log_path=log_place(claimed.job, marker.run),
    )


def _ended(event: RunEnded) -> Ended:
    return Ended(
        run_id=event.run_id,
        state=_STATES.get(event.outcome, ItemState.FAILED),
        message=_message(event),
        outcome=event.outcome,
        traceback=event.traceback,
        log_path=event.log_path,
    )


def _message(event: RunEnded) -> str:
    return event.message if event.outcome is Outcome.OK else f"{event.outcome}: {event.message}".rstrip(": ")


def _log_end(event: RunEnded) -> None:
    fields = {
        "event": Event.RUN_ENDED if event.outcome is Outcome.OK else Event.RUN_FAILED,
        "job": event.job,
        "item": event.item,
        "run": event.run_id,
        "outcome": event.outcome,
        "duration_s": round(event.duration_s, 3),
    }
    if event.outcome is Outcome.OK:
        logger.info("a run ended", extra=fields)
    else:
        # What failed is told of by what follows from it: a retry, or that it failed for good.
        level = logging.WARNING if event.outcome in _STATES else logging.INFO
        logger.log(level, "a run ended badly: %s", _message(event), extra=fields | {"log": event.log_path})
