"""Which layouts of a job have had their time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shardsched.core.assignment import Assignment, Layout
from shardsched.core.command import Commands, Trigger
from shardsched.core.fire import ItemState
from shardsched.core.job import Misfire
from shardsched.core.tidy import settled_assignment
from tests.core.scene import at, config, done, running

if TYPE_CHECKING:
    from shardsched.core.fire import Cursor

SHRUNK = Assignment(
    uid="u",
    layouts=(Layout(items=3, config=0), Layout(items=1, config=1, from_fire=at("12:00:30"))),
    owners={"e1": (0, 2), "e2": (1,)},
    token_floor=2,
    trigger_floor=1,
)
GROWN = Assignment(
    uid="u",
    layouts=(Layout(items=1, config=0), Layout(items=3, config=1, from_fire=at("12:00:30"))),
    owners={"e1": (0, 2), "e2": (1,)},
)
HANDLED = {item: done(at("12:00:20"), token=5 + item, trigger=item) for item in range(3)}
NOW = at("12:00:31")


def settled(assignment: Assignment = SHRUNK, **changes: Any) -> Assignment | None:
    """Return what is settled of a job whose items have handled the last fire of the first layout."""
    fields: dict[str, Any] = {"config": config(), "commands": None, "cursors": HANDLED, "now": NOW} | changes
    return settled_assignment(fields.pop("config"), assignment, **fields)


def test_tidy_drops_the_layouts_before_the_newest() -> None:
    """Once all is handled only the newest layout stays, owners lose the removed items, and the floors rise."""
    left = settled()
    assert left is not None
    assert left.layouts == (Layout(items=1, config=1, from_fire=at("12:00:30")),)
    assert left.owners == {"e1": (0,)}
    assert (left.token_floor, left.trigger_floor) == (7, 2)


@pytest.mark.parametrize(("item", "is_kept"), [(0, False), (2, True)])
def test_tidy_waits_for_the_retry_of_an_item_that_goes(item: int, *, is_kept: bool) -> None:
    """A cursor that says when its fire is tried again is not deleted with its item; one that stays does not matter."""
    failed = done(at("12:00:20"), state=ItemState.FAILED, failures=1, retry_at=at("12:00:50"))
    assert (settled(cursors=HANDLED | {item: failed}) is None) == is_kept


def test_tidy_keeps_floors_that_are_higher() -> None:
    """A floor never falls, and cursors of items that stay do not raise it."""
    from dataclasses import replace

    left = settled(replace(SHRUNK, token_floor=50, trigger_floor=40))
    assert left is not None
    assert (left.token_floor, left.trigger_floor) == (50, 40)
    grown = settled(GROWN)
    assert grown is not None
    assert (grown.token_floor, grown.trigger_floor, grown.owners) == (0, 0, GROWN.owners)


@pytest.mark.parametrize(
    "changes",
    [
        {"now": at("12:00:29")},
        {"cursors": HANDLED | {2: running(at("12:00:20"))}},
        {"cursors": HANDLED | {0: running(at("12:00:30"))}},
        {"cursors": HANDLED | {1: done(at("12:00:10"))}},
        {"cursors": {0: HANDLED[0], 1: HANDLED[1]}},
        {"commands": Commands(uid="u", triggers=(Trigger(number=9, at=NOW, items=3),))},
        {"commands": Commands(uid="u", triggers=(Trigger(number=9, at=NOW, items=3, only=(2,)),))},
    ],
)
@pytest.mark.parametrize("policy", list(Misfire))
def test_tidy_keeps_a_layout_that_may_be_needed(changes: dict[str, Any], policy: Misfire) -> None:
    """A layout stays while its fires are to come, run, wait to run, or are waited for by a trigger, by any policy."""
    assert settled(**changes, config=config(misfire=policy)) is None


@pytest.mark.parametrize(
    "commands",
    [
        Commands(uid="u", triggers=(Trigger(number=2, at=NOW, items=3, only=(2,)),)),
        Commands(uid="u", triggers=(Trigger(number=9, at=NOW, items=1),)),
        Commands(uid="u"),
    ],
)
def test_tidy_is_not_held_by_triggers_of_items_that_stay(commands: Commands) -> None:
    """A trigger that was handled, or that concerns only items that stay, holds nothing up."""
    assert settled(commands=commands) is not None


def test_tidy_looks_at_fires_since_the_arming_only() -> None:
    """Fires from before a resume are never run, so nobody waits for them."""
    cursors: dict[int, Cursor] = {}
    assert settled(cursors=cursors) is None
    assert settled(cursors=cursors, config=config(armed_at=at("12:00:25"))) is not None


def test_tidy_looks_at_every_layout() -> None:
    """Items that were gone for a while are waited for too: shrunk, then grown again."""
    layouts = (*SHRUNK.layouts, Layout(items=3, config=2, from_fire=at("12:00:50")))
    assignment = Assignment(uid="u", layouts=layouts)
    late: dict[str, Any] = {"now": at("12:00:55"), "cursors": HANDLED | {0: done(at("12:00:40"))}}
    assert settled(assignment, **late) is not None
    assert settled(assignment, **(late | {"cursors": HANDLED})) is None
    assert settled(assignment, **(late | {"cursors": late["cursors"] | {2: done(at("12:00:10"))}})) is None


def test_tidy_of_one_layout_is_nothing() -> None:
    """A job whose count never changed has nothing to tidy."""
    assert settled(Assignment(uid="u", layouts=(Layout(items=3, config=0),))) is None
