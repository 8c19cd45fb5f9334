"""Claims, completions and releases: who wins, what is refused, and what happens when an answer is lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.coordination.ledger import CLAIM_CHUNK, Claimed, Ending
from shardsched.core.assignment import Assignment, Layout, encode_assignment
from shardsched.core.decision import Missed, Release, Run, Settle
from shardsched.core.fire import Cause, ItemState, decode_marker
from shardsched.core.view import ItemView
from shardsched.errors import RegistryUnavailableError, SessionLostError
from shardsched.registry.base import Committed, Delete, Outcome, Put, Refusal, Refused
from tests.coordination.stage import NOON, Client, Stage, lose_reply

if TYPE_CHECKING:
    from shardsched.core.job import JobConfig
    from shardsched.core.view import JobEntry

FIRE = NOON + timedelta(seconds=10)


def run_of(item: int = 0, **changes: Any) -> Run:
    """Return a scheduled run."""
    fields: dict[str, Any] = {
        "item": item,
        "cause": Cause.SCHEDULE,
        "run_fire": FIRE,
        "fire": FIRE,
        "trigger": 0,
        "attempt": 1,
        "items": 2,
        "job_param": "all",
        "param": "one",
        "first_cause": Cause.SCHEDULE,
    }
    return Run(**(fields | changes))


def claim(
    client: Client, entry: JobEntry, *items: int, view: ItemView | None = None, run_id: str = "r"
) -> tuple[Outcome, tuple[Claimed, ...]]:
    """Claim items; return the answer and what was claimed."""
    runs = [(run_of(item), view or ItemView(), f"{run_id}{item}") for item in items]
    (attempt,) = client.ledger.claim(entry, runs, FIRE)
    outcome = attempt.future.result()
    return outcome, attempt.won(outcome.versions) if isinstance(outcome, Committed) else ()


@pytest.fixture
def config(stage: Stage) -> JobConfig:
    """A job of two items, both of e1."""
    return stage.add_job(items=2, owners={"e1": (0, 1)}, param="all")


@pytest.fixture
def e1(stage: Stage, config: JobConfig) -> Client:
    """The items' owner."""
    return stage.client("e1")


def assign(stage: Stage, config: JobConfig, owner: str) -> None:
    """Give all items to an executor."""
    assignment = Assignment(uid=config.uid, layouts=(Layout(items=2, config=0),), owners={owner: (0, 1)})
    stage.write([Put(stage.paths.assignment("j"), encode_assignment(assignment))])


def test_claim_writes_markers_and_cursors_together(stage: Stage, e1: Client, config: JobConfig) -> None:
    """A won claim leaves a marker of the session and a cursor in state running, with all that failover needs."""
    outcome, claims = claim(e1, e1.entry(), 0, 1)
    assert isinstance(outcome, Committed)
    assert [claimed.version for claimed in claims] == [0, 0]
    cursor = stage.cursor(1)
    assert cursor is not None
    assert (cursor.uid, cursor.state, cursor.fire, cursor.run) == (config.uid, ItemState.RUNNING, FIRE, "r1")
    assert (cursor.token, cursor.items, cursor.job_param, cursor.param) == (1, 2, "all", "one")
    node = stage.people.get(stage.paths.marker("j", 1))
    assert node is not None
    assert node.owner == e1.registry.session_id
    assert decode_marker(node.path, node.value).incarnation == e1.lease.incarnation


def test_claim_after_a_pause_was_committed_is_refused(stage: Stage, e1: Client, config: JobConfig) -> None:
    """A pause committed before the claim wins, though the claimer has not heard of it."""
    entry = e1.entry()
    stage.edit_job(replace(config, paused=True))
    outcome, _ = claim(e1, entry, 0)
    assert isinstance(outcome, Refused)
    assert (outcome.index, outcome.reason) == (1, Refusal.VERSION)
    assert not stage.has_marker()
    assert stage.cursor() is None


def test_claim_under_an_old_assignment_is_refused(stage: Stage, e1: Client, config: JobConfig) -> None:
    """Who owned the item before cannot start it; the new owner can."""
    entry = e1.entry()
    assign(stage, config, "e2")
    outcome, _ = claim(e1, entry, 0)
    assert isinstance(outcome, Refused)
    assert outcome.index == 2
    e2 = stage.client("e2")
    assert isinstance(claim(e2, e2.entry(), 0)[0], Committed)


def test_claim_without_the_fence_is_refused(stage: Stage, e1: Client) -> None:
    """A session whose fence is gone claims nothing, whatever else stands."""
    stage.write([Delete(stage.paths.session(e1.lease.incarnation))])
    outcome, _ = claim(e1, e1.entry(), 0)
    assert isinstance(outcome, Refused)
    assert outcome.index == 0


def test_claim_without_a_session_is_not_sent(e1: Client) -> None:
    """After a loss nothing is claimed until another session is joined."""
    entry = e1.entry()
    e1.lease.lose()
    with pytest.raises(SessionLostError):
        claim(e1, entry, 0)


def test_claim_race_has_one_winner(stage: Stage, e1: Client) -> None:
    """Two that both believe to own an item cannot both start it, and the loser learns which item it was."""
    entry = e1.entry()
    e2 = stage.client("e2")
    assert isinstance(claim(e1, entry, 1)[0], Committed)
    (attempt,) = e2.ledger.claim(e2.entry(), [(run_of(item), ItemView(), f"x{item}") for item in (0, 1)], FIRE)
    outcome = attempt.future.result()
    assert isinstance(outcome, Refused)
    culprit = attempt.culprit(outcome)
    assert culprit is not None
    assert culprit.item == 1
    assert attempt.culprit(Refused(2, outcome.operation, outcome.reason)) is None
    assert not stage.has_marker(0)


def test_claim_on_an_old_cursor_is_refused(stage: Stage, e1: Client) -> None:
    """A fire that was handled since the cursor was read is not run again."""
    _, claims = claim(e1, e1.entry(), 0)
    end(e1, claims[0])
    outcome, _ = claim(e1, e1.entry(), 0, view=ItemView(cursor=None, cursor_version=0))
    assert isinstance(outcome, Refused)
    assert outcome.index == 4


def test_claim_tokens_grow_above_cursor_and_floor(stage: Stage, e1: Client) -> None:
    """Each claim's token is above the item's last, and above those of cursors that were removed."""
    entry = e1.entry()
    assert entry.assignment is not None
    floored = replace(entry, assignment=replace(entry.assignment, token_floor=7))
    _, claims = claim(e1, floored, 0)
    assert claims[0].cursor.token == 8
    end(e1, claims[0])
    cursor = stage.cursor()
    _, claims = claim(e1, floored, 0, view=ItemView(cursor=cursor, cursor_version=1), run_id="s")
    assert claims[0].cursor.token == 9


def test_claims_of_many_items_are_chunked(stage: Stage) -> None:
    """A claim of very many items goes in bounded transactions, each all or nothing."""
    count = 2 * CLAIM_CHUNK + 1
    stage.add_job(items=count, owners={"e1": tuple(range(count))})
    e1 = stage.client("e1")
    attempts = e1.ledger.claim(e1.entry(), [(run_of(item), ItemView(), f"r{item}") for item in range(count)], FIRE)
    assert [len(attempt.claims) for attempt in attempts] == [CLAIM_CHUNK, CLAIM_CHUNK, 1]
    assert all(isinstance(attempt.future.result(), Committed) for attempt in attempts)


def end(client: Client, claimed: Claimed, state: ItemState = ItemState.DONE) -> Outcome:
    """Complete a run."""
    return client.ledger.complete([Ending(claimed=claimed, state=state, message="m" * 999, ended_at=FIRE)]).result()


@pytest.mark.parametrize("state", [ItemState.DONE, ItemState.FAILED, ItemState.STOPPED])
def test_complete_takes_the_marker_and_tells_the_outcome(stage: Stage, e1: Client, state: ItemState) -> None:
    """A completion is one transaction: the marker goes and the cursor says what became of the run."""
    _, claims = claim(e1, e1.entry(), 0)
    assert isinstance(end(e1, claims[0], state), Committed)
    cursor = stage.cursor()
    assert cursor is not None
    assert (cursor.state, cursor.ended_at, cursor.job_param, len(cursor.message)) == (state, FIRE, None, 500)
    assert not stage.has_marker()


def test_complete_after_the_claim_became_void_is_refused(stage: Stage, e1: Client, config: JobConfig) -> None:
    """A zombie's outcome does not overwrite that of the executor which took its run over."""
    _, claims = claim(e1, e1.entry(), 0)
    assign(stage, config, "e2")
    e2 = stage.client("e2")
    stage.expire(e2)
    cursor = stage.cursor()
    view = ItemView(cursor=cursor, cursor_version=0)
    taken, _ = claim(e2, e2.entry(), 0, view=view, run_id="x")
    assert isinstance(taken, Committed)
    e1.lease.beat()
    e1.membership.join(patience_s=0.0)
    assert isinstance(end(e1, claims[0]), Refused)
    assert stage.has_marker()


def test_complete_without_an_answer_can_be_looked_up(stage: Stage, e1: Client) -> None:
    """After a lost answer the item says by its run id that the outcome stands; sending it again is refused."""
    _, claims = claim(e1, e1.entry(), 0)
    lose_reply(e1.registry)
    with pytest.raises(RegistryUnavailableError):
        end(e1, claims[0])
    view = e1.book.look_up(e1.entry(), 0)
    assert view.marker is None
    assert view.cursor is not None
    assert (view.cursor.run, view.cursor.state) == ("r0", ItemState.DONE)
    assert isinstance(end(e1, claims[0]), Refused)


# Releasing


def test_release_gives_the_run_to_others(stage: Stage, e1: Client) -> None:
    """A release that is not final takes the marker and leaves the cursor running, for failover."""
    _, claims = claim(e1, e1.entry(), 0)
    view = ItemView(cursor=claims[0].cursor, cursor_version=0, marker=claims[0].marker)
    assert isinstance(e1.ledger.release("j", Release(item=0, is_final=False), view, FIRE).result(), Committed)
    cursor = stage.cursor()
    assert cursor is not None
    assert (stage.has_marker(), cursor.state) == (False, ItemState.RUNNING)


def test_release_that_is_final_says_lost(stage: Stage, e1: Client) -> None:
    """A final release ends the run as lost."""
    _, claims = claim(e1, e1.entry(), 0)
    view = ItemView(cursor=claims[0].cursor, cursor_version=0, marker=claims[0].marker)
    assert isinstance(e1.ledger.release("j", Release(item=0, is_final=True), view, FIRE).result(), Committed)
    cursor = stage.cursor()
    assert cursor is not None
    assert (cursor.state, cursor.ended_at) == (ItemState.LOST, FIRE)


@pytest.mark.parametrize("is_final", [True, False])
def test_release_repeated_does_not_take_the_marker_of_another(
    stage: Stage, e1: Client, config: JobConfig, *, is_final: bool
) -> None:
    """A release sent again after its answer was lost leaves alone whoever runs the item by then."""
    _, claims = claim(e1, e1.entry(), 0)
    view = ItemView(cursor=claims[0].cursor, cursor_version=0, marker=claims[0].marker)
    lose_reply(e1.registry)
    with pytest.raises(RegistryUnavailableError):
        e1.ledger.release("j", Release(item=0, is_final=False), view, FIRE).result()
    assign(stage, config, "e2")
    e2 = stage.client("e2")
    taken, _ = claim(e2, e2.entry(), 0, view=ItemView(cursor=stage.cursor(), cursor_version=0), run_id="x")
    assert isinstance(taken, Committed)
    assert isinstance(e1.ledger.release("j", Release(item=0, is_final=is_final), view, FIRE).result(), Refused)
    assert stage.has_marker()


# Settling

MISSED = Missed(first=FIRE, last=FIRE, reason="was too late")


def test_settle_of_a_new_item_starts_at_the_floors(stage: Stage, e1: Client) -> None:
    """Fires of an item without a cursor are dropped by making one, above the floors."""
    entry = e1.entry()
    assert entry.assignment is not None
    entry = replace(entry, assignment=replace(entry.assignment, token_floor=5, trigger_floor=3))
    settle = Settle(item=0, state=ItemState.MISSED, fire=FIRE, reason="late", missed=MISSED)
    assert isinstance(e1.ledger.settle(entry, settle, ItemView(), FIRE).result(), Committed)
    cursor = stage.cursor()
    assert cursor is not None
    assert (cursor.state, cursor.fire, cursor.token, cursor.trigger) == (ItemState.MISSED, FIRE, 5, 3)
    assert not stage.has_marker()


def test_settle_makes_the_checks_of_a_claim(stage: Stage, e1: Client, config: JobConfig) -> None:
    """Nothing is settled by an old owner, for an edited job, or of an item that runs."""
    settle = Settle(item=0, state=ItemState.MISSED, fire=FIRE, reason="late", missed=MISSED)
    entry = e1.entry()
    claim(e1, entry, 0)
    running = e1.ledger.settle(entry, settle, ItemView(cursor=stage.cursor(), cursor_version=0), FIRE).result()
    assert isinstance(running, Refused)
    assign(stage, config, "e2")
    moved = e1.ledger.settle(entry, replace(settle, item=1), ItemView(), FIRE).result()
    assert isinstance(moved, Refused)
    assert moved.index == 2
    stage.edit_job(config)
    edited = e1.ledger.settle(entry, replace(settle, item=1), ItemView(), FIRE).result()
    assert isinstance(edited, Refused)
    assert edited.index == 1


def test_settle_on_an_old_cursor_is_refused(stage: Stage, e1: Client) -> None:
    """What has happened to the item since it was read is not overwritten."""
    _, claims = claim(e1, e1.entry(), 0)
    end(e1, claims[0])
    settle = Settle(item=0, state=ItemState.MISSED, fire=FIRE, reason="late", missed=MISSED)
    for view in (ItemView(), ItemView(cursor=claims[0].cursor, cursor_version=0)):
        assert isinstance(e1.ledger.settle(e1.entry(), settle, view, FIRE).result(), Refused)
    cursor = stage.cursor()
    assert cursor is not None
    assert cursor.state is ItemState.DONE


def test_settle_of_an_abandoned_run_ends_it(stage: Stage, e1: Client) -> None:
    """An abandoned run is ended with its cause, attempt and run kept for people to see."""
    _, claims = claim(e1, e1.entry(), 0)
    stage.write([Delete(stage.paths.marker("j", 0))])
    settle = Settle(item=0, state=ItemState.LOST, fire=FIRE, reason="abandoned; failover is off")
    view = ItemView(cursor=claims[0].cursor, cursor_version=0)
    assert isinstance(e1.ledger.settle(e1.entry(), settle, view, FIRE).result(), Committed)
    cursor = stage.cursor()
    assert cursor is not None
    assert (cursor.state, cursor.run, cursor.attempt, cursor.ended_at) == (ItemState.LOST, "r0", 1, FIRE)
