"""One leader for the namespace, for one epoch."""

from __future__ import annotations

import pytest

from shardsched.coordination.election import Term
from shardsched.errors import RegistryUnavailableError
from shardsched.leader import Leader
from shardsched.registry.base import Committed, Create, Delete, Refused
from tests.coordination.stage import Client, Stage, lose_reply


def leader_of(stage: Stage, client: Client) -> Leader:
    """Return the leader's work of a client."""
    from shardsched.coordination.assignment import Leadership

    return Leader(
        clock=stage.clock,
        lease=client.lease,
        mirror=client.mirror,
        election=client.election,
        leadership=Leadership(client.registry, stage.paths, client.lease, client.election),
    )


def test_election_has_one_winner_an_epoch(stage: Stage) -> None:
    """Of several that stand, one leads; the next leader has the next epoch."""
    first, second = stage.client("e1"), stage.client("e2")
    assert first.election.stand() == Term(epoch=1, incarnation=first.lease.incarnation)
    assert second.election.stand() is None
    assert first.election.stand() == first.election.term
    first.election.step_down()
    assert first.election.term is None
    term = second.election.stand()
    assert term is not None
    assert term.epoch == 2


def test_election_after_the_leader_expired(stage: Stage) -> None:
    """When the leader's session is over another leads, and the old one's writes are refused."""
    first, second = stage.client("e1"), stage.client("e2")
    first.election.stand()
    fence = first.lease.fence()
    stage.expire(second)
    assert second.election.stand() is not None
    term = first.election.term
    assert term is not None
    outcome = first.registry.transact([fence, first.election.check(term), Create("/x")])
    assert isinstance(outcome, Refused)


def test_election_epoch_refuses_a_deposed_leader_whose_session_lives(stage: Stage) -> None:
    """A leader whose node was deleted by hand cannot write once another leads, though its fence stands."""
    first, second = stage.client("e1"), stage.client("e2")
    first.election.stand()
    stage.write([Delete(stage.paths.leader)])
    assert second.election.stand() is not None
    term = first.election.term
    assert term is not None
    outcome = first.registry.transact([first.lease.fence(), first.election.check(term), Create("/x")])
    assert isinstance(outcome, Refused)
    assert outcome.index == 1


@pytest.mark.parametrize("moment", ["request", "reply"])
def test_election_without_an_answer_recovers(stage: Stage, moment: str) -> None:
    """Standing whose answer was lost leads to one leader that knows of it, whether it was done or not."""
    client = stage.client()
    lose_reply(client.registry, moment=moment)
    with pytest.raises(RegistryUnavailableError):
        client.election.stand()
    assert client.election.term is None
    term = client.election.stand()
    assert term == Term(epoch=1, incarnation=client.lease.incarnation)


def test_leader_whose_answer_was_lost_stands_again(stage: Stage) -> None:
    """A leader's node of our own without a term makes us stand again: otherwise nobody would ever lead."""
    client = stage.client()
    leader = leader_of(stage, client)
    lose_reply(client.registry)
    leader.step()
    client.registry.pump()
    assert client.election.term is None
    leader.step()
    assert client.election.term is not None


def test_leader_of_a_session_that_outlived_its_place_is_replaced(stage: Stage) -> None:
    """A leader's node left of an earlier fence of this very session is removed, and the lead taken anew."""
    client = stage.client()
    leader = leader_of(stage, client)
    leader.step()
    client.lease.lose()
    client.membership.join(patience_s=0.0)
    for _ in range(3):
        client.registry.pump()
        leader.step()
    term = client.election.term
    assert term is not None
    assert (term.epoch, term.incarnation) == (2, client.lease.incarnation)


def test_leader_whose_node_was_deleted_by_hand_leads_anew(stage: Stage) -> None:
    """A leader that is alone takes the lead again, visibly and with another epoch, when its node was deleted."""
    client = stage.client()
    leader = leader_of(stage, client)
    for _ in range(2):
        leader.step()
        client.registry.pump()
    stage.write([Delete(stage.paths.leader)])
    client.registry.pump()
    leader.step()
    term = client.election.term
    assert term is not None
    assert term.epoch == 2
    assert stage.people.get(stage.paths.leader) is not None


def test_leader_that_lost_its_session_leads_no_longer(stage: Stage) -> None:
    """A term ends with the session it was won in, before anybody says so."""
    client = stage.client()
    client.election.stand()
    client.lease.lose()
    assert client.election.term is None


def test_election_without_a_place_is_not_won(stage: Stage) -> None:
    """Who has not joined does not lead."""
    client = stage.client(is_joined=False)
    assert client.election.stand() is None


def test_step_down_frees_the_lead_at_once(stage: Stage) -> None:
    """A clean stop deletes the leader's node; stepping down without leading does nothing."""
    first, second = stage.client("e1"), stage.client("e2")
    first.election.stand()
    second.election.step_down()
    assert stage.people.get(stage.paths.leader) is not None
    first.election.step_down()
    assert stage.people.get(stage.paths.leader) is None
    assert isinstance(stage.people.transact([Create("/y")]), Committed)
