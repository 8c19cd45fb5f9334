"""What people see of a fleet."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.core.assignment import Layout
from shardsched.core.executor import LoadReport, encode_load
from shardsched.core.fire import ItemState
from shardsched.core.job_record import encode_job

if TYPE_CHECKING:
    from tests.admin.stage import Stage


def document(stage: Stage) -> dict[str, Any]:
    """Return the status as JSON and back."""
    seen: dict[str, Any] = json.loads(json.dumps(stage.admin.status().as_json()))
    return seen


def job_of(stage: Stage, name: str = "books") -> dict[str, Any]:
    """Return one job of the status."""
    return next(job for job in document(stage)["jobs"] if job["name"] == name)


def test_status_fresh_registry_is_empty(stage: Stage) -> None:
    """A namespace that nobody has used is shown as empty and is not created by looking."""
    seen = document(stage)
    assert (seen["leader"], seen["executors"], seen["jobs"]) == (None, [], [])
    assert stage.registry.get(stage.paths.root, fresh=True) is None


def test_status_running_fleet_has_the_promised_shape(stage: Stage) -> None:
    """The JSON shape holds every promised field with its value."""
    actor = stage.join("e1", slots=4)
    stage.lead("e1")
    report = LoadReport(at=stage.clock.now(), running=1, drift_s=-0.5)
    stage.create(stage.paths.load("e1"), encode_load(report), actor.registry)
    stage.job("books", {"e1": (0, 1)}, items=2, timezone="Asia/Shanghai")
    stage.claim("books", 1, "e1", attempt=1)
    seen = document(stage)
    assert seen["leader"] == "e1"
    executor = seen["executors"][0]
    assert {key: executor[key] for key in ("name", "host", "pid", "state", "items", "running", "drift_s")} == {
        "name": "e1",
        "host": "host1",
        "pid": 4711,
        "state": "live",
        "items": 2,
        "running": 1,
        "drift_s": -0.5,
    }
    job = seen["jobs"][0]
    assert (job["name"], job["state"], job["reason"]) == ("books", "enabled", None)
    assert (job["cron"], job["timezone"], job["items"]) == ("0 * * * *", "Asia/Shanghai", 2)
    assert datetime.fromisoformat(job["next_fire"]) == datetime(2026, 1, 1, 1, tzinfo=UTC)
    assert job["owners"] == {"e1": [0, 1]}
    run = job["running"][0]
    assert {key: run[key] for key in ("item", "executor", "attempt")} == {"item": 1, "executor": "e1", "attempt": 1}
    assert datetime.fromisoformat(run["fire"]) == datetime.fromisoformat(run["started_at"]) == stage.clock.now()


def test_status_paused_job_says_so_and_fires_never(stage: Stage) -> None:
    """A paused job has the state, the reason and no next fire."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)}, paused=True)
    job = job_of(stage)
    assert (job["state"], job["reason"], job["next_fire"]) == ("paused", "paused", None)


def test_status_unowned_job_says_why(stage: Stage) -> None:
    """Without an eligible executor a job is unowned, with the reason; never 'resharding' for ever."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    stage.leave("e1")
    job = job_of(stage)
    assert (job["state"], job["reason"]) == ("unowned", "no executor is running")
    stage.join("e2", handlers=("other",))
    assert "crawl" in job_of(stage)["reason"]
    stage.join("e3")
    assert "leads" in job_of(stage)["reason"]
    stage.lead("e3")
    assert job_of(stage)["reason"] == "waits for the leader to assign its items"
    stage.assign("books", {"e3": (0,)})
    assert (job_of(stage)["state"], job_of(stage)["reason"]) == ("enabled", None)


def test_status_count_being_edited_says_that_it_waits_for_the_leader(stage: Stage) -> None:
    """While the layout lags behind an edit of the count, nothing is claimed and the job says so."""
    stage.join("e1")
    stage.job("books", {"e1": (0, 1)}, items=2)
    stage.admin.jobs.update("books", {"items": 4})
    job = job_of(stage)
    assert job["state"] == "enabled"
    assert "no executor leads" in job["reason"]
    stage.lead("e1")
    assert job_of(stage)["reason"] == "waits for the leader to lay out 4 items"


def test_status_some_items_without_owner_are_named(stage: Stage) -> None:
    """A job that fires in part says which items do not, and who left them."""
    stage.join("e1")
    stage.lead("e1")
    stage.job("books", {"e1": (0,), "e2": (1, 2)}, items=3)
    job = job_of(stage)
    assert job["state"] == "enabled"
    assert job["reason"] == "items 1-2 (of e2, gone) have no owner: waits for the leader to assign them"
    assert job["owners"] == {"e1": [0]}


def test_status_held_job_says_why_and_harms_no_other(stage: Stage) -> None:
    """Jobs that cannot be read or used are shown with the reason, next to healthy ones."""
    stage.join("e1")
    stage.job("good", {"e1": (0,)})
    for name, value in (("empty", b""), ("list", b"[]"), ("future", b'{"format":2}'), ("text", b"nonsense")):
        stage.create(stage.paths.job(name), value)
    bad_cron = encode_job(stage.config("good")).replace(b'"0 * * * *"', b'"99 * * * *"')
    stage.create(stage.paths.job("cron"), bad_cron)
    states = {job["name"]: job["state"] for job in document(stage)["jobs"]}
    assert states == {
        "good": "enabled",
        "empty": "held",
        "list": "held",
        "future": "held",
        "text": "held",
        "cron": "held",
    }
    assert "invalid cron" in job_of(stage, "cron")["reason"]
    assert "newer release" in job_of(stage, "future")["reason"]


@pytest.mark.parametrize("value", [b"", b"not json", b"[1]", b'{"format":1}', b'{"format":1,"uid":3}', b"\xff\xfe"])
def test_status_any_broken_record_never_fails(stage: Stage, value: bytes) -> None:
    """Whatever is stored in any record, the status and the job are shown."""
    actor = stage.join("e1")
    stage.lead("e1")
    stage.job("books", {"e1": (0, 1)}, items=2)
    stage.claim("books", 0, "e1")
    stage.write_cursor("books", 1)
    stage.admin.commands.trigger("books")
    stage.admin.executors.drain("e1")
    stage.create(stage.paths.load("e1"), b"{}", actor.registry)
    paths = [path for path in sorted(stage.tree()) if path.count("/") > 3]
    paths += [stage.paths.leader]
    assert len(paths) >= 9
    for path in paths:
        node = stage.registry.get(path, fresh=True)
        assert node is not None
        stage.put(path, value)
        assert document(stage)["jobs"][0]["name"] == "books"
        assert stage.admin.job_status("books").details()["name"] == "books"
        stage.admin.doctor.examine(patience_s=0)
        stage.put(path, node.value)


def test_status_abandoned_item_is_named(stage: Stage) -> None:
    """An item whose executor died in the middle says that it waits, and for whom."""
    stage.join("e1")
    stage.join("e2")
    stage.job("books", {"e1": (0,), "e2": (1,)}, items=2)
    stage.claim("books", 0, "e1")
    stage.leave("e1")
    job = job_of(stage)
    assert job["abandoned"] == [0]
    assert job["running"] == []
    assert any("item 0: abandoned" in reason and "waits for an owner" in reason for reason in job["reasons"])
    stage.assign("books", {"e2": (0, 1)})
    assert any("its owner e2" in reason for reason in job_of(stage)["reasons"])


def test_status_executor_states_tell_why_it_takes_no_items(stage: Stage) -> None:
    """Drained, unfit, unreadable and gone executors are told apart, with the reason."""
    stage.join("live")
    stage.join("drained")
    stage.join("unfit", unfit="its clock is 75 s ahead")
    stage.join("gone")
    broken = stage.join("broken")
    stage.put(stage.paths.executor("broken"), b"nonsense")
    stage.admin.executors.drain("drained", by="ann", reason="disk")
    stage.admin.executors.drain("gone")
    stage.leave("gone")
    seen = document(stage)
    states = {executor["name"]: (executor["state"], executor["reason"]) for executor in seen["executors"]}
    assert states["live"] == ("live", None)
    assert states["unfit"] == ("unfit", "its clock is 75 s ahead")
    assert states["broken"][0] == "unreadable"
    assert states["drained"][0] == "drained"
    assert "by ann" in str(states["drained"][1])
    assert "disk" in str(states["drained"][1])
    assert "gone" not in states
    assert [executor["name"] for executor in seen["drained_gone"]] == ["gone"]
    assert broken.record.name == "broken"


def test_job_details_show_settings_cursors_and_triggers(stage: Stage) -> None:
    """All of a job is shown: settings by the decorator's names, each item's cursor, waiting triggers."""
    stage.join("e1")
    stage.job("books", {"e1": (0, 1)}, items=2, timeout=30, item_params={1: "b"}, labels={})
    fire = stage.clock.now() - timedelta(hours=1)
    stage.write_cursor("books", 0, fire=fire, state=ItemState.FAILED, attempt=2, executor="e1", token=7, message="boom")
    stage.admin.commands.trigger("books", param="now")
    details = json.loads(json.dumps(stage.admin.job_status("books").details()))
    assert details["version"] == 0
    assert (details["timeout"], details["item_params"], details["handler"]) == (30, {"1": "b"}, "crawl")
    first = details["cursors"][0]
    assert datetime.fromisoformat(first["fire"]) == fire
    assert {key: first[key] for key in ("item", "state", "attempt", "executor", "token", "message")} == {
        "item": 0,
        "state": "failed",
        "attempt": 2,
        "executor": "e1",
        "token": 7,
        "message": "boom",
    }
    assert details["cursors"][1]["state"] is None
    assert details["triggers"][0]["param"] == "now"


def test_job_status_cursor_of_an_earlier_job_counts_as_absent(stage: Stage) -> None:
    """A record of another uid says nothing about this job."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    stage.write_cursor("books", 0)
    stage.change_cursor("books", 0, uid="another")
    assert stage.admin.job_status("books").items[0].cursor is None


def test_status_removed_items_that_still_run_are_shown(stage: Stage) -> None:
    """An item beyond the configured count is shown as long as something of it is stored."""
    stage.join("e1")
    stage.job("books", items=2)
    layouts = (Layout(items=4, config=0), Layout(items=2, config=1, from_fire=stage.clock.now()))
    stage.assign("books", {"e1": (0, 1, 2, 3)}, layouts=layouts)
    stage.claim("books", 3, "e1")
    assert [item.item for item in stage.admin.job_status("books").items] == [0, 1, 3]
    assert [run["item"] for run in job_of(stage)["running"]] == [3]
