"""What is due of an item that was triggered, or whose job has another count of items by now."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from shardsched.core.assignment import Layout
from shardsched.core.command import Commands, Trigger
from shardsched.core.decision import Run
from shardsched.core.fire import Cause
from shardsched.core.job import Misfire
from tests.core.scene import Scene, at, config, done

PAUSED = config(paused=True)


def press(number: int, **changes: Any) -> Trigger:
    """Return a trigger of a job of one item."""
    fields: dict[str, Any] = {"number": number, "at": at("12:00:05"), "items": 1}
    return Trigger(**(fields | changes))


def asked(*triggers: Trigger, stop: int = 0) -> Commands:
    """Return what was asked."""
    return Commands(uid="u", triggers=triggers, stop=stop)


# Triggers


def test_due_trigger_runs_once_and_leaves_the_schedule() -> None:
    """Each press is one manual run; the scheduled fire stays where it is, and falls due as ever."""
    scene = Scene(now=at("12:00:12"), cursor=done(at("12:00:10")), commands=asked(press(1, param="x")))
    run = scene.run()
    assert (run.cause, run.run_fire, run.fire, run.trigger) == (Cause.MANUAL, at("12:00:05"), at("12:00:10"), 1)
    assert (run.job_param, run.attempt, run.first_cause) == ("x", 1, Cause.MANUAL)
    assert scene.decide(cursor=done(at("12:00:10"), trigger=1)) is None
    assert scene.run(cursor=done(at("12:00:10"), trigger=1), now=at("12:00:20")).cause is Cause.SCHEDULE


def test_due_triggers_run_in_order_and_each_once() -> None:
    """Three presses are three runs, the oldest first."""
    scene = Scene(now=at("12:00:12"), cursor=done(at("12:00:10")), commands=asked(press(1), press(2), press(3)))
    numbers: list[int] = []
    while isinstance(decision := scene.decide(cursor=done(at("12:00:10"), trigger=len(numbers))), Run):
        numbers.append(decision.trigger)
    assert numbers == [1, 2, 3]


@pytest.mark.parametrize(
    ("changes", "trigger"),
    [
        ({"config": PAUSED}, 1),
        ({"config": config(items=3), "commands": asked(press(1, items=3, only=(0, 2))), "item": 0}, 1),
        ({"config": config(items=3), "commands": asked(press(1, items=3, only=(0, 2))), "item": 1}, None),
        ({"config": config(items=3), "commands": asked(press(1, items=3, only=(0, 2))), "item": 2}, 1),
        ({"config": config(items=3), "commands": asked(press(1, items=2)), "item": 2}, None),
        ({"trigger_floor": 1}, None),
        ({"trigger_floor": 1, "commands": asked(press(1), press(2))}, 2),
        ({"commands": None}, None),
    ],
)
def test_due_trigger_concerns_its_items_only(changes: dict[str, Any], trigger: int | None) -> None:
    """A trigger runs while paused, only for the items chosen and there when it was pressed, and never twice."""
    decision = Scene(now=at("12:00:06"), commands=asked(press(1))).decide(**changes)
    if trigger is None:
        assert decision is None
    else:
        assert isinstance(decision, Run)
        assert decision.trigger == trigger


def test_due_trigger_after_a_shrink_still_runs_the_removed_item() -> None:
    """An item that the job no longer has still runs for a trigger that was pressed before."""
    layouts = (Layout(items=3, config=0), Layout(items=1, config=1, from_fire=at("12:00:10")))
    scene = Scene(now=at("12:00:15"), cursor=done(at("12:00:00")), layouts=layouts, item=2)
    assert scene.decide(commands=asked(press(1, items=1))) is None
    run = scene.run(commands=asked(press(1, items=3)))
    assert (run.cause, run.items) == (Cause.MANUAL, 3)


# Layouts


GROWN = (Layout(items=1, config=0), Layout(items=3, config=1, from_fire=at("12:00:30")))
SHRUNK = (Layout(items=3, config=0), Layout(items=1, config=1, from_fire=at("12:00:30")))


@pytest.mark.parametrize(
    ("layouts", "item", "now", "fire", "items"),
    [
        (GROWN, 0, "12:00:25", "12:00:20", 1),
        (GROWN, 0, "12:00:30", "12:00:30", 3),
        (GROWN, 2, "12:00:25", None, None),
        (GROWN, 2, "12:00:30", "12:00:30", 3),
        (SHRUNK, 2, "12:00:25", "12:00:20", 3),
        (SHRUNK, 0, "12:00:30", "12:00:30", 1),
        (SHRUNK, 2, "12:00:30", "12:00:20", 3),
        (SHRUNK, 2, "12:00:55", "12:00:20", 3),
    ],
)
def test_due_runs_each_fire_with_the_count_of_its_layout(
    layouts: tuple[Layout, ...], item: int, now: str, fire: str | None, items: int | None
) -> None:
    """A fire has the items of the layout it lies in; a removed item still handles its last one."""
    decision = Scene(now=at(now), layouts=layouts, item=item).decide()
    if fire is None:
        assert decision is None
    else:
        assert isinstance(decision, Run)
        assert (decision.run_fire, decision.items) == (at(fire), items)


def test_due_of_a_removed_item_that_has_handled_all_is_nothing() -> None:
    """Once a removed item has handled its last fire, nothing is due for it."""
    assert Scene(now=at("12:00:55"), layouts=SHRUNK, item=2, cursor=done(at("12:00:20"))).decide() is None


def test_due_of_a_removed_item_looks_past_layouts_without_a_fire() -> None:
    """A layout in which no fire lies, as one that only serves triggers, does not hide the fires before it."""
    just_before = at("12:00:30") - timedelta(microseconds=1)
    layouts = (SHRUNK[0], Layout(items=5, config=1, from_fire=just_before), SHRUNK[1])
    assert Scene(now=at("12:00:55"), layouts=layouts, item=2).run().run_fire == at("12:00:20")
    assert Scene(now=at("12:00:55"), layouts=layouts, item=4).decide() is None


@pytest.mark.parametrize("policy", list(Misfire))
def test_due_of_a_new_item_counts_from_its_layout(policy: Misfire) -> None:
    """An item that came with a layout neither runs nor reports fires from before, also once the others are dropped."""
    job = config(items=3, misfire=policy)
    for layouts in (GROWN, GROWN[1:]):
        run = Scene(now=at("12:00:41"), layouts=layouts, item=2, config=job).run()
        assert run.run_fire >= at("12:00:30")
        assert run.missed is None or run.missed.first == at("12:00:30")


def test_due_trigger_of_another_job_lets_a_fire_that_waits_longer_go_first() -> None:
    """Triggers that come without end do not keep an item from its own schedule, nor the other way round."""
    after = press(1, cause=Cause.DEPENDENCY, at=at("12:00:15"))
    scene = Scene(now=at("12:00:22"), cursor=done(at("12:00:00")), commands=asked(after))
    first = scene.run()
    assert (first.cause, first.run_fire) == (Cause.SCHEDULE, at("12:00:20"))
    then = scene.run(cursor=done(at("12:00:20")))
    assert (then.cause, then.first_cause, then.run_fire) == (Cause.DEPENDENCY, Cause.DEPENDENCY, at("12:00:15"))
    assert scene.run(commands=asked(press(1, at=at("12:00:15")))).cause is Cause.MANUAL
    assert scene.run(config=config(paused=True)).cause is Cause.DEPENDENCY
