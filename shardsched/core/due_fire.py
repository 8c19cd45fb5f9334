"""Which scheduled fire of one item is due: the misfire policies, layouts, pause windows and clocks that were set back.

This module decides; it does not act.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.core.decision import Missed, Run, Settle
from shardsched.core.fire import Cause, ItemState
from shardsched.core.job import Misfire

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from shardsched.core.assignment import Layout
    from shardsched.core.fire import Cursor
    from shardsched.core.schedule import Schedule
    from shardsched.core.terms import Terms

MAX_CATCH_UP = 100
"""Missed fires that the misfire policy ``all`` runs at most; older ones are reported as missed. A guess."""

_MICROSECOND = timedelta(microseconds=1)
"""The step to just before a fire."""


def due_fire(terms: Terms, item: int, cursor: Cursor | None) -> Run | Settle | None:
    """Return what is to be done about the fires of an item that lie after all that it has handled."""
    moment, config = terms.moment, terms.config
    if config.paused:
        return _owed_at_pause(terms, item, cursor)
    handled = cursor.fire if cursor is not None else None
    future = moment.now + moment.drift_limit
    if handled is not None and handled > future and cursor is not None:
        latest = moment.latest_fire
        rewound = latest if latest is not None and (latest > config.armed_at or config.armed_at > future) else None
        return Settle(item=item, state=cursor.state, fire=rewound, reason="the clock was set back: cursor rewound")
    latest = _latest_fire(terms, item, moment.latest_fire)
    if latest is None:
        return None
    if config.armed_at > future and handled is None:
        # Armed in what is the future now: what is due counts from here on, or the job would wait for that moment.
        state = ItemState.MISSED if cursor is None else cursor.state
        return Settle(item=item, state=state, fire=latest, reason="the clock was set back: armed anew")
    base = _base(terms, item, handled)
    return None if base is not None and latest <= base else _unhandled(terms, item, cursor, base, latest)


def _owed_at_pause(terms: Terms, item: int, cursor: Cursor | None) -> Settle | None:
    """Give up what was due when the job was paused and could not start before, so that it is told of."""
    paused_at, handled = terms.config.paused_at, None if cursor is None else cursor.fire
    latest = None if paused_at is None else _latest_fire(terms, item, terms.schedule.latest_fire(paused_at))
    base = _base(terms, item, handled)
    if latest is None or latest > terms.moment.now or (base is not None and latest <= base):
        return None
    return _skip(terms, item, base, latest, "the job was paused before it could start")


def due_since(terms: Terms, item: int, cursor: Cursor | None) -> datetime | None:
    """Return the first fire that an item has not handled; it may lie ahead. None if there is none."""
    base = _base(terms, item, None if cursor is None else cursor.fire)
    return terms.moment.latest_fire if base is None else terms.schedule.next_fire(base)


def _unhandled(
    terms: Terms, item: int, cursor: Cursor | None, base: datetime | None, latest: datetime
) -> Run | Settle | None:
    """Return what becomes of the fires between a time and the latest, which lies after it."""
    moment, config = terms.moment, terms.config
    if item in terms.disabled:
        return _skip(terms, item, base, latest, "the item is disabled")
    if config.misfire is Misfire.ALL:
        return _catch_up(terms, item, cursor, base, latest)
    is_busy_then = cursor is not None and cursor.ended_at is not None and cursor.ended_at > latest
    is_misfire = is_busy_then or (moment.now - latest).total_seconds() > config.misfire_grace_s
    if is_misfire and config.misfire is Misfire.SKIP:
        why = "was still running" if is_busy_then else "was too late"
        return _skip(terms, item, base, latest, f"{why}; the misfire policy is skip")
    if is_misfire and moment.opens_at is not None:
        return None
    missed = _missed(terms, base, latest, "the misfire policy runs only the latest")
    return _fire(terms, item, cursor, latest, is_misfire=is_misfire, missed=missed)


def _latest_fire(terms: Terms, item: int, latest: datetime | None) -> datetime | None:
    """Return the latest fire up to one that has this item; it lies further back where the item has been removed."""
    assignment = terms.assignment
    if latest is None or item < assignment.layout_at(latest).items:
        return latest
    for following in reversed(assignment.layouts):
        begins = following.from_fire
        if begins is None or begins > latest:
            continue
        last = terms.schedule.latest_fire(begins - _MICROSECOND)
        if last is not None and item < assignment.layout_at(last).items:
            return last
    return None


def _base(terms: Terms, item: int, handled: datetime | None) -> datetime | None:
    """Return the time up to which no fire of an item is due: handled, not armed, or before the item was there.

    What was armed or laid out in what is the future now, since the clock was set back, does not count.
    """
    future = terms.moment.now + terms.moment.drift_limit
    bounds = [handled, terms.config.armed_at, _before_begin(terms.assignment.layouts, item, is_new=handled is None)]
    return max((bound for bound in bounds if bound is not None and bound <= future), default=None)


def _before_begin(layouts: Sequence[Layout], item: int, *, is_new: bool) -> datetime | None:
    """Return the time before the first fire that an item can have by the layouts kept; None if there is no such bound.

    Fires before the first layout kept were handled before the earlier ones were dropped; an item that never ran began
    with the layout that brought it.
    """
    begins = layouts[0].from_fire
    if is_new:
        had = False
        for layout in layouts:
            has = item < layout.items
            if has and not had:
                begins = layout.from_fire
            had = has
    return None if begins is None else begins - _MICROSECOND


def _before(schedule: Schedule, fire: datetime) -> datetime:
    return schedule.latest_fire(fire - _MICROSECOND) or fire


def _missed(terms: Terms, base: datetime | None, fire: datetime, reason: str) -> Missed | None:
    """Return the fires between a time and a fire, None if there are none."""
    first = None if base is None else terms.schedule.next_fire(base)
    if first is None or first >= fire:
        return None
    return Missed(first=first, last=_before(terms.schedule, fire), reason=reason)


def _skip(terms: Terms, item: int, base: datetime | None, latest: datetime, why: str) -> Settle:
    first = latest if base is None else terms.schedule.next_fire(base) or latest
    missed = Missed(first=first, last=latest, reason=why, is_asked_for=item in terms.disabled)
    return Settle(item=item, state=ItemState.MISSED, fire=latest, reason=missed.reason, missed=missed)


def _catch_up(terms: Terms, item: int, cursor: Cursor | None, base: datetime | None, latest: datetime) -> Run | None:
    """Run the oldest of the missed fires, at most the latest hundred; constant time however long the outage."""
    fires = [latest]
    while len(fires) < MAX_CATCH_UP:
        earlier = terms.schedule.latest_fire(fires[-1] - _MICROSECOND)
        if earlier is None or (base is not None and earlier <= base):
            break
        fires.append(earlier)
    fires = [fire for fire in fires if item < terms.assignment.layout_at(fire).items]
    if not fires:
        return None
    oldest, moment = fires[-1], terms.moment
    missed = _missed(terms, base, oldest, f"the misfire policy runs the latest {MAX_CATCH_UP}")
    is_late = (moment.now - oldest).total_seconds() > terms.config.misfire_grace_s
    is_busy_then = cursor is not None and cursor.ended_at is not None and cursor.ended_at > oldest
    if (is_late or is_busy_then) and moment.opens_at is not None:
        return None
    return _fire(terms, item, cursor, oldest, is_misfire=is_late or is_busy_then, missed=missed)


def _fire(
    terms: Terms, item: int, cursor: Cursor | None, fire: datetime, *, is_misfire: bool, missed: Missed | None
) -> Run:
    cause = Cause.MISFIRE if is_misfire else Cause.SCHEDULE
    return Run(
        item=item,
        cause=cause,
        run_fire=fire,
        fire=fire,
        trigger=terms.assignment.trigger_floor if cursor is None else cursor.trigger,
        attempt=1,
        items=terms.assignment.layout_at(fire).items,
        job_param=terms.config.param,
        param=terms.config.item_param(item),
        first_cause=cause,
        missed=missed,
    )
