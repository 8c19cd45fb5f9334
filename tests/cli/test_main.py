"""What all commands share: exit codes, one line of error, options, quick imports."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from shardsched.cli import main
from shardsched.cli.error import exit_code, one_line, printable
from shardsched.cli.main import _COMMANDS, _SUMMARIES
from shardsched.errors import (
    CorruptNodeError,
    CronExpressionError,
    HandlerImportError,
    JobExistsError,
    JobNotFoundError,
    NameTakenError,
    RegistryAccessError,
    RegistryUnavailableError,
    SessionLostError,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import CommandLine


def cron(*arguments: str) -> str:
    """Run ``shardsched cron``, which must succeed."""
    result = CliRunner().invoke(main, ["cron", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_cron_json_has_the_promised_shape() -> None:
    """Expression, zone, dialect and fires with offset."""
    shown = json.loads(
        cron("0 0 8 ? * MON", "--tz", "Asia/Shanghai", "--from", "2026-12-01T00:00", "-n", "2", "--json")
    )
    assert (shown["expr"], shown["timezone"], shown["dialect"]) == ("0 0 8 ? * MON", "Asia/Shanghai", "quartz")
    assert shown["fires"] == ["2026-12-07T08:00:00+08:00", "2026-12-14T08:00:00+08:00"]


def test_cron_text_has_weekday_and_zone() -> None:
    """People see the weekday and the zone's name; --from without offset is read in the zone."""
    lines = cron("30 2 * * *", "--tz", "Europe/Berlin", "--from", "2026-12-01T02:00:00", "-n", "1").splitlines()
    assert lines == ["Tue 2026-12-01 02:30:00+01:00 CET"]
    assert cron("30 2 * * *", "--from", "2026-12-01T02:00:00+05:00", "-n", "1").startswith("Tue 2026-12-01 02:30")


def test_cron_leaves_pause_windows_out() -> None:
    """Windows that are given hide their fires."""
    told = cron(
        "0 * * * *", "--from", "2026-12-04T21:00", "--pause", "sat,sun", "--pause", "22:00-24:00", "-n", "2", "--json"
    )
    assert json.loads(told)["fires"] == ["2026-12-07T00:00:00+00:00", "2026-12-07T01:00:00+00:00"]
    assert json.loads(told)["pause"] == ["sat,sun", "22:00-24:00"]


def test_cron_default_shows_five_fires_after_now() -> None:
    """Without options it is five fires from now on, in UTC."""
    fires = json.loads(cron("* * * * *", "--json"))["fires"]
    assert len(fires) == 5
    assert {datetime.fromisoformat(fire).utcoffset() for fire in fires} == {timedelta(0)}


@pytest.mark.parametrize(
    "arguments",
    [
        ("61 * * * *",),
        ("0 0 30 2 *",),
        ("nonsense",),
        ("",),
        ("* * * * *", "--tz", "Mars/Olympus"),
        ("* * * * *", "--from", "yesterday"),
        ("0 0 0 1 1 ? 2020",),
        ("* * * * *", "-n", "0"),
        ("* * * * *", "-n", "many"),
    ],
)
def test_cron_invalid_or_never_firing_is_wrong_usage(arguments: tuple[str, ...]) -> None:
    """An expression that is not valid or never fires exits with 2 and one line."""
    result = CliRunner().invoke(main, ["cron", *arguments])
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_cron_imports_no_registry_client() -> None:
    """A quick question does not wait for the registries' client libraries."""
    code = (
        "import sys\n"
        "from shardsched.cli import main\n"
        "try:\n    main(['cron', '* * * * *'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'kazoo', 'sqlalchemy', 'apscheduler', 'flask'}\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & heavy))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CronExpressionError(expression="x", reason="y"), 2),
        (HandlerImportError(module="x", reason="y"), 2),
        (RegistryUnavailableError("x"), 3),
        (SessionLostError("x"), 3),
        (JobNotFoundError(job="x"), 4),
        (JobExistsError(job="x"), 5),
        (NameTakenError(executor="e", holder="h"), 5),
        (RegistryAccessError("x"), 1),
        (CorruptNodeError(path="/x", reason="y"), 1),
        (OSError("x"), 1),
    ],
)
def test_exit_code_of_each_kind_of_error(error: Exception, code: int) -> None:
    """Scripts can tell what went wrong by the exit code."""
    assert exit_code(error) == code


def test_one_line_escapes_what_steers_a_terminal() -> None:
    """Whatever is in a message, it is one harmless line."""
    assert one_line("a\nb\r\n\tc") == "a b c"
    assert printable("\x1b[31m\u202eÄ新\ud800") == "\\x1b[31m\\u202eÄ新\\ud800"


def test_main_registry_unreachable_exits_with_three_soon() -> None:
    """A registry that does not answer is one line and exit code 3; its password is not shown."""
    url = "zk://me:secret@127.0.0.1:1/x"
    result = CliRunner().invoke(main, ["status", "--registry", url])
    assert result.exit_code == 3
    assert len(result.stderr.splitlines()) == 1
    assert "127.0.0.1:1" in result.stderr
    assert "secret" not in result.stderr


def test_main_registry_url_or_namespace_wrong_is_wrong_usage(shell: CommandLine) -> None:
    """A URL of no known kind and a namespace that is none are refused."""
    shell.error(2, "status", "--registry", "carrier-pigeon://x")
    shell.error(2, "status", "--namespace", "a//b")
    shell.error(2, "job", "list", "--namespace", "../x")


@pytest.mark.parametrize("namespace", ["a", "/a", "a/", "/a/"])
def test_main_namespace_is_the_same_with_and_without_slashes(shell: CommandLine, namespace: str) -> None:
    """One rule for namespaces, whoever is asked."""
    assert shell.ok("executor", "list", "--namespace", namespace).startswith("no executor")


def test_main_unknown_command_or_option_is_one_line(shell: CommandLine) -> None:
    """Slips of the pen exit with 2 and point to the help."""
    assert "shardsched --help" in shell.error(2, "jobs")
    assert "job show --help" in shell.error(2, "job", "show")
    assert "--nothing" in shell.error(2, "status", "--nothing")


def test_main_help_lists_every_command_and_each_has_help() -> None:
    """Help is there for all commands and their own."""
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    assert set(_SUMMARIES) == set(_COMMANDS)
    for name in _COMMANDS:
        assert f"  {name} " in result.stdout
    for name in ("run", "job", "executor", "status", "doctor", "cron"):
        assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0
    assert CliRunner().invoke(main, ["--version"]).stdout.startswith("shardsched")
    assert CliRunner().invoke(main, []).exit_code == 0


def test_main_every_reading_command_takes_json_and_place() -> None:
    """Options are the same wherever they make sense."""
    reading = (["status"], ["doctor"], ["cron"], ["job", "list"], ["job", "show"], ["executor", "list"])
    others = (["job", "create"], ["job", "delete"], ["job", "trigger"], ["executor", "drain"], ["run"])
    for command in (*reading, *others):
        text = CliRunner().invoke(main, [*command, "--help"]).stdout
        assert "--registry" in text
        assert "--namespace" in text
        assert ("--json" in text.split()) == (command in reading)


def test_main_environment_and_option_the_option_wins(shell: CommandLine, tmp_path: Path) -> None:
    """An option outweighs the environment."""
    other = f"memory://{tmp_path.name}"
    assert shell.json("executor", "list", "--registry", other)["executors"] == []
