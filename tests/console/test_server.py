"""The console as a process: gunicorn, its log, its command line."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from shardsched.cli.main import main
from shardsched.people import People
from shardsched.people.role import Role
from tests.console.site import KEY, PASSWORD
from tests.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


class Process:
    """``shardsched`` with the console's commands, on files of a test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.history = f"sqlite:///{folder / 'fleet.history.db'}"
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SHARDSCHED_", "CONSOLE_"))},
            "SHARDSCHED_REGISTRY": f"sqlite:///{folder / 'fleet.db'}",
            "XDG_STATE_HOME": str(folder / "state"),
            "HOME": str(folder),
        }

    def start(self, *arguments: str, log: Path, **environment: str) -> subprocess.Popen[bytes]:
        """Start a console in the background."""
        with log.open("wb") as file:
            return subprocess.Popen(
                [sys.executable, "-m", "shardsched", "console", *arguments],
                env=self._environment | environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )

    def run(self, *arguments: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            [sys.executable, "-m", "shardsched", "console", *arguments],
            env=self._environment | environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def user(self, *arguments: str, given: str = "") -> Result:
        """Run a command about users in this process, which is faster."""
        hidden: dict[str, str | None] = {
            name: None for name in os.environ if name.startswith(("SHARDSCHED_", "CONSOLE_"))
        }
        return CliRunner(env=hidden | self._environment).invoke(main, ["console", "user", *arguments], input=given)


@pytest.fixture
def process(tmp_path: Path) -> Process:
    """The command line."""
    return Process(tmp_path)


@pytest.fixture
def port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_console_is_served_until_it_is_told_to_end(process: Process, port: int, tmp_path: Path) -> None:
    """With its address and its code in the log, no control socket, and a clean end."""
    log = tmp_path / "log"
    server = process.start("--port", str(port), log=log)
    try:
        eventually(lambda: "valid for an hour" in log.read_text(), 40)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=20) as answer:
            assert answer.status == 200
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20) as answer:
            assert answer.url.endswith("/setup")
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(30)
    text = log.read_text()
    assert code == 0, text
    assert f"the console answers at http://127.0.0.1:{port}" in text
    assert re.search(r"code ([A-Z2-9]{5}-){3}[A-Z2-9]{5} ", text)
    assert "Traceback" not in text
    assert not (tmp_path / ".gunicorn").exists()


@pytest.mark.parametrize(
    ("environment", "arguments", "message"),
    [
        ({"SECRET_KEY": "changeme"}, (), "too short"),
        ({"SECRET_KEY": KEY, "CONSOLE_ADMIN_PASSWORD_FILE": "/nowhere"}, (), "cannot be read"),
        ({"SECRET_KEY": KEY}, ("--history", "none"), "keeps its users in the history database"),
        ({"SECRET_KEY": KEY}, ("--history", "mysql://x"), "no known kind"),
        ({"SECRET_KEY": KEY}, ("--port", "0"), "0 is not in the range"),
    ],
)
def test_start_is_refused_in_one_line(
    process: Process, port: int, environment: dict[str, str], arguments: tuple[str, ...], message: str
) -> None:
    """What is wrong and what to do, no traceback, and an exit code that is not 0."""
    result = process.run("--port", str(port), *arguments, **environment)
    assert result.returncode != 0
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_users_are_made_at_the_command_line(process: Process) -> None:
    """Also when nobody can sign in; a weak password is refused there too."""
    refused = process.user("add", "ann", "--password-file", "-", given="passwordpassword")
    assert "easily guessed" in refused.stderr
    added = process.run("user", "add", "ann", "--role", "admin", "--password-file", "-", given=PASSWORD + "\n")
    assert (added.returncode, added.stdout) == (0, "user ann can sign in as admin\n")
    assert process.user("add", "ANN", "--password-file", "-", given=PASSWORD).exit_code == 5
    assert process.user("password", "bob", "--password-file", "-", given=PASSWORD).exit_code == 4
    assert json.loads(process.user("list", "--json").stdout) == [{"name": "ann", "role": "admin"}]
    people = People(process.history, "shardsched")
    before = people.users.named("ann")
    process.user("password", "ann", "--password-file", "-", given="four green ducks type slowly")
    after = people.users.named("ann")
    people.close()
    assert before is not None
    assert after is not None
    assert (after.role, after.epoch) == (Role.ADMIN, before.epoch + 1)
    assert after.password_hash != before.password_hash
    assert PASSWORD not in after.password_hash
