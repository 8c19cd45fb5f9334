"""How far the items of a tracked job have come with each fire that is under way: the tally.

A job is *tracked* while another job waits for it (`after`) or its handler has fire listeners; only then is a tally
kept, and changed in the same transactions that claim and end its items. So a fire's end is known at the very moment
of its last item's, and whatever follows from it is written with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MAX_OPEN_FIRES = 16
"""Fires under way that are kept; with one more, the end of the oldest is given up and told."""
MAX_CLOSED_FIRES = 32
"""Fires remembered after their end, so that a late item opens none of them again."""
MAX_PENDING_CALLS = 32
"""Calls of fire listeners that may wait; with one more, the oldest is given up and told."""


class FireOutcome(StrEnum):
    """How a fire ended, over all of its items."""

    SUCCESS = "success"
    """Every item that is not disabled is done."""
    FAILURE = "failure"
    """Some item failed, was stopped, lost or missed."""
    MISSED = "missed"
    """No item of it ever began; it completes nothing."""
    UNCOUNTED = "uncounted"
    """Its end cannot be known: it began before the job was tracked, or too many later fires are under way."""


class ItemEnd(StrEnum):
    """How an item ended in a fire."""

    DONE = "done"
    """Its handler returned."""
    FAILED = "failed"
    """It failed, and no retry is left."""
    STOPPED = "stopped"
    """A person stopped it."""
    LOST = "lost"
    """Its executor or session ended in the middle, and it was not run again."""
    MISSED = "missed"
    """It has gone on to a later fire."""
    DISABLED = "disabled"
    """It was switched off: the fire does without it."""


class FireCall(StrEnum):
    """What a fire listener is told."""

    STARTED = "fire_started"
    """The first item was claimed."""
    COMPLETED = "fire_completed"
    """The last item ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FireKey:
    """Which fire of a job."""

    at: datetime
    """The scheduled time, or when it was triggered."""
    trigger: int = 0
    """Number of the trigger, 0 for a scheduled fire."""

    def is_before(self, other: FireKey) -> bool:
        """Whether both are of one kind, scheduled or triggered, and this is the earlier one."""
        if bool(self.trigger) != bool(other.trigger):
            return False
        return self.trigger < other.trigger if self.trigger else self.at < other.at


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFire:
    """A fire that is under way."""

    key: FireKey
    """Which."""
    items: int
    """How many items it has."""
    begun_by: str = ""
    """The session that claimed its first item; empty while items have only missed it."""
    ended: Mapping[int, ItemEnd] = field(default_factory=dict)
    """The items that have ended, and how."""

    @property
    def is_ended(self) -> bool:
        """Whether every item has ended."""
        return len(self.ended) >= self.items

    @property
    def outcome(self) -> FireOutcome:
        """How it ended, once every item has."""
        if not self.begun_by:
            return FireOutcome.MISSED
        is_success = all(end in {ItemEnd.DONE, ItemEnd.DISABLED} for end in self.ended.values())
        return FireOutcome.SUCCESS if is_success else FireOutcome.FAILURE

    def waits_for(self, item: int) -> bool:
        """Whether the item belongs to it and has not ended."""
        return item < self.items and item not in self.ended


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedFire:
    """A fire that is over."""

    key: FireKey
    """Which."""
    outcome: FireOutcome
    """How it ended."""

    @property
    def is_completed(self) -> bool:
        """Whether it began and its end is known, so that others fire after it."""
        return self.outcome in {FireOutcome.SUCCESS, FireOutcome.FAILURE}


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A call of the job's fire listeners that has not returned yet."""

    call: FireCall
    """Which."""
    key: FireKey
    """Of which fire."""
    items: int
    """How many items the fire has."""
    ended: Mapping[int, ItemEnd] = field(default_factory=dict)
    """How its items ended; empty when it has just started."""
    outcome: FireOutcome | None = None
    """How it ended; None when it has just started."""
    by: str = ""
    """The session that makes the call; empty for whoever has the code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """All of one tracked job, at ``/fires/{job}``."""

    uid: str
    """The job's."""
    open: tuple[OpenFire, ...] = ()
    """Fires under way, in the order in which they were opened."""
    closed: tuple[ClosedFire, ...] = ()
    """The latest fires that are over, in the order in which they ended."""
    pending: tuple[PendingCall, ...] = ()
    """Calls of fire listeners to be made, in order."""

    @property
    def last_completed(self) -> ClosedFire | None:
        """The fire that completed last, None if none is remembered."""
        return next((fire for fire in reversed(self.closed) if fire.is_completed), None)

    @property
    def known_fires(self) -> tuple[FireKey, ...]:
        """All fires that are under way, or over and remembered."""
        return (*(fire.key for fire in self.open), *(fire.key for fire in self.closed))
