"""Disabling and enabling items of a job, and what is shown of retries, pauses and jobs without a cron."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from shardsched.core.fire import ItemState
from shardsched.errors import ConflictError, ItemParameterError, JobNotFoundError

if TYPE_CHECKING:
    from tests.admin.stage import Stage


def test_disable_and_enable_change_the_named_items_only(stage: Stage) -> None:
    """Each adds to or takes from what is there, and doing it twice changes nothing."""
    stage.join("e1")
    stage.job("books", {"e1": (0, 1, 2, 3)}, items=4, disabled_items=[3])
    assert stage.admin.jobs.disable("books", [1, 0]).changed == ("disabled_items",)
    assert stage.config("books").disabled_items == (0, 1, 3)
    assert stage.admin.jobs.disable("books", [0]).changed == ()
    armed_at = stage.config("books").armed_at
    stage.clock.advance(60)
    stage.admin.jobs.enable("books", [0, 2])
    assert stage.config("books").disabled_items == (1, 3)
    stage.admin.jobs.enable("books")
    assert (stage.config("books").disabled_items, stage.config("books").armed_at) == ((), armed_at)


def test_disable_item_that_is_not_there_is_refused(stage: Stage) -> None:
    """A slip of the pen is told the range; one that went with a smaller count can still be enabled."""
    stage.join("e1")
    stage.job("books", items=2)
    for act in (stage.admin.jobs.disable, stage.admin.jobs.enable):
        with pytest.raises(ItemParameterError, match="no item 2; its items are 0 to 1"):
            act("books", [0, 2])
    stage.admin.jobs.update("books", {"items": 3, "disabled_items": [2]})
    stage.admin.jobs.update("books", {"items": 2})
    stage.admin.jobs.enable("books", [2])
    assert stage.config("books").disabled_items == ()
    with pytest.raises(JobNotFoundError):
        stage.admin.jobs.disable("no", [0])


def test_disable_item_of_an_unreadable_job_is_refused(stage: Stage) -> None:
    """Nothing is guessed about a record that cannot be read."""
    stage.join("e1")
    stage.job("books")
    stage.put(stage.paths.job("books"), b"{")
    with pytest.raises(ConflictError, match="mend it"):
        stage.admin.jobs.disable("books", [0])


def test_trigger_leaves_disabled_items_out(stage: Stage) -> None:
    """A press runs the other items; one that asks for a disabled item, or finds only such, is refused."""
    stage.join("e1")
    stage.job("books", {"e1": (0, 1, 2)}, items=3, disabled_items=[1])
    receipt = stage.admin.commands.trigger("books")
    assert (receipt.owners, receipt.waiting) == ({"e1": (0, 2)}, ())
    with pytest.raises(ConflictError, match="items 1 are disabled; enable them with"):
        stage.admin.commands.trigger("books", only=[0, 1])
    stage.admin.jobs.disable("books", [0, 2])
    with pytest.raises(ConflictError, match="items 0-2 are disabled"):
        stage.admin.commands.trigger("books")


def test_status_tells_of_disabled_items_pauses_and_retries(stage: Stage) -> None:
    """What keeps a job from firing in part is said, and the next fire is one outside of all windows."""
    stage.join("e1")
    stage.lead("e1")
    stage.job("books", {"e1": (0, 1)}, items=2, disabled_items=[1], pause=["01:00-05:00"], retries=3)
    retry_at = stage.clock.now() + timedelta(seconds=30)
    stage.write_cursor("books", 0, state=ItemState.FAILED, failures=2, retry_at=retry_at, message="boom")
    status = stage.admin.job_status("books")
    shown = status.details()
    assert (shown["state"], shown["reason"]) == ("enabled", "items 1 are disabled")
    assert (shown["pause"], shown["disabled_items"], shown["retries"]) == (["01:00-05:00"], [1], 3)
    assert status.next_fire is not None
    assert status.next_fire.hour == 5
    assert (shown["cursors"][0]["failures"], shown["cursors"][0]["retry_at"]) == (2, retry_at.isoformat())
    assert shown["cursors"][1]["retry_at"] is None


def test_job_without_cron_has_no_next_fire(stage: Stage) -> None:
    """A job that only people and other jobs run is enabled, owned, and fires when asked."""
    stage.join("e1")
    stage.lead("e1")
    stage.job("books", {"e1": (0,)}, cron="")
    status = stage.admin.job_status("books")
    assert (status.state, status.next_fire, status.reasons) == ("enabled", None, ())
    assert stage.admin.commands.trigger("books").number == 1
