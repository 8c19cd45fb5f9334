"""Fire listeners are called once for each start and end of a fire, by the loops of several executors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from shardsched.core.tally import FireCall, FireOutcome, PendingCall, Tally
from shardsched.core.tally_record import decode_tally, encode_tally
from shardsched.loop.calls import MAX_CALLS
from shardsched.loop.message import CallEnded
from shardsched.registry.base import Put
from tests.coordination.stage import Stage, lose_reply
from tests.loop.actor import Actor, actor, pass_fire

if TYPE_CHECKING:
    from shardsched.core.job import JobConfig


def tally(stage: Stage, job: str = "a") -> Tally:
    """Return a job's tally."""
    node = stage.people.get(stage.paths.fires(job))
    assert node is not None
    return decode_tally(node.path, node.value)


def called(one: Actor) -> list[FireCall]:
    """Return what an executor has called."""
    return [call.call for _, call, _ in one.body.called]


def end_call(one: Actor, index: int = -1, *, is_returned: bool = True) -> None:
    """Have a call end."""
    one.loop.post(CallEnded(call_id=one.body.called[index][0], is_returned=is_returned))


@pytest.fixture
def config(stage: Stage) -> JobConfig:
    """A job of two items, one on each of two executors."""
    return stage.add_job("a", items=2, owners={"e1": (0,), "e2": (1,)})


@pytest.fixture
def actors(stage: Stage, config: JobConfig) -> tuple[Actor, Actor]:
    """Two executors that have claimed the job's fire; its handler has fire listeners."""
    pair = actor(stage, "e1", listening=("h",)), actor(stage, "e2", listening=("h",))
    for one in pair:
        one.step()
    pass_fire(stage, *pair)
    for one in pair:
        one.step()
    return pair


def test_start_and_end_of_a_fire_are_called_once_each(stage: Stage, actors: tuple[Actor, Actor]) -> None:
    """Whoever opened the fire tells its start, and whoever completed it its end; both go when they have returned."""
    e1, e2 = actors
    assert (called(e1), called(e2)) == ([FireCall.STARTED], [])
    end_call(e1)
    e1.step()
    assert tally(stage).pending == ()
    for one in actors:
        one.end()
        one.step()
    assert (called(e1), called(e2)) == ([FireCall.STARTED], [FireCall.COMPLETED])
    assert e2.body.called[0][1].outcome is FireOutcome.SUCCESS
    assert e2.loop.unaccounted_count == 1
    end_call(e2)
    e2.step()
    assert (tally(stage).pending, e2.loop.unaccounted_count) == ((), 0)


def test_end_of_a_short_fire_is_told_after_its_start_has_returned(stage: Stage, actors: tuple[Actor, Actor]) -> None:
    """The end waits for the start, and the same executor tells both."""
    e1, e2 = actors
    for one in actors:
        one.end()
        one.step()
    assert (called(e1), called(e2)) == ([FireCall.STARTED], [])
    end_call(e1)
    e1.step()
    assert (called(e1), called(e2)) == ([FireCall.STARTED, FireCall.COMPLETED], [])


def test_call_of_a_dead_executor_is_made_by_another(stage: Stage, actors: tuple[Actor, Actor]) -> None:
    """What had not returned when its executor died is called once more, and only then."""
    e1, e2 = actors
    stage.expire(e2.client)
    e2.client.lease.beat()
    e2.step()
    assert called(e2) == [FireCall.STARTED]
    end_call(e2)
    e2.step()
    assert FireCall.STARTED not in [call.call for call in tally(stage).pending]
    assert called(e1) == [FireCall.STARTED]


def test_call_of_an_executor_that_lives_unseen_is_left_to_it(stage: Stage, config: JobConfig) -> None:
    """A record that the mirror does not know yet is no sign of death: its fence says that it lives."""
    e1 = actor(stage, "e1", listening=("h",))
    e1.step()
    pass_fire(stage, e1)
    e1.step()
    hidden = stage.client("hidden")
    (start,) = tally(stage).pending
    given = replace(tally(stage), pending=(replace(start, by=hidden.lease.incarnation),))
    stage.write([Put(stage.paths.fires("a"), encode_tally(given))])
    e2 = actor(stage, "e2", listening=("h",))
    e2.client.mirror._executors.pop("hidden")
    e2.step()
    assert called(e2) == []


@pytest.mark.parametrize("moment", ["request", "reply"])
def test_returned_call_whose_writing_got_no_answer_is_not_made_again(
    stage: Stage, actors: tuple[Actor, Actor], moment: str
) -> None:
    """It is taken out of the tally as soon as the registry answers."""
    e1, _ = actors
    end_call(e1)
    lose_reply(e1.client.registry, moment=moment)
    e1.step(1)
    stage.clock.advance(1.5)
    e1.step()
    assert tally(stage).pending == ()
    assert called(e1) == [FireCall.STARTED]


def test_interrupted_call_is_made_again_after_a_while(stage: Stage, actors: tuple[Actor, Actor]) -> None:
    """A call whose supervisor was lost is made again, but not without end at one moment."""
    e1, _ = actors
    end_call(e1, is_returned=False)
    e1.step()
    assert called(e1) == [FireCall.STARTED]
    stage.clock.advance(1.5)
    e1.step()
    assert called(e1) == [FireCall.STARTED, FireCall.STARTED]


def test_calls_at_once_are_bounded(stage: Stage, actors: tuple[Actor, Actor]) -> None:
    """They take no slots, so that they are bounded by themselves; the rest follow as others return."""
    e1, _ = actors
    (start,) = tally(stage).pending
    starts = tuple(replace(start, key=replace(start.key, trigger=number)) for number in range(1, MAX_CALLS + 3))
    stage.write([Put(stage.paths.fires("a"), encode_tally(replace(tally(stage), pending=(start, *starts))))])
    end_call(e1)
    e1.step()
    assert len(e1.body.called) == 1 + MAX_CALLS
    end_call(e1)
    e1.step()
    assert len(e1.body.called) == 2 + MAX_CALLS


def test_executor_without_the_listeners_gives_calls_to_one_that_has_them(stage: Stage, config: JobConfig) -> None:
    """In a fleet of mixed code, whoever has the listeners takes the call when it next writes the tally."""
    e1, e2 = actor(stage, "e1"), actor(stage, "e2", listening=("h",))
    e1.step()
    pass_fire(stage, e1, e2)
    e1.step()
    assert [call.by for call in tally(stage).pending] == [""]
    e2.step()
    e2.end()
    e2.step()
    assert (called(e1), called(e2)) == ([], [FireCall.STARTED])


def test_listeners_of_a_single_executor_are_called_after_its_restart(stage: Stage) -> None:
    """Nobody else was there to see it die: it looks for what is left when it joins."""
    stage.add_job("a", owners={"e1": (0,)})
    e1 = actor(stage, "e1", listening=("h",))
    e1.step()
    pass_fire(stage, e1)
    e1.step()
    assert called(e1) == [FireCall.STARTED]
    stage.expire()
    again = actor(stage, "e1", listening=("h",))
    again.step()
    calls: list[PendingCall] = [call for _, call, _ in again.body.called]
    assert [call.call for call in calls] == [FireCall.STARTED]
