"""The loop on a registry in memory: what it does when answers are lost, places are lost, and views are old."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from shardsched.core.assignment import Assignment, Layout, encode_assignment
from shardsched.core.fire import ItemState
from shardsched.core.job import Misfire
from shardsched.loop.message import Resync, SessionEnded
from shardsched.registry.base import Delete, Put
from tests.coordination.stage import Stage, lose_reply
from tests.loop.actor import actor, pass_fire

if TYPE_CHECKING:
    from shardsched.core.job import JobConfig


def assign(stage: Stage, config: JobConfig, owners: dict[str, tuple[int, ...]]) -> None:
    """Give a job's items to others."""
    assignment = Assignment(uid=config.uid, layouts=(Layout(items=config.items, config=0),), owners=owners)
    stage.write([Put(stage.paths.assignment(config.name), encode_assignment(assignment))])


def test_loop_runs_a_fire_and_writes_its_end(stage: Stage) -> None:
    """A due fire is claimed and launched once; its end is written, and the next fire is waited for."""
    stage.add_job(items=2, owners={"e1": (0, 1)})
    e1 = actor(stage, "e1")
    e1.step()
    assert e1.items == []
    pass_fire(stage, e1)
    e1.step()
    assert sorted(e1.items) == [0, 1]
    e1.end(index=0)
    e1.step()
    cursor = stage.cursor(0)
    assert cursor is not None
    assert (cursor.state, stage.has_marker(0), stage.has_marker(1)) == (ItemState.DONE, False, True)
    assert e1.wakes[-1] == stage.clock.now().replace(second=20)


@pytest.mark.parametrize(("moment", "is_moved"), [("request", False), ("reply", False), ("reply", True)])
def test_loop_whose_claim_got_no_answer_runs_it_once(stage: Stage, moment: str, *, is_moved: bool) -> None:
    """A claim without an answer is run once: if it was done, even where the item has another owner by now."""
    config = stage.add_job(owners={"e1": (0,)})
    e1, e2 = actor(stage, "e1"), actor(stage, "e2")
    e1.step()
    pass_fire(stage, e1, e2)
    lose_reply(e1.client.registry, moment=moment)
    e1.step(1)
    assert e1.items == []
    if is_moved:
        assign(stage, config, {"e2": (0,)})
    e2.step()
    stage.clock.advance(1.5)
    e1.step()
    assert (e1.items, e2.items) == ([0], [])
    e1.end()
    e1.step()
    assert not stage.has_marker()


@pytest.mark.parametrize("is_failed_over", [True, False])
def test_loop_tells_of_a_run_that_another_left_unfinished(stage: Stage, *, is_failed_over: bool) -> None:
    """Whether it is run again or lost for good: its executor may have died before it told anybody."""
    config = stage.add_job(owners={"e1": (0,)}, failover=is_failed_over)
    e1, e2 = actor(stage, "e1"), actor(stage, "e2")
    e1.step()
    pass_fire(stage, e1, e2)
    e1.step()
    (claimed,) = e1.body.launched
    stage.store.end(e1.client.registry.session_id)
    assign(stage, config, {"e2": (0,)})
    e2.step()
    assert e2.body.left == [("j", 0, claimed.marker.run)]
    assert len(e2.items) == is_failed_over


def test_loop_without_an_answer_to_a_settling_forgets_no_other_job(stage: Stage) -> None:
    """When one job's settling gets no answer, what is due of the others is still run."""
    stage.add_job("a", owners={"e1": (0,)})
    stage.add_job("b", owners={"e1": (0,)}, misfire=Misfire.SKIP, misfire_grace_s=0.0)
    e1 = actor(stage, "e1")
    e1.step()
    pass_fire(stage, e1)
    stage.clock.advance(0.5)
    lose_reply(e1.client.registry)
    e1.step(1)
    e1.step()
    assert [claimed.job for claimed in e1.body.launched] == ["a"]
    skipped = stage.cursor(job="b")
    assert skipped is not None
    assert skipped.state is ItemState.MISSED


def test_loop_on_an_old_view_does_not_spin(stage: Stage) -> None:
    """What is refused because our view is old is tried again later, not at once and without end."""
    config = stage.add_job(owners={"e1": (0,)}, misfire=Misfire.SKIP, misfire_grace_s=0.0)
    e1 = actor(stage, "e1")
    e1.step()
    pass_fire(stage, e1)
    stage.clock.advance(0.5)
    stage.edit_job(config)
    e1.loop.step()
    e1.loop.step()
    assert not e1.loop.has_more
    assert stage.cursor() is None
    stage.clock.advance(1.0)
    e1.step()
    assert stage.cursor() is not None


def test_loop_gives_back_what_was_interrupted_only_once(stage: Stage) -> None:
    """An interrupted run whose giving back got no answer does not take the marker of who runs it next."""
    config = stage.add_job(owners={"e1": (0,)})
    e1, e2 = actor(stage, "e1"), actor(stage, "e2")
    e1.step()
    pass_fire(stage, e1, e2)
    e1.step()
    e1.end(state=None)
    lose_reply(e1.client.registry)
    e1.step(1)
    assert not stage.has_marker()
    assign(stage, config, {"e2": (0,)})
    e2.step()
    assert [claimed.run.attempt for claimed in e2.body.launched] == [2]
    stage.clock.advance(1.5)
    e1.step()
    assert stage.has_marker()
    assert e1.loop.unaccounted_count == 0


def test_loop_whose_session_outlived_its_place_gives_its_runs_back(stage: Stage) -> None:
    """When the fence went but the session lives, a void run's marker goes once its code has ended."""
    config = stage.add_job(owners={"e1": (0,)})
    e1, e2 = actor(stage, "e1"), actor(stage, "e2")
    e1.step()
    pass_fire(stage, e1, e2)
    e1.step()
    assign(stage, config, {"e2": (0,)})
    stage.write([Delete(stage.paths.session(e1.client.lease.incarnation))])
    e1.client.lease.beat()
    e1.loop.post(SessionEnded())
    e1.step()
    e1.client.membership.join(patience_s=0.0)
    e1.loop.post(Resync())
    e1.step()
    e2.step()
    assert stage.has_marker()
    assert e2.items == []
    e1.end(state=None)
    e1.step()
    e2.step()
    assert e2.items == [0]


def test_loop_after_a_loss_holds_nothing_of_the_old_session(stage: Stage) -> None:
    """Runs of a session that is over hold no slot and are not accounted for, and their late ends are void."""
    stage.add_job(owners={"e1": (0,)})
    e1 = actor(stage, "e1", slots=1)
    e1.step()
    pass_fire(stage, e1)
    e1.step()
    assert e1.loop.run_count == 1
    stage.expire()
    e1.client.lease.beat()
    e1.client.membership.join(patience_s=0.0)
    e1.loop.post(SessionEnded())
    e1.step()
    assert (e1.loop.run_count, e1.loop.unaccounted_count) == (0, 0)
    e1.end()
    e1.loop.post(Resync())
    e1.step()
    assert [claimed.run.attempt for claimed in e1.body.launched] == [1, 2]
    assert e1.body.launched[1].incarnation == e1.client.lease.incarnation


def test_loop_with_a_wrong_clock_decides_nothing(stage: Stage) -> None:
    """A clock that was stepped beyond the limit neither fires nor rewinds; once mended it goes on."""
    stage.add_job(owners={"e1": (0,)})
    drift = timedelta()
    e1 = actor(stage, "e1", server_time=lambda: stage.clock.now() - drift)
    e1.step()
    stage.clock.step_wall(-3600.0)
    drift = timedelta(hours=-1)
    pass_fire(stage, e1)
    e1.loop.post(Resync())
    e1.step()
    assert (e1.items, stage.cursor()) == ([], None)
    stage.clock.step_wall(3600.0)
    drift = timedelta()
    stage.clock.advance(1.0)
    e1.step()
    assert e1.items == [0]


def test_loop_that_is_unfit_settles_nothing(stage: Stage) -> None:
    """An executor that takes no items drops no fires either: whoever gets the items may still run them."""
    stage.add_job(owners={"e1": (0,)}, misfire=Misfire.SKIP, misfire_grace_s=0.0)
    e1 = actor(stage, "e1")
    e1.loop.unfit = "its clock is off"
    e1.step()
    pass_fire(stage, e1)
    stage.clock.advance(0.5)
    e1.step()
    assert (e1.items, stage.cursor()) == ([], None)
    e1.loop.unfit = None
    e1.loop.post(Resync())
    e1.step()
    assert stage.cursor() is not None


def test_loop_runs_no_more_than_its_slots(stage: Stage) -> None:
    """Items that wait for a slot are not claimed, and start as soon as one is free, higher priority first."""
    stage.add_job("low", items=2, owners={"e1": (0, 1)})
    stage.add_job("high", owners={"e1": (0,)}, priority=5)
    e1 = actor(stage, "e1", slots=1)
    e1.step()
    pass_fire(stage, e1)
    for count in (1, 2, 3):
        e1.step()
        assert len(e1.body.launched) == count
        e1.end()
    assert [claimed.job for claimed in e1.body.launched] == ["high", "low", "low"]


def test_loop_stops_what_was_stopped_while_its_claim_had_no_answer(stage: Stage) -> None:
    """A stop that came before a claim was found to be won still stops its run."""
    from shardsched.core.command import Commands, encode_commands
    from shardsched.registry.base import Create

    config = stage.add_job(owners={"e1": (0,)})
    e1 = actor(stage, "e1")
    e1.step()
    pass_fire(stage, e1)
    lose_reply(e1.client.registry)
    e1.step(1)
    stage.write([Create(stage.paths.commands("j"), encode_commands(Commands(uid=config.uid, stop=1)))])
    e1.client.registry.disconnect()
    e1.step()
    e1.client.registry.reconnect()
    e1.client.lease.beat()
    stage.clock.advance(1.5)
    e1.step()
    assert e1.items == [0]
    assert e1.body.stopped == [e1.body.launched[0].marker.run]


def test_loop_replaces_nothing_it_does_not_own(stage: Stage) -> None:
    """An executor without items does nothing at all."""
    stage.add_job(owners={"e2": (0,)})
    e1 = actor(stage, "e1")
    e1.step()
    pass_fire(stage, e1)
    e1.step()
    assert (e1.items, e1.wakes[-1], stage.cursor()) == ([], None, None)
