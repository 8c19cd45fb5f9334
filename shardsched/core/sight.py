"""What an item looks like at a glance: one word, and one letter where a hundred thousand of them are sent.

This module decides; it does not act.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from shardsched.core.fire import ItemState
from shardsched.core.reason import JobState

if TYPE_CHECKING:
    from shardsched.core.view import ItemView


class ItemSight(StrEnum):
    """What an item looks like."""

    RUNNING = "running"
    """It runs."""
    FAILOVER = "failover"
    """It runs again what another executor, or an earlier session, left unfinished."""
    DONE = "done"
    """Its last run did what it was to do."""
    FAILED = "failed"
    """Its last run failed."""
    STOPPED = "stopped"
    """A person stopped its last run."""
    LOST = "lost"
    """Its last run ended with its executor, and nobody has run it again."""
    MISSED = "missed"
    """Nobody could start its last fire in time."""
    RETRY = "retry"
    """Its last run failed and is to be tried again."""
    WAITING = "waiting"
    """It never ran."""
    PAUSED = "paused"
    """Its job is paused, and nothing is wrong with it."""
    DISABLED = "disabled"
    """A person switched it off."""
    UNOWNED = "unowned"
    """Nobody who lives owns it."""
    HELD = "held"
    """Its job cannot be used as it is stored, or is being deleted."""
    UNREADABLE = "unreadable"
    """What is stored of it cannot be read."""
    UNREAD = "unread"
    """It has not been looked at yet."""

    @property
    def letter(self) -> str:
        """One character for it; each has another."""
        return _LETTERS[self]

    @property
    def is_running(self) -> bool:
        """Whether it runs."""
        return self in _RUNNING

    @property
    def is_problem(self) -> bool:
        """Whether somebody should look at it."""
        return self in PROBLEMS


_LETTERS = {
    ItemSight.RUNNING: "r",
    ItemSight.FAILOVER: "v",
    ItemSight.DONE: "k",
    ItemSight.FAILED: "f",
    ItemSight.STOPPED: "s",
    ItemSight.LOST: "l",
    ItemSight.MISSED: "m",
    ItemSight.RETRY: "y",
    ItemSight.WAITING: "w",
    ItemSight.PAUSED: "p",
    ItemSight.DISABLED: "d",
    ItemSight.UNOWNED: "u",
    ItemSight.HELD: "h",
    ItemSight.UNREADABLE: "x",
    ItemSight.UNREAD: "n",
}
_RUNNING = frozenset({ItemSight.RUNNING, ItemSight.FAILOVER})
PROBLEMS = frozenset(
    {
        ItemSight.FAILED,
        ItemSight.LOST,
        ItemSight.MISSED,
        ItemSight.RETRY,
        ItemSight.UNOWNED,
        ItemSight.HELD,
        ItemSight.UNREADABLE,
    }
)
"""What somebody should look at."""
_AFTER = {
    ItemState.DONE: ItemSight.DONE,
    ItemState.FAILED: ItemSight.FAILED,
    ItemState.STOPPED: ItemSight.STOPPED,
    ItemState.LOST: ItemSight.LOST,
    ItemState.MISSED: ItemSight.MISSED,
    # Claimed, and nobody runs it: its executor is gone and nobody has settled it yet.
    ItemState.RUNNING: ItemSight.LOST,
}


def item_sight(
    view: ItemView | None, job: JobState, *, is_owned: bool, is_disabled: bool, is_read: bool = True
) -> ItemSight:
    """Return what an item looks like.

    Args:
        view: What is known of it, None where nothing is stored.
        job: What its job is up to.
        is_owned: Whether somebody who lives owns it.
        is_disabled: Whether a person switched it off.
        is_read: Whether it has been looked at yet.
    """
    if view is not None and view.marker is not None:
        failures = view.cursor.failures if view.cursor is not None else 0
        return ItemSight.FAILOVER if view.marker.attempt > 1 + failures else ItemSight.RUNNING
    if job is JobState.HELD:
        return ItemSight.HELD
    if view is not None and view.fault is not None:
        return ItemSight.UNREADABLE
    if is_disabled:
        return ItemSight.DISABLED
    if not is_owned:
        return ItemSight.PAUSED if job is JobState.PAUSED else ItemSight.UNOWNED
    after = _after(view) if is_read else ItemSight.UNREAD
    return ItemSight.PAUSED if job is JobState.PAUSED and not after.is_problem else after


def _after(view: ItemView | None) -> ItemSight:
    if view is None or view.cursor is None:
        return ItemSight.WAITING
    return ItemSight.RETRY if view.cursor.is_retried else _AFTER[view.cursor.state]
