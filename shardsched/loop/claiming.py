"""Claiming what is due and launching what was won.

Claims of one step are all sent before the first answer is waited for. A claim whose answer was lost is looked up: the
run id in the item's marker says whether it was committed, and then it is launched after all.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from shardsched.coordination.ledger import CLAIM_CHUNK
from shardsched.core.events import Event
from shardsched.core.fire import Cause
from shardsched.core.place import claim_move
from shardsched.errors import RegistryUnavailableError, SessionLostError
from shardsched.registry.base import Committed, Refused, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from shardsched.coordination.book import Book
    from shardsched.coordination.ledger import Attempt, Claimed, Ledger
    from shardsched.coordination.session import Lease
    from shardsched.coordination.tally_book import Booking, TallyBook
    from shardsched.core.decision import Missed, Run
    from shardsched.core.plan import Candidate
    from shardsched.core.view import ItemView, JobEntry
    from shardsched.loop.failing import Failing
    from shardsched.loop.launcher import Launcher
    from shardsched.loop.runs import RunTable

logger = logging.getLogger(__name__)

ANSWER_S = 10.0
"""How long the loop waits for one answer; a registry that is away fails everything under way much sooner."""


@dataclass(frozen=True, slots=True)
class _Order:
    """Claims of one job to be sent."""

    entry: JobEntry
    runs: list[tuple[Run, ItemView, str]]
    booking: Booking | None = None


@dataclass(slots=True)
class ClaimResult:
    """What claiming leaves to do."""

    again: set[str] = field(default_factory=set)
    """Jobs to plan again at once: one of their items was read wrongly."""
    stale: set[str] = field(default_factory=set)
    """Jobs of which our view is old: plan them when it has caught up."""


class Claiming:
    """The claiming part of the loop. **Thread:** the loop's."""

    def __init__(
        self,
        *,
        lease: Lease,
        ledger: Ledger,
        book: Book,
        tallies: TallyBook,
        launcher: Launcher,
        runs: RunTable,
        failing: Failing,
        new_run_id: Callable[[], str],
    ) -> None:
        self._lease = lease
        self._ledger = ledger
        self._book = book
        self._tallies = tallies
        self._launcher = launcher
        self._runs = runs
        self._failing = failing
        self._new_run_id = new_run_id
        self._unresolved: dict[str, tuple[Claimed, JobEntry]] = {}

    def claim(self, groups: Iterable[tuple[JobEntry, Sequence[Candidate]]], now: datetime) -> ClaimResult:
        """Claim candidates, all jobs at once, and launch what was won.

        Raises:
            SessionLostError: There is no session to claim under.
        """
        result = ClaimResult()
        sent: list[tuple[Attempt, Booking | None]] = []
        for order in self._orders(groups, now, result):
            extra = order.booking.operations if order.booking is not None else ()
            attempts = self._ledger.claim(order.entry, order.runs, now, extra)
            sent.extend((attempt, None if index else order.booking) for index, attempt in enumerate(attempts))
        for attempt, _ in sent:
            for claimed in attempt.claims:
                self._runs.add(claimed)
        for attempt, booking in sent:
            self._resolve(attempt, booking, result)
        return result

    def _orders(
        self, groups: Iterable[tuple[JobEntry, Sequence[Candidate]]], now: datetime, result: ClaimResult
    ) -> list[_Order]:
        """Return what is to be sent; whatever must be read for it is read now, before anything is."""
        orders: list[_Order] = []
        for entry, candidates in groups:
            items = self._book.items(entry.name)
            if not self._tallies.is_tracked(entry):
                runs = [(one.run, items[one.run.item], self._new_run_id()) for one in candidates]
                orders.append(_Order(entry, runs))
                continue
            chunk = candidates[:CLAIM_CHUNK]
            if len(chunk) < len(candidates):
                result.again.add(entry.name)
            moves = [claim_move(one.run, items[one.run.item].cursor, entry.commands) for one in chunk]
            try:
                booking = self._tallies.book(entry, moves, now)
            except RegistryUnavailableError:
                result.stale.add(entry.name)
                continue
            if booking is not None and booking.is_busy:
                result.again.add(entry.name)
            else:
                runs = [(one.run, items[one.run.item], self._new_run_id()) for one in chunk]
                orders.append(_Order(entry, runs, booking))
        return orders

    def _resolve(self, attempt: Attempt, booking: Booking | None, result: ClaimResult) -> None:
        job = attempt.entry.name
        try:
            outcome = wait_for(attempt.future, ANSWER_S)
        except SessionLostError:
            self._drop(attempt)
            self._lease.lose(attempt.claims[0].incarnation)
        except RegistryUnavailableError:
            self._tallies.discard(booking, None)
            self._lost_answer(attempt)
            result.stale.add(job)
        else:
            if isinstance(outcome, Committed):
                self._tallies.confirm(booking)
                for claimed in attempt.won(outcome.versions):
                    self._start(claimed, attempt.entry)
                return
            self._drop(attempt)
            self._tallies.discard(booking, outcome)
            if booking is not None and booking.was_refused(outcome):
                (result.again if self._tallies.is_hopeful(job) else result.stale).add(job)
            else:
                self._lost_race(attempt, outcome, result)

    def _lost_answer(self, attempt: Attempt) -> None:
        job = attempt.entry.name
        logger.warning("the answer to a claim was lost", extra={"event": Event.CLAIM_UNKNOWN, "job": job})
        for claimed in attempt.claims:
            self._unresolved[claimed.marker.run] = (claimed, attempt.entry)
            self._book.forget(job, claimed.item)
            # Whoever runs the item again if the claim was committed and this session ends cannot tell of it.
            self._tell_dropped(claimed, attempt.entry)
        self._drop(attempt)

    def _lost_race(self, attempt: Attempt, refused: Refused, result: ClaimResult) -> None:
        job, culprit = attempt.entry.name, attempt.culprit(refused)
        fields = {"event": Event.CLAIM_LOST, "job": job, "operation": refused.index}
        logger.debug("lost a claim: %s", refused.reason, extra=fields)
        if self._lease.fenced_off(refused):
            return
        if culprit is None:
            result.stale.add(job)
        else:
            self._book.forget(job, culprit.item)
            result.again.add(job)

    def _drop(self, attempt: Attempt) -> None:
        for claimed in attempt.claims:
            self._runs.drop(claimed.marker.run)

    def _start(self, claimed: Claimed, entry: JobEntry) -> None:
        config, run = entry.config, claimed.run
        if config is None:
            return
        self._book.note_claim(claimed.job, claimed.item, claimed.cursor, claimed.version, claimed.marker)
        self._runs.confirm(claimed, config)
        self._tell_dropped(claimed, entry)
        event, level, text = Event.ITEM_CLAIMED, logging.INFO, "claimed a run"
        if run.cause is Cause.FAILOVER:
            event, level, text = Event.FAILOVER_TAKEN, logging.WARNING, "runs again what was left unfinished"
        fields = {"event": event, "cause": run.cause, "attempt": run.attempt, "fire": run.run_fire.isoformat()}
        replaces = run.abandoned.run if run.abandoned is not None else ""
        logger.log(
            level,
            text,
            extra=fields | {"job": claimed.job, "item": claimed.item, "run": claimed.marker.run, "replaces": replaces},
        )
        if run.abandoned is not None:
            self._failing.abandoned(claimed.job, claimed.item, run.abandoned, text)
        self._launcher.launch(claimed, config)

    def _tell_dropped(self, claimed: Claimed, entry: JobEntry) -> None:
        """Say what is dropped by a claim."""
        run = claimed.run
        if run.missed is not None:
            tell_missed(claimed.job, run.item, run.missed)
        if run.given_up is not None:
            self._failing.gave_up(claimed.job, run.item, run.given_up, entry.config)

    def resolve(self) -> set[str]:
        """Find out about claims whose answer was lost, and launch those that were committed.

        They are ours also where the item has another owner by now, who waits for their markers to vanish.

        Returns:
            Jobs to plan again.

        Raises:
            RegistryUnavailableError: No answer; what is not known yet is asked again by a later call.
        """
        touched: set[str] = set()
        for run_id, (claimed, entry) in list(self._unresolved.items()):
            touched.add(claimed.job)
            view = self._book.look_up(entry, claimed.item)
            del self._unresolved[run_id]
            is_ours = view.marker is not None and view.marker.run == run_id
            if not is_ours or view.cursor_version is None:
                continue
            won = replace(claimed, version=view.cursor_version)
            if claimed.incarnation == self._lease.incarnation:
                self._start(won, entry)
            else:
                # The place was lost meanwhile and the claim is void, but the session stands and its marker with it.
                self._runs.add_void(won)
        return touched


def tell_missed(job: str, item: int, missed: Missed) -> None:
    """Say that fires were dropped, and why."""
    fields = {"first": missed.first.isoformat(), "last": missed.last.isoformat(), "job": job, "item": item}
    level = logging.INFO if missed.is_asked_for else logging.WARNING
    logger.log(level, "missed fires: %s", missed.reason, extra=fields | {"event": Event.FIRES_MISSED})
