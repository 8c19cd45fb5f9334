"""What is due for one item: a pure function of what is stored, what is asked, and now.

The rules in order, for an item whose owner asks:

1. A marker exists: the item runs, here or elsewhere, and nothing is due. A marker of our own session with no run of
   ours behind it is given back.
2. The cursor says *running* and there is no marker: the run was abandoned. It was stopped by a person, or is run again
   (failover), or is lost.
3. The cursor says *failed* and when to try again: the same fire is run again then. A newer fire that comes before takes
   its place; a trigger waits for it, unless no retry can start since the job is paused or in a pause window.
4. A trigger that the item has not handled is due, paused or not. One that came of another job's fire lets a fire that
   has been due for longer go first.
5. A fire is due when the latest one up to now lies after both the cursor's fire and the time the job was armed. Up to
   the misfire grace it is on time; later, or when the item was still busy as its moment passed, the misfire policy
   decides; a misfire waits for the end of a pause window.

A disabled item starts nothing of all this: its triggers and fires are settled as they come.

A cursor that lies further ahead of now than the drift limit tells of a clock that was set back: it is rewound. So the
decision may be made only by a clock that is known to be right.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shardsched.core.decision import Await, Decision, GivenUp, Release, Run, Settle
from shardsched.core.due_fire import due_fire, due_since
from shardsched.core.fire import Cause, ItemState
from shardsched.core.retry import retry_fault, retry_starts_at

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.core.fire import Cursor
    from shardsched.core.terms import Terms
    from shardsched.core.view import ItemView


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
    if cursor is not None and cursor.is_retried:
        return _failed(terms, item, cursor)
    triggered = _triggered(terms, item, cursor)
    if isinstance(triggered, Run) and triggered.cause is Cause.DEPENDENCY:
        # People's triggers come to an end; those of other jobs may come without one.
        waits_since = due_since(terms, item, cursor)
        if waits_since is not None and waits_since <= triggered.run_fire:
            return due_fire(terms, item, cursor) or triggered
    return triggered or due_fire(terms, item, cursor)


def _marked(terms: Terms, item: int, view: ItemView) -> Decision | None:
    marker = view.marker
    if marker is None or marker.run in terms.running:
        return None
    if marker.incarnation == terms.incarnation or view.is_marker_ours:
        return Release(item=item, is_final=not _is_failed_over(terms, item, view.cursor))
    return Await(item=item)


def _is_failed_over(terms: Terms, item: int, cursor: Cursor | None) -> bool:
    return terms.config.fails_over(item) and not (cursor is not None and terms.stop > cursor.stop)


def _abandoned(terms: Terms, item: int, cursor: Cursor) -> Decision:
    over = _over(terms, item, cursor)
    if over is not None:
        state, reason = over
        return Settle(item=item, state=state, fire=cursor.fire, reason=reason, abandoned=cursor)
    return replace(_again(terms, item, cursor, Cause.FAILOVER), abandoned=cursor)


def _again(terms: Terms, item: int, cursor: Cursor, cause: Cause) -> Run:
    """Return the next attempt at the fire of the last run, as that began."""
    return Run(
        item=item,
        cause=cause,
        run_fire=_run_fire(terms, cursor),
        fire=cursor.fire,
        trigger=cursor.trigger,
        attempt=cursor.attempt + 1,
        items=cursor.items,
        job_param=terms.config.param if cursor.job_param is None else cursor.job_param,
        param=terms.config.item_param(item) if cursor.param is None else cursor.param,
        first_cause=cursor.cause,
        failures=cursor.failures,
    )


def _run_fire(terms: Terms, cursor: Cursor) -> datetime:
    """Return the fire of the last run; a record that was written by hand may lack it."""
    return cursor.run_fire or cursor.fire or terms.moment.now


def _over(terms: Terms, item: int, cursor: Cursor) -> tuple[ItemState, str] | None:
    """Return what becomes of an abandoned run that is not run again, and why; None if it is."""
    if terms.stop > cursor.stop:
        return ItemState.STOPPED, "stopped; its executor had gone"
    if not terms.config.failover:
        return ItemState.LOST, "abandoned; failover is off"
    if terms.config.paused:
        return ItemState.LOST, "abandoned; the job is paused"
    if item in terms.disabled:
        return ItemState.LOST, "abandoned; the item is disabled"
    return None


def _failed(terms: Terms, item: int, cursor: Cursor) -> Decision | None:
    """Return what is to be done about an item whose last run failed and is to be tried again."""
    fault = retry_fault(terms, item, cursor)
    if fault is not None:
        given_up = _given_up(terms, cursor, fault)
        return Settle(item=item, state=cursor.state, fire=cursor.fire, reason=cursor.message, given_up=given_up)
    newer = due_fire(terms, item, cursor)
    if newer is not None:
        is_rewound = isinstance(newer, Settle) and newer.missed is None
        reason = "the clock was set back" if is_rewound else "a newer fire has come"
        return replace(newer, given_up=_given_up(terms, cursor, reason))
    starts_at = retry_starts_at(terms, cursor)
    if starts_at is not None and starts_at <= terms.moment.now:
        return _again(terms, item, cursor, Cause.RETRY)
    manual = _triggered(terms, item, cursor) if terms.config.paused or terms.moment.opens_at else None
    if manual is not None:
        return replace(manual, given_up=_given_up(terms, cursor, "triggered while no retry could start"))
    return None


def _given_up(terms: Terms, cursor: Cursor, reason: str) -> GivenUp:
    return GivenUp(cursor=cursor, fire=_run_fire(terms, cursor), reason=reason)


def _triggered(terms: Terms, item: int, cursor: Cursor | None) -> Run | Settle | None:
    if terms.commands is None:
        return None
    handled = terms.assignment.trigger_floor if cursor is None else cursor.trigger
    trigger = terms.commands.next_trigger(item, handled)
    if trigger is None:
        return None
    if item in terms.disabled:
        state = ItemState.MISSED if cursor is None else cursor.state
        fire = None if cursor is None else cursor.fire
        reason = f"trigger {trigger.number} was dropped: the item is disabled"
        return Settle(item=item, state=state, fire=fire, reason=reason, trigger=trigger.number)
    return Run(
        item=item,
        cause=trigger.cause,
        run_fire=trigger.at,
        fire=None if cursor is None else cursor.fire,
        trigger=trigger.number,
        attempt=1,
        items=trigger.items,
        job_param=terms.config.param if trigger.param is None else trigger.param,
        param=terms.config.item_param(item),
        first_cause=trigger.cause,
        by=trigger.by,
    )
