"""Which layouts of a job have had their time."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.core.fire import ItemState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from shardsched.core.assignment import Assignment
    from shardsched.core.command import Commands
    from shardsched.core.fire import Cursor
    from shardsched.core.job import JobConfig


def settled_assignment(
    config: JobConfig,
    assignment: Assignment,
    commands: Commands | None,
    cursors: Mapping[int, Cursor],
    now: datetime,
) -> Assignment | None:
    """Return the assignment with only its newest layout, or None while an older one may still be needed.

    The layout keeps its first fire, so that the items it brought do not catch up fires from before their time. An older
    layout is needed while a fire before the newest layout's first one runs, was abandoned, waits as a trigger, is to be
    tried again by an item that goes, or may still be run by an item that is late. The floors rise above what the
    removed items' cursors hold.

    Args:
        config: The job.
        assignment: Its assignment.
        commands: What was asked of it.
        cursors: Every cursor that the job has, by item.
        now: The time.
    """
    newest = assignment.newest
    if len(assignment.layouts) < 2 or newest.from_fire is None or newest.from_fire > now:
        return None
    if any(cursor.state is ItemState.RUNNING for cursor in cursors.values()):
        return None
    if not _is_caught_up(config, assignment, cursors):
        return None
    if commands is not None and _has_waiting_trigger(assignment, commands, cursors):
        return None
    removed = [cursor for item, cursor in cursors.items() if item >= newest.items]
    if any(cursor.is_retried for cursor in removed):
        return None
    owners = {
        name: kept
        for name, items in assignment.owners.items()
        if (kept := tuple(item for item in items if item < newest.items))
    }
    return replace(
        assignment,
        layouts=(newest,),
        owners=owners,
        token_floor=max([assignment.token_floor, *(cursor.token for cursor in removed)]),
        trigger_floor=max([assignment.trigger_floor, *(cursor.trigger for cursor in removed)]),
    )


def _has_waiting_trigger(assignment: Assignment, commands: Commands, cursors: Mapping[int, Cursor]) -> bool:
    for item in range(assignment.newest.items, assignment.item_count):
        handled = cursors[item].trigger if item in cursors else assignment.trigger_floor
        if commands.next_trigger(item, handled) is not None:
            return True
    return False


def _is_caught_up(config: JobConfig, assignment: Assignment, cursors: Mapping[int, Cursor]) -> bool:
    """Whether every item has handled the last fire of every layout but the newest.

    Not the time alone: an executor whose clock is behind may still run a fire that is over for the leader.
    """
    schedule = config.schedule()
    for layout, following in itertools.pairwise(assignment.layouts):
        if following.from_fire is None:
            continue
        last = schedule.latest_fire(following.from_fire - timedelta(microseconds=1))
        if last is None or last <= config.armed_at or (layout.from_fire is not None and last < layout.from_fire):
            continue
        fires = [cursors[item].fire if item in cursors else None for item in range(layout.items)]
        if not all(fire is not None and fire >= last for fire in fires):
            return False
    return True
