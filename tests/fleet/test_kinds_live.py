"""Jobs of built-in handlers on real executors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.execution.pool_harness import is_alive
from tests.fleet.fleet_harness import NAMESPACE, ROOT, wait_until

if TYPE_CHECKING:
    from typing import Any

    from tests.fleet.fleet_harness import Fleet

pytestmark = pytest.mark.fleet

NEVER = "0 0 0 1 1 ? 2099"


def ended(fleet: Fleet, job: str) -> list[dict[str, Any]]:
    """Return a job's cursors once each of its items has ended."""
    cursors = fleet.cursors(job)
    is_over = all(cursor["state"] not in {None, "running"} and not cursor["is_running"] for cursor in cursors)
    return cursors if cursors and is_over else []


def run_once(fleet: Fleet, job: str, count: int = 1) -> list[dict[str, Any]]:
    """Trigger a job once its items are owned; return its cursors when they have ended."""
    wait_until(lambda: sum(map(len, fleet.owners(job).values())) == count, f"the items of {job} to be owned")
    fleet.admin.commands.trigger(job, by="test")
    return list(wait_until(lambda: ended(fleet, job), f"the items of {job} to end"))


def logs(fleet: Fleet, job: str) -> list[str]:
    """Return the output of all runs of a job."""
    return [path.read_text() for path in sorted((fleet.folder / "state").glob(f"**/logs/{job}/*.log"))]


def test_shell_jobs_of_the_example_run_without_code(sqlite_fleet: Fleet) -> None:
    """The script makes its jobs before any executor lives; then all of them run, each item with its parameter."""
    fleet = sqlite_fleet
    environment = os.environ | {
        "SHARDSCHED_REGISTRY": fleet.url,
        "SHARDSCHED_NAMESPACE": NAMESPACE,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    subprocess.run(["sh", str(ROOT / "examples" / "shell_jobs.sh")], env=environment, check=True, timeout=60)
    fleet.start("e1", "e2")
    assert {"@shell", "@http", "@scrapy"} <= set(fleet.live()["e1"]["handlers"])
    assert {cursor["state"] for cursor in run_once(fleet, "disk-space", 2)} == {"done"}
    assert sorted(log.splitlines()[1].split()[-1] for log in logs(fleet, "disk-space"))[0] == "/"
    (cursor,) = run_once(fleet, "tidy")
    assert cursor["state"] == "done"
    assert logs(fleet, "tidy") == [f"run {cursor['run_id']}, attempt 1\n"]
    fleet.create("fails", handler="@shell", task={"shell": "exit 7"})
    (cursor,) = run_once(fleet, "fails")
    assert (cursor["state"], cursor["message"]) == ("failed", "failed: exited with code 7")


def test_program_of_a_killed_executor_is_dead_and_runs_elsewhere(sqlite_fleet: Fleet, tmp_path: Path) -> None:
    """The program dies with its executor, and another one runs it again, as the next attempt with a larger token."""
    fleet, note = sqlite_fleet, tmp_path / "note"
    line = (
        f'echo "$$ $SHARDSCHED_EXECUTOR $SHARDSCHED_ATTEMPT $SHARDSCHED_CAUSE $SHARDSCHED_FENCING_TOKEN" >> {note};'
        'test "$SHARDSCHED_ATTEMPT" = 2 || sleep 1000'
    )
    fleet.start("e1", "e2")
    fleet.create("j", handler="@shell", task={"shell": line})
    fleet.admin.commands.trigger("j", by="test")
    wait_until(lambda: note.exists() and note.read_text().endswith("\n"), "the program to begin")
    pid, executor, attempt, cause, token = note.read_text().split()
    assert (attempt, cause) == ("1", "manual")
    fleet.executors[executor].kill()
    wait_until(lambda: not is_alive(int(pid)), "the program to die", 2)
    wait_until(lambda: note.read_text().count("\n") == 2, "the program to begin elsewhere")
    _, other, attempt, cause, larger = note.read_text().splitlines()[1].split()
    assert (attempt, cause) == ("2", "failover")
    assert other != executor
    assert int(larger) > int(token)
    (cursor,) = wait_until(lambda: ended(fleet, "j"), "the program to end")
    assert (cursor["state"], cursor["attempt"]) == ("done", 2)
