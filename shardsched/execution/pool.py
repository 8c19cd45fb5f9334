"""The executor's side of running items in processes.

A thread of its own reads what the warden says and calls ``on_event``; whatever else is called returns at once. The
same thread sees to it that there is a warden. It pings it, and one that does not answer, frozen say, is killed: what
it supervised dies with it, by the kernel and by a sweep of all marked processes, is reported as ended, and a new
warden is started. So ``running`` is true at any time: a run is in it from its launch until nothing of it is alive.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import ExecutionError, ShutdownError
from shardsched.execution.frame import pack
from shardsched.execution.outcome import Outcome
from shardsched.execution.report import ended_event, lost_event, ready_event, word_event
from shardsched.execution.run import (
    PoolEvent,
    PoolFailed,
    PoolReady,
    RunAsked,
    RunEnded,
    RunSpec,
    RunStarted,
    RunWarned,
)
from shardsched.execution.warden_process import (
    WardenProcess,
    cookie_of,
    import_paths_of_executor,
    sweep_orphans,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from shardsched.clock import Clock

__all__ = [
    "Outcome",
    "PoolEvent",
    "PoolFailed",
    "PoolReady",
    "ProcessPool",
    "RunAsked",
    "RunEnded",
    "RunSpec",
    "RunStarted",
    "RunWarned",
    "cookie_of",
    "sweep_orphans",
]

logger = logging.getLogger(__name__)

_RETRY_S = 1.0
"""How long after a failed start of the warden the next is tried."""


class ProcessPool:
    """Runs items in processes under a warden.

    Thread: all methods may be called from any thread. ``on_event`` is called by the pool's own thread, one event at
    a time in the order in which they happened; it must be quick, since no other event is read meanwhile.
    """

    def __init__(
        self,
        *,
        executor: str,
        modules: Sequence[str],
        import_paths: Sequence[str] = (),
        log_dir: Path,
        on_event: Callable[[PoolEvent], None],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """Describe the pool; nothing is started yet.

        Args:
            executor: What identifies this executor on this machine: not its name alone, but also its namespace and
                registry, since all processes marked with it are killed when it starts anew.
            modules: Modules with the handlers.
            import_paths: Folders put before ``sys.path`` to find them.
            log_dir: Where the output of runs goes.
            on_event: Is told what happens.
            clock: For the times of runs that the warden can no longer tell.
        """
        self.cookie = cookie_of(executor)
        self._modules = list(modules)
        self._paths = import_paths_of_executor(import_paths)
        self._log_dir = log_dir
        self._on_event = on_event
        self._clock = clock
        self._lock = threading.Lock()
        self._runs: dict[str, RunSpec] = {}
        self._started_at: dict[str, float] = {}
        self._lease: dict[str, Any] | None = None
        self._warden: WardenProcess | None = None
        self._unsent: list[bytes] = []
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="shardsched-pool", daemon=True)

    def start(self) -> None:
        """Start the warden, which has the modules imported in the background."""
        self._thread.start()

    def set_lease(self, epoch: str, until: float, soft: float) -> None:
        """Allow items of an epoch to run; those of another one are killed.

        Args:
            epoch: The session that claimed them.
            until: When all must be dead, in seconds of the boot clock.
            soft: When they are asked to stop.
        """
        with self._lock:
            self._lease = {"type": "lease", "epoch": epoch, "until": until, "soft": soft}
            self._send(pack(self._lease))

    def revoke(self) -> None:
        """Kill all items at once: the session that claimed them is over."""
        with self._lock:
            self._lease = {"type": "revoke"}
            self._send(pack(self._lease))

    def launch(self, spec: RunSpec, epoch: str) -> None:
        """Start a run; what becomes of it is told by events, `RunEnded` last.

        Raises:
            ShutdownError: The pool is closed or closing.
            ExecutionError: A run of that id is running.
            TypeError: The context has a value that JSON does not know.
            ValueError: The context has a number that JSON does not know, or is too large.
        """
        frame = pack(
            {
                "type": "launch",
                "run": spec.run_id,
                "epoch": epoch,
                "handler": spec.handler,
                "context": dict(spec.context),
                "timeout": spec.timeout_s,
                "warn_after": spec.warn_after_s,
                "grace": spec.stop_grace_s,
                "log": self._log_path(spec),
                "cap": spec.log_cap,
            }
        )
        with self._lock:
            if self._closing.is_set():
                raise ShutdownError(f"run {spec.run_id} was not started: the executor is closing")
            if spec.run_id in self._runs:
                raise ExecutionError(f"run {spec.run_id} was not started: one of that id is running; give each its own")
            self._runs[spec.run_id] = spec
            self._send(frame)

    def stop_run(self, run_id: str, reason: str, grace_s: float) -> None:
        """Ask a run to stop, and kill it when it has not after a grace.

        Args:
            run_id: Which run; one that has ended already is passed over.
            reason: For people.
            grace_s: Seconds from SIGTERM to SIGKILL; 0 kills at once. A later call can only shorten it.
        """
        with self._lock:
            self._send(pack({"type": "stop", "run": run_id, "reason": reason, "grace": grace_s}))

    def answer(self, run_id: str, answer: Mapping[str, Any]) -> None:
        """Answer a `RunAsked`; a run that has ended meanwhile is passed over."""
        with self._lock:
            self._send(pack({"type": "answer", "run": run_id, **answer}))

    def running(self) -> frozenset[str]:
        """Return the runs that were launched and whose end `on_event` has not been told."""
        with self._lock:
            return frozenset(self._runs)

    @property
    def warden_pid(self) -> int:
        """Process id of the warden, 0 while there is none."""
        with self._lock:
            return self._warden.pid if self._warden is not None else 0

    def close(self, timeout_s: float) -> None:
        """Kill all items and the warden; everything is dead and reported when this returns.

        Not to be called by ``on_event``, whose thread it waits for.

        Args:
            timeout_s: How long the warden may take to do it before it is killed too.
        """
        with self._lock:
            is_first = not self._closing.is_set()
            self._closing.set()
            self._send(pack({"type": "quit"}))
        if self._thread.is_alive():
            self._thread.join(timeout_s)
            with self._lock:
                if self._warden is not None:
                    self._warden.give_up()
            self._thread.join()
        if is_first:
            sweep_orphans(self.cookie)

    def _log_path(self, spec: RunSpec) -> str:
        return str(self._log_dir / (spec.log_path or f"{spec.run_id}.log"))

    def _send(self, frame: bytes) -> None:
        """Send to the warden, or to the one to come; called under the lock."""
        if self._warden is None:
            self._unsent.append(frame)
            return
        self._warden.send(frame)

    def _serve(self) -> None:
        while not self._closing.is_set():
            warden = self._start_warden()
            if warden is None:
                self._closing.wait(_RETRY_S)
            else:
                self._lose(warden, warden.listen(self._handle))
                if not warden.has_answered:
                    # What ends before it says a word will do so again: no loop at full speed.
                    self._closing.wait(_RETRY_S)
        self._report_lost(list(self._runs), "the executor is closing")

    def _start_warden(self) -> WardenProcess | None:
        try:
            warden = WardenProcess(self.cookie, self._modules, self._paths)
        except OSError as error:
            message = f"the warden could not be started: {error}"
            with self._lock:
                self._unsent.clear()
                lost = list(self._runs)
            self._tell(PoolFailed(message=message))
            self._report_lost(lost, message, Outcome.START_FAILED)
            return None
        with self._lock:
            # What was sent while there was none comes after the lease it counts on.
            for frame in ([pack(self._lease)] if self._lease else []) + self._unsent:
                warden.send(frame)
            self._unsent.clear()
            self._warden = warden
        return warden

    def _handle(self, message: Mapping[str, Any]) -> None:
        spec = self._runs.get(message.get("run", ""))
        match message["type"]:
            case "ready":
                event = ready_event(message)
                if event.thread_count > 1:
                    logger.warning("The modules leave %d threads running; items start slowly", event.thread_count)
                self._tell(event)
            case "started" if spec is not None:
                self._started_at[spec.run_id] = self._clock.boot()
                self._tell(RunStarted(run_id=spec.run_id, job=spec.job, item=spec.item, pid=message["pid"]))
            case "warned" | "asked" if spec is not None:
                self._tell(word_event(spec, message))
            case "ended" if spec is not None:
                self._end(ended_event(spec, message))

    def _lose(self, warden: WardenProcess, reason: str) -> None:
        """Bury a warden and all it supervised."""
        with self._lock:
            self._warden = None
            lost = list(self._runs)
        how = warden.kill()
        leftover_count = sweep_orphans(self.cookie)
        message = f"the warden was lost: {reason} ({how})"
        if not self._closing.is_set():
            logger.warning("%s; runs lost: %d, leftovers killed: %d", message, len(lost), leftover_count)
            self._tell(PoolFailed(message=f"{message}; its runs were killed and a new one is started"))
        # A warden that never said a word will not do so next time: what it was to run has failed, not been interrupted.
        self._report_lost(lost, message, Outcome.WARDEN_LOST if warden.has_answered else Outcome.START_FAILED)

    def _report_lost(self, run_ids: Sequence[str], message: str, outcome: Outcome = Outcome.WARDEN_LOST) -> None:
        for run_id in run_ids:
            spec = self._runs[run_id]
            started_at = self._started_at.get(run_id)
            duration_s = 0.0 if started_at is None else self._clock.boot() - started_at
            self._end(lost_event(spec, outcome, message, duration_s, self._log_path(spec)))

    def _end(self, event: RunEnded) -> None:
        self._tell(event)
        # Only now, so that whoever compares `running` with what it knows has been told of the end before.
        with self._lock:
            self._runs.pop(event.run_id, None)
            self._started_at.pop(event.run_id, None)

    def _tell(self, event: PoolEvent) -> None:
        try:
            self._on_event(event)
        except Exception:  # the listener's fault must not end the supervision of items
            logger.exception("The listener failed at %s", type(event).__name__)
