"""``shardsched status``, ``doctor`` and ``executor``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.registry.base import Delete

if TYPE_CHECKING:
    from tests.admin.stage import Stage
    from tests.cli.conftest import CommandLine


def test_status_text_tells_leader_executors_jobs_and_why_not(stage: Stage, shell: CommandLine) -> None:
    """One screen says who leads, who lives, what fires next in the job's zone, what runs, and what does not."""
    stage.join("e1")
    stage.lead("e1")
    stage.job("books", {"e1": (0, 1)}, items=2, timezone="Asia/Shanghai")
    stage.job("films", paused=True)
    stage.claim("books", 1, "e1")
    text = shell.ok("status")
    assert "e1 leads (epoch 1)" in text
    assert "CST" in text
    assert "e1: 0-1" in text
    lines = text.splitlines()
    runs = lines[[line.split()[:2] for line in lines].index(["RUNS", "ITEM"]) + 1].split()
    assert runs[:3] == ["books", "1", "e1"]
    assert any(line.split() == ["films", "paused"] for line in lines)


def test_status_json_has_the_promised_keys(stage: Stage, shell: CommandLine) -> None:
    """The JSON has every promised key."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    seen = shell.json("status")
    assert {"leader", "executors", "jobs"} <= set(seen)
    assert {"name", "host", "pid", "state", "items", "running", "drift_s"} <= set(seen["executors"][0])
    keys = {"name", "state", "reason", "cron", "timezone", "items", "next_fire", "owners", "running"}
    assert keys <= set(seen["jobs"][0])


def test_status_empty_registry_says_what_to_do(shell: CommandLine) -> None:
    """A fresh registry is told how to start."""
    text = shell.ok("status")
    assert "shardsched run" in text
    assert "nobody leads" in text


def test_status_wide_letters_keep_columns_aligned(stage: Stage, shell: CommandLine) -> None:
    """Letters that take two columns are counted so."""
    stage.join("e1")
    stage.job("新闻", {"e1": (0,)})
    stage.job("ab12", {"e1": (0,)})
    lines = [line for line in shell.ok("job", "list").splitlines() if line.startswith(("新闻", "ab12"))]
    assert len(lines) == 2
    assert {line[len(name) :] for line, name in zip(lines, ("ab12", "新闻"), strict=True)} == {lines[0][4:]}


def test_executor_drain_and_undrain_are_idempotent(stage: Stage, shell: CommandLine) -> None:
    """Draining and undraining say whether anything changed, and the list shows who and why."""
    stage.join("e1")
    assert shell.ok("executor", "drain", "e1", "--reason", "disk") == "e1: drained\n"
    assert shell.ok("executor", "drain", "e1") == "e1: was drained already\n"
    assert "disk" in shell.ok("executor", "list")
    listed = shell.json("executor", "list")["executors"]
    assert [(one["name"], one["state"], one["drained"]["now"]) for one in listed] == [("e1", "drained", False)]
    assert shell.ok("executor", "undrain", "e1") == "e1: takes items again\n"
    assert shell.ok("executor", "undrain", "e1") == "e1: was not drained\n"
    assert "executor list" in shell.error(4, "executor", "drain", "e9", "--now")


def test_doctor_exit_code_tells_whether_all_is_well(stage: Stage, shell: CommandLine) -> None:
    """0 for a clean registry, 1 for findings that are left, 0 once all is mended."""
    assert shell.ok("doctor") == "nothing is wrong\n"
    stage.join("e1")
    stage.lead("e1")
    stage.job("books")
    stage.registry.transact([Delete(stage.paths.job("books"))])
    result = shell("doctor")
    assert result.exit_code == 1
    assert "orphan" in result.stdout
    assert "--repair" in result.stdout
    result = shell("doctor", "--json")
    assert (result.exit_code, '"is_well": false' in result.stdout) == (1, True)
    assert "mended" in shell.ok("doctor", "--repair")
    assert shell.json("doctor") == {"is_well": True, "findings": []}
