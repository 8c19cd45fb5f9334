"""The tallies of tracked jobs, as this executor knows and writes them.

A tally is written by many executors, so each write carries the version that was read, within the transaction that
moves the item. Refused for the version means that another was first: the tally is read again, and the move made again
with it. The jobs that wait for a fire are told of its end by that very transaction, under the versions of what was read
of them: so a pause committed before wins, and no trigger is lost or doubled, whoever dies.

Of one job, and of one dependent job, only one write is under way at a time. Were a second sent on the version that the
first will leave, it could meet that very version left by another executor, and undo what that one wrote.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.coordination.following import tell_followers
from shardsched.coordination.notice import Notice, call_notices, fire_notices
from shardsched.coordination.record import read_cursors
from shardsched.core.count import Caller, count, needs_places
from shardsched.core.events import Event
from shardsched.core.place import place_of
from shardsched.core.tally import Tally
from shardsched.core.tally_record import decode_tally, encode_tally
from shardsched.errors import CorruptNodeError
from shardsched.registry.base import Create, Put, Refusal, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from datetime import datetime

    from shardsched.coordination.mirror import Mirror
    from shardsched.coordination.session import Lease
    from shardsched.core.paths import Paths
    from shardsched.core.place import Move, Place
    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Node, Operation, Outcome, Registry

logger = logging.getLogger(__name__)

MAX_LOSSES = 5
"""Races lost in a row for one job after which its next attempt waits a little. A guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTally:
    """A tally as it was read or written last."""

    tally: Tally
    """The tally; empty where there is none of this job's uid."""
    version: int | None
    """Version of its node, None where there is no node."""
    is_new: bool = False
    """Whether there is none of this job's uid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """What a transaction that moves items of a tracked job writes besides."""

    job: str
    """The job."""
    operations: tuple[Operation, ...] = ()
    """To stand at the end of the transaction."""
    known: KnownTally | None = None
    """The tally once it is committed."""
    notices: tuple[Notice, ...] = ()
    """What is told then."""
    dependents: frozenset[str] = frozenset()
    """The dependent jobs that are written."""
    is_busy: bool = False
    """Whether a write of the same records is under way: nothing may be sent before that is answered."""

    def was_refused(self, outcome: Outcome) -> bool:
        """Whether the transaction was refused for what the booking adds to it."""
        return isinstance(outcome, Refused) and outcome.operation in self.operations


class TallyBook:
    """The tallies of the jobs of one executor. **Thread:** used by one thread.

    Args:
        listening: Tells the handlers of this process whose listeners are told of whole fires.
        drift_limit_s: How far clocks may be apart, in seconds.
    """

    def __init__(
        self,
        registry: Registry,
        paths: Paths,
        lease: Lease,
        mirror: Mirror,
        *,
        listening: Callable[[], Collection[str]] = tuple,
        drift_limit_s: float = 60.0,
    ) -> None:
        self._registry = registry
        self._paths = paths
        self._lease = lease
        self._mirror = mirror
        self._drift_limit = timedelta(seconds=drift_limit_s)
        self._known: dict[str, KnownTally] = {}
        self._under_way: dict[str, Booking] = {}
        self._losses: dict[str, int] = {}
        self.listening = listening
        """Tells the handlers of this process whose listeners are told of whole fires."""
        self._called: set[str] = set()

    def begin_step(self) -> None:
        """Forget what was sent and never answered: it may have been done."""
        for booking in list(self._under_way.values()):
            self.discard(booking, None)

    def is_tracked(self, entry: JobEntry) -> bool:
        """Whether the ends of a job's fires matter to anybody."""
        return bool(self._mirror.dependents(entry.name)) or self._is_listened(entry)

    def _is_listened(self, entry: JobEntry) -> bool:
        return entry.config is not None and self._mirror.is_listened(entry.config.handler)

    def load(self, entries: Iterable[JobEntry]) -> None:
        """Read the tallies of those jobs that are tracked, as far as they are not known, all at once.

        Raises:
            RegistryUnavailableError: No answer.
        """
        wanted = [entry for entry in entries if self._lookup(entry) is None and self.is_tracked(entry)]
        nodes = self._registry.read([self._paths.fires(entry.name) for entry in wanted], fresh=True) if wanted else ()
        for entry, node in zip(wanted, nodes, strict=True):
            self._take(entry, node)

    def _lookup(self, entry: JobEntry) -> KnownTally | None:
        known = self._known.get(entry.name)
        uid = entry.config.uid if entry.config is not None else ""
        return known if known is not None and known.tally.uid == uid else None

    def _take(self, entry: JobEntry, node: Node | None) -> None:
        uid = entry.config.uid if entry.config is not None else ""
        version = None if node is None else node.version
        known = KnownTally(tally=Tally(uid=uid), version=version, is_new=True)
        if node is not None:
            try:
                tally = decode_tally(node.path, node.value)
            except CorruptNodeError as error:
                self._known.pop(entry.name, None)
                logger.error(  # noqa: TRY400 - the error says it all
                    "its fires are not counted, and nothing fires after them: %s",
                    error,
                    extra={"event": Event.RECORD_CORRUPT, "job": entry.name},
                )
                return
            if tally.uid == uid:
                known = KnownTally(tally=tally, version=version)
        self._known[entry.name] = known

    def known(self, entry: JobEntry) -> KnownTally | None:
        """Return a job's tally, read if it is not known; None where it cannot be read.

        Raises:
            RegistryUnavailableError: No answer.
        """
        if self._lookup(entry) is None:
            self._take(entry, self._registry.get(self._paths.fires(entry.name), fresh=True))
        return self._lookup(entry)

    def book(self, entry: JobEntry | None, moves: Sequence[Move], now: datetime) -> Booking | None:
        """Return what a transaction that moves items writes besides; None for nothing.

        The transaction must be sent next, and its answer told to `confirm` or `discard`.

        Raises:
            RegistryUnavailableError: No answer; nothing was booked.
        """
        if entry is None or entry.config is None or not moves or not self.is_tracked(entry):
            return None
        if entry.name in self._under_way:
            return Booking(job=entry.name, is_busy=True)
        known = self.known(entry)
        if known is not None and any(_is_unheard(known.tally, move) for move in moves):
            # Another executor has opened it since the tally was read.
            self.forget(entry.name)
            known = self.known(entry)
        return None if known is None else self._book(entry, known, moves, now)

    def _book(self, entry: JobEntry, known: KnownTally, moves: Sequence[Move], now: datetime) -> Booking | None:
        counted = count(
            known.tally,
            moves,
            self._caller(entry),
            places=self._places(entry, known, moves),
            disabled=frozenset(entry.config.disabled_items if entry.config is not None else ()),
            future=now + self._drift_limit,
        )
        if counted.tally == known.tally and not counted.closed:
            return None
        completed = [fire for fire in counted.closed if fire.is_completed]
        followers = tell_followers(self._registry, self._paths, self._mirror, entry.name, completed, now)
        if any(followers.jobs & other.dependents for other in self._under_way.values()):
            return Booking(job=entry.name, is_busy=True)
        job = entry.name
        booking = Booking(
            job=job,
            operations=(self.write(job, known, counted.tally), *followers.operations),
            known=_written(known, counted.tally),
            notices=(
                *fire_notices(job, counted.closed),
                *call_notices(job, counted.dropped_calls),
                *followers.notices,
            ),
            dependents=followers.jobs,
        )
        self._under_way[job] = booking
        return booking

    def _caller(self, entry: JobEntry) -> Caller:
        handler = entry.config.handler if entry.config is not None else ""
        return Caller(
            incarnation=self._lease.incarnation,
            is_listened=self._is_listened(entry),
            is_listening=handler in self.listening(),
        )

    def _places(self, entry: JobEntry, known: KnownTally, moves: Sequence[Move]) -> dict[int, Place]:
        """Return where all items stand, where a fire is opened that may have begun already."""
        tally = None if known.is_new else known.tally
        if not any(move.opens is not None and needs_places(tally, move.opens.key) for move in moves):
            return {}
        cursors = read_cursors(self._registry, self._paths, entry.name)[0]
        return {item: place_of(cursor) for item, cursor in cursors.items() if cursor.uid == known.tally.uid}

    def write(self, job: str, known: KnownTally, tally: Tally) -> Operation:
        """Return the operation that stores a tally in place of a known one."""
        path, value = self._paths.fires(job), encode_tally(tally)
        return Create(path, value) if known.version is None else Put(path, value, known.version)

    def confirm(self, booking: Booking | None) -> None:
        """Take note that a booking's transaction is committed, and tell what happened by it."""
        if booking is None:
            return
        self._under_way.pop(booking.job, None)
        self._losses.pop(booking.job, None)
        if booking.known is not None:
            self._known[booking.job] = booking.known
            if booking.known.tally.pending:
                self._called.add(booking.job)
        for notice in booking.notices:
            notice.tell()

    def discard(self, booking: Booking | None, outcome: Refused | None) -> None:
        """Take note that a booking's transaction was refused, or that its answer was lost (None)."""
        if booking is None:
            return
        self._under_way.pop(booking.job, None)
        self._known.pop(booking.job, None)
        if outcome is None:
            self._called.add(booking.job)
            # It may have been done, and then nobody tells: told twice is better than never.
            for notice in booking.notices:
                if notice.is_warning:
                    notice.tell()
        elif booking.was_refused(outcome):
            self._losses[booking.job] = self._losses.get(booking.job, 0) + 1
            if outcome.reason is Refusal.NO_NODE and outcome.operation.path == self._paths.fires(booking.job):
                # A namespace made by an earlier release, or a node deleted by hand.
                self._registry.submit([Create(self._paths.under("fires"))])

    def take_called(self) -> set[str]:
        """Return the jobs whose listeners may be to be called since the last question."""
        called, self._called = self._called, set()
        return called

    def is_hopeful(self, job: str) -> bool:
        """Whether a race lost for a job is to be run again at once."""
        return self._losses.get(job, 0) < MAX_LOSSES

    def forget(self, job: str) -> None:
        """Have a job's tally read again."""
        self._known.pop(job, None)

    def replace(self, job: str, known: KnownTally, tally: Tally) -> None:
        """Take note that a tally was stored in place of a known one."""
        self._known[job] = _written(known, tally)


def _written(known: KnownTally, tally: Tally) -> KnownTally:
    version = 0 if known.version is None else known.version + 1
    return replace(known, tally=tally, version=version, is_new=False)


def _is_unheard(tally: Tally, move: Move) -> bool:
    """Whether a fire that an item has begun before is not in a tally."""
    return move.opens is None and move.after.at is not None and move.after.at not in tally.known_fires
