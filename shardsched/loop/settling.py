"""Writing cursors without a run, giving markers back, and waiting for the markers of others."""

from __future__ import annotations

import logging
from enum import Enum
from typing import TYPE_CHECKING

from shardsched.coordination.ledger import CLAIM_CHECKS
from shardsched.core.decision import Release, Settle
from shardsched.core.events import Event
from shardsched.core.place import end_move, settle_move
from shardsched.core.release import lost_cursor
from shardsched.errors import RegistryUnavailableError
from shardsched.loop.claiming import ANSWER_S, tell_missed
from shardsched.registry.base import Committed, wait_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future
    from datetime import datetime

    from shardsched.coordination.book import Book
    from shardsched.coordination.ledger import Ledger
    from shardsched.coordination.session import Lease
    from shardsched.coordination.tally_book import TallyBook
    from shardsched.core.place import Move
    from shardsched.core.plan import JobPlan
    from shardsched.core.view import ItemView, JobEntry
    from shardsched.loop.failing import Failing
    from shardsched.registry.base import Operation, Outcome

logger = logging.getLogger(__name__)


class Settled(Enum):
    """What settling leaves to do."""

    NOTHING = "nothing"
    """Nothing was to be settled."""
    AGAIN = "again"
    """The job is to be planned again at once: its items have changed."""
    STALE = "stale"
    """Our view of the job is old: it is to be planned when that has caught up."""


class Settling:
    """The settling part of the loop. **Thread:** the loop's."""

    def __init__(self, *, lease: Lease, ledger: Ledger, book: Book, tallies: TallyBook, failing: Failing) -> None:
        self._lease = lease
        self._ledger = ledger
        self._book = book
        self._tallies = tallies
        self._failing = failing

    def settle(self, entry: JobEntry, planned: JobPlan, now: datetime) -> Settled:
        """Do what a plan says of items that are not to run.

        Raises:
            RegistryUnavailableError: No answer; the items concerned are read again.
        """
        job, items = entry.name, self._book.items(entry.name)
        for awaited in planned.awaits:
            self._book.wait_for_marker(job, awaited.item)
        chosen: list[Settle | Release] = [*planned.settles, *planned.releases]
        if self._tallies.is_tracked(entry):
            # One after the other, since each writes the tally.
            answers = {self._settle_counted(entry, one, items[one.item], now) for one in chosen}
        else:
            answers = self._settle_at_once(entry, chosen, now)
        if Settled.STALE in answers:
            return Settled.STALE
        return Settled.AGAIN if answers else Settled.NOTHING

    def _settle_at_once(self, entry: JobEntry, chosen: Sequence[Settle | Release], now: datetime) -> set[Settled]:
        items = self._book.items(entry.name)
        sent = [(one, self._send(entry, one, items[one.item], now)) for one in chosen]
        # Whatever the answers are, what is known of these items is old now.
        for one, _ in sent:
            self._book.forget(entry.name, one.item)
        answers: set[Settled] = set()
        for index, (one, future) in enumerate(sent):
            try:
                answers.add(self._take_answer(entry, one, wait_for(future, ANSWER_S)))
            except RegistryUnavailableError:
                # They may have been settled, and then nobody plans them again: told twice is better than never.
                for unknown, _ in sent[index:]:
                    self._tell_dropped(entry, unknown)
                raise
        return answers

    def _settle_counted(self, entry: JobEntry, one: Settle | Release, view: ItemView, now: datetime) -> Settled:
        booking = self._tallies.book(entry, _moves(entry, one, view, now), now)
        if booking is not None and booking.is_busy:
            return Settled.AGAIN
        future = self._send(entry, one, view, now, () if booking is None else booking.operations)
        self._book.forget(entry.name, one.item)
        try:
            outcome = wait_for(future, ANSWER_S)
        except RegistryUnavailableError:
            self._tallies.discard(booking, None)
            self._tell_dropped(entry, one)
            raise
        if isinstance(outcome, Committed):
            self._tallies.confirm(booking)
        else:
            self._tallies.discard(booking, outcome)
            if booking is not None and booking.was_refused(outcome):
                return Settled.AGAIN if self._tallies.is_hopeful(entry.name) else Settled.STALE
        return self._take_answer(entry, one, outcome)

    def _send(
        self,
        entry: JobEntry,
        one: Settle | Release,
        view: ItemView,
        now: datetime,
        extra: tuple[Operation, ...] = (),
    ) -> Future[Outcome]:
        if isinstance(one, Settle):
            return self._ledger.settle(entry, one, view, now, extra)
        return self._ledger.release(entry.name, one, view, now, extra)

    def _take_answer(self, entry: JobEntry, one: Settle | Release, outcome: Outcome) -> Settled:
        if isinstance(outcome, Committed):
            if not self._tell_dropped(entry, one):
                self._tell(entry.name, one)
            return Settled.AGAIN
        is_item = isinstance(one, Release) or outcome.index >= CLAIM_CHECKS
        return Settled.AGAIN if is_item and not self._lease.fenced_off(outcome) else Settled.STALE

    def _tell_dropped(self, entry: JobEntry, one: Settle | Release) -> bool:
        """Say which fires and retries are dropped; return whether any are."""
        if isinstance(one, Release):
            return False
        if one.missed is not None:
            tell_missed(entry.name, one.item, one.missed)
        if one.given_up is not None:
            self._failing.gave_up(entry.name, one.item, one.given_up, entry.config)
        return one.missed is not None or one.given_up is not None

    def _tell(self, job: str, one: Settle | Release) -> None:
        fields = {"job": job, "item": one.item}
        if isinstance(one, Release):
            logger.warning("gave back a claim without a run", extra=fields | {"event": Event.MARKER_RELEASED})
            return
        ends = one.abandoned.run if one.abandoned is not None else ""
        logger.warning(
            "settled without a run: %s", one.reason, extra=fields | {"event": Event.RUN_ABANDONED, "ends": ends}
        )
        if one.abandoned is not None:
            self._failing.abandoned(job, one.item, one.abandoned, one.reason)


def _moves(entry: JobEntry, one: Settle | Release, view: ItemView, now: datetime) -> list[Move]:
    """Return what settling or releasing an item does to where it stands."""
    if isinstance(one, Settle):
        return [settle_move(one, view.cursor, entry)]
    lost = lost_cursor(one, view, now)
    return [] if lost is None or view.cursor is None else [end_move(one.item, view.cursor, lost)]
