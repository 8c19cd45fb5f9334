"""Jobs that wait for others: what is refused, what is shown, what the doctor finds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from shardsched.admin.document import job_details, job_document
from shardsched.core.command import Commands, Trigger, UpstreamFire, encode_commands
from shardsched.core.fire import Cause
from shardsched.core.job_record import encode_job
from shardsched.core.tally import ClosedFire, FireKey, FireOutcome, ItemEnd, OpenFire, Tally
from shardsched.core.tally_record import encode_tally
from shardsched.errors import JobConfigError

if TYPE_CHECKING:
    from tests.admin.stage import Stage


@pytest.fixture
def abc(stage: Stage) -> Stage:
    """Three jobs, each of which fires after the one before."""
    stage.join("e1")
    stage.lead("e1")
    stage.job("a", {"e1": (0, 1)}, items=2)
    stage.job("b", {"e1": (0,)}, after=["a"])
    stage.job("c", {"e1": (0,)}, after=("b",), after_on="always")
    return stage


@pytest.mark.parametrize(("job", "after"), [("a", ["a"]), ("a", ["b"]), ("a", ["x", "c"])])
def test_update_that_closes_a_circle_is_refused(abc: Stage, job: str, after: list[str]) -> None:
    """A job cannot wait for itself, directly or by way of others; nothing is written."""
    with pytest.raises(JobConfigError, match="would wait for itself") as caught:
        abc.admin.jobs.update(job, {"after": after})
    assert caught.value.setting == "after"
    assert abc.config(job).after == ()


def test_create_that_closes_a_circle_is_refused(abc: Stage) -> None:
    """Also where others wait already for a job that did not exist."""
    abc.admin.jobs.update("a", {"after": ["later"]})
    with pytest.raises(JobConfigError, match="'later' after 'c' after 'b' after 'a' after 'later'"):
        abc.job("later", after=["c"])
    assert "later" not in abc.admin.jobs.names()


def test_create_with_a_bad_upstream_name_is_refused(abc: Stage) -> None:
    """What is waited for is a job's name."""
    with pytest.raises(JobConfigError, match="is refused"):
        abc.job("d", after=["no/name"])


def test_status_shows_what_is_waited_for_and_what_completed(abc: Stage) -> None:
    """The last completed fire, what is under way, and the upstream jobs that are still to come."""
    now = abc.clock.now()
    abc.admin.jobs.update("c", {"after": ["a", "b"]})
    done = UpstreamFire(job="a", at=now)
    trigger = Trigger(number=1, at=now, items=1, cause=Cause.DEPENDENCY, upstream=(done,))
    commands = Commands(uid=abc.config("c").uid, triggers=(trigger,), upstream=(done,))
    abc.put(abc.paths.commands("c"), encode_commands(commands))
    tally = Tally(
        uid=abc.config("a").uid,
        open=(OpenFire(key=FireKey(at=now, trigger=2), items=2, begun_by="s", ended={0: ItemEnd.DONE}),),
        closed=(
            ClosedFire(key=FireKey(at=now), outcome=FireOutcome.SUCCESS),
            ClosedFire(key=FireKey(at=now, trigger=1), outcome=FireOutcome.UNCOUNTED),
        ),
    )
    abc.put(abc.paths.fires("a"), encode_tally(tally))
    jobs = {job.entry.name: job_document(job) for job in abc.admin.status().jobs}
    assert jobs["a"]["last_completed"] == {"fire": now.isoformat(), "trigger": 0, "outcome": "success"}
    assert (jobs["b"]["waits_for"], jobs["b"]["last_completed"]) == (["a"], None)
    assert (jobs["c"]["after"], jobs["c"]["waits_for"]) == (["a", "b"], ["b"])
    details = job_details(abc.admin.job_status("a"))
    (fire,) = details["open_fires"]
    assert (fire["ended"], fire["waits_for"], fire["trigger"]) == ({"done": "0"}, "1", 2)
    details = job_details(abc.admin.job_status("c"))
    told = {"job": "a", "fire": now.isoformat(), "trigger": 0}
    assert (details["triggers"][0]["cause"], details["triggers"][0]["upstream"]) == ("dependency", [told])
    assert details["upstream_done"] == [told]


def test_upstream_job_that_does_not_exist_is_shown_and_found(abc: Stage) -> None:
    """A job may be written before the one it waits for; until then it says so."""
    abc.admin.jobs.update("b", {"after": ["a", "typo"]})
    expected = "waits for typo, which does not exist"
    assert expected in abc.admin.job_status("b").reasons
    assert expected in next(job.reasons for job in abc.admin.status().jobs if job.entry.name == "b")
    found = [(str(one.fault), one.message) for one in abc.admin.doctor.examine(patience_s=0)]
    assert found == [("unknown_upstream", expected)]


def test_doctor_finds_a_circle_that_was_written_by_hand(abc: Stage) -> None:
    """No command makes one, but an editor of the registry may."""
    abc.put(abc.paths.job("a"), encode_job(replace(abc.config("a"), after=("c",))))
    found = [(str(one.fault), one.job) for one in abc.admin.doctor.examine(patience_s=0)]
    assert found == [("circle", "a"), ("circle", "b"), ("circle", "c")]


def test_doctor_mends_a_tally_that_cannot_be_read(abc: Stage) -> None:
    """It is removed, and its fires count from then on; one of a job that is gone is removed too."""
    abc.put(abc.paths.fires("a"), b"rubbish")
    abc.put(abc.paths.fires("gone"), b"rubbish")
    assert abc.admin.job_status("a").tally is None
    assert {str(one.fault) for one in abc.admin.doctor.examine(patience_s=0)} == {"unreadable", "orphan"}
    assert all(one.is_mended for one in abc.admin.doctor.repair(patience_s=0))
    assert abc.admin.doctor.examine(patience_s=0) == ()


def test_delete_removes_the_tally(abc: Stage) -> None:
    """Nothing is left of a deleted job; those that wait for it say so."""
    abc.put(abc.paths.fires("a"), encode_tally(Tally(uid=abc.config("a").uid)))
    assert abc.admin.jobs.delete("a").is_done
    assert abc.registry.get(abc.paths.fires("a"), fresh=True) is None
    assert "waits for a, which does not exist" in abc.admin.job_status("b").reasons
