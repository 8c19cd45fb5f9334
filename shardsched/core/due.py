"""What is due for one item: a pure function of what is stored, what is asked, and now.

The rules in order, for an item whose owner asks:

1. A marker exists: the item runs, here or elsewhere, and nothing is due. A marker of our own session with no run of
   ours behind it is given back.
2. The cursor says *running* and there is no marker: the run was abandoned. It was stopped by a person, or is run again
   (failover), or is lost.
3. A trigger that the item has not handled is due, paused or not.
4. A fire is due when the latest one up to now lies after both the cursor's fire and the time the job was armed. Up to
   the misfire grace it is on time; later, or when the item was still busy as its moment passed, the misfire policy
   decides.

A cursor that lies further ahead of now than the drift limit tells of a clock that was set back: it is rewound. So the
decision may be made only by a clock that is known to be right.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.core.decision import Await, Decision, Missed, Release, Run, Settle
from shardsched.core.fire import Cause, ItemState
from shardsched.core.job import Misfire

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from shardsched.core.assignment import Assignment, Layout
    from shardsched.core.command import Commands
    from shardsched.core.cron import Cron
    from shardsched.core.fire import Cursor
    from shardsched.core.job import JobConfig
    from shardsched.core.view import ItemView

MAX_CATCH_UP = 100
"""Missed fires that the misfire policy ``all`` runs at most; older ones are reported as missed. A guess."""

_MICROSECOND = timedelta(microseconds=1)
"""The step to just before a fire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When one job is looked at; shared by its items so that the cron is asked once."""

    now: datetime
    """The time."""
    latest_fire: datetime | None
    """The latest fire up to now."""
    drift_limit: timedelta
    """How far ahead of now what others wrote may lie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is fixed for all items of one job at one moment."""

    config: JobConfig
    """The job."""
    cron: Cron
    """Its trigger."""
    assignment: Assignment
    """Its assignment."""
    commands: Commands | None
    """What was asked of it."""
    incarnation: str
    """Our session's fence."""
    running: frozenset[str]
    """Our runs."""
    moment: Moment
    """When."""

    @property
    def stop(self) -> int:
        """The job's stop counter."""
        return self.commands.stop if self.commands else 0


def due(terms: Terms, item: int, view: ItemView) -> Decision | None:
    """Return what is to be done about an item, None if nothing is."""
    if view.fault:
        return None
    if view.marker is not None:
        return _marked(terms, item, view)
    if terms.config.deleting:
        return None
    cursor = view.cursor
    if cursor is not None and cursor.state is ItemState.RUNNING:
        return _abandoned(terms, item, cursor)
    manual = _manual(terms, item, cursor)
    if manual is not None:
        return manual
    if terms.config.paused:
        return None
    return _scheduled(terms, item, cursor)


def _marked(terms: Terms, item: int, view: ItemView) -> Decision | None:
    marker = view.marker
    if marker is None or marker.run in terms.running:
        return None
    if marker.incarnation == terms.incarnation or view.is_marker_ours:
        return Release(item=item, is_final=not _is_failed_over(terms, view.cursor))
    return Await(item=item)


def _is_failed_over(terms: Terms, cursor: Cursor | None) -> bool:
    is_stopped = cursor is not None and terms.stop > cursor.stop
    return terms.config.failover and not terms.config.paused and not terms.config.deleting and not is_stopped


def _abandoned(terms: Terms, item: int, cursor: Cursor) -> Decision:
    over = _over(terms, cursor)
    if over is not None:
        state, reason = over
        return Settle(item=item, state=state, fire=cursor.fire, reason=reason, ends=cursor.run)
    return Run(
        item=item,
        cause=Cause.FAILOVER,
        run_fire=cursor.run_fire or cursor.fire or terms.moment.now,
        fire=cursor.fire,
        trigger=cursor.trigger,
        attempt=cursor.attempt + 1,
        items=cursor.items,
        job_param=terms.config.param if cursor.job_param is None else cursor.job_param,
        param=terms.config.item_param(item) if cursor.param is None else cursor.param,
        first_cause=cursor.cause,
        replaces=cursor.run,
    )


def _over(terms: Terms, cursor: Cursor) -> tuple[ItemState, str] | None:
    """Return what becomes of an abandoned run that is not run again, and why; None if it is."""
    if terms.stop > cursor.stop:
        return ItemState.STOPPED, "stopped; its executor had gone"
    if not terms.config.failover:
        return ItemState.LOST, "abandoned; failover is off"
    if terms.config.paused:
        return ItemState.LOST, "abandoned; the job is paused"
    return None


def _manual(terms: Terms, item: int, cursor: Cursor | None) -> Decision | None:
    if terms.commands is None:
        return None
    handled = terms.assignment.trigger_floor if cursor is None else cursor.trigger
    trigger = terms.commands.next_trigger(item, handled)
    if trigger is None:
        return None
    return Run(
        item=item,
        cause=Cause.MANUAL,
        run_fire=trigger.at,
        fire=None if cursor is None else cursor.fire,
        trigger=trigger.number,
        attempt=1,
        items=trigger.items,
        job_param=terms.config.param if trigger.param is None else trigger.param,
        param=terms.config.item_param(item),
        first_cause=Cause.MANUAL,
        by=trigger.by,
    )


def _scheduled(terms: Terms, item: int, cursor: Cursor | None) -> Decision | None:
    moment, config = terms.moment, terms.config
    handled = cursor.fire if cursor is not None else None
    future = moment.now + moment.drift_limit
    if handled is not None and handled > future and cursor is not None:
        latest = moment.latest_fire
        rewound = latest if latest is not None and (latest > config.armed_at or config.armed_at > future) else None
        return Settle(item=item, state=cursor.state, fire=rewound, reason="the clock was set back: cursor rewound")
    latest = _latest_fire(terms, item)
    if latest is None:
        return None
    if config.armed_at > future and handled is None:
        # Armed in what is the future now: what is due counts from here on, or the job would wait for that moment.
        state = ItemState.MISSED if cursor is None else cursor.state
        return Settle(item=item, state=state, fire=latest, reason="the clock was set back: armed anew")
    base = _base(terms, item, handled)
    if base is not None and latest <= base:
        return None
    if config.misfire is Misfire.ALL:
        return _catch_up(terms, item, cursor, base, latest)
    is_busy_then = cursor is not None and cursor.ended_at is not None and cursor.ended_at > latest
    is_misfire = is_busy_then or (moment.now - latest).total_seconds() > config.misfire_grace_s
    if is_misfire and config.misfire is Misfire.SKIP:
        return _skip(terms, item, base, latest, "was still running" if is_busy_then else "was too late")
    missed = _missed(terms, base, latest, "the misfire policy runs only the latest")
    return _fire(terms, item, cursor, latest, is_misfire=is_misfire, missed=missed)


def _latest_fire(terms: Terms, item: int) -> datetime | None:
    """Return the latest fire up to now that has this item; it lies further back where the item has been removed."""
    latest, assignment = terms.moment.latest_fire, terms.assignment
    if latest is None or item < assignment.layout_at(latest).items:
        return latest
    for following in reversed(assignment.layouts):
        begins = following.from_fire
        if begins is None or begins > latest:
            continue
        last = terms.cron.latest_fire(begins - _MICROSECOND)
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


def _before(cron: Cron, fire: datetime) -> datetime:
    return cron.latest_fire(fire - _MICROSECOND) or fire


def _missed(terms: Terms, base: datetime | None, fire: datetime, reason: str) -> Missed | None:
    """Return the fires between a time and a fire, None if there are none."""
    first = None if base is None else terms.cron.next_fire(base)
    if first is None or first >= fire:
        return None
    return Missed(first=first, last=_before(terms.cron, fire), reason=reason)


def _skip(terms: Terms, item: int, base: datetime | None, latest: datetime, why: str) -> Settle:
    first = latest if base is None else terms.cron.next_fire(base) or latest
    missed = Missed(first=first, last=latest, reason=f"{why}; the misfire policy is skip")
    return Settle(item=item, state=ItemState.MISSED, fire=latest, reason=missed.reason, missed=missed)


def _catch_up(terms: Terms, item: int, cursor: Cursor | None, base: datetime | None, latest: datetime) -> Run | None:
    """Run the oldest of the missed fires, at most the latest hundred; constant time however long the outage."""
    fires = [latest]
    while len(fires) < MAX_CATCH_UP:
        earlier = terms.cron.latest_fire(fires[-1] - _MICROSECOND)
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
