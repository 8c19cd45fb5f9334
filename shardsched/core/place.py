"""Where an item stands among the fires of its job, and how a write of its cursor moves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardsched.core.fire import TRIGGERED, ItemState
from shardsched.core.tally import FireKey

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.core.command import Commands, Trigger
    from shardsched.core.decision import Run, Settle
    from shardsched.core.fire import Cause, Cursor
    from shardsched.core.view import JobEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a cursor says of its item."""

    at: FireKey | None
    """The fire that `state` tells of; None if it tells of none, as when fires were missed without a run."""
    state: ItemState
    """What became of it."""
    is_final: bool
    """Whether nothing more comes of it."""
    fire: datetime | None
    """The last scheduled fire handled."""
    trigger: int
    """The last trigger handled."""

    def has_reached(self, key: FireKey) -> bool:
        """Whether the item begins no run of that fire any more: it has handled it, or one after it."""
        if key.trigger:
            return key.trigger <= self.trigger
        return self.fire is not None and key.at <= self.fire


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The fire that a move begins, or is the first to miss."""

    key: FireKey
    """Which."""
    items: int
    """How many items it has."""
    is_begun: bool
    """Whether an item was claimed for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One write of an item's cursor."""

    item: int
    """Which item."""
    before: Place | None
    """Where it stood, None if it had no cursor."""
    after: Place
    """Where it stands then."""
    opens: Opening | None = None
    """The fire that is opened by it, unless it is known already."""


def is_final(cursor: Cursor) -> bool:
    """Whether nothing more comes of the last fire that an item handled."""
    return cursor.state is not ItemState.RUNNING and not cursor.is_retried


def _fire_key(cause: Cause, run_fire: datetime, trigger: int) -> FireKey:
    return FireKey(at=run_fire, trigger=trigger if cause in TRIGGERED else 0)


def place_of(cursor: Cursor) -> Place:
    """Return where an item with this cursor stands."""
    at = None
    if cursor.run_fire is not None and cursor.state is not ItemState.MISSED:
        at = _fire_key(cursor.cause, cursor.run_fire, cursor.trigger)
    return Place(at=at, state=cursor.state, is_final=is_final(cursor), fire=cursor.fire, trigger=cursor.trigger)


def _before(cursor: Cursor | None) -> Place | None:
    return None if cursor is None else place_of(cursor)


def claim_move(run: Run, cursor: Cursor | None, commands: Commands | None) -> Move:
    """Return what the claim of a run does.

    The first attempt at a scheduled fire opens it, and so does that at a trigger for all items. A trigger for chosen
    items only is no fire of the job: nothing waits for it.
    """
    key = _fire_key(run.first_cause, run.run_fire, run.trigger)
    is_whole = not key.trigger or _whole_trigger(commands, key.trigger) is not None
    after = Place(at=key, state=ItemState.RUNNING, is_final=False, fire=run.fire, trigger=run.trigger)
    opens = Opening(key=key, items=run.items, is_begun=True) if run.attempt == 1 and is_whole else None
    return Move(item=run.item, before=_before(cursor), after=after, opens=opens)


def _whole_trigger(commands: Commands | None, number: int | None) -> Trigger | None:
    """Return the trigger of that number if it is for all items, None if it is not or is not known."""
    triggers = commands.triggers if commands is not None else ()
    return next((trigger for trigger in triggers if trigger.number == number and trigger.only is None), None)


def end_move(item: int, before: Cursor, after: Cursor) -> Move:
    """Return what the end of a run does."""
    return Move(item=item, before=place_of(before), after=place_of(after))


def settle_move(settle: Settle, cursor: Cursor | None, entry: JobEntry) -> Move:
    """Return what a cursor written without a run does: a run or its retry is over, or fires are passed over."""
    before, is_missed = _before(cursor), settle.state is ItemState.MISSED
    floor = entry.assignment.trigger_floor if entry.assignment is not None else 0
    trigger = settle.trigger or (floor if before is None else before.trigger)
    after = Place(
        at=None if before is None or is_missed else before.at,
        state=settle.state,
        is_final=True,
        fire=settle.fire,
        trigger=trigger,
    )
    return Move(item=settle.item, before=before, after=after, opens=_passed_over(settle, entry))


def _passed_over(settle: Settle, entry: JobEntry) -> Opening | None:
    """Return the fire that an item passes over, so that it is known when another begins it; None if there is none."""
    trigger = _whole_trigger(entry.commands, settle.trigger)
    if trigger is not None:
        return Opening(key=FireKey(at=trigger.at, trigger=trigger.number), items=trigger.items, is_begun=False)
    if settle.missed is None or settle.fire is None or entry.assignment is None:
        return None
    return Opening(key=FireKey(at=settle.fire), items=entry.assignment.layout_at(settle.fire).items, is_begun=False)
