"""The lease: its arithmetic, its table of standings, and what ends it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.coordination.session import (
    HEARTBEATS_PER_TIMEOUT,
    TRANSITIONS,
    Lease,
    Standing,
    Turn,
    lease_margin_s,
    stand,
)
from shardsched.errors import RegistryUnavailableError, SessionLostError
from shardsched.registry.base import Delete, Refusal, Refused
from tests.coordination.stage import TICK_S, TIMEOUT_S, Stage, lose_reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shardsched.registry.base import Operation

MARGIN_S = 2.25
"""For T = 10 s and a tick of 2 s."""


def may_start(lease: Lease) -> bool:
    """Whether something new may be started."""
    return lease.is_confirmed


def test_margin_is_a_heartbeat_half_a_tick_and_the_rate() -> None:
    """The lease ends a heartbeat's interval, half a tick and a quarter of a second before the time-out."""
    assert lease_margin_s(TIMEOUT_S, TICK_S) == pytest.approx(1.0 + 1.0 + 0.25)
    assert lease_margin_s(4.0, 0.5) == pytest.approx(0.4 + 0.25 + 0.25)


@pytest.mark.parametrize(("standing", "turn"), list(itertools.product(Standing, Turn)))
def test_standing_every_pair_is_decided(standing: Standing, turn: Turn) -> None:
    """Every turn in every standing leads somewhere, but for joining while a session stands."""
    is_mistake = turn is Turn.JOINED and standing in {Standing.ACTIVE, Standing.SUSPENDED}
    assert ((standing, turn) in TRANSITIONS) is not is_mistake
    if is_mistake:
        with pytest.raises(RuntimeError, match="cannot be joined"):
            stand(standing, turn)
    else:
        assert isinstance(stand(standing, turn), Standing)


@given(st.lists(st.sampled_from(Turn)))
def test_standing_lost_is_left_only_by_joining_or_leaving(turns: list[Turn]) -> None:
    """After a loss nothing but joining anew makes a session active."""
    standing = Standing.LOST
    for turn in turns:
        if turn in {Turn.JOINED, Turn.LEAVE}:
            break
        standing = stand(standing, turn)
    assert standing is Standing.LOST


def test_lease_after_joining_lasts_from_the_sending(stage: Stage) -> None:
    """The lease counts from when the joining transaction was sent, less the margin."""
    began = stage.clock.boot()
    lease = stage.client().lease
    assert (lease.standing, lease.is_confirmed) == (Standing.ACTIVE, True)
    assert lease.alive_until == pytest.approx(began + TIMEOUT_S - MARGIN_S)
    assert lease.soft_until == pytest.approx(lease.alive_until - 2.0)
    assert lease.interval_s == pytest.approx(TIMEOUT_S / HEARTBEATS_PER_TIMEOUT)


def test_lease_is_extended_by_an_answered_heartbeat(stage: Stage) -> None:
    """An answered heartbeat extends the lease from when it was sent."""
    lease = stage.client().lease
    stage.clock.advance(3.0)
    lease.beat()
    assert lease.alive_until == pytest.approx(stage.clock.boot() + TIMEOUT_S - MARGIN_S)


@pytest.mark.parametrize("moment", ["request", "reply"])
def test_lease_without_an_answer_is_not_extended(stage: Stage, moment: str) -> None:
    """A heartbeat whose answer is lost proves nothing, whether it arrived or not, and the next one is sent."""
    client = stage.client()
    before = client.lease.alive_until
    stage.clock.advance(3.0)
    lose_reply(client.registry, moment=moment)
    client.lease.beat()
    assert client.lease.alive_until == before
    client.lease.beat()
    assert client.lease.alive_until == pytest.approx(before + 3.0)


def test_lease_that_ran_out_confirms_nothing(stage: Stage) -> None:
    """Nothing may start once items are asked to stop, though nobody told us that the session is over."""
    lease = stage.client().lease
    stage.clock.advance(TIMEOUT_S - MARGIN_S - 2.0 - 0.01)
    assert may_start(lease)
    stage.clock.advance(0.02)
    assert not may_start(lease)
    assert lease.standing == "active"
    lease.beat()
    assert may_start(lease)


def test_lease_suspended_confirms_nothing_until_an_answer(stage: Stage) -> None:
    """While no answers come nothing starts; an answered heartbeat, or a connection in the same session, ends that."""
    client = stage.client()
    client.lease.suspend()
    assert not may_start(client.lease)
    client.lease.beat()
    assert may_start(client.lease)
    client.lease.suspend()
    client.lease.resume()
    assert may_start(client.lease)


def test_lease_is_lost_when_the_fence_is_gone(stage: Stage) -> None:
    """A heartbeat refused at the fence ends the session: everything claimed under it is void."""
    client = stage.client()
    stage.write([Delete(stage.paths.session(client.lease.incarnation))])
    client.lease.beat()
    assert (client.lease.standing, client.lease.incarnation) == (Standing.LOST, "")
    assert client.turns[-1] == Standing.LOST
    with pytest.raises(SessionLostError, match="joins again"):
        client.lease.fence()


def test_lease_is_lost_with_the_registry_session(stage: Stage) -> None:
    """A heartbeat of a session that expired ends the lease, before anybody reports the loss."""
    client = stage.client()
    incarnation = client.lease.incarnation
    stage.expire()
    assert stage.people.get(stage.paths.session(incarnation)) is None
    client.lease.beat()
    assert client.lease.standing == "lost"


def test_lease_lost_twice_tells_once(stage: Stage) -> None:
    """Whoever is told of a loss is told once."""
    client = stage.client()
    client.lease.lose()
    client.lease.lose()
    assert client.turns.count(Standing.LOST) == 1


def test_lease_ignores_the_loss_of_an_earlier_session(stage: Stage) -> None:
    """A refusal met under an earlier fence, told late by another thread, does not end the present session."""
    client = stage.client()
    old = client.lease.fence()
    client.lease.lose()
    client.membership.join(patience_s=0.0)
    assert client.lease.fenced_off(Refused(0, old, Refusal.NO_NODE))
    client.lease.lose(old.path.rpartition("/")[2])
    assert client.lease.standing == "active"
    assert not client.lease.fenced_off(Refused(1, old, Refusal.NO_NODE))
    assert client.lease.fenced_off(Refused(0, client.lease.fence(), Refusal.NO_NODE))
    assert client.lease.standing == "lost"


def test_lease_told_late_of_a_session_that_ended_stands(stage: Stage) -> None:
    """The registry's report of a loss, later than joining in the next session, is old news."""
    client = stage.client()
    client.lease.session_ended()
    assert client.lease.standing == "active"
    stage.expire()
    client.lease.session_ended()
    assert client.lease.standing == "lost"
    client.membership.join(patience_s=0.0)
    client.lease.session_ended()
    assert client.lease.standing == "active"


def test_heartbeat_is_sent_without_the_lock(stage: Stage) -> None:
    """A loss that is told while a heartbeat is on its way neither waits for it nor is undone by its answer."""
    client = stage.client()
    incarnation = client.lease.incarnation

    def fault(moment: str, operations: Sequence[Operation]) -> None:
        if moment == "request" and operations:
            client.registry.fault = None
            client.lease.lose(incarnation)

    client.registry.fault = fault
    client.lease.beat()
    assert (client.lease.standing, client.lease.alive_until) == (Standing.LOST, 0.0)


def test_session_that_only_unanswered_requests_keep_is_given_up_after_t(stage: Stage) -> None:
    """Not before T has passed since the last proof was sent, as no registry would; then another session is joined."""
    client = stage.client()
    incarnation, session_id = client.lease.incarnation, client.registry.session_id
    fence = stage.paths.session(incarnation)
    began = stage.clock.boot()
    lose_reply(client.registry, 1000)
    while stage.clock.boot() < began + TIMEOUT_S - 0.01:
        client.lease.beat()
        stage.store.expire_sessions()
        assert stage.people.get(fence) is not None
        assert client.registry.session_id == session_id
        stage.clock.advance(0.5)
        stage.people.get("/")
    client.lease.beat()
    assert stage.people.get(fence) is None
    assert client.registry.session_id != session_id
    client.registry.fault = None
    client.lease.beat()
    assert client.lease.standing == "lost"
    client.membership.join(patience_s=0.0)
    assert client.lease.is_confirmed


def test_session_whose_requests_are_answered_again_is_kept(stage: Stage) -> None:
    """A lease that ran out while the registry gave more time goes on with the next answer, in the same session."""
    client = stage.client()
    session_id = client.registry.session_id
    stage.clock.advance(TIMEOUT_S + 1.0)
    assert not may_start(client.lease)
    client.lease.beat()
    assert may_start(client.lease)
    assert client.registry.session_id == session_id


def test_heartbeat_before_joining_is_none(stage: Stage) -> None:
    """Without a session there is nothing to prove."""
    lease = Lease(stage.people, stage.paths, stage.clock, lambda _: None)
    lease.beat()
    lease.suspend()
    lease.lose()
    assert (lease.standing, lease.is_confirmed) == (Standing.ABSENT, False)


def test_lease_joined_twice_is_a_mistake(stage: Stage) -> None:
    """Joining while a session stands is refused, and the session stands."""
    lease = stage.client().lease
    incarnation = lease.incarnation
    with pytest.raises(RuntimeError):
        lease.join("other", 0.0, "session")
    assert lease.incarnation == incarnation


def test_fence_refuses_a_zombie(stage: Stage) -> None:
    """A write that begins with the fence of a session that is over is refused, whatever session it is sent under."""
    client = stage.client()
    fence = client.lease.fence()
    stage.expire()
    outcome = client.registry.transact([fence, Delete(stage.paths.epoch)])
    assert isinstance(outcome, Refused)
    assert outcome.index == 0


def test_fault_of_a_reply_is_unknown(stage: Stage) -> None:
    """The stage's own lost replies are what they say: the write is done, and the writer is not told."""
    client = stage.client()
    lose_reply(client.registry)
    with pytest.raises(RegistryUnavailableError):
        client.registry.transact([client.lease.fence(), Delete(stage.paths.epoch)])
    assert stage.people.get(stage.paths.epoch) is None
