"""Triggering and stopping jobs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from shardsched.core.command import MAX_WAITING_TRIGGERS
from shardsched.core.fire import ItemState
from shardsched.errors import ConflictError, ItemParameterError, JobConfigError

if TYPE_CHECKING:
    from tests.admin.stage import Stage


def test_trigger_job_owned_is_stamped_with_count_param_and_who(stage: Stage) -> None:
    """A trigger carries what the run needs: number, time, item count, chosen items, parameter and who asked."""
    stage.join("e1")
    stage.job("books", {"e1": (0, 1, 2)}, items=3)
    receipt = stage.admin.commands.trigger("books", param="x", only=[2, 0], by="ann")
    trigger = stage.commands("books").triggers[-1]
    assert (trigger.number, trigger.items, trigger.only, trigger.param, trigger.by) == (1, 3, (0, 2), "x", "ann")
    assert trigger.at == stage.clock.now()
    assert (receipt.number, receipt.owners, receipt.waiting) == (1, {"e1": (0, 2)}, ())


def test_trigger_job_paused_is_allowed(stage: Stage) -> None:
    """A paused job can be run by hand, and stays paused."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)}, paused=True)
    assert stage.admin.commands.trigger("books").number == 1
    assert stage.config("books").paused


def test_trigger_job_without_live_owner_is_refused_with_the_reason(stage: Stage) -> None:
    """With no owner a trigger is refused and not kept for later."""
    stage.join("e1")
    stage.job("books")
    with pytest.raises(ConflictError, match="leads"):
        stage.admin.commands.trigger("books")
    stage.assign("books", {"e1": (0,)})
    stage.leave("e1")
    with pytest.raises(ConflictError, match="no executor"):
        stage.admin.commands.trigger("books")
    assert stage.paths.commands("books") not in stage.tree()


def test_trigger_job_partly_owned_says_which_items_wait(stage: Stage) -> None:
    """The answer says on which executors it runs, and which items have no owner."""
    stage.join("e1")
    stage.job("books", {"e1": (0,), "gone": (1, 2)}, items=3)
    receipt = stage.admin.commands.trigger("books")
    assert (receipt.owners, receipt.waiting) == ({"e1": (0,)}, (1, 2))
    with pytest.raises(ConflictError, match="items 1-2"):
        stage.admin.commands.trigger("books", only=[1, 2])


def test_trigger_job_held_is_refused_with_the_reason(stage: Stage) -> None:
    """A job that cannot be used cannot be triggered."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    stage.put(stage.paths.job("books"), b"broken")
    with pytest.raises(ConflictError, match="held"):
        stage.admin.commands.trigger("books")


def test_trigger_job_being_deleted_is_refused(stage: Stage) -> None:
    """A job on its way out takes no trigger."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    stage.claim("books", 0, "e1")
    stage.admin.jobs.delete("books", wait_s=0)
    with pytest.raises(ConflictError, match="being deleted"):
        stage.admin.commands.trigger("books")


@pytest.mark.parametrize("only", [[3], [-1], [0, 9], []])
def test_trigger_job_unknown_items_are_refused(stage: Stage, only: list[int]) -> None:
    """Items that the job does not have are refused with those that it has."""
    stage.join("e1")
    stage.job("books", {"e1": (0, 1, 2)}, items=3)
    with pytest.raises(ItemParameterError, match="0 to 2"):
        stage.admin.commands.trigger("books", only=only)


def test_trigger_job_param_that_cannot_be_stored_is_refused(stage: Stage) -> None:
    """A parameter that is too long or half a character is refused."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    for param in ("x" * 70_000, "\udcff"):
        with pytest.raises(JobConfigError):
            stage.admin.commands.trigger("books", param=param)


def test_trigger_job_many_times_at_once_keeps_every_press(stage: Stage) -> None:
    """Each press counts once, however many people press together."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    threads = [threading.Thread(target=stage.admin.commands.trigger, args=("books",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [trigger.number for trigger in stage.commands("books").triggers] == list(range(1, 9))


def test_trigger_job_too_many_waiting_is_refused_until_some_ran(stage: Stage) -> None:
    """At most sixteen presses wait; those that every item handled make room."""
    stage.join("e1")
    stage.job("books", {"e1": (0, 1)}, items=2)
    for _ in range(MAX_WAITING_TRIGGERS):
        stage.admin.commands.trigger("books")
    with pytest.raises(ConflictError, match="16 triggers"):
        stage.admin.commands.trigger("books")
    stage.write_cursor("books", 0, trigger=5)
    with pytest.raises(ConflictError):
        stage.admin.commands.trigger("books")
    stage.write_cursor("books", 1, trigger=3)
    assert stage.admin.commands.trigger("books").number == MAX_WAITING_TRIGGERS + 1
    assert [trigger.number for trigger in stage.commands("books").triggers] == list(range(4, MAX_WAITING_TRIGGERS + 2))


def test_trigger_job_handled_by_its_chosen_items_makes_room(stage: Stage) -> None:
    """A press for some items waits for those only."""
    stage.join("e1")
    stage.job("books", {"e1": (0, 1)}, items=2)
    stage.admin.commands.trigger("books", only=[1])
    stage.write_cursor("books", 1, trigger=1)
    stage.admin.commands.trigger("books")
    assert [trigger.number for trigger in stage.commands("books").triggers] == [2]


def test_trigger_job_commands_lost_counts_on_above_the_cursors(stage: Stage) -> None:
    """A commands' record that is missing or of an earlier job never gives a number that was handled already."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    stage.write_cursor("books", 0, trigger=41)
    assert stage.admin.commands.trigger("books").number == 42
    stage.job("films")
    stage.assign("films", {"e1": (0,)}, trigger_floor=9)
    stage.put(stage.paths.commands("films"), _bytes_of(stage, "books"))
    assert stage.admin.commands.trigger("films").number == 10


def _bytes_of(stage: Stage, job: str) -> bytes:
    node = stage.registry.get(stage.paths.commands(job), fresh=True)
    assert node is not None
    return node.value


def test_stop_job_counts_above_every_running_claim(stage: Stage) -> None:
    """A stop concerns all that was claimed before it, also if its counter was lost."""
    stage.join("e1")
    stage.job("books", {"e1": (0, 1)}, items=2)
    stage.claim("books", 0, "e1", stop=6)
    stage.write_cursor("books", 1, state=ItemState.DONE)
    receipt = stage.admin.commands.stop("books", by="ann")
    assert receipt.running == (0,)
    commands = stage.commands("books")
    assert (commands.stop, commands.stop_by, commands.stop_at) == (7, "ann", stage.clock.now())
    assert stage.admin.commands.stop("books").job == "books"
    assert stage.commands("books").stop == 8


def test_stop_job_keeps_waiting_triggers(stage: Stage) -> None:
    """Stopping what runs leaves what waits."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    stage.admin.commands.trigger("books")
    stage.admin.commands.stop("books")
    assert len(stage.commands("books").triggers) == 1


def test_stop_job_unreadable_is_refused_with_what_to_do(stage: Stage) -> None:
    """A job that cannot be read cannot be stopped by a command that nobody could tie to it."""
    stage.join("e1")
    stage.job("books")
    stage.put(stage.paths.job("books"), b"broken")
    with pytest.raises(ConflictError, match="delete it"):
        stage.admin.commands.stop("books")
