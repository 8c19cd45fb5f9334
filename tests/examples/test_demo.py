"""The demo shows what it promises, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import httpx
import psutil
import pytest
from click.testing import CliRunner

from shardsched.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIMIT_S = 150.0


@contextlib.contextmanager
def performance(tmp_path: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A demo with a folder for temporary files of its own; ended with the test."""
    command = [sys.executable, "-m", "shardsched", "demo", *options]
    env = os.environ | {"TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(LIMIT_S)


def processes_of(folder: Path) -> list[psutil.Process]:
    """Living processes that were started for a folder, by their environment."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("TMPDIR") == str(folder):
                found.append(process)
    return found


def left_of(folder: Path) -> list[psutil.Process]:
    """Return what is left of a demo's processes, after a while in which they may end."""
    alive: list[psutil.Process] = psutil.wait_procs(processes_of(folder), timeout=20.0)[1]
    return alive


@pytest.mark.fleet
@pytest.mark.timeout(LIMIT_S + 30)
def test_demo_kills_an_executor_and_finds_every_page_once(tmp_path: Path) -> None:
    """Three executors, one killed: its items move, every page of every complete fire is crawled once."""
    with performance(tmp_path, "--seconds", "20", "--no-color", "--no-console") as process:
        output, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, output
    assert re.search(r"killed +e\d \(kill -9, pid \d+\) while it crawls items \d", output)
    assert re.search(r"taken over: item \d by e\d after \d+\.\d s", output)
    assert "every page of every complete fire was crawled exactly once" in output
    assert re.search(r"history +\d+ runs: \d+ ok, .*; as the job's own record has it", output)
    assert re.search(r"go on +\S*shardsched run examples\.quickstart", output)
    assert "\nconsole" not in output
    assert "\x1b" not in output
    assert left_of(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.fleet
@pytest.mark.timeout(LIMIT_S + 30)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_demo_that_is_interrupted_ends_its_processes(tmp_path: Path, number: signal.Signals) -> None:
    """Whoever breaks off the demo finds no process left, neither site nor executor nor item nor console."""
    with performance(tmp_path, "--seconds", "60", "--no-color") as process:
        assert process.stdout is not None
        found = (re.match(r"console +(http://\S+) and give the code [A-Z2-9-]{23}$", line) for line in process.stdout)
        address = next(filter(None, found))[1]
        assert httpx.get(address, timeout=30, trust_env=False).status_code == 200
        assert len(processes_of(tmp_path)) >= 7
        process.send_signal(number)
        output, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130, output
    assert "Traceback" not in output
    assert left_of(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_demo_without_its_libraries_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples extra is optional; without it one sentence says so."""
    monkeypatch.setitem(sys.modules, "httpx", None)
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 1
    assert result.output == "shardsched: the demo needs httpx: install it with pip install 'shardsched[examples]'\n"


def test_demo_of_a_registry_that_is_no_url_says_so_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong option is reported without a traceback, before any process is started or folder kept."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    result = CliRunner().invoke(main, ["demo", "--registry", "nonsense://here"])
    assert result.exit_code == 2
    assert len(result.output.splitlines()) == 1
    assert "nonsense" in result.output
    assert list(tmp_path.iterdir()) == []
