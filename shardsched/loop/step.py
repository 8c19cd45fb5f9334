"""The loop of one executor: read a view, plan, act.

A step takes what has happened (reports of the mirror, ends of runs, moments that came), writes the outcomes of runs
that ended, plans every job that was touched, and claims what is due. It never waits but for the registry, and never
decides: `core` does. Whatever cannot be done now (no lease, no answer) stays noted and is done by a later step.
"""

from __future__ import annotations

import heapq
import logging
import queue
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.core.agenda import Agenda, FireTable
from shardsched.core.events import Event
from shardsched.core.plan import Candidate, JobPlan, Me, admit, moment_of, plan, usable_entry
from shardsched.core.view import JobView
from shardsched.errors import RegistryUnavailableError, SessionLostError
from shardsched.loop.accounting import Accounting
from shardsched.loop.calls import Calls
from shardsched.loop.claiming import Claiming
from shardsched.loop.failing import Failing
from shardsched.loop.held import Held
from shardsched.loop.message import CallEnded, Ended, Interrupt, Resync, SessionEnded, Vanished
from shardsched.loop.reading import Reading
from shardsched.loop.runs import RunTable
from shardsched.loop.settling import Settled, Settling
from shardsched.loop.stops import Stops
from shardsched.loop.wall_clock import WallClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from shardsched.clock import Clock
    from shardsched.coordination.book import Book
    from shardsched.coordination.call_desk import CallDesk
    from shardsched.coordination.ledger import Ledger
    from shardsched.coordination.mirror import Mirror
    from shardsched.coordination.session import Lease
    from shardsched.core.view import JobEntry
    from shardsched.loop.launcher import Launcher
    from shardsched.loop.message import Message

logger = logging.getLogger(__name__)

RETRY = timedelta(seconds=1)
"""When to look again after the registry gave no answer or our view was old."""


class Loop:
    """What one executor does about its items.

    **Thread:** `post` may be called by any thread; `step` by one at a time.
    """

    def __init__(
        self,
        *,
        name: str,
        slots: int,
        clock: Clock,
        lease: Lease,
        mirror: Mirror,
        ledger: Ledger,
        book: Book,
        desk: CallDesk,
        launcher: Launcher,
        wake_at: Callable[[datetime | None], None],
        new_run_id: Callable[[], str],
        server_time: Callable[[], datetime],
        drift_limit_s: float = 60.0,
    ) -> None:
        self._name = name
        self._slots = slots
        self._clock = clock
        self._lease = lease
        self._mirror = mirror
        self._book = book
        self._wake_at = wake_at
        self._wall_clock = WallClock(clock, server_time, drift_limit_s)
        self._inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._has_more = False
        self._agenda = Agenda()
        self._fires = FireTable()
        self._runs = RunTable()
        self._touched: set[str] = set()
        self._waiting: dict[str, tuple[int, datetime]] = {}
        self._held = Held()
        self._retry_at: datetime | None = None
        failing, runs, tallies = Failing(launcher), self._runs, desk.tallies
        self._reading = Reading(name=name, book=book)
        self._stops = Stops(name=name, mirror=mirror, launcher=launcher, runs=runs)
        self._tallies = tallies
        self._claiming = Claiming(
            lease=lease,
            ledger=ledger,
            book=book,
            tallies=tallies,
            launcher=launcher,
            runs=runs,
            failing=failing,
            new_run_id=new_run_id,
        )
        self._settling = Settling(lease=lease, ledger=ledger, book=book, tallies=tallies, failing=failing)
        self._accounting = Accounting(
            lease=lease, ledger=ledger, book=book, tallies=tallies, runs=runs, mirror=mirror, failing=failing
        )
        self._calls = Calls(lease=lease, mirror=mirror, desk=desk, launcher=launcher, new_call_id=new_run_id)
        self.unfit: str | None = None
        """Why nothing new is started although the session stands (stopping, clock off), or None."""

    def post(self, message: Message) -> None:
        """Tell the loop something; the next step looks at it."""
        self._inbox.put(message)

    @property
    def has_more(self) -> bool:
        """Whether another step is to follow at once."""
        return self._has_more or not self._inbox.empty()

    @property
    def run_count(self) -> int:
        """How many runs hold a slot."""
        return self._runs.busy_count

    def run_ids(self) -> frozenset[str]:
        """Return the ids of runs that are not accounted for."""
        return self._runs.ids()

    @property
    def unaccounted_count(self) -> int:
        """How many runs and calls live or have an outcome that is not written yet."""
        return len(self._runs.ids()) + self._calls.count

    @property
    def waiting_count(self) -> int:
        """How many jobs have items that wait for a slot."""
        return len(self._waiting)

    def step(self) -> None:
        """Do everything that can be done now."""
        self._has_more = False
        self._read_inbox()
        now = self._clock.now()
        if self._retry_at is not None and self._retry_at <= now:
            self._retry_at = None
        self._tallies.begin_step()
        jobs, is_fleet_changed = self._mirror.take_changes()
        self._calls.is_fleet_changed |= is_fleet_changed
        self._touched |= {*jobs, *self._agenda.pop_due(now)}
        incarnation = self._lease.incarnation
        if incarnation:
            try:
                self._act(now, is_fleet_changed=is_fleet_changed)
            except RegistryUnavailableError as error:
                logger.debug("no answer from the registry: %s", error)
                self._retry_at = now + RETRY
            except SessionLostError:
                self._lease.lose(incarnation)
        self._set_wake()

    def _act(self, now: datetime, *, is_fleet_changed: bool) -> None:
        self._stops.stop_asked(self._touched, is_fleet_changed=is_fleet_changed)
        found = self._claiming.resolve()
        self._touched |= found
        # What is found to run after all may have been asked to stop meanwhile.
        self._stops.stop_asked(found, is_fleet_changed=bool(found))
        self._touched |= self._accounting.write(now)
        self._has_more |= self._accounting.has_more
        if self._runs.endings() or self._runs.interrupted():
            self._retry_at = now + RETRY
        is_able = self._lease.is_confirmed and self._mirror.is_complete and self._wall_clock.is_right(now)
        if is_able:
            self._touch_waiting()
            self._plan_jobs(now)
            self._calls.step(now)
        if self._calls.is_waiting or (not is_able and (self._touched or self._waiting)):
            self._retry_at = now + RETRY

    def _read_inbox(self) -> None:
        while not self._inbox.empty():
            match self._inbox.get_nowait():
                case Ended() | CallEnded() as ended:
                    self._take_end(ended)
                case Vanished(job=job, item=item):
                    self._book.forget(job, item)
                    self._touched.add(job)
                case Resync():
                    self._touched.update(self._mirror.job_names())
                case SessionEnded():
                    self._forget_void()
                case Interrupt(stopping=stopping, grace_s=grace_s):
                    self._stops.stop_all(stopping, grace_s)

    def _take_end(self, ended: Ended | CallEnded) -> None:
        if isinstance(ended, CallEnded):
            self._calls.end(ended, self._clock.now())
        elif (job := self._runs.end(ended, self._clock.now())) is not None:
            self._touched.add(job)

    def _forget_void(self) -> None:
        """Forget every claim of a session that is over; what ran under it was stopped."""
        for claimed in self._runs.drop_void(self._lease.incarnation):
            logger.warning(
                "a claim is void with its session",
                extra={"event": Event.COMPLETION_DROPPED, "job": claimed.job, "item": claimed.item},
            )
        self._book.forget_all()
        self._waiting.clear()

    def _touch_waiting(self) -> None:
        """Have as many of the waiting jobs planned as there are free slots, in their order."""
        free = self._free_slots
        if self._waiting and free > 0:
            self._touched.update(heapq.nsmallest(free, self._waiting, key=self._waiting.__getitem__))

    def _plan_jobs(self, now: datetime) -> None:
        entries, is_more = self._reading.read(self._touched_entries())
        self._has_more |= is_more
        settled: set[str] = set()
        candidates: list[Candidate] = []
        for entry in entries:
            planned = self._plan_job(entry, now)
            if planned is None:
                continue
            answer = self._settling.settle(entry, planned, now)
            if answer is not Settled.NOTHING:
                settled.add(entry.name)
            self._has_more |= answer is Settled.AGAIN
            if answer is Settled.STALE:
                self._retry_at = now + RETRY
            priority = entry.config.priority if entry.config else 0
            candidates.extend(Candidate(job=entry.name, priority=priority, run=run) for run in planned.runs)
        # Only now, since without an answer to a settling what is due of the other jobs would be forgotten too.
        self._touched.difference_update(entry.name for entry in entries)
        self._touched |= settled
        self._claim(candidates, {entry.name: entry for entry in entries}, now)

    def _touched_entries(self) -> list[JobEntry]:
        entries: list[JobEntry] = []
        for job in sorted(self._touched):
            entry = self._mirror.entry(job)
            if entry is not None:
                entries.append(entry)
                continue
            self._touched.discard(job)
            self._waiting.pop(job, None)
            self._book.forget_job(job)
            self._agenda.schedule(job, None)
            self._held.forget(job)
        return entries

    def _plan_job(self, entry: JobEntry, now: datetime) -> JobPlan | None:
        usable = usable_entry(entry)
        if isinstance(usable, str):
            self._held.note(entry, usable)
            self._agenda.schedule(entry.name, None)
            return None
        self._held.forget(entry.name)
        latest, following = self._fires.around(usable[1], now)
        items = self._runs.without_ghosts(entry.name, self._book.items(entry.name))
        view = JobView(entry=entry, items=items, running=self._runs.ids())
        me = Me(name=self._name, incarnation=self._lease.incarnation)
        planned = plan(view, me, moment_of(usable[1], now, latest, self._wall_clock.ahead_s), following)
        if self.unfit is not None:
            planned = replace(planned, settles=())
        self._agenda.schedule(entry.name, planned.wake_at)
        return planned

    def _claim(self, candidates: list[Candidate], entries: dict[str, JobEntry], now: datetime) -> None:
        free = self._free_slots
        admitted, waiting = admit(candidates, free)
        for job in entries:
            self._waiting.pop(job, None)
        for candidate in reversed(waiting):
            self._waiting[candidate.job] = (-candidate.priority, candidate.run.run_fire)
        by_job: dict[str, list[Candidate]] = {}
        for candidate in admitted:
            by_job.setdefault(candidate.job, []).append(candidate)
        result = self._claiming.claim([(entries[job], some) for job, some in by_job.items()], now)
        self._touched |= result.again
        if result.again or (self._waiting and len(admitted) < free):
            self._has_more = True
        if result.stale:
            self._touched |= result.stale
            self._retry_at = now + RETRY

    @property
    def _free_slots(self) -> int:
        """How many new runs may start here."""
        is_accepting = self.unfit is None and self._mirror.drain_mark(self._name) is None
        return self._slots - self._runs.busy_count if is_accepting else 0

    def _set_wake(self) -> None:
        moments = [moment for moment in (self._agenda.head(), self._retry_at) if moment is not None]
        self._wake_at(min(moments, default=None))
