"""Keeping the session: heartbeats, joining again after a loss, and an eye on the wall clock."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from shardsched.core.executor import decode_executor
from shardsched.errors import RegistryUnavailableError
from shardsched.keeper import REJOIN_S, Keeper
from shardsched.registry.base import Delete
from tests.coordination.stage import Client, Stage, lose_reply


@dataclass
class Told:
    """What the keeper told."""

    rejoined: list[str] = field(default_factory=list)
    stepped: list[str] = field(default_factory=list)


@pytest.fixture
def told() -> Told:
    """What the keeper told."""
    return Told()


@pytest.fixture
def client(stage: Stage) -> Client:
    """An executor that has joined."""
    return stage.client()


@pytest.fixture
def keeper(stage: Stage, client: Client, told: Told) -> Keeper:
    """Its keeper."""
    return Keeper(
        clock=stage.clock,
        lease=client.lease,
        membership=client.membership,
        on_rejoined=lambda: told.rejoined.append(client.lease.incarnation),
        on_clock_step=lambda: told.stepped.append("step"),
    )


def test_keeper_keeps_the_lease(stage: Stage, client: Client, keeper: Keeper) -> None:
    """Stepping as often as it asks keeps the session alive for good."""
    for _ in range(50):
        stage.clock.advance(keeper.step())
        stage.people.get("/")
        assert stage.store.expire_sessions() == 0
        assert client.lease.is_confirmed


@pytest.mark.parametrize(("seconds", "is_step"), [(-3600.0, True), (2.0, True), (1.9, False), (-1.9, False)])
def test_keeper_tells_of_a_step_once(
    stage: Stage, keeper: Keeper, told: Told, seconds: float, *, is_step: bool
) -> None:
    """A wall clock that moved against the boot clock by two seconds was stepped; time that passes is no step."""
    keeper.step()
    stage.clock.step_wall(seconds)
    for _ in range(3):
        stage.clock.advance(1.0)
        keeper.step()
    assert len(told.stepped) == is_step


def test_keeper_joins_again_after_a_loss(stage: Stage, client: Client, keeper: Keeper, told: Told) -> None:
    """After a loss it joins under a new fence and says so, and the heartbeats go on."""
    first = client.lease.incarnation
    stage.expire()
    keeper.step()
    assert client.lease.incarnation == ""
    assert keeper.step() == 0.0
    assert told.rejoined == [client.lease.incarnation]
    assert client.lease.incarnation not in {"", first}


def test_keeper_goes_on_trying_to_join(stage: Stage, client: Client, keeper: Keeper, told: Told) -> None:
    """Neither a registry that is away nor a name that somebody took meanwhile ends the executor."""
    client.lease.lose()
    client.registry.disconnect()
    assert keeper.step() == REJOIN_S
    stage.expire()
    other = stage.client(host="other")
    client.registry.reconnect()
    assert keeper.step() == 2 * REJOIN_S
    assert told.rejoined == []
    other.membership.leave()
    assert keeper.step() == 0.0
    assert len(told.rejoined) == 1


def test_keeper_repeats_what_the_fleet_was_not_told(stage: Stage, client: Client, keeper: Keeper) -> None:
    """A record whose writing got no answer is written by one of the next steps."""
    lose_reply(client.registry, moment="request")
    with pytest.raises(RegistryUnavailableError):
        client.membership.update(unfit="its clock is off")
    keeper.step()
    path = stage.paths.executor("e1")
    node = stage.people.get(path)
    assert node is not None
    assert decode_executor(path, "e1", node.value).unfit == "its clock is off"


def test_keeper_notices_a_fence_that_is_gone(stage: Stage, client: Client, keeper: Keeper, told: Told) -> None:
    """A fence deleted by hand costs the session, and the next step takes a new place."""
    stage.write([Delete(stage.paths.session(client.lease.incarnation))])
    keeper.step()
    keeper.step()
    assert len(told.rejoined) == 1
    assert client.lease.is_confirmed
