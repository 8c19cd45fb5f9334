"""Jobs that fire after others, by the loops of several executors on a registry in memory."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.coordination.ledger import CLAIM_CHUNK
from shardsched.core.command import Commands, Trigger, decode_commands, encode_commands
from shardsched.core.events import Event
from shardsched.core.fire import Cause, ItemState
from shardsched.core.tally import FireOutcome, Tally
from shardsched.core.tally_record import decode_tally
from shardsched.registry.base import Create, Delete, Put
from tests.coordination.stage import Stage, lose_reply
from tests.loop.actor import Actor, actor, pass_fire
from tests.loop.test_loop import assign

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shardsched.registry.base import Operation
    from shardsched.registry.memory import MemoryRegistry

NEVER = ""


def tally(stage: Stage, job: str = "a") -> Tally:
    """Return a job's tally."""
    node = stage.people.get(stage.paths.fires(job))
    assert node is not None
    return decode_tally(node.path, node.value)


def commands(stage: Stage, job: str = "b") -> Commands:
    """Return what was asked of a job; nothing where there is no record."""
    node = stage.people.get(stage.paths.commands(job))
    return Commands(uid="") if node is None else decode_commands(node.path, node.value)


def chain(stage: Stage, **changes: Any) -> None:
    """Make a job of two items, one on each of two executors, and one that fires after it."""
    stage.add_job("a", items=2, owners={"e1": (0,), "e2": (1,)})
    stage.add_job("b", owners={"e1": (0,)}, cron=NEVER, **({"after": ("a",)} | changes))


def begin(stage: Stage, *names: str) -> list[Actor]:
    """Let executors claim the first fire."""
    actors = [actor(stage, name) for name in names]
    for one in actors:
        one.step()
    pass_fire(stage, *actors)
    for one in actors:
        one.step()
    return actors


def before_next_write(registry: MemoryRegistry, path: str, deed: Callable[[], object]) -> None:
    """Have something happen just before a transaction that writes a node is applied."""
    left = [deed]

    def fault(moment: str, operations: Sequence[Operation]) -> None:
        if moment == "request" and left and any(one.path == path for one in operations):
            left.pop()()

    registry.fault = fault


def jobs_run(*actors: Actor) -> list[str]:
    """Return the jobs of all runs that were launched."""
    return sorted(claimed.job for one in actors for claimed in one.body.launched)


def test_chain_fires_once_when_the_last_item_ends(stage: Stage) -> None:
    """The dependent job fires when every item has ended, not before, with the fire that it follows."""
    chain(stage)
    e1, e2 = begin(stage, "e1", "e2")
    e1.end()
    e1.step()
    assert commands(stage).triggers == ()
    e2.end()
    e2.step()
    e1.step()
    (trigger,) = commands(stage).triggers
    assert [(fire.job, fire.at) for fire in trigger.upstream] == [("a", e2.body.launched[0].run.run_fire)]
    assert jobs_run(e1, e2) == ["a", "a", "b"]
    assert e1.body.launched[-1].run.cause is Cause.DEPENDENCY
    assert tally(stage).open == ()


@pytest.mark.parametrize("moment", ["request", "reply"])
def test_chain_whose_completion_got_no_answer_fires_once(stage: Stage, moment: str) -> None:
    """The end of the last item is written until it stands, and its trigger with it."""
    chain(stage)
    e1, e2 = begin(stage, "e1", "e2")
    e1.end()
    e1.step()
    e2.end()
    lose_reply(e2.client.registry, moment=moment)
    e2.step(1)
    stage.clock.advance(1.5)
    e2.step()
    assert len(commands(stage).triggers) == 1
    assert tally(stage).last_completed is not None
    cursor = stage.cursor(1, "a")
    assert cursor is not None
    assert (cursor.state, stage.has_marker(1, "a")) == (ItemState.DONE, False)


@pytest.mark.parametrize("moment", ["request", "reply"])
def test_chain_whose_claim_got_no_answer_fires_once(stage: Stage, moment: str) -> None:
    """A fire that was opened by a claim whose answer was lost is counted like any other."""
    chain(stage)
    e1, e2 = actor(stage, "e1"), actor(stage, "e2")
    for one in (e1, e2):
        one.step()
    pass_fire(stage, e1, e2)
    lose_reply(e1.client.registry, moment=moment)
    e1.step(1)
    e2.step()
    stage.clock.advance(1.5)
    e1.step()
    for one in (e1, e2):
        one.end()
        one.step()
    assert len(commands(stage).triggers) == 1


def test_chain_whose_items_end_at_once_is_counted_by_each(stage: Stage) -> None:
    """Who is late with its write reads the tally again and counts on."""
    chain(stage)
    e1, e2 = begin(stage, "e1", "e2")
    e1.end()
    e2.end()
    before_next_write(e1.client.registry, stage.paths.fires("a"), lambda: e2.step(1))
    e1.step()
    e2.step()
    assert len(commands(stage).triggers) == 1
    assert tally(stage).closed[-1].outcome is FireOutcome.SUCCESS


def test_chain_whose_dependent_is_paused_meanwhile_does_not_fire(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """A pause that is committed before the last item's end wins, and the dropped trigger is told."""
    chain(stage)
    e1, e2 = begin(stage, "e1", "e2")
    e1.end()
    e1.step()
    e2.end()
    entry = e2.client.entry("b")
    assert entry.config is not None
    paused = replace(entry.config, paused=True)
    before_next_write(e2.client.registry, stage.paths.commands("b"), lambda: stage.edit_job(paused))
    with caplog.at_level(logging.WARNING):
        e2.step()
    assert commands(stage).triggers == ()
    assert tally(stage).open == ()
    (told,) = [one for one in caplog.records if getattr(one, "event", "") is Event.TRIGGER_DROPPED]
    assert "paused" in told.getMessage()


def test_chain_whose_dependent_is_gone_meanwhile_ends_all_the_same(stage: Stage) -> None:
    """A dependent job that is deleted under way keeps nothing from being written."""
    chain(stage)
    e1, e2 = begin(stage, "e1", "e2")
    e1.end()
    e1.step()
    e2.end()
    gone = [stage.paths.cursors("b"), stage.paths.markers("b"), stage.paths.assignment("b"), stage.paths.job("b")]
    before_next_write(
        e2.client.registry, stage.paths.commands("b"), lambda: stage.write([Delete(path) for path in gone])
    )
    e2.step()
    cursor = stage.cursor(1, "a")
    assert cursor is not None
    assert (cursor.state, stage.has_marker(1, "a")) == (ItemState.DONE, False)


def test_chain_of_all_upstream_jobs_fires_when_the_last_is_done(stage: Stage) -> None:
    """Two upstream jobs that end in one step on one executor are one trigger."""
    stage.add_job("a", owners={"e1": (0,)})
    stage.add_job("b", owners={"e1": (0,)})
    stage.add_job("c", owners={"e1": (0,)}, cron=NEVER, after=("a", "b"))
    (e1,) = begin(stage, "e1")
    e1.end(index=0)
    e1.end(index=1)
    e1.step(5)
    (trigger,) = commands(stage, "c").triggers
    assert sorted(fire.job for fire in trigger.upstream) == ["a", "b"]
    assert jobs_run(e1) == ["a", "b", "c"]


def test_chain_through_a_job_in_the_middle_goes_on(stage: Stage) -> None:
    """The dependent job's own fire is one that others may follow."""
    chain(stage)
    stage.add_job("c", owners={"e2": (0,)}, cron=NEVER, after=("b",))
    e1, e2 = begin(stage, "e1", "e2")
    for one in (e1, e2, e1):
        one.end()
        one.step()
        e1.step()
        e2.step()
    assert jobs_run(e1, e2) == ["a", "a", "b", "c"]
    assert tally(stage, "b").closed[-1].key.trigger == 1


def test_chain_after_failure_follows_a_lost_item(stage: Stage) -> None:
    """An item that nobody finishes makes its fire a failure as soon as it is settled."""
    stage.add_job("a", items=2, owners={"e1": (0,), "e2": (1,)}, failover=False)
    stage.add_job("b", owners={"e1": (0,)}, cron=NEVER, after=("a",), after_on="failure")
    e1, e2 = begin(stage, "e1", "e2")
    e1.end()
    e1.step()
    e2.end(state=None)
    e2.step()
    assert tally(stage).closed[-1].outcome is FireOutcome.FAILURE
    assert len(commands(stage).triggers) == 1


def test_chain_after_failure_follows_an_abandoned_item(stage: Stage) -> None:
    """So it does when the executor of the item has died, and another settles it."""
    config = stage.add_job("a", items=2, owners={"e1": (0,), "e2": (1,)}, failover=False)
    stage.add_job("b", owners={"e1": (0,)}, cron=NEVER, after=("a",), after_on="failure")
    e1, _ = begin(stage, "e1", "e2")
    e1.end()
    e1.step()
    stage.write([Delete(stage.paths.marker("a", 1))])
    assign(stage, config, {"e1": (0, 1)})
    e1.step(5)
    assert tally(stage).closed[-1].outcome is FireOutcome.FAILURE
    assert len(commands(stage).triggers) == 1


def test_job_that_nobody_waits_for_writes_no_tally(stage: Stage) -> None:
    """Jobs without dependents and listeners pay nothing: not one request names a tally."""
    stage.add_job("a", items=2, owners={"e1": (0, 1)})
    stage.add_job("x", owners={"e1": (0,)}, cron=NEVER)
    stage.add_job("y", owners={"e1": (0,)}, cron=NEVER, after=("x",))
    paths: list[str] = []
    e1 = actor(stage, "e1")
    e1.client.registry.fault = lambda _, operations: paths.extend(one.path for one in operations)
    e1.step()
    pass_fire(stage, e1)
    e1.step()
    e1.end(index=0)
    e1.end(index=1)
    e1.step()
    assert len(e1.items) == 2
    assert [path for path in paths if "/fires" in path] == []


def test_unreadable_tally_keeps_nothing_from_running(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """Rubbish in the tally is told; the job runs on, and nothing fires after it until it is mended."""
    chain(stage)
    e1, e2 = begin(stage, "e1", "e2")
    stage.write([Put(stage.paths.fires("a"), b"rubbish")])
    for one in (e1, e2):
        one.end()
        one.step()
    assert not stage.has_marker(1, "a")
    assert commands(stage).triggers == ()
    assert any(getattr(one, "event", "") is Event.RECORD_CORRUPT for one in caplog.records)
    stage.write([Delete(stage.paths.fires("a"))])
    pass_fire(stage, e1, e2)
    for _ in range(2):
        e1.step()
        e2.step()
    for one in (e1, e2):
        one.end()
        one.step()
    assert len(commands(stage).triggers) == 1


def test_tally_in_a_namespace_of_an_earlier_release_makes_its_own_place(stage: Stage) -> None:
    """Where the node above the tallies is not there, it is made, and the claim is tried again."""
    stage.write([Delete(stage.paths.under("fires"))])
    chain(stage)
    e1, e2 = begin(stage, "e1", "e2")
    stage.clock.advance(1.5)
    for one in (e1, e2):
        one.client.lease.beat()
        one.step()
        one.end()
        one.step()
    assert len(commands(stage).triggers) == 1


def test_fire_of_very_many_items_is_counted_whole(stage: Stage) -> None:
    """Claims and ends of more items than one transaction takes are counted piece by piece."""
    count = 2 * CLAIM_CHUNK + 1
    stage.add_job("a", items=count, owners={"e1": tuple(range(count))})
    stage.add_job("b", owners={"e1": (0,)}, cron=NEVER, after=("a",))
    e1 = actor(stage, "e1", slots=1000)
    e1.step()
    pass_fire(stage, e1)
    e1.step(5)
    assert len(e1.items) == count
    for index in range(count):
        e1.end(index=index)
    e1.step(8)
    assert len(commands(stage).triggers) == 1


def test_trigger_of_chosen_items_is_followed_by_nothing(stage: Stage) -> None:
    """Only a trigger for all items is a fire of the job."""
    stage.add_job("b", owners={"e1": (0,)}, cron=NEVER, after=("a",))
    config = stage.add_job("a", items=2, owners={"e1": (0, 1)}, cron=NEVER)
    now = stage.clock.now()
    triggers = (Trigger(number=1, at=now, items=2, only=(1,)), Trigger(number=2, at=now, items=2))
    e1 = actor(stage, "e1")
    e1.step()
    stage.write([Create(stage.paths.commands("a"), encode_commands(Commands(uid=config.uid, triggers=triggers[:1])))])
    e1.step()
    e1.end()
    e1.step()
    assert (jobs_run(e1), stage.people.get(stage.paths.fires("a"))) == (["a"], None)
    stage.write([Put(stage.paths.commands("a"), encode_commands(Commands(uid=config.uid, triggers=triggers)))])
    e1.step()
    e1.end(index=1)
    e1.end(index=2)
    e1.step()
    (followed,) = commands(stage).triggers
    assert followed.upstream[0].trigger == 2


def test_circle_written_by_hand_fires_nothing(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """Jobs that wait for each other, which no command lets through, do not fire for ever."""
    stage.add_job("a", owners={"e1": (0,)}, after=("b",))
    stage.add_job("b", owners={"e1": (0,)}, cron=NEVER, after=("a",))
    (e1,) = begin(stage, "e1")
    e1.end()
    e1.step()
    assert commands(stage).triggers == ()
    assert any("wait for each other" in one.getMessage() for one in caplog.records)
