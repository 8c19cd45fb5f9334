"""Writing what became of runs, until it stands in the registry or is void.

Runs that ended together are written together. One that is refused is looked up and written alone: its cursor may have
another version, it may have been written already by a transaction whose answer was lost, or its job may be gone.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shardsched.coordination.ledger import COMPLETION_CHUNK
from shardsched.core.decision import Release
from shardsched.core.events import Event
from shardsched.core.place import end_move
from shardsched.core.release import lost_cursor
from shardsched.core.view import ItemView
from shardsched.loop.claiming import ANSWER_S
from shardsched.registry.base import Committed, wait_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from shardsched.coordination.book import Book
    from shardsched.coordination.ledger import Claimed, Ending, Ledger
    from shardsched.coordination.mirror import Mirror
    from shardsched.coordination.session import Lease
    from shardsched.coordination.tally_book import Booking, TallyBook
    from shardsched.core.view import JobEntry
    from shardsched.loop.failing import Failing
    from shardsched.loop.runs import RunTable
    from shardsched.registry.base import Operation, Outcome

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Order:
    """Outcomes that are written together."""

    endings: list[Ending]
    booking: Booking | None = None

    @property
    def extra(self) -> tuple[Operation, ...]:
        """What is written besides."""
        return () if self.booking is None else self.booking.operations


class Accounting:
    """The accounting part of the loop. **Thread:** the loop's."""

    def __init__(
        self,
        *,
        lease: Lease,
        ledger: Ledger,
        book: Book,
        tallies: TallyBook,
        runs: RunTable,
        mirror: Mirror,
        failing: Failing,
    ) -> None:
        self.has_more = False
        """Whether something is to be written again at once: another executor was first to write a tally."""
        self._lease = lease
        self._ledger = ledger
        self._book = book
        self._tallies = tallies
        self._runs = runs
        self._mirror = mirror
        self._failing = failing

    def write(self, now: datetime) -> set[str]:
        """Write the outcomes that are not written yet, and give interrupted runs back.

        Returns:
            Jobs to plan again.

        Raises:
            RegistryUnavailableError: No answer; what is not written yet is written by a later call.
            SessionLostError: There is no session any more; all of it is void.
        """
        self.has_more = False
        endings = self._runs.endings()
        touched = {ending.claimed.job for ending in endings}
        sent = [(order, self._ledger.complete(order.endings, order.extra)) for order in self._orders(endings, now)]
        for order, future in sent:
            if self._take_answer(order, wait_for(future, ANSWER_S)):
                continue
            if len(order.endings) > 1:
                for ending in order.endings:
                    self._write_alone(ending, now)
            else:
                self._look_up(order.endings[0])
        for claimed in self._runs.interrupted():
            self._give_back(claimed, now)
            touched.add(claimed.job)
        return touched

    def _orders(self, endings: Sequence[Ending], now: datetime) -> list[_Order]:
        """Return what is written together: that of a tracked job by itself, since its tally may be refused."""
        plain: list[Ending] = []
        counted: dict[str, tuple[JobEntry, list[Ending]]] = {}
        for ending in endings:
            entry = self._entry(ending.claimed)
            if entry is not None and self._tallies.is_tracked(entry):
                counted.setdefault(entry.name, (entry, []))[1].append(ending)
            else:
                plain.append(ending)
        self._tallies.load(entry for entry, _ in counted.values())
        chunks = [plain[start : start + COMPLETION_CHUNK] for start in range(0, len(plain), COMPLETION_CHUNK)]
        orders = [_Order(chunk) for chunk in chunks]
        for entry, some in counted.values():
            self.has_more |= len(some) > COMPLETION_CHUNK
            order = self._counted(entry, some[:COMPLETION_CHUNK], now)
            if order is not None:
                orders.append(order)
        return orders

    def _entry(self, claimed: Claimed) -> JobEntry | None:
        """Return the job of a run, None if it has gone or was made anew."""
        entry = self._mirror.entry(claimed.job)
        config = entry.config if entry is not None else None
        return entry if config is not None and config.uid == claimed.cursor.uid else None

    def _counted(self, entry: JobEntry | None, endings: list[Ending], now: datetime) -> _Order | None:
        """Return endings of one job with what they make of its tally; None if that must wait for another write."""
        moves = [end_move(one.claimed.item, one.claimed.cursor, one.cursor()) for one in endings]
        booking = self._tallies.book(entry, moves, now)
        if booking is not None and booking.is_busy:
            self.has_more = True
            return None
        return _Order(endings, booking)

    def _take_answer(self, order: _Order, outcome: Outcome) -> bool:
        """Take note of an answer; return False if it was refused for the runs' own sake."""
        booking = order.booking
        if isinstance(outcome, Committed):
            self._tallies.confirm(booking)
            self._written(order.endings, outcome.versions)
            return True
        self._tallies.discard(booking, outcome)
        if booking is not None and booking.was_refused(outcome):
            self.has_more |= self._tallies.is_hopeful(booking.job)
            return True
        return self._lease.fenced_off(outcome)

    def _written(self, endings: Sequence[Ending], versions: tuple[int, ...]) -> None:
        for index, ending in enumerate(endings):
            claimed = ending.claimed
            self._book.note_cursor(claimed.job, claimed.item, ending.cursor(), versions[2 + 2 * index])
            self._tell(ending)
            self._runs.drop(claimed.marker.run)

    def _tell(self, ending: Ending) -> None:
        run = self._runs.get(ending.claimed.marker.run)
        if run is not None:
            self._failing.ended(run, ending)

    def _write_alone(self, ending: Ending, now: datetime) -> None:
        order = self._counted(self._entry(ending.claimed), [ending], now)
        if order is None:
            return
        outcome = wait_for(self._ledger.complete(order.endings, order.extra), ANSWER_S)
        if not self._take_answer(order, outcome):
            self._look_up(ending)

    def _look_up(self, ending: Ending) -> None:
        """Find out why an outcome was refused: amend it, or leave it."""
        claimed = ending.claimed
        entry = self._mirror.entry(claimed.job)
        view = ItemView() if entry is None else self._book.look_up(entry, claimed.item)
        run_id = claimed.marker.run
        is_cursor_ours = view.cursor is not None and view.cursor.run == run_id
        is_marker_ours = view.marker is not None and view.marker.run == run_id
        if is_cursor_ours and is_marker_ours and view.cursor_version != claimed.version:
            version = view.cursor_version or 0
            self._runs.amend(replace(ending, claimed=replace(claimed, version=version)))
            return
        if not is_cursor_ours or is_marker_ours:
            logger.warning(
                "the outcome of a run is void: its job or its claim is gone",
                extra={"event": Event.COMPLETION_DROPPED, "job": claimed.job, "item": claimed.item, "run": run_id},
            )
        elif view.cursor is not None and view.cursor.state is ending.state:
            # It was written by the transaction whose answer was lost.
            self._tell(ending)
        self._runs.drop(run_id)
        self._book.forget(claimed.job, claimed.item)

    def _give_back(self, claimed: Claimed, now: datetime) -> None:
        entry = self._mirror.entry(claimed.job)
        config = entry.config if entry else None
        is_failed_over = config is not None and config.fails_over(claimed.item)
        view = ItemView(cursor=claimed.cursor, cursor_version=claimed.version, marker=claimed.marker)
        release = Release(item=claimed.item, is_final=not is_failed_over)
        lost = lost_cursor(release, view, now)
        moves = [] if lost is None else [end_move(claimed.item, claimed.cursor, lost)]
        booking = self._tallies.book(self._entry(claimed), moves, now)
        if booking is not None and booking.is_busy:
            self.has_more = True
            return
        extra = () if booking is None else booking.operations
        outcome = wait_for(self._ledger.release(claimed.job, release, view, now, extra), ANSWER_S)
        fields = {"job": claimed.job, "item": claimed.item, "run": claimed.marker.run}
        if isinstance(outcome, Committed):
            self._tallies.confirm(booking)
            logger.warning("gave an interrupted run back", extra=fields | {"event": Event.MARKER_RELEASED})
        else:
            self._tallies.discard(booking, outcome)
            if self._lease.fenced_off(outcome) or (booking is not None and booking.was_refused(outcome)):
                return
            # It went with its session, or its answer was lost before: somebody else may run the item by now.
            logger.debug("an interrupted run was given back already", extra=fields)
        self._runs.drop(claimed.marker.run)
        self._book.forget(claimed.job, claimed.item)
