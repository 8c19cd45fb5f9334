"""Writing what became of runs, until it stands in the registry or is void.

Runs that ended together are written together. One that is refused is looked up and written alone: its cursor may have
another version, it may have been written already by a transaction whose answer was lost, or its job may be gone.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from shardsched.coordination.ledger import COMPLETION_CHUNK
from shardsched.core.decision import Release
from shardsched.core.events import Event
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
    from shardsched.loop.failing import Failing
    from shardsched.loop.runs import RunTable

logger = logging.getLogger(__name__)


class Accounting:
    """The accounting part of the loop. **Thread:** the loop's."""

    def __init__(
        self, *, lease: Lease, ledger: Ledger, book: Book, runs: RunTable, mirror: Mirror, failing: Failing
    ) -> None:
        self._lease = lease
        self._ledger = ledger
        self._book = book
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
        endings = self._runs.endings()
        chunks = [endings[start : start + COMPLETION_CHUNK] for start in range(0, len(endings), COMPLETION_CHUNK)]
        sent = [(chunk, self._ledger.complete(chunk)) for chunk in chunks]
        touched = {ending.claimed.job for ending in endings}
        for chunk, future in sent:
            outcome = wait_for(future, ANSWER_S)
            if isinstance(outcome, Committed):
                self._written(chunk, outcome.versions)
            elif self._lease.fenced_off(outcome):
                continue
            elif len(chunk) > 1:
                for ending in chunk:
                    self._write_alone(ending)
            else:
                self._look_up(chunk[0])
        for claimed in self._runs.interrupted():
            self._give_back(claimed, now)
            touched.add(claimed.job)
        return touched

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

    def _write_alone(self, ending: Ending) -> None:
        outcome = wait_for(self._ledger.complete([ending]), ANSWER_S)
        if isinstance(outcome, Committed):
            self._written([ending], outcome.versions)
        elif not self._lease.fenced_off(outcome):
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
        outcome = wait_for(self._ledger.release(claimed.job, release, view, now), ANSWER_S)
        fields = {"job": claimed.job, "item": claimed.item, "run": claimed.marker.run}
        if isinstance(outcome, Committed):
            logger.warning("gave an interrupted run back", extra=fields | {"event": Event.MARKER_RELEASED})
        elif self._lease.fenced_off(outcome):
            return
        else:
            # It went with its session, or its answer was lost before: somebody else may run the item by now.
            logger.debug("an interrupted run was given back already", extra=fields)
        self._runs.drop(claimed.marker.run)
        self._book.forget(claimed.job, claimed.item)
