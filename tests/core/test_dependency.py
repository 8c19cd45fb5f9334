"""What a completed fire has the jobs do that wait for it, and who waits for whom."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.assignment import Assignment, Layout
from shardsched.core.bond import Bonds
from shardsched.core.command import MAX_WAITING_TRIGGERS, Commands, Trigger, UpstreamFire
from shardsched.core.dependency import Following, following, needs_cursors, upstream_fault, upstream_of, waits_for
from shardsched.core.fire import Cause, Cursor, ItemState
from shardsched.core.job import AfterMode, AfterOn, JobConfig
from shardsched.core.tally import ClosedFire, FireKey, FireOutcome
from shardsched.core.view import JobEntry
from tests.strategies import ANY_SPEED

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
CONFIG = JobConfig(name="d", uid="u", handler="h", cron="0 0 * * *", armed_at=NOON, items=3, after=("a",))
PLAN = Assignment(uid="u", layouts=(Layout(items=2, config=0),), trigger_floor=4)
SUCCESS = ClosedFire(key=FireKey(at=NOON), outcome=FireOutcome.SUCCESS)
FAILURE = ClosedFire(key=FireKey(at=NOON, trigger=7), outcome=FireOutcome.FAILURE)


def entry(commands: Commands | None = None, held: str | None = None, **changes: Any) -> JobEntry:
    """Return a job that waits for others."""
    return JobEntry(
        name="d",
        version=3,
        config=replace(CONFIG, **changes),
        held=held,
        assignment=PLAN,
        assignment_version=1,
        commands=commands,
    )


def follow(job: JobEntry | None, fire: ClosedFire = SUCCESS, upstream: str = "a") -> Following:
    """Return what a fire has a job do whose items have handled nothing."""
    return following(job, upstream, fire, {}, NOON)


def test_following_stores_a_trigger_with_its_fire() -> None:
    """The trigger counts above all that were handled, has the items laid out, and says what it follows."""
    done = follow(entry())
    assert done.commands is not None
    (trigger,) = done.commands.triggers
    assert trigger == done.trigger
    assert (trigger.number, trigger.items, trigger.cause, trigger.by) == (5, 2, Cause.DEPENDENCY, "after a")
    assert trigger.upstream == (UpstreamFire(job="a", at=NOON),)
    again = follow(entry(done.commands), FAILURE, "a")
    assert again == Following()


@pytest.mark.parametrize(
    ("on", "counted"),
    [(AfterOn.SUCCESS, {SUCCESS}), (AfterOn.FAILURE, {FAILURE}), (AfterOn.ALWAYS, {SUCCESS, FAILURE})],
)
def test_following_counts_the_fires_that_are_asked_for(on: AfterOn, counted: set[ClosedFire]) -> None:
    """Success, failure, or both."""
    for fire in (SUCCESS, FAILURE):
        assert (follow(entry(after_on=on), fire).trigger is not None) == (fire in counted)


def test_following_all_waits_for_every_upstream_job() -> None:
    """What has completed is remembered until all have; then it begins anew."""
    first = follow(entry(after=("a", "b")))
    assert first.trigger is None
    assert first.commands is not None
    job = entry(first.commands, after=("a", "b"))
    assert waits_for(job.config or CONFIG, job.commands) == ("b",)
    again = follow(job)
    assert again.commands == first.commands
    done = follow(job, replace(SUCCESS, key=FireKey(at=NOON, trigger=2)), "b")
    assert done.trigger is not None
    assert [fire.job for fire in done.trigger.upstream] == ["a", "b"]
    assert done.commands is not None
    assert done.commands.upstream == ()


def test_following_any_waits_for_one_upstream_job() -> None:
    """Each completed fire of each of them is one trigger."""
    assert follow(entry(after=("a", "b"), after_mode=AfterMode.ANY)).trigger is not None


def test_following_forgets_upstream_jobs_that_are_waited_for_no_longer() -> None:
    """An edit of what is waited for leaves nothing behind."""
    old = Commands(uid="u", upstream=(UpstreamFire(job="gone", at=NOON),))
    assert follow(entry(old)).trigger is not None
    kept = follow(entry(old, after=("a", "b"))).commands
    assert kept is not None
    assert [fire.job for fire in kept.upstream] == ["a"]


@pytest.mark.parametrize(
    ("job", "word"),
    [
        (entry(paused=True), "paused"),
        (entry(held="invalid cron"), "invalid cron"),
        (entry(Commands(uid="u", triggers=tuple(Trigger(number=n, at=NOON, items=2) for n in range(5, 21)))), "16"),
    ],
    ids=["paused", "held", "full"],
)
def test_following_that_cannot_be_is_told(job: JobEntry, word: str) -> None:
    """A fire that a job should follow and does not is dropped with a reason, never silently."""
    done = follow(job)
    assert done.commands is None
    assert word in (done.dropped or "")


@pytest.mark.parametrize("job", [None, entry(after=("b",)), entry(deleting=True), JobEntry(name="d", version=0)])
def test_following_of_a_job_that_does_not_wait_is_nothing(job: JobEntry | None) -> None:
    """A job that is gone, unreadable or was edited meanwhile is left alone."""
    assert follow(job) == Following()


def test_following_drops_triggers_that_were_handled_before_it_says_that_too_many_wait() -> None:
    """The list is cut to what still waits once it is full."""
    triggers = tuple(Trigger(number=number, at=NOON, items=1) for number in range(1, MAX_WAITING_TRIGGERS + 1))
    job = entry(Commands(uid="u", triggers=triggers))
    assert needs_cursors(job)
    assert not needs_cursors(entry(Commands(uid="u", triggers=triggers[1:])))
    cursors = {0: Cursor(uid="u", state=ItemState.DONE, trigger=10)}
    done = following(job, "a", SUCCESS, cursors, NOON)
    assert done.commands is not None
    assert [trigger.number for trigger in done.commands.triggers] == list(range(11, 18))


def test_following_numbers_above_cursors_where_the_record_was_lost() -> None:
    """Commands that were deleted by hand do not make a trigger that every item has handled already."""
    done = following(entry(), "a", SUCCESS, {1: Cursor(uid="u", state=ItemState.DONE, trigger=40)}, NOON)
    assert done.trigger is not None
    assert done.trigger.number == 41


@ANY_SPEED
@given(st.dictionaries(st.sampled_from("abcdef"), st.sets(st.sampled_from("abcdef"))))
def test_upstream_is_what_can_be_reached(after: dict[str, set[str]]) -> None:
    """A job stands before another if a path leads there; it stands before itself if there is a circle."""
    bonds = Bonds()
    for job, upstream in after.items():
        bonds.set(job, upstream)
    for job in "abcdef":
        found = upstream_of(job, lambda name: after.get(name, ()))
        assert found == bonds.upstream(job)
        assert set(after.get(job, ())) <= found
        assert all(set(after.get(one, ())) <= found for one in found)
        assert bonds.dependents(job) == tuple(sorted(one for one, upstream in after.items() if job in upstream))


def test_bonds_of_an_edited_job_are_the_new_ones() -> None:
    """What it waited for before is forgotten."""
    bonds = Bonds()
    bonds.set("d", ["a", "b"])
    bonds.set("d", ["b"])
    assert (bonds.dependents("a"), bonds.dependents("b")) == ((), ("d",))
    bonds.set("d", ())
    assert (bonds.dependents("b"), bonds.upstream("d")) == ((), frozenset())


def test_upstream_fault_names_what_does_not_exist() -> None:
    """A job may wait for one that comes later, and says so."""
    config = replace(CONFIG, after=("b", "a", "c"))
    assert upstream_fault(config, {"a", "b", "c"}) is None
    assert upstream_fault(config, {"a", "b"}) == "waits for c, which does not exist"
    assert upstream_fault(config, set()) == "waits for a, b, c, which do not exist"
