"""Running items in threads of the executor: cheap, and only as stoppable as the handlers are.

A thread cannot be killed. A run here is *asked* to stop, at its time-out, on request or when the lease ends, and ends
where its handler calls ``ctx.checkpoint()`` or looks at ``ctx.should_stop``; an async handler's task is cancelled. One
that does neither goes on, is reported as ignoring the request, and is reported as ended only when it has ended.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

from shardsched.clock import SYSTEM_CLOCK
from shardsched.errors import ExecutionError, ShutdownError
from shardsched.execution.call import CallEnd, Ending
from shardsched.execution.context import ShardingContext
from shardsched.execution.handlers import TABLE
from shardsched.execution.lease import Lease
from shardsched.execution.listener import call_heard
from shardsched.execution.outcome import Outcome, Stop, judge_unstarted
from shardsched.execution.run import PoolEvent, RunEnded, RunSpec, RunStarted, RunWarned
from shardsched.execution.stats import clean_stats
from shardsched.execution.stop_flag import StopFlag

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shardsched.clock import Clock
    from shardsched.execution.handlers import HandlerTable

logger = logging.getLogger(__name__)

_TICK_S = 0.25
"""How exactly time-outs and the lease are kept while something runs; they only ask, so this is soon enough."""


class _ThreadRun:
    """One run and what was asked of it."""

    def __init__(self, spec: RunSpec, epoch: str) -> None:
        self.spec = spec
        self.epoch = epoch
        self.stop_flag = StopFlag()
        self.stop: Stop | None = None
        self.started_at: float | None = None
        self.complain_at: float | None = None
        self.is_warned = False


class ThreadPool:
    """Runs items in threads of this process.

    Thread: all methods may be called from any thread. ``on_event`` is called by the thread that runs the item or by
    the pool's own, one event at a time; it must be quick.
    """

    def __init__(
        self,
        *,
        slots: int,
        on_event: Callable[[PoolEvent], None],
        table: HandlerTable = TABLE,
        clock: Clock = SYSTEM_CLOCK,
        answer: Callable[[str, Mapping[str, Any]], Mapping[str, Any]] | None = None,
    ) -> None:
        """Make a pool; threads are started when they are needed.

        Args:
            slots: How many threads there are at most; what is launched beyond that waits.
            on_event: Is told what happens.
            table: Where handlers are found.
            clock: For time-outs and the lease.
            answer: Answers what the run of an id asks, in that run's thread; None to keep checkpoints in memory.
        """
        self._slots = slots
        self._on_event = on_event
        self._table = table
        self._clock = clock
        self._answer = answer
        self._lease = Lease()
        self._runs: dict[str, _ThreadRun] = {}
        self._queue: deque[_ThreadRun] = deque()
        self._worker_count = 0
        self._idle_count = 0
        self._keeper: threading.Thread | None = None
        self._is_closing = False
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)
        self._empty = threading.Condition(self._lock)
        self._keeping = threading.Condition(self._lock)
        # Held around the listener alone, and reentrant, since the listener may launch what is refused at once.
        self._telling = threading.RLock()

    def set_lease(self, epoch: str, until: float, soft: float) -> None:
        """Allow items of an epoch to run; those of another one are asked to stop.

        Args:
            epoch: The session that claimed them.
            until: When the lease ends, in seconds of the boot clock; nothing can be enforced here by then.
            soft: When they are asked to stop.
        """
        with self._lock:
            self._lease = Lease(epoch, until, soft)
            self._check_lease(self._clock.boot())

    def revoke(self) -> None:
        """Ask all runs to stop: the session that claimed them is over."""
        with self._lock:
            self._lease = Lease()
            self._check_lease(self._clock.boot())

    def launch(self, spec: RunSpec, epoch: str) -> None:
        """Start a run; what becomes of it is told by events, `RunEnded` last.

        Raises:
            ShutdownError: The pool is closed or closing.
            ExecutionError: A run of that id is running.
        """
        run = _ThreadRun(spec, epoch)
        with self._lock:
            if self._is_closing:
                raise ShutdownError(f"run {spec.run_id} was not started: the executor is closing")
            if spec.run_id in self._runs:
                raise ExecutionError(f"run {spec.run_id} was not started: one of that id is running; give each its own")
            self._runs[spec.run_id] = run
            self._queue.append(run)
            if self._idle_count >= len(self._queue):
                self._work.notify()
            elif self._worker_count < self._slots:
                self._worker_count += 1
                threading.Thread(
                    target=self._work_on, name=f"shardsched-item-{self._worker_count}", daemon=True
                ).start()
            if self._keeper is None:
                self._keeper = threading.Thread(target=self._keep, name="shardsched-threads", daemon=True)
                self._keeper.start()
            elif len(self._runs) == 1:
                self._keeping.notify()

    def stop_run(self, run_id: str, reason: str, grace_s: float) -> None:
        """Ask a run to stop, and report it when it has not after a grace.

        Args:
            run_id: Which run; one that has ended already is passed over.
            reason: For people.
            grace_s: Seconds after which it is said to ignore the request.
        """
        with self._lock:
            run = self._runs.get(run_id)
            if run is not None:
                self._ask(run, Stop(Outcome.STOPPED, reason), grace_s)

    def running(self) -> frozenset[str]:
        """Return the runs that were launched and whose end `on_event` has not been told."""
        with self._lock:
            return frozenset(self._runs)

    def close(self, timeout_s: float) -> None:
        """Ask all runs to stop and wait for them; those that ignore it go on, and `running` names them.

        Args:
            timeout_s: How long to wait.
        """
        with self._lock:
            self._is_closing = True
            for run in self._runs.values():
                self._ask(run, Stop(Outcome.STOPPED, "the executor is closing"), timeout_s)
            self._work.notify_all()
            self._keeping.notify()
            self._empty.wait_for(lambda: not self._runs, timeout_s)

    def _ask(self, run: _ThreadRun, stop: Stop, grace_s: float) -> None:
        """Ask a run to stop, for the first reason given; called under the lock."""
        if run.stop is None:
            run.stop = stop
            run.complain_at = self._clock.boot() + grace_s
            run.stop_flag.request()

    def _check_lease(self, now: float) -> None:
        for run in self._runs.values():
            if run.epoch != self._lease.epoch:
                self._ask(run, Stop(Outcome.LEASE_LOST, "the session that claimed it is over"), 0.0)
            elif now >= self._lease.soft:
                stop = Stop(Outcome.LEASE_LOST, "the lease of the registry has run out")
                self._ask(run, stop, max(0.0, self._lease.until - now))

    def _work_on(self) -> None:
        while True:
            with self._lock:
                self._idle_count += 1
                self._work.wait_for(lambda: self._queue or self._is_closing)
                self._idle_count -= 1
                if not self._queue:
                    return
                run = self._queue.popleft()
                now = self._clock.boot()
                refusal = self._lease.refusal(run.epoch, now)
                if run.stop is None and refusal is None:
                    run.started_at = now
            if run.stop is not None and run.started_at is None:
                verdict = judge_unstarted(run.stop)
                self._end(run, verdict.outcome, CallEnd(ending=Ending.STOPPED, message=verdict.message))
            elif refusal is not None:
                self._end(run, Outcome.REFUSED, CallEnd(ending=Ending.STOPPED, message=refusal))
            else:
                self._run(run)

    def _run(self, run: _ThreadRun) -> None:
        spec = run.spec
        handler = self._table.get(spec.handler)
        if handler is None:
            message = f"there is no handler {spec.handler!r} in the modules of this executor"
            self._end(run, Outcome.START_FAILED, CallEnd(ending=Ending.FAILED, message=message))
            return
        ask = None if self._answer is None else partial(self._answer, spec.run_id)
        try:
            context = ShardingContext.from_fields(spec.context, run.stop_flag, ask)
        except (KeyError, TypeError, ValueError) as error:
            self._end(run, Outcome.START_FAILED, CallEnd(ending=Ending.FAILED, message=f"bad context: {error!r}"))
            return
        self._tell(RunStarted(run_id=spec.run_id, job=spec.job, item=spec.item, pid=os.getpid()))
        end = call_heard(handler.function, handler.listeners, context, run.stop_flag)
        with self._lock:
            stop = run.stop
        if stop is not None:
            message = f"{stop.message}; {end.message}" if end.message else stop.message
            end = CallEnd(ending=end.ending, message=message, traceback=end.traceback)
            self._end(run, stop.outcome, end, context.stats)
        else:
            self._end(run, Outcome.OK if end.ending is Ending.OK else Outcome.FAILED, end, context.stats)

    def _end(self, run: _ThreadRun, outcome: Outcome, end: CallEnd, stats: object = None) -> None:
        spec = run.spec
        duration_s = 0.0 if run.started_at is None else self._clock.boot() - run.started_at
        self._tell(
            RunEnded(
                run_id=spec.run_id,
                job=spec.job,
                item=spec.item,
                outcome=outcome,
                message=end.message,
                traceback=end.traceback,
                duration_s=duration_s,
                stats=clean_stats(stats),
            )
        )
        # Only now, so that whoever compares `running` with what it knows has been told of the end before.
        with self._lock:
            self._runs.pop(spec.run_id, None)
            if not self._runs:
                self._empty.notify_all()

    def _keep(self) -> None:
        """Watch the clock while something runs."""
        while True:
            with self._lock:
                if self._is_closing and not self._runs:
                    return
                self._keeping.wait(_TICK_S if self._runs else None)
                now = self._clock.boot()
                self._check_lease(now)
                warnings = [event for run in self._runs.values() for event in self._check_run(run, now)]
            for warning in warnings:
                self._tell(warning)

    def _check_run(self, run: _ThreadRun, now: float) -> list[RunWarned]:
        if run.started_at is None:
            return []
        spec, age_s, messages = run.spec, now - run.started_at, []
        if spec.timeout_s is not None and age_s >= spec.timeout_s:
            stop = Stop(Outcome.TIMEOUT, f"took longer than its time-out of {spec.timeout_s:g} s")
            self._ask(run, stop, spec.stop_grace_s)
        if spec.warn_after_s is not None and age_s >= spec.warn_after_s and not run.is_warned:
            run.is_warned = True
            messages.append(f"runs for {age_s:.0f} s")
        if run.stop is not None and run.complain_at is not None and now >= run.complain_at:
            run.complain_at = None
            messages.append(
                f"ignores the request to stop ({run.stop.message}) and holds its slot; "
                "call ctx.checkpoint() in its loop, or use isolation='process'"
            )
        return [RunWarned(run_id=spec.run_id, job=spec.job, item=spec.item, message=text) for text in messages]

    def _tell(self, event: PoolEvent) -> None:
        with self._telling:
            try:
                self._on_event(event)
            except Exception:  # the listener's fault must not end the thread that runs items
                logger.exception("The listener failed at %s", type(event).__name__)
