"""What an item looks like."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shardsched.core.fire import Cursor, ItemState, Marker
from shardsched.core.reason import JobState
from shardsched.core.sight import ItemSight, item_sight
from shardsched.core.view import ItemView

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def marked(attempt: int) -> ItemView:
    """An item that runs."""
    marker = Marker(uid="u", run="r", incarnation="i", executor="a", fire=NOON, attempt=attempt, started_at=NOON)
    return ItemView(cursor=Cursor(uid="u", state=ItemState.RUNNING), marker=marker)


def ended(state: ItemState) -> ItemView:
    """An item that does not run."""
    return ItemView(cursor=Cursor(uid="u", state=state))


def test_every_sight_has_a_letter_of_its_own() -> None:
    """A letter means one thing."""
    assert len({sight.letter for sight in ItemSight}) == len(ItemSight)


@pytest.mark.parametrize("state", list(ItemState))
def test_every_state_of_a_cursor_is_shown(state: ItemState) -> None:
    """None is forgotten."""
    assert isinstance(item_sight(ended(state), JobState.ENABLED, is_owned=True, is_disabled=False), ItemSight)


@pytest.mark.parametrize("job", list(JobState))
@pytest.mark.parametrize("is_owned", [True, False])
@pytest.mark.parametrize("is_disabled", [True, False])
def test_what_runs_is_shown_as_running(job: JobState, is_owned: bool, is_disabled: bool) -> None:
    """Whatever else is true of it."""
    assert item_sight(marked(1), job, is_owned=is_owned, is_disabled=is_disabled) is ItemSight.RUNNING
    assert item_sight(marked(2), job, is_owned=is_owned, is_disabled=is_disabled) is ItemSight.FAILOVER


def test_attempt_after_a_failure_is_no_failover() -> None:
    """It is a retry; one more attempt than there were failures is what another left unfinished."""
    marker = marked(2).marker
    retried = Cursor(uid="u", state=ItemState.RUNNING, failures=1)
    view = ItemView(cursor=retried, marker=marker)
    assert item_sight(view, JobState.ENABLED, is_owned=True, is_disabled=False) is ItemSight.RUNNING


def test_item_that_was_not_looked_at_is_not_said_to_wait() -> None:
    """Nothing is claimed of it."""
    for job, sight in ((JobState.ENABLED, ItemSight.UNREAD), (JobState.PAUSED, ItemSight.PAUSED)):
        assert item_sight(None, job, is_owned=True, is_disabled=False, is_read=False) is sight


@pytest.mark.parametrize(
    ("view", "job", "is_owned", "is_disabled", "sight"),
    [
        (None, JobState.ENABLED, True, False, ItemSight.WAITING),
        (ended(ItemState.DONE), JobState.ENABLED, True, False, ItemSight.DONE),
        (ended(ItemState.DONE), JobState.ENABLED, False, False, ItemSight.UNOWNED),
        (ended(ItemState.FAILED), JobState.ENABLED, False, False, ItemSight.UNOWNED),
        (ended(ItemState.FAILED), JobState.ENABLED, False, True, ItemSight.DISABLED),
        (ended(ItemState.DONE), JobState.PAUSED, True, False, ItemSight.PAUSED),
        (ended(ItemState.DONE), JobState.PAUSED, False, False, ItemSight.PAUSED),
        (ended(ItemState.FAILED), JobState.PAUSED, True, False, ItemSight.FAILED),
        (ended(ItemState.FAILED), JobState.HELD, True, True, ItemSight.HELD),
        (ended(ItemState.RUNNING), JobState.ENABLED, True, False, ItemSight.LOST),
        (
            ItemView(cursor=Cursor(uid="u", state=ItemState.FAILED, failures=1, retry_at=NOON)),
            JobState.ENABLED,
            True,
            False,
            ItemSight.RETRY,
        ),
        (ItemView(fault="bad"), JobState.ENABLED, True, True, ItemSight.UNREADABLE),
        (ItemView(fault="bad"), JobState.HELD, True, True, ItemSight.HELD),
    ],
)
def test_what_weighs_more_is_shown(
    view: ItemView | None, job: JobState, is_owned: bool, is_disabled: bool, sight: ItemSight
) -> None:
    """An item has one look, that of what is to be done about it first."""
    assert item_sight(view, job, is_owned=is_owned, is_disabled=is_disabled) is sight
