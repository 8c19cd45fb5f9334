"""Finding what is wrong in a registry, and mending it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.admin import Admin
from shardsched.core.assignment import decode_assignment
from shardsched.core.executor import LeaderRecord, encode_leader
from shardsched.core.fire import ItemState, decode_marker, encode_marker
from shardsched.core.job_record import encode_job
from shardsched.registry.base import Delete
from shardsched.testing import FakeClock

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.admin.finding import Finding
    from tests.admin.stage import Stage


def examine(stage: Stage) -> list[tuple[str, str]]:
    """Return kind and path of all that is wrong, without waiting for what passes by itself."""
    return [(str(finding.fault), finding.path) for finding in stage.admin.doctor.examine(patience_s=0)]


def repair(stage: Stage) -> list[Finding]:
    """Mend, and return what was wrong."""
    return list(stage.admin.doctor.repair(patience_s=0))


def healthy(stage: Stage) -> None:
    """Make a fleet in good health: one executor that leads, one job, one item done and one running."""
    stage.join("e1")
    stage.lead("e1")
    stage.job("books", {"e1": (0, 1)}, items=2)
    stage.write_cursor("books", 0)
    stage.claim("books", 1, "e1")
    stage.admin.executors.drain("e1")


def test_doctor_fresh_or_healthy_registry_finds_nothing(stage: Stage) -> None:
    """Nothing is wrong with a registry nobody used, nor with a fleet in good health."""
    assert examine(stage) == []
    healthy(stage)
    assert examine(stage) == []
    stage.leave("e1")
    stage.join("e2")
    stage.lead("e2")
    stage.assign("books", {"e2": (0, 1)})
    assert examine(stage) == []


def test_doctor_orphans_are_removed(stage: Stage) -> None:
    """Records of a job that does not exist are found and removed with all below them."""
    healthy(stage)
    stage.job("gone", {"e1": (0,)})
    stage.write_cursor("gone", 0)
    stage.admin.commands.trigger("gone")
    stage.registry.transact([Delete(stage.paths.job("gone"))])
    paths = {stage.paths.assignment("gone"), stage.paths.commands("gone")}
    paths |= {stage.paths.cursors("gone"), stage.paths.markers("gone")}
    assert {path for fault, path in examine(stage) if fault == "orphan"} == paths
    findings = repair(stage)
    assert all(finding.is_mended for finding in findings)
    assert not paths & stage.tree()
    assert stage.paths.job("gone") not in stage.tree()
    assert examine(stage) == []


def test_doctor_orphan_that_runs_is_left_alone(stage: Stage) -> None:
    """While an item of a vanished job runs its marker stays, for it keeps others from starting it."""
    healthy(stage)
    stage.registry.transact([Delete(stage.paths.job("books"))])
    unmended = [finding.path for finding in repair(stage) if not finding.is_mended]
    assert unmended == [stage.paths.markers("books")]
    assert stage.paths.marker("books", 1) in stage.tree()


def test_doctor_half_deleted_job_is_finished(stage: Stage) -> None:
    """A deletion that nobody finished is finished, once nothing runs."""
    healthy(stage)
    stage.admin.jobs.delete("books", wait_s=0)
    assert [(finding.fault, finding.is_mended) for finding in repair(stage)] == [("half_deleted", False)]
    stage.leave("e1")
    assert all(finding.is_mended for finding in repair(stage) if finding.job == "books")
    assert stage.admin.jobs.names() == ()


def test_doctor_unusable_assignment_is_dropped_for_the_leader(stage: Stage) -> None:
    """An assignment that cannot be read, or contradicts itself, goes, so that the leader writes it anew."""
    healthy(stage)
    for value in (b"broken", b'{"format":1,"uid":"x","layouts":[{"items":2}],"owners":{"a":"0","b":"0"}}'):
        stage.put(stage.paths.assignment("books"), value)
        assert ("unreadable", stage.paths.assignment("books")) in examine(stage)
        assert all(finding.is_mended for finding in repair(stage))
        assert stage.paths.assignment("books") not in stage.tree()


def test_doctor_unreadable_commands_are_reset_above_the_cursors(stage: Stage) -> None:
    """A job held by its commands is freed, and no counter goes back."""
    healthy(stage)
    stage.change_cursor("books", 1, stop=4, trigger=9)
    stage.put(stage.paths.commands("books"), b"broken")
    assert stage.admin.job_status("books").state == "held"
    assert all(finding.is_mended for finding in repair(stage))
    assert stage.admin.job_status("books").state == "enabled"
    assert stage.commands("books").stop == 4
    assert stage.admin.commands.trigger("books").number == 10


def test_doctor_unreadable_cursor_is_replaced_by_a_handled_one(stage: Stage) -> None:
    """An item whose cursor is broken runs again from its next fire on, and its fencing token never goes back."""
    healthy(stage)
    stage.write_cursor("books", 0, token=12)
    stage.admin.commands.trigger("books")
    stage.put(stage.paths.cursor("books", 0), b'{"format":1,"token":33}')
    assert examine(stage) == [("unreadable", stage.paths.cursor("books", 0))]
    assert all(finding.is_mended for finding in repair(stage))
    cursor = stage.cursor("books", 0)
    assert (cursor.state, cursor.token, cursor.trigger) == (ItemState.LOST, 33, 1)
    assert cursor.fire == stage.clock.now()
    stage.put(stage.paths.cursor("books", 0), b"nothing can be read")
    repair(stage)
    assert stage.cursor("books", 0).token > 33


def test_doctor_unreadable_cursor_of_a_running_item_is_left_alone(stage: Stage) -> None:
    """The cursor of an item that runs is its executor's."""
    healthy(stage)
    stage.put(stage.paths.cursor("books", 1), b"broken")
    assert [finding.is_mended for finding in repair(stage)] == [False]
    node = stage.registry.get(stage.paths.cursor("books", 1), fresh=True)
    assert node is not None
    assert node.value == b"broken"


def test_doctor_cursor_far_ahead_is_rewound_to_the_latest_fire(stage: Stage) -> None:
    """A cursor that the clock ran away with does not keep its item from firing for days."""
    healthy(stage)
    stage.clock.advance(90 * 60)
    stage.write_cursor("books", 0, fire=stage.clock.now() + timedelta(days=30), token=5)
    assert examine(stage) == [("future_cursor", stage.paths.cursor("books", 0))]
    assert all(finding.is_mended for finding in repair(stage))
    cursor = stage.cursor("books", 0)
    assert cursor.fire is not None
    assert stage.clock.now() - cursor.fire == timedelta(minutes=30)
    assert cursor.token == 5


def test_doctor_missing_parents_and_roots_are_created(stage: Stage) -> None:
    """A job made by hand gets the nodes without which nothing of it can be claimed; so does the namespace."""
    healthy(stage)
    stage.job("films", {"e1": (0,)})
    stage.registry.transact([Delete(stage.paths.cursors("films")), Delete(stage.paths.markers("films"))])
    stage.registry.transact([Delete(stage.paths.under("load"))])
    assert len(examine(stage)) == 3
    assert all(finding.is_mended for finding in repair(stage))
    assert examine(stage) == []


def test_doctor_stray_marker_names_its_executor(stage: Stage) -> None:
    """A marker that the cursor does not know of keeps its item from running: people are told whose it is."""
    healthy(stage)
    node = stage.registry.get(stage.paths.marker("books", 1), fresh=True)
    assert node is not None
    marker = decode_marker(node.path, node.value)
    stage.registry.transact([Delete(stage.paths.cursor("books", 1))])
    finding = stage.admin.doctor.examine(patience_s=0)[0]
    assert (finding.fault, finding.is_mendable) == ("stray_marker", False)
    assert "e1" in finding.cure
    assert encode_marker(marker) == node.value


def test_doctor_owner_gone_and_abandoned_item_are_told(stage: Stage) -> None:
    """Items of a dead executor that nobody took over are told, with what was left unfinished."""
    healthy(stage)
    stage.leave("e1")
    assert set(examine(stage)) == {
        ("owner_gone", stage.paths.assignment("books")),
        ("abandoned", stage.paths.cursor("books", 1)),
    }
    assert not any(finding.is_mended for finding in repair(stage))


def test_doctor_fault_that_passes_by_itself_is_not_told(stage: Stage) -> None:
    """What a healthy fleet shows for a moment is looked at twice."""
    healthy(stage)
    stage.leave("e1")

    class BusyClock(FakeClock):
        """A clock by which the fleet has mended itself when it is asked a second time."""

        asked = 0

        def now(self) -> datetime:
            self.asked += 1
            if self.asked == 2:
                stage.join("e2")
                stage.lead("e2")
                stage.assign("books", {"e2": (0, 1)})
            return super().now()

    clock = BusyClock()
    assert Admin(stage.registry, stage.paths, clock).doctor.examine(patience_s=0) == ()
    assert clock.asked == 2


def test_doctor_no_leader_is_told_while_executors_live(stage: Stage) -> None:
    """A fleet without a leader for longer than a moment needs a person."""
    stage.join("e1")
    assert examine(stage) == [("no_leader", stage.paths.leader)]


def test_doctor_leader_of_a_vanished_session_is_removed(stage: Stage) -> None:
    """A leader's record of a session that does not exist keeps others from leading; it goes."""
    stage.join("e1")
    record = LeaderRecord(name="e0", incarnation="never", epoch=1)
    stage.put(stage.paths.leader, encode_leader(record))
    assert examine(stage) == [("lost_fence", stage.paths.leader)]
    assert [finding.is_mended for finding in repair(stage)] == [True]
    assert stage.paths.leader not in stage.tree()


def test_doctor_executor_without_fence_is_told(stage: Stage) -> None:
    """An executor whose fence was deleted can write nothing any more."""
    actor = stage.join("e1")
    stage.lead("e1")
    stage.registry.transact([Delete(stage.paths.session(actor.record.incarnation))])
    assert ("lost_fence", stage.paths.executor("e1")) in examine(stage)


def test_doctor_jobs_that_people_must_mend_are_told_with_the_cure(stage: Stage) -> None:
    """Bad names, unreadable configurations and invalid crons are told; only people can mend them."""
    healthy(stage)
    value = encode_job(stage.config("books"))
    for name, stored in (("a b", value), ("broken", b"x"), ("cron", value.replace(b"0 * * * *", b"99 * * * *"))):
        stage.create(stage.paths.job(name), stored)
        stage.create(stage.paths.cursors(name))
        stage.create(stage.paths.markers(name))
    findings = {finding.job: finding for finding in repair(stage)}
    assert {job: str(finding.fault) for job, finding in findings.items()} == {
        "a b": "bad_name",
        "broken": "unreadable",
        "cron": "held_job",
    }
    assert not any(finding.is_mended for finding in findings.values())
    assert "job delete" in findings["a b"].cure
    assert "job update" in findings["cron"].cure


def test_doctor_repair_leaves_a_healthy_fleet_as_it_is(stage: Stage) -> None:
    """Mending touches nothing that is in order."""
    healthy(stage)
    before = {path: stage.registry.get(path, fresh=True) for path in stage.tree()}
    assert repair(stage) == []
    assert {path: stage.registry.get(path, fresh=True) for path in stage.tree()} == before
    node = before[stage.paths.assignment("books")]
    assert node is not None
    assert decode_assignment(node.path, node.value).owners == {"e1": (0, 1)}
