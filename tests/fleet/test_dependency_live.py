"""Jobs that fire after others, and listeners of fires, on real executor processes."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.fleet.fleet_harness import T_S, let_pass, wait_until

if TYPE_CHECKING:
    from tests.fleet.fleet_harness import Fleet

pytestmark = pytest.mark.fleet

EVERY_TWO_SECONDS = "0/2 * * * * ?"


def leader(fleet: Fleet) -> str:
    """Return who leads."""
    return str(wait_until(lambda: fleet.status()["leader"], "a leader"))


def calls(fleet: Fleet, step: str = "end") -> list[dict[str, Any]]:
    """Return the calls of listeners that have begun, or ended."""
    path = fleet.record.with_name(fleet.record.name + ".calls")
    lines = path.read_text().splitlines() if path.exists() else []
    return [call for call in map(json.loads, lines) if call["step"] == step]


def triggers(fleet: Fleet, job: str) -> int:
    """Return how many triggers a job has had."""
    commands = fleet.admin.job_status(job).entry.commands
    return commands.trigger_count if commands is not None else 0


def test_chain_fires_once_after_each_fire_of_a_sharded_job(fleet: Fleet) -> None:
    """Each completed fire of the upstream job is followed by one of each dependent job, on through the chain."""
    fleet.start("e1", "e2")
    fleet.create("last", items=1, after=["middle"])
    fleet.create("middle", items=2, after=["up"])
    fleet.create("failed", items=1, after=["up"], after_on="failure")
    fleet.create("up", items=4, cron=EVERY_TWO_SECONDS)
    wait_until(lambda: len({run.fire for run in fleet.runs("up")}) >= 3, "three fires")
    fleet.admin.jobs.pause("up")
    wait_until(lambda: not fleet.running("up"), "the last fire to end")
    fires = len({run.fire for run in fleet.runs("up")})
    wait_until(lambda: len(fleet.runs("last")) == fires, "the chain to follow each fire")
    let_pass(1.0)
    assert [len(fleet.runs(job)) for job in ("up", "middle", "last", "failed")] == [4 * fires, 2 * fires, fires, 0]
    assert {run.cause for job in ("middle", "last") for run in fleet.runs(job)} == {"dependency"}
    for middle in {run.fire for run in fleet.runs("middle")}:
        ended = [run.end or 0.0 for run in fleet.runs("up")]
        started = min(run.start for run in fleet.runs("middle") if run.fire == middle)
        assert sum(end < started for end in ended) % 4 == 0
    assert fleet.job("up")["last_completed"]["outcome"] == "success"


def test_chain_survives_the_leader_and_the_executor_of_the_last_item(fleet: Fleet) -> None:
    """Whoever dies around the end of a fire: it is completed once, and followed once."""
    fleet.start("e1", "e2", "e3")
    fleet.create("up", items=6, param="hold=0.4")
    fleet.create("down", items=1, after=["up"])
    for round_number in range(1, 3):
        fleet.admin.commands.trigger("up", by="test")
        wait_until(lambda: fleet.running("up"), "items to run")
        victim = leader(fleet) if round_number == 1 else fleet.running("up")[-1].executor
        # Around the moment at which the items end.
        wait_until(lambda: not fleet.running("up") or len(fleet.running("up")) < 6, "the first items to end")
        fleet.executors[victim].kill()
        wait_until(lambda n=round_number: len(fleet.runs("down")) == n, "the chain to follow", 10 * T_S)  # type: ignore[misc]
        fleet.start(victim)
    let_pass(1.0)
    assert len(fleet.runs("down")) == triggers(fleet, "down") == 2


def test_chain_of_a_paused_job_does_not_fire_and_unknown_upstream_is_shown(fleet: Fleet) -> None:
    """A paused dependent job is not triggered, now or later; one that waits for nobody says so."""
    fleet.start("e1")
    fleet.create("up", items=2)
    fleet.create("down", items=1, after=["up", "typo"], after_mode="any")
    fleet.admin.jobs.pause("down")
    fleet.admin.commands.trigger("up", by="test")
    wait_until(lambda: fleet.job("up")["last_completed"], "the fire to complete")
    assert triggers(fleet, "down") == 0
    fleet.admin.jobs.resume("down")
    fleet.admin.commands.trigger("up", by="test")
    wait_until(lambda: len(fleet.runs("down")) == 1, "the dependent job to fire")
    assert "waits for typo, which does not exist" in fleet.job("down")["reasons"]


def test_listeners_of_fires_are_called_once_whatever_the_number_of_executors(fleet: Fleet) -> None:
    """One start and one end for each fire of many items, told of how each item ended."""
    fleet.start("e1", "e2", "e3")
    fleet.create("j", items=6, handler="listened", cron=EVERY_TWO_SECONDS)
    wait_until(lambda: len(calls(fleet)) >= 6, "the calls of three fires")
    fleet.admin.jobs.pause("j")
    wait_until(lambda: not fleet.running("j"), "the last fire to end")
    fires = {run.fire.isoformat() for run in fleet.runs("j")}
    wait_until(lambda: len(calls(fleet)) == 2 * len(fires), "the last calls")
    let_pass(0.5)
    assert set(Counter((call["what"], call["fire"]) for call in calls(fleet)).values()) == {1}
    completed = [call for call in calls(fleet) if call["what"] == "fire_completed"]
    assert {call["fire"] for call in completed} == fires
    assert all(call["outcome"] == "success" and call["ended"] == {"done": [0, 1, 2, 3, 4, 5]} for call in completed)


def test_listener_whose_executor_dies_in_the_call_is_called_by_another(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call is made once more elsewhere, and not while the first could still be at it."""
    monkeypatch.setenv("FLEET_CALL_S", "2")
    fleet.start("e1", "e2")
    fleet.create("j", items=2, handler="listened")
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: calls(fleet, "begin"), "the first call to begin")
    (begun,) = calls(fleet, "begin")
    victim = next(name for name, one in fleet.executors.items() if begun["pid"] in descendants(one.process.pid))
    fleet.executors[victim].kill()
    wait_until(lambda: len(calls(fleet, "end")) == 2, "both calls to return", 10 * T_S)
    assert [call["what"] for call in calls(fleet, "begin")] == ["fire_started", "fire_started", "fire_completed"]
    assert [call["what"] for call in calls(fleet, "end")] == ["fire_started", "fire_completed"]


def descendants(pid: int) -> set[int]:
    """Return all processes below one."""
    import psutil

    return {child.pid for child in psutil.Process(pid).children(recursive=True)}
