"""Saving under a claim: who may, what is refused, and what is told when answers are lost."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from shardsched.coordination.checkpoint import RunCheckpoint
from shardsched.coordination.ledger import Ending
from shardsched.core.checkpoint import decode_checkpoint
from shardsched.core.decision import Release
from shardsched.core.fire import ItemState
from shardsched.errors import CheckpointError, RegistryUnavailableError, SessionLostError, StaleTokenError
from shardsched.registry.base import ANY_VERSION, Committed, Create, Delete, Put
from tests.coordination.stage import NOON, Client, Stage, lose_reply
from tests.coordination.test_ledger import FIRE, assign, claim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shardsched.coordination.ledger import Claimed
    from shardsched.core.checkpoint import Checkpoint
    from shardsched.core.job import JobConfig
    from shardsched.registry.base import Operation


@pytest.fixture
def config(stage: Stage) -> JobConfig:
    """A job of two items, both of e1."""
    return stage.add_job(items=2, owners={"e1": (0, 1)})


@pytest.fixture
def e1(stage: Stage, config: JobConfig) -> Client:
    """The items' owner."""
    return stage.client("e1")


@pytest.fixture
def claimed(e1: Client) -> Claimed:
    """A run of item 0 by e1."""
    return claim(e1, e1.entry(), 0)[1][0]


@pytest.fixture
def run(stage: Stage, e1: Client, claimed: Claimed) -> RunCheckpoint:
    """Its checkpoint."""
    return opened(stage, e1, claimed)


def opened(stage: Stage, client: Client, claimed: Claimed, closing: threading.Event | None = None) -> RunCheckpoint:
    """Return the checkpoint of a claimed run."""
    closing = closing or threading.Event()
    return RunCheckpoint(client.registry, stage.paths, client.lease, stage.clock, closing, claimed)


def stored(stage: Stage) -> Checkpoint | None:
    """Return what is stored of item 0."""
    node = stage.people.get(stage.paths.checkpoint("j", 0))
    return None if node is None else decode_checkpoint(node.path, node.value)


def again(stage: Stage, client: Client, run_id: str = "again") -> RunCheckpoint:
    """Claim item 0 anew and return the new run's checkpoint."""
    entry = client.entry()
    view = client.book.look_up(entry, 0)
    return opened(stage, client, claim(client, entry, 0, view=view, run_id=run_id)[1][0])


def take_over(stage: Stage, config: JobConfig) -> RunCheckpoint:
    """Have all sessions end, and a new executor claim item 0."""
    stage.expire()
    e2 = stage.client("e2")
    assign(stage, config, "e2")
    assert not stage.has_marker()
    return again(stage, e2)


def test_save_is_stored_with_its_claim(stage: Stage, run: RunCheckpoint, claimed: Claimed, config: JobConfig) -> None:
    """The record says which run saved what, when, and under which token."""
    assert run.load() is None
    run.save(2, '{"page":3}')
    checkpoint = stored(stage)
    assert checkpoint is not None
    assert (checkpoint.uid, checkpoint.token, checkpoint.run) == (config.uid, claimed.cursor.token, "r0")
    assert (checkpoint.number, checkpoint.fire, checkpoint.saved_at) == (2, FIRE, stage.clock.now())
    assert run.load() == checkpoint.state == '{"page":3}'


def test_first_save_makes_the_nodes_above(stage: Stage, run: RunCheckpoint) -> None:
    """A namespace of an earlier release, and a job that never saved, have none."""
    stage.write([Delete(stage.paths.under("checkpoints"))])
    run.save(1, "1")
    run.save(2, "2")
    assert run.load() == "2"


def test_run_after_the_next_claim_is_refused(stage: Stage, config: JobConfig, run: RunCheckpoint) -> None:
    """Whoever was taken over saves nothing any more, and what the new run saved stands."""
    run.save(1, '"old"')
    other = take_over(stage, config)
    assert other.load() == '"old"'
    other.save(2, '"new"')
    with pytest.raises(StaleTokenError, match="run out; end this run"):
        run.save(2, '"late"')
    assert other.load() == '"new"'


def test_run_of_the_same_session_is_refused_after_the_next_claim(
    stage: Stage, e1: Client, claimed: Claimed, run: RunCheckpoint
) -> None:
    """Given back and claimed anew by the same executor, the item belongs to the new run alone."""
    view = e1.book.look_up(e1.entry(), 0)
    assert isinstance(e1.ledger.release("j", Release(item=0, is_final=False), view, NOON).result(), Committed)
    run.save(1, '"given back, not claimed yet"')
    other = again(stage, e1)
    with pytest.raises(StaleTokenError, match="claimed by another run"):
        run.save(2, '"late"')
    assert other.load() == '"given back, not claimed yet"'


def test_run_that_has_its_outcome_is_refused(e1: Client, claimed: Claimed, run: RunCheckpoint) -> None:
    """Once the outcome is written, a thread that the handler left behind saves nothing."""
    ending = Ending(claimed=claimed, state=ItemState.DONE, message="", ended_at=NOON)
    assert isinstance(e1.ledger.complete([ending]).result(), Committed)
    with pytest.raises(StaleTokenError, match="outcome"):
        run.save(1, "1")


def test_run_without_its_fence_is_refused(stage: Stage, e1: Client, run: RunCheckpoint) -> None:
    """Whatever its executor still believes, the registry refuses."""
    run.save(1, "1")
    stage.write([Delete(stage.paths.session(e1.lease.incarnation))])
    with pytest.raises(StaleTokenError, match="session"):
        run.save(2, "2")
    assert run.load() == "1"


def test_run_without_its_session_is_refused(e1: Client, run: RunCheckpoint) -> None:
    """After a loss nothing is sent, also when another session was joined."""
    e1.lease.lose()
    with pytest.raises(StaleTokenError, match="session"):
        run.save(1, "1")
    e1.membership.join(patience_s=0.0)
    with pytest.raises(StaleTokenError, match="session"):
        run.save(1, "1")


@pytest.mark.parametrize(("moment", "count"), [("reply", 1), ("request", 1), ("reply", 3), ("request", 3)])
def test_save_whose_answer_is_lost_is_looked_up(
    stage: Stage, e1: Client, run: RunCheckpoint, moment: str, count: int
) -> None:
    """Done or not, it is done once in the end, and the next one too."""
    run.save(1, "1")
    lose_reply(e1.registry, count, moment)
    run.save(2, "2")
    node = stage.people.get(stage.paths.checkpoint("j", 0))
    assert node is not None
    assert (node.version, run.load()) == (1, "2")
    run.save(3, "3")
    assert run.load() == "3"


def test_save_that_arrives_late_cannot_undo_a_later_one(stage: Stage, e1: Client, run: RunCheckpoint) -> None:
    """A write that was lost on its way and sent again is refused when it comes after all."""
    late: list[Sequence[Operation]] = []

    def fault(moment: str, operations: Sequence[Operation]) -> None:
        if moment == "request" and operations and not late:
            late.append(operations)
            raise RegistryUnavailableError("no answer")

    run.save(1, "1")
    e1.registry.fault = fault
    run.save(2, "2")
    run.save(3, "3")
    assert not isinstance(e1.registry.transact(late[0]), Committed)
    assert run.load() == "3"


@pytest.mark.parametrize("is_sent", [True, False])
def test_save_without_answer_until_the_lease_ends_says_what_is_known(
    stage: Stage, e1: Client, run: RunCheckpoint, *, is_sent: bool
) -> None:
    """If it was sent, it may have been saved; if it could not even be prepared, it was not."""
    if is_sent:
        run.load()

    def fault(_moment: str, _operations: Sequence[Operation]) -> None:
        stage.clock.advance(60.0)
        raise RegistryUnavailableError("no answer")

    e1.registry.fault = fault
    with pytest.raises(CheckpointError if is_sent else StaleTokenError, match="lease") as caught:
        run.save(2, "2")
    assert ("may have been saved or not" in str(caught.value)) is is_sent


def test_save_whose_session_ends_meanwhile_may_have_been_done(e1: Client, run: RunCheckpoint) -> None:
    """What was sent when the session ended is not called refused."""
    run.load()

    def fault(_moment: str, _operations: Sequence[Operation]) -> None:
        raise SessionLostError("over")

    e1.registry.fault = fault
    with pytest.raises(CheckpointError, match="may have been saved or not"):
        run.save(2, "2")


def test_closing_ends_a_wait(stage: Stage, e1: Client, claimed: Claimed) -> None:
    """An executor that stops does not wait for the registry."""
    closing = threading.Event()
    run = opened(stage, e1, claimed, closing)
    lose_reply(e1.registry, 1_000_000, "request")
    run.load()
    closing.set()
    with pytest.raises(StaleTokenError, match="closing"):
        run.save(1, "1")


def test_reset_in_the_middle_of_a_run_is_survived(stage: Stage, run: RunCheckpoint) -> None:
    """A checkpoint cleared by people is made anew by the run's next save."""
    run.save(1, "1")
    stage.write([Delete(stage.paths.checkpoint("j", 0))])
    assert run.load() is None
    run.save(2, "2")
    stage.write([Delete(stage.paths.checkpoint("j", 0))])
    run.save(3, "3")
    assert run.load() == "3"


def test_checkpoint_of_an_earlier_job_of_the_name_counts_as_absent(
    stage: Stage, config: JobConfig, run: RunCheckpoint
) -> None:
    """It is not loaded, and a save takes its place."""
    run.save(1, "1")
    node = stage.people.get(stage.paths.checkpoint("j", 0))
    assert node is not None
    stage.write([Put(node.path, node.value.replace(config.uid.encode(), b"earlier"), ANY_VERSION)])
    assert run.load() is None
    run.save(2, "2")
    assert run.load() == "2"


@pytest.mark.parametrize("value", [b"\xff", b"{}", b'{"format":2}', b'{"format":1,"state":"{"}'])
def test_checkpoint_that_cannot_be_read_names_its_cure(stage: Stage, run: RunCheckpoint, value: bytes) -> None:
    """A hand-written one is never guessed at, and does not keep a run from saving."""
    stage.write([Create(stage.paths.checkpoints("j")), Create(stage.paths.checkpoint("j", 0), value)])
    with pytest.raises(CheckpointError, match="shardsched job reset j --items 0"):
        run.load()
    run.save(2, "2")
    assert run.load() == "2"


def test_none_clears(stage: Stage, e1: Client, run: RunCheckpoint) -> None:
    """What was cleared is nothing to load, by this run and the next."""
    run.save(1, "1")
    run.save(2, None)
    assert run.load() is None
    checkpoint = stored(stage)
    assert checkpoint is not None
    assert checkpoint.state is None


def test_two_runs_share_nothing(stage: Stage, e1: Client) -> None:
    """Each item has its own."""
    claims = claim(e1, e1.entry(), 0, 1)[1]
    first, second = (opened(stage, e1, one) for one in claims)
    first.save(1, '"a"')
    second.save(1, '"b"')
    assert (first.load(), second.load()) == ('"a"', '"b"')
