"""What the leader writes: assignments for all jobs, layouts after edits of counts, and tidying up."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from shardsched.coordination.assignment import MAX_WRITE_COUNT, Leadership
from shardsched.core.assignment import Assignment, Layout, decode_assignment, encode_assignment
from shardsched.core.fire import Cursor, ItemState, encode_cursor
from shardsched.errors import RegistryUnavailableError
from shardsched.registry.base import Create, Delete, Put, Refused
from tests.coordination.stage import NOON, Client, Stage, lose_reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shardsched.registry.base import Operation


def leadership(stage: Stage, client: Client) -> Leadership:
    """Return the leader's work of a client that leads."""
    client.election.stand()
    client.registry.pump()
    return Leadership(client.registry, stage.paths, client.lease, client.election)


def stored(stage: Stage, job: str = "j") -> Assignment | None:
    """Return a stored assignment."""
    node = stage.people.get(stage.paths.assignment(job))
    return None if node is None else decode_assignment(node.path, node.value)


def put_cursor(stage: Stage, item: int, uid: str, **changes: object) -> None:
    """Write an item's cursor by hand."""
    cursor = replace(Cursor(uid=uid, state=ItemState.DONE), **changes)  # type: ignore[arg-type]  # fields of a cursor
    path, value = stage.paths.cursor("j", item), encode_cursor(cursor)
    stage.write([Create(path, value) if stage.people.get(path) is None else Put(path, value)])


def test_reshard_assigns_every_job_once(stage: Stage) -> None:
    """All jobs without an assignment get one; doing it again writes nothing."""
    for number in range(MAX_WRITE_COUNT + 5):
        stage.add_job(f"j{number}", items=2)
    client = stage.client("e1")
    work = leadership(stage, client)
    assert work.reshard(client.mirror.fleet())
    assignment = stored(stage, "j0")
    assert assignment is not None
    assert assignment.owners == {"e1": (0, 1)}
    client.registry.pump()
    before = stage.store.snapshot()
    assert work.reshard(client.mirror.fleet())
    assert stage.store.snapshot() == before


def test_reshard_by_who_does_not_lead_is_nothing(stage: Stage) -> None:
    """An executor that does not lead writes nothing, and has nothing left to do."""
    stage.add_job()
    client = stage.client("e1")
    work = Leadership(client.registry, stage.paths, client.lease, client.election)
    assert work.reshard(client.mirror.fleet())
    assert work.tidy(client.mirror.fleet(), NOON) is False
    assert stored(stage) is None


def test_reshard_by_a_deposed_leader_is_refused(stage: Stage) -> None:
    """A leader whose epoch is over writes nothing and takes note, though its session lives."""
    first, second = stage.client("e1"), stage.client("e2")
    work = leadership(stage, first)
    stage.write([Delete(stage.paths.leader)])
    assert second.election.stand() is not None
    stage.add_job()
    first.registry.pump()
    assert not work.reshard(first.mirror.fleet())
    assert stored(stage) is None
    assert first.election.term is None


def test_reshard_by_a_zombie_is_refused(stage: Stage) -> None:
    """A leader whose session is over writes nothing, and learns that it is."""
    stage.add_job()
    client = stage.client("e1")
    work = leadership(stage, client)
    fleet = client.mirror.fleet()
    stage.write([Delete(stage.paths.session(client.lease.incarnation))])
    assert not work.reshard(fleet)
    assert stored(stage) is None
    assert client.lease.incarnation == ""


def test_reshard_begun_in_an_earlier_session_is_refused(stage: Stage) -> None:
    """A leader that lost its session while it decided, and has joined anew, writes nothing for its old term."""
    stage.add_job()
    client = stage.client("e1")
    work = leadership(stage, client)
    term, fleet = client.election.term, client.mirror.fleet()
    assert term is not None
    stage.write([Delete(stage.paths.session(client.lease.incarnation))])
    client.lease.beat()
    client.membership.join(patience_s=0.0)
    outcome = client.registry.transact(work._operations(term, []))
    assert isinstance(outcome, Refused)
    assert outcome.index == 0
    assert work.reshard(fleet)
    assert stored(stage) is None


def test_reshard_on_an_old_view_harms_no_other_job(stage: Stage) -> None:
    """A job that was edited since is left for later; the others are written all the same."""
    configs = {name: stage.add_job(name, items=2) for name in ("a", "b", "c")}
    client = stage.client("e1")
    work = leadership(stage, client)
    fleet = client.mirror.fleet()
    stage.edit_job(replace(configs["b"], items=5))
    assert not work.reshard(fleet)
    assert [stored(stage, name) is not None for name in "abc"] == [True, False, True]
    client.registry.pump()
    assert work.reshard(client.mirror.fleet())
    assignment = stored(stage, "b")
    assert assignment is not None
    assert assignment.item_count == 5


def test_reshard_overtaken_by_another_write_is_refused(stage: Stage) -> None:
    """An assignment that was written between the decision and its own write stands."""
    config = stage.add_job(items=2, owners={"gone": (0, 1)})
    client = stage.client("e1")
    work = leadership(stage, client)
    written = Assignment(uid=config.uid, layouts=(Layout(items=2, config=0),), owners={"e2": (0, 1)})

    def fault(moment: str, operations: Sequence[Operation]) -> None:
        if moment == "request" and any(isinstance(operation, Put) for operation in operations):
            client.registry.fault = None
            stage.write([Put(stage.paths.assignment("j"), encode_assignment(written))])

    client.registry.fault = fault
    assert not work.reshard(client.mirror.fleet())
    assert stored(stage) == written


def test_reshard_on_an_old_assignment_is_refused(stage: Stage) -> None:
    """A leader that has not yet heard of its own last write does not overwrite it with what it decided before."""
    config = stage.add_job(items=2, owners={"gone": (0, 1)})
    client = stage.client("e1")
    work = leadership(stage, client)
    fleet = client.mirror.fleet()
    layouts = (Layout(items=2, config=0), Layout(items=2, config=1, from_fire=NOON))
    written = Assignment(uid=config.uid, layouts=layouts, owners={"e1": (0, 1)})
    stage.write([Put(stage.paths.assignment("j"), encode_assignment(written))])
    assert not work.reshard(fleet)
    assert stored(stage) == written


def test_reshard_on_a_view_before_our_last_write_is_not_done(stage: Stage) -> None:
    """That nothing is to be written counts only once our last write is seen: it may have left somebody out."""
    stage.add_job()
    client = stage.client("e1")
    work = leadership(stage, client)
    assert work.reshard(client.mirror.fleet())
    client.registry.pump()
    before = client.mirror.fleet()
    assert work.reshard(replace(before, executors={}))
    assert not work.reshard(before)
    client.registry.pump()
    assert work.reshard(client.mirror.fleet())
    assignment = stored(stage)
    assert assignment is not None
    assert assignment.owners == {"e1": (0,)}


@pytest.mark.parametrize("moment", ["request", "reply"])
def test_reshard_without_an_answer_is_done_again(stage: Stage, moment: str) -> None:
    """A write whose answer was lost is seen or repeated, and holds nothing up for good."""
    stage.add_job()
    client = stage.client("e1")
    work = leadership(stage, client)
    lose_reply(client.registry, moment=moment)
    with pytest.raises(RegistryUnavailableError):
        work.reshard(client.mirror.fleet())
    client.registry.pump()
    assert work.reshard(client.mirror.fleet())
    assert stored(stage) is not None


def test_reshard_by_a_new_leader_waits_for_the_last_writes_of_the_old(stage: Stage) -> None:
    """A leader whose view lacks the last writes of the one before it decides nothing yet."""
    stage.add_job()
    first, second = stage.client("e1"), stage.client("e2")
    work = leadership(stage, first)
    assert work.reshard(first.mirror.fleet())
    first.election.step_down()
    fleet = second.mirror.fleet()
    assert second.election.stand() is not None
    successor = Leadership(second.registry, stage.paths, second.lease, second.election)
    assert not successor.reshard(fleet)
    second.registry.pump()
    assert successor.reshard(second.mirror.fleet())


def test_reshard_after_an_edit_begins_the_layout_after_the_last_claim(stage: Stage) -> None:
    """A new count counts from the first fire after every claimed one, read after the edit."""
    config = stage.add_job(items=2, owners={"e1": (0, 1)})
    client = stage.client("e1")
    work = leadership(stage, client)
    put_cursor(stage, 0, config.uid, fire=NOON + timedelta(seconds=40), state=ItemState.RUNNING)
    put_cursor(stage, 1, config.uid, fire=NOON + timedelta(seconds=10))
    put_cursor(stage, 2, "earlier", fire=NOON + timedelta(days=1))
    stage.edit_job(replace(config, items=4))
    client.registry.pump()
    assert work.reshard(client.mirror.fleet())
    assignment = stored(stage)
    assert assignment is not None
    begins = NOON + timedelta(seconds=50)
    assert assignment.layouts == (Layout(items=2, config=0), Layout(items=4, config=1, from_fire=begins))
    assert assignment.owners == {"e1": (0, 1, 2, 3)}


def test_reshard_twice_before_the_first_fire_keeps_all_items_owned(stage: Stage) -> None:
    """Items of a layout that is replaced before its first fire stay owned: a trigger may run them, or wait for it."""
    config = stage.add_job(items=2, owners={"e1": (0, 1)})
    client = stage.client("e1")
    work = leadership(stage, client)
    for items in (4, 1):
        stage.edit_job(replace(config, items=items))
        client.registry.pump()
        assert work.reshard(client.mirror.fleet())
        client.registry.pump()
    assignment = stored(stage)
    assert assignment is not None
    fire = NOON + timedelta(seconds=10)
    assert assignment.owners == {"e1": (0, 1, 2, 3)}
    assert assignment.layout_at(fire).items == 1
    assert assignment.layout_at(NOON).items == 2
    assert work.tidy(client.mirror.fleet(), fire) is True
    assignment = stored(stage)
    assert assignment is not None
    assert assignment.owners == {"e1": (0,)}


def test_tidy_drops_old_layouts_and_removed_cursors(stage: Stage) -> None:
    """Once all items have handled their last fires, the old layout goes with the cursors of removed items."""
    config = stage.add_job(items=3, owners={"e1": (0, 1, 2)})
    client = stage.client("e1")
    work = leadership(stage, client)
    stage.edit_job(replace(config, items=1))
    client.registry.pump()
    work.reshard(client.mirror.fleet())
    client.registry.pump()
    later = NOON + timedelta(seconds=15)
    assert work.tidy(client.mirror.fleet(), later) is True
    stage.edit_job(replace(config, items=3))
    client.registry.pump()
    work.reshard(client.mirror.fleet())
    client.registry.pump()
    for item in range(3):
        put_cursor(stage, item, config.uid, fire=NOON + timedelta(seconds=10), token=4 + item)
    stage.edit_job(replace(config, items=2))
    client.registry.pump()
    work.reshard(client.mirror.fleet())
    client.registry.pump()
    later = NOON + timedelta(seconds=25)
    put_cursor(stage, 2, config.uid, fire=NOON + timedelta(seconds=10), token=6, state=ItemState.RUNNING)
    assert work.tidy(client.mirror.fleet(), later) is False
    put_cursor(stage, 2, config.uid, fire=NOON + timedelta(seconds=10), token=6)
    assert work.tidy(client.mirror.fleet(), later) is True
    assignment = stored(stage)
    assert assignment is not None
    assert len(assignment.layouts) == 1
    assert (assignment.newest.items, assignment.token_floor, assignment.owners) == (2, 6, {"e1": (0, 1)})
    assert stage.people.children(stage.paths.cursors("j")) == ("0", "1")


@pytest.mark.parametrize("is_running", [True, False])
def test_tidy_finishes_a_deletion_once_nothing_runs(stage: Stage, *, is_running: bool) -> None:
    """A job being deleted goes with all of its nodes, but not while an item of it runs."""
    config = stage.add_job(owners={"e1": (0,)})
    client = stage.client("e1")
    work = leadership(stage, client)
    put_cursor(stage, 0, config.uid)
    if is_running:
        stage.write([Create(stage.paths.marker("j", 0), ephemeral=True)])
    stage.edit_job(replace(config, deleting=True))
    client.registry.pump()
    work.tidy(client.mirror.fleet(), NOON)
    assert (stage.people.get(stage.paths.job("j")) is not None) is is_running
    assert (stored(stage) is not None) is is_running


def test_tidy_removes_checkpoints_of_removed_items(stage: Stage) -> None:
    """What items beyond the count had saved goes with their cursors, so that none of them begins from it later."""
    config = stage.add_job(items=3, owners={"e1": (0, 1, 2)})
    client = stage.client("e1")
    work = leadership(stage, client)
    for item in range(3):
        put_cursor(stage, item, config.uid, fire=NOON + timedelta(seconds=10))
    stage.write([Create(stage.paths.checkpoints("j")), *(Create(stage.paths.checkpoint("j", item)) for item in (0, 2))])
    stage.edit_job(replace(config, items=2))
    client.registry.pump()
    work.reshard(client.mirror.fleet())
    client.registry.pump()
    assert work.tidy(client.mirror.fleet(), NOON + timedelta(seconds=25)) is True
    assert stage.people.children(stage.paths.cursors("j")) == ("0", "1")
    assert stage.people.children(stage.paths.checkpoints("j")) == ("0",)
