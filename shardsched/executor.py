"""One executor: it joins the fleet, keeps its lease, may lead, and runs its items until it is told to stop.

Threads: the *lease* thread sends heartbeats, watches the wall clock and joins again after a loss; the *loop* thread
does all that concerns items; the *leader* thread stands for election and writes assignments. The timer, the registry
and the pools have their own. No number of jobs adds another.
"""

from __future__ import annotations

import logging
import sys
import threading
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from shardsched.arrival import arrive
from shardsched.chores import REPORT_INTERVAL_S, LoadReporter, prune_logs
from shardsched.clock import SYSTEM_CLOCK
from shardsched.coordination.assignment import Leadership
from shardsched.coordination.book import Book
from shardsched.coordination.call_desk import CallDesk
from shardsched.coordination.election import Election
from shardsched.coordination.ledger import Ledger
from shardsched.coordination.membership import Membership
from shardsched.coordination.mirror import Mirror
from shardsched.coordination.session import Lease, Standing
from shardsched.core.events import Event
from shardsched.core.paths import Paths
from shardsched.core.unfit import adrift, stopping
from shardsched.errors import RegistryError
from shardsched.execution.handlers import TABLE, load_modules
from shardsched.execution.kinds.builtin import builtin_places
from shardsched.historian import Historian
from shardsched.identity import own_record
from shardsched.keeper import Keeper
from shardsched.leader import Leader
from shardsched.loop.clerk import Clerk
from shardsched.loop.dispatch import Dispatch
from shardsched.loop.message import Interrupt, Resync, SessionEnded, Stopping, Vanished
from shardsched.loop.step import Loop
from shardsched.registry.base import SessionState
from shardsched.registry.counted import open_counted
from shardsched.settings import check_settings, default_executor_name
from shardsched.timer import Timer
from shardsched.vitals import Vitals
from shardsched.worker import Worker

if TYPE_CHECKING:
    from shardsched.clock import Clock
    from shardsched.loop.message import Message
    from shardsched.settings import ExecutorSettings

logger = logging.getLogger(__name__)

STOP_S = 5.0
"""The last part of the grace, in which items are asked to stop."""
ACCOUNT_S = 2.0
"""How long after the grace the outcomes of killed items may take to be written."""


class Executor:
    """One executor of a fleet.

    **Thread:** `start`, `stop` and `wait` may be called by any thread, `start` once.

    Args:
        settings: What it is told; an empty name is made of host and process id.
    """

    def __init__(self, settings: ExecutorSettings, *, clock: Clock = SYSTEM_CLOCK) -> None:
        named = settings if settings.name else replace(settings, name=default_executor_name())
        self.settings = settings = check_settings(named)
        self._clock = clock
        self._paths = Paths(settings.namespace)
        self._registry = open_counted(settings.registry, session_timeout_s=settings.session_timeout_s, clock=clock)
        self._lease = Lease(self._registry, self._paths, clock, self._lease_changed)
        self._mirror = Mirror(self._registry, self._paths, self._mirror_changed)
        self._book = Book(self._registry, self._paths, self._vanished)
        self._timer = Timer(clock, lambda: self._loop_worker.wake())  # noqa: PLW0108 - it is made later
        self._historian = Historian(settings, clock, self._mirror)
        chronicle = self._historian.chronicle
        clerk = Clerk(self._registry, self._paths, self._lease, clock)
        self._dispatch = Dispatch(settings=settings, clock=clock, post=self._post, chronicle=chronicle, clerk=clerk)
        limit_s, place = settings.drift_limit_s, (self._registry, self._paths, self._lease)
        self._loop = Loop(
            name=settings.name,
            slots=settings.slots,
            clock=clock,
            lease=self._lease,
            mirror=self._mirror,
            ledger=Ledger(*place, settings.name),
            book=self._book,
            desk=CallDesk(*place, self._mirror, listening=TABLE.listening, drift_limit_s=limit_s),
            launcher=self._dispatch,
            wake_at=self._timer.wake_at,
            new_run_id=lambda: uuid.uuid4().hex,
            server_time=self._registry.server_time,
            drift_limit_s=limit_s,
        )
        self.vitals = Vitals(settings.name, self._registry, self._lease, self._mirror, self._loop, self._historian)
        election = Election(*place, settings.name)
        leadership = Leadership(*place, election)
        self._leader = Leader(
            clock=clock, lease=self._lease, mirror=self._mirror, election=election, leadership=leadership
        )
        self._loop_worker = Worker("shardsched-loop", self._loop_step)
        self._leader_worker = Worker("shardsched-leader", self._leader.step)
        self._stepped = threading.Condition()
        self._ended = threading.Event()
        self._stop_lock = threading.Lock()
        self._grace_until = float("inf")
        self._lease_worker = Worker("shardsched-lease", lambda: self._keeper.step())  # noqa: PLW0108 - it is made later

    # Life

    def start(self) -> None:
        """Join the fleet and begin to work; a registry that does not answer is waited for, and that is told.

        Raises:
            HandlerImportError: A module cannot be imported; nothing was joined.
            NameTakenError: A living executor holds the name.
            RegistryAccessError: The registry refuses our credentials.
            ConfigurationError: A job of the code is not valid; its message names the job.
        """
        sys.path[:0] = [path for path in self.settings.import_paths if path not in sys.path]
        load_modules(self.settings.modules)
        self._historian.start()
        try:
            self._dispatch.sweep()
            record = own_record(self.settings, self._clock, TABLE.places() | builtin_places(), TABLE.listening())
            home = self.settings.home()
            self._membership = Membership(self._registry, self._paths, self._clock, self._lease, record, home)
            arrive(self._registry, self._paths, self._clock, self._membership, self._ended.wait)
        except BaseException:
            self._registry.close()
            self._historian.stop()
            raise
        self._begin()

    def _begin(self) -> None:
        self._keeper = Keeper(
            clock=self._clock,
            lease=self._lease,
            membership=self._membership,
            on_rejoined=self._rejoined,
            on_clock_step=self._clock_stepped,
        )
        self._reporter = LoadReporter(
            registry=self._registry,
            paths=self._paths,
            clock=self._clock,
            lease=self._lease,
            name=self.settings.name,
            counts=lambda: (self._loop.run_count, self._loop.waiting_count),
        )
        self._dispatch.start()
        self._lease_changed(self._lease)
        self._registry.on_session(self._session_changed)
        self._mirror.start()
        self._timer.start()
        self._timer.every(REPORT_INTERVAL_S, "load report", self._report)
        self._timer.every(3_600.0, "old logs", self._prune_logs)
        for worker in (self._lease_worker, self._loop_worker, self._leader_worker):
            worker.start()
        self._report()

    def stop(self, grace_s: float | None = None) -> None:
        """Stop cleanly: let items finish for the grace, stop the rest, then give up the place at once.

        A second call, with a shorter grace, speeds the first up. Returns when everything has ended.

        Args:
            grace_s: Seconds; None for that of the settings.
        """
        grace_s = self.settings.grace_s if grace_s is None else grace_s
        with self._stepped:
            self._grace_until = min(self._grace_until, self._clock.boot() + grace_s)
            self._stepped.notify_all()
        with self._stop_lock:
            if not self._ended.is_set():
                self._end()
                self._ended.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the executor has ended; return whether it has."""
        return self._ended.wait(timeout_s)

    def _end(self) -> None:
        logger.info("stops", extra={"event": Event.EXECUTOR_STOPPING, "executor": self.settings.name})
        self._say_unfit(stopping())
        if not self._wait_idle(last_s=STOP_S):
            grace_s = max(min(STOP_S, self._grace_until - self._clock.boot()), 0.0)
            self._loop.post(Interrupt(stopping=Stopping.SHUTDOWN, grace_s=grace_s))
            self._loop_worker.wake()
            self._wait_idle(last_s=-ACCOUNT_S)
        self._timer.stop()
        self._leader.step_down()
        for worker in (self._leader_worker, self._loop_worker):
            worker.stop()
        self._dispatch.close()
        self._membership.leave()
        self._lease_worker.stop()
        self._mirror.stop()
        self._registry.close()
        self._historian.stop()

    def _wait_idle(self, *, last_s: float) -> bool:
        """Wait until no run is left, up to so many seconds before the grace ends; return whether none is."""
        with self._stepped:
            while self._loop.unaccounted_count > 0 and self._lease.incarnation:
                left_s = self._grace_until - last_s - self._clock.boot()
                if left_s <= 0:
                    return False
                self._stepped.wait(left_s)
        return True

    # What happens

    def _loop_step(self) -> None:
        self._loop.step()
        if self._loop.has_more:
            self._loop_worker.wake()
        with self._stepped:
            self._stepped.notify_all()

    def _post(self, message: Message) -> None:
        self._loop.post(message)
        self._loop_worker.wake()

    def _vanished(self, job: str, item: int) -> None:
        self._post(Vanished(job=job, item=item))

    def _mirror_changed(self) -> None:
        self._loop_worker.wake()
        self._leader_worker.wake()

    def _session_changed(self, state: SessionState) -> None:
        if state is SessionState.SUSPENDED:
            logger.warning("the registry does not answer: nothing new starts", extra={"event": Event.SESSION_SUSPENDED})
            self._lease.suspend()
        elif state is SessionState.LOST:
            self._lease.session_ended()
        else:
            self._lease.resume()
            self._lease_worker.wake()
            self._mirror_changed()

    def _lease_changed(self, lease: Lease) -> None:
        """Tell the pools until when they may run items; have everything stopped and joined anew after a loss."""
        if lease.standing is Standing.LOST:
            logger.error("the session is over: everything is stopped", extra={"event": Event.SESSION_LOST})
            self._dispatch.revoke()
            self._post(SessionEnded())
            self._lease_worker.wake()
        elif lease.incarnation:
            self._dispatch.set_lease(lease.incarnation, lease.alive_until, lease.soft_until)

    def _rejoined(self) -> None:
        self._post(Resync())
        self._leader_worker.wake()
        self._report()

    def _clock_stepped(self) -> None:
        self._timer.resync()
        self._post(Resync())

    # Chores

    def _report(self) -> None:
        self._reporter.report()
        drift_s, limit_s = self._reporter.drift_s, self.settings.drift_limit_s
        if self._loop.unfit is None and self._reporter.is_adrift(limit_s):
            self._say_unfit(adrift(drift_s, limit_s))
        elif self._loop.unfit is not None and not (self._is_stopping or self._reporter.is_adrift(limit_s, was=True)):
            self._say_unfit(None)

    @property
    def _is_stopping(self) -> bool:
        return self._grace_until < float("inf")

    def _say_unfit(self, reason: str | None) -> None:
        """Start nothing new for a reason, and have the leader give the items to others; None to end that."""
        self._loop.unfit = reason
        if reason is not None and not self._is_stopping:
            logger.error("takes no items: %s", reason, extra={"event": Event.CLOCK_DRIFTED})
        try:
            self._membership.update(unfit=reason)
        except RegistryError as error:
            logger.debug("could not tell the fleet: %s", error)
        self._post(Resync())

    def _prune_logs(self) -> None:
        prune_logs(self._dispatch.log_folder, self._clock.now().timestamp(), self._loop.run_ids())
