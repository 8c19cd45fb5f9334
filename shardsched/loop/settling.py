"""Writing cursors without a run, giving markers back, and waiting for the markers of others."""

from __future__ import annotations

import logging
from enum import Enum
from typing import TYPE_CHECKING

from shardsched.coordination.ledger import CLAIM_CHECKS
from shardsched.core.decision import Release, Settle
from shardsched.core.events import Event
from shardsched.errors import RegistryUnavailableError
from shardsched.loop.claiming import ANSWER_S, tell_missed
from shardsched.registry.base import Committed, wait_for

if TYPE_CHECKING:
    from concurrent.futures import Future
    from datetime import datetime

    from shardsched.coordination.book import Book
    from shardsched.coordination.ledger import Ledger
    from shardsched.coordination.session import Lease
    from shardsched.core.plan import JobPlan
    from shardsched.core.view import JobEntry
    from shardsched.loop.failing import Failing
    from shardsched.registry.base import Outcome

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

    def __init__(self, *, lease: Lease, ledger: Ledger, book: Book, failing: Failing) -> None:
        self._lease = lease
        self._ledger = ledger
        self._book = book
        self._failing = failing

    def settle(self, entry: JobEntry, planned: JobPlan, now: datetime) -> Settled:
        """Do what a plan says of items that are not to run.

        Raises:
            RegistryUnavailableError: No answer; the items concerned are read again.
        """
        job, items = entry.name, self._book.items(entry.name)
        for awaited in planned.awaits:
            self._book.wait_for_marker(job, awaited.item)
        sent: list[tuple[Settle | Release, Future[Outcome]]] = []
        sent.extend((one, self._ledger.settle(entry, one, items[one.item], now)) for one in planned.settles)
        sent.extend((one, self._ledger.release(job, one, items[one.item], now)) for one in planned.releases)
        # Whatever the answers are, what is known of these items is old now.
        for one, _ in sent:
            self._book.forget(job, one.item)
        answers: set[Settled] = set()
        for index, (one, future) in enumerate(sent):
            try:
                answers.add(self._answer(entry, one, future))
            except RegistryUnavailableError:
                # They may have been settled, and then nobody plans them again: told twice is better than never.
                for unknown, _ in sent[index:]:
                    self._tell_dropped(entry, unknown)
                raise
        if Settled.STALE in answers:
            return Settled.STALE
        return Settled.AGAIN if answers else Settled.NOTHING

    def _answer(self, entry: JobEntry, one: Settle | Release, future: Future[Outcome]) -> Settled:
        outcome = wait_for(future, ANSWER_S)
        if isinstance(outcome, Committed):
            if not self._tell_dropped(entry, one):
                _tell(entry.name, one)
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


def _tell(job: str, one: Settle | Release) -> None:
    fields = {"job": job, "item": one.item}
    if isinstance(one, Release):
        logger.warning("gave back a claim without a run", extra=fields | {"event": Event.MARKER_RELEASED})
    else:
        logger.warning(
            "settled without a run: %s", one.reason, extra=fields | {"event": Event.RUN_ABANDONED, "ends": one.ends}
        )
