"""``shardsched job export`` and ``shardsched job import``."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.admin.stage import Stage
    from tests.cli.conftest import CommandLine

CREATE = ("--handler", "crawl", "--cron", "0 3 * * *")


def write(folder: Path, **jobs: str) -> str:
    """A job file, each job's settings as flow YAML."""
    file = folder / "jobs.yaml"
    lines = [f"  {name}: {{handler: crawl, cron: 0 3 * * *{settings}}}" for name, settings in jobs.items()]
    file.write_text("\n".join(["format: 1", "jobs:", *lines, ""]))
    return str(file)


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_export_then_import_changes_nothing(stage: Stage, shell: CommandLine, tmp_path: Path, form: str) -> None:
    """What is exported can be imported, on the same registry and after all jobs are gone."""
    stage.join("e1")
    shell.ok("job", "create", "bücher", *CREATE, "--items", "3", "--item-param", "1=ж")
    shell.ok("job", "create", "apples", *CREATE)
    file = tmp_path / "jobs"
    assert shell.ok("job", "export", "--format", form, "-o", str(file)) == ""
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "jobs"))] == ["jobs"]
    assert shell.ok("job", "export", "--format", form) == file.read_text()
    assert "2 unchanged" in shell.ok("job", "import", str(file))
    for name in ("bücher", "apples"):
        shell.ok("job", "delete", name)
    assert "apples: created" in shell.ok("job", "import", str(file))
    assert shell.ok("job", "export", "--format", form) == file.read_text()


def test_export_json_is_for_programs(stage: Stage, shell: CommandLine) -> None:
    """--json is --format json, and names choose jobs."""
    stage.join("e1")
    shell.ok("job", "create", "books", *CREATE)
    shell.ok("job", "create", "apples", *CREATE)
    assert list(shell.json("job", "export", "books")["jobs"]) == ["books"]
    assert "pears" in shell.error(4, "job", "export", "pears")


def test_export_with_an_unreadable_job_fails_but_writes_the_others(stage: Stage, shell: CommandLine) -> None:
    """A backup that is not whole does not look like one."""
    stage.join("e1")
    shell.ok("job", "create", "books", *CREATE)
    stage.put(stage.paths.job("broken"), b"{")
    result = shell("job", "export")
    assert (result.exit_code, "books:" in result.stdout, "broken" in result.stderr) == (1, True, True)


def test_import_dry_run_shows_the_diff_and_writes_nothing(stage: Stage, shell: CommandLine, tmp_path: Path) -> None:
    """Each job has a line with what would be done, and one for each setting that changes."""
    stage.join("e1")
    shell.ok("job", "create", "books", *CREATE, "--items", "2")
    file = write(tmp_path, books=", items: 4", apples="")
    out = shell.ok("job", "import", file, "--dry-run", "--on-conflict", "overwrite")
    assert out.splitlines() == [
        "books (line 3): change",
        "  items: 2 -> 4",
        "apples (line 4): create",
        '  handler: "" -> "crawl"',
        '  cron: "" -> "0 3 * * *"',
        "1 to create, 1 to change; nothing is written in a dry run",
    ]
    assert (stage.admin.jobs.names(), stage.config("books").items) == (("books",), 2)


def test_import_by_default_writes_nothing_on_a_conflict(stage: Stage, shell: CommandLine, tmp_path: Path) -> None:
    """A conflict exits with 5, and the file's other jobs are not written either."""
    stage.join("e1")
    shell.ok("job", "create", "books", *CREATE)
    file = write(tmp_path, apples="", books=", items: 4")
    for arguments in ((), ("--dry-run",)):
        result = shell("job", "import", file, *arguments)
        assert (result.exit_code, "books (line 4): conflict" in result.stdout) == (5, True)
    assert "nothing is written, since a job conflicts" in shell("job", "import", file).stdout
    assert stage.admin.jobs.names() == ("books",)
    assert "books: skipped" in shell.ok("job", "import", file, "--on-conflict", "skip")
    assert stage.config("books").items == 1
    assert "books: changed" in shell.ok("job", "import", file, "--on-conflict", "overwrite")
    assert stage.config("books").items == 4


def test_import_crontab_takes_what_it_can_and_tells_the_rest(stage: Stage, shell: CommandLine, tmp_path: Path) -> None:
    """Each line that cannot be taken is told with its reason; the exit code says so."""
    file = tmp_path / "crontab"
    file.write_text("MAILTO=x\n0 3 * * * /opt/backup.sh\n@reboot /opt/warm\n61 * * * * /opt/never\n")
    arguments = ("job", "import", str(file), "--prefix", "old-", "--tz", "Europe/Paris")
    assert shell(*arguments).exit_code == 1
    assert stage.admin.jobs.names() == ()
    result = shell(*arguments, "--on-conflict", "skip")
    assert (result.exit_code, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert "old-warm (line 3): refused: there is no @reboot" in "\n".join(lines)
    assert any(line.startswith("old-never (line 4): refused: cron expression '61 * * * *'") for line in lines)
    assert "not taken: MAILTO: no mail is sent; the output of each run is kept on its executor (line 1)" in lines
    assert "no living executor hosts handler '@shell' yet; its jobs wait for one" in lines
    assert "old-backup: created" in lines
    config = stage.config("old-backup")
    assert (config.handler, config.timezone, dict(config.task)) == (
        "@shell",
        "Europe/Paris",
        {"shell": "/opt/backup.sh"},
    )


def test_import_json_tells_all(stage: Stage, shell: CommandLine, tmp_path: Path) -> None:
    """Programs get every step, remark and handler that nobody hosts."""
    stage.join("e1")
    shell.ok("job", "create", "books", *CREATE)
    row = {"jobDesc": "apples", "jobCron": "0 0 3 * * ?", "executorHandler": "pick", "alarmEmail": "a@b"}
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([row, row | {"jobDesc": "books"}, row | {"jobDesc": "pears", "jobCron": "x"}]))
    result = shell("job", "import", str(file), "--on-conflict", "skip", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [(job["name"], job["action"], job["place"]) for job in document["jobs"]] == [
        ("apples", "create", "row 1"),
        ("books", "skip", "row 2"),
        ("pears", "refused", "row 3"),
    ]
    assert (document["format"], document["is_written"], document["unhosted"]) == ("xxl-job", True, ["pick"])
    assert {(remark["name"], remark["what"]) for remark in document["remarks"]} >= {
        (None, "timezone"),
        ("apples", "alarmEmail"),
    }
    assert document["jobs"][0]["changes"][0] == {"setting": "handler", "old": "", "new": "pick"}
    assert stage.admin.jobs.names() == ("apples", "books")


def test_import_from_standard_input(stage: Stage, shell: CommandLine) -> None:
    """A dash is standard input: an export can be piped into another fleet."""
    result = shell("job", "import", "-", "--handler", "mine", stdin="format: 1\njobs:\n  books: {cron: '@daily'}\n")
    assert result.exit_code == 0, result.output
    assert stage.config("books").handler == "mine"


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("format: 1\njobs: {a: *b}\n", (), "alias"),
        ("\0", (), "NUL"),
        ("", (), "empty"),
        ("format: 1\n", ("--format", "crontab-e"), "--format"),
        ("format: 1\n", ("--on-conflict", "ask"), "--on-conflict"),
    ],
)
def test_import_of_what_cannot_be_read_is_wrong_usage(
    shell: CommandLine, tmp_path: Path, text: str, arguments: tuple[str, ...], words: str
) -> None:
    """A file that cannot be read at all exits with 2 and one line."""
    file = tmp_path / "jobs"
    file.write_text(text)
    assert words in shell.error(2, "job", "import", str(file), *arguments)
    assert "nowhere" in shell.error(2, "job", "import", str(tmp_path / "nowhere"))
