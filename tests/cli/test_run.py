"""``shardsched run``: a real process on an SQLite registry."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from shardsched.admin import Admin
from shardsched.cli import main
from shardsched.core.paths import Paths
from shardsched.registry.url import open_registry
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
HANDLERS = """
import pathlib
import time

from shardsched import sharded_job


@sharded_job("books", cron="* * * * * ?", items=2)
def crawl(ctx):
    pathlib.Path("ran").touch()


@sharded_job("slow", cron="* * * * * ?")
def linger(ctx):
    pathlib.Path("lingers").touch()
    time.sleep(600)
"""

pytestmark = pytest.mark.fleet


@pytest.fixture
def admin(tmp_path: Path) -> Iterator[Admin]:
    """People's view of the fleet that the test's executors join."""
    with open_registry(f"sqlite:///{tmp_path / 'fleet.db'}") as registry:
        yield Admin(registry, Paths("fleet"))


@pytest.fixture
def run(tmp_path: Path, admin: Admin) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts executors in a folder that holds the module ``handlers``."""
    (tmp_path / "handlers.py").write_text(HANDLERS)
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "shardsched", "run", *arguments]
        command += ["--registry", f"sqlite:///{tmp_path / 'fleet.db'}", "--namespace", "fleet"]
        command += ["--session-timeout", "4", "--state-dir", str(tmp_path / "state")]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        if process.stderr is not None and not process.stderr.closed:
            sys.stderr.write(process.communicate(timeout=20)[1])  # shown where the test failed


def lives(admin: Admin, name: str) -> bool:
    """Whether an executor of that name is in the fleet."""
    return any(one.name == name and one.state == "live" for one in admin.status().executors)


def test_run_joins_runs_and_ends_cleanly_on_sigterm(
    run: Callable[..., subprocess.Popen[str]], admin: Admin, tmp_path: Path
) -> None:
    """An executor finds modules in its folder, runs their jobs, and leaves with exit code 0 when asked to."""
    process = run("handlers", "--name", "e1", "--label", "zone=eu", "--slots", "3", "--grace", "0", "--log-json")
    eventually((tmp_path / "ran").exists, timeout_s=60)
    status = admin.status()
    assert status.leader is not None
    record = status.executors[0].record
    assert record is not None
    assert (record.name, dict(record.labels), record.slots) == ("e1", {"zone": "eu"}, 3)
    assert {job.entry.name for job in status.jobs} == {"books", "slow"}
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=60)
    assert process.returncode == 0, log
    assert not lives(admin, "e1")
    assert {"executor_joined", "executor_stopping"} <= {json.loads(line).get("event") for line in log.splitlines()}


def test_run_offers_metrics(run: Callable[..., subprocess.Popen[str]], admin: Admin, tmp_path: Path) -> None:
    """Prometheus gets runs by outcome with their durations, what is owned, who leads, session, history and requests."""
    port = free_port()
    process = run("handlers", "--name", "e1", "--grace", "0", "--metrics-port", str(port))

    def figures() -> dict[str, float]:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            lines = answer.read().decode().splitlines()
            return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}
        return {}

    eventually(lambda: figures().get('shardsched_runs_total{outcome="ok"}', 0) >= 2, timeout_s=60)
    found = figures()
    assert found["shardsched_items_owned"] == 3
    assert found["shardsched_leader"] == 1
    assert found['shardsched_session{state="active"}'] == 1
    assert found['shardsched_session{state="lost"}'] == 0
    assert found['shardsched_history{state="connected"}'] == 1
    assert found['shardsched_registry_requests_total{kind="transaction"}'] >= 3
    assert found['shardsched_registry_requests_total{kind="heartbeat"}'] >= 1
    assert found["shardsched_run_duration_seconds_count"] >= 2
    assert found["shardsched_run_lateness_seconds_sum"] < 60 * found["shardsched_run_lateness_seconds_count"]
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


def test_run_refuses_a_metrics_port_that_is_taken(run: Callable[..., subprocess.Popen[str]]) -> None:
    """Nothing is joined, and the message says what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = run("handlers", "--metrics-port", str(taken.getsockname()[1]))
        _, log = process.communicate(timeout=60)
    assert process.returncode == 2, log
    assert "give another --metrics-port" in log


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_run_without_a_module_runs_the_built_in_handlers(
    run: Callable[..., subprocess.Popen[str]], admin: Admin, tmp_path: Path
) -> None:
    """An executor needs no code of anybody's to run programs, here one every second."""
    task = {"argv": ["touch", "ran by {item} of {items}"], "cwd": str(tmp_path)}
    admin.jobs.create("touches", {"handler": "@shell", "cron": "* * * * * ?", "items": 2, "task": task})
    process = run("--name", "e1", "--grace", "0")
    eventually(lambda: len(list(tmp_path.glob("ran by * of 2"))) == 2, timeout_s=60)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


def test_run_second_signal_does_not_wait_for_items(run: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    """The first signal lets items finish; a second one stops them at once."""
    process = run("handlers", "--grace", "600")
    eventually((tmp_path / "lingers").exists, timeout_s=60)
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=2)
    process.send_signal(signal.SIGINT)
    _, log = process.communicate(timeout=60)
    assert process.returncode == 0, log


def test_run_name_that_lives_is_a_conflict(run: Callable[..., subprocess.Popen[str]], admin: Admin) -> None:
    """A second executor of one name is refused, naming the holder, and exits with 5."""
    run("handlers", "--name", "e1", "--grace", "0")
    eventually(lambda: lives(admin, "e1"), timeout_s=60)
    second = run("handlers", "--name", "e1")
    _, log = second.communicate(timeout=60)
    assert second.returncode == 5, log
    assert "held by" in log.splitlines()[-1]
    assert lives(admin, "e1")


def test_run_module_that_cannot_be_imported_shows_its_traceback(
    run: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    """A broken module is the user's to mend: its traceback is shown, then one line, and nothing is joined."""
    (tmp_path / "broken.py").write_text("def f():\n    return 1 / 0\n\nf()\n")
    process = run("broken")
    _, log = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "ZeroDivisionError" in log
    assert log.splitlines()[-1].startswith("shardsched: module 'broken' cannot be imported")


def test_run_wrong_settings_are_one_line() -> None:
    """Settings are checked before anything else happens."""
    for options in (["--slots", "0"], ["--session-timeout", "0.1"], ["--label", "x"], ["--name", "a/b"]):
        result = CliRunner().invoke(main, ["run", "handlers", *options])
        assert result.exit_code == 2, result.output
        assert len(result.stderr.splitlines()) == 1
