"""``shardsched job``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shardsched.core.fire import ItemState
from shardsched.core.job import Isolation, Misfire, Strategy

if TYPE_CHECKING:
    from tests.admin.stage import Stage
    from tests.cli.conftest import CommandLine

CREATE = ("job", "create", "books", "--handler", "crawl", "--cron", "0 */5 * * * ?")


def test_job_create_every_setting_is_stored(stage: Stage, shell: CommandLine) -> None:
    """Each setting of the decorator has an option."""
    stage.join("e1")
    shell.ok(
        *CREATE,
        *(
            "--items",
            "8",
            "--item-param",
            '0=a,1="b,c"',
            "--param",
            "p",
            "--no-failover",
            "--timezone",
            "Asia/Shanghai",
        ),
        *("--misfire", "skip", "--misfire-grace", "5", "--timeout", "30", "--warn-after", "20", "--stop-grace", "2"),
        *("--isolation", "thread", "--strategy", "average", "--label", "zone=eu", "--label", "disk=big"),
        *("--priority", "3", "--description", "Bücher", "--paused"),
    )
    config = stage.config("books")
    assert (config.cron, config.items, dict(config.item_params)) == ("0 */5 * * * ?", 8, {0: "a", 1: "b,c"})
    assert (config.param, config.failover, config.timezone) == ("p", False, "Asia/Shanghai")
    assert (config.misfire, config.misfire_grace_s) == (Misfire.SKIP, 5)
    assert (config.timeout_s, config.warn_after_s, config.stop_grace_s) == (30, 20, 2)
    assert (config.isolation, config.strategy) == (Isolation.THREAD, Strategy.AVERAGE)
    assert (dict(config.labels), config.priority) == ({"zone": "eu", "disk": "big"}, 3)
    assert (config.description, config.paused) == ("Bücher", True)


def test_job_create_twice_is_a_conflict(stage: Stage, shell: CommandLine) -> None:
    """A name that is taken is a conflict, with what to do instead."""
    stage.join("e1")
    shell.ok(*CREATE)
    assert "job update" in shell.error(5, *CREATE)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--items", "0"), "items"),
        (("--items", "many"), "--items"),
        (("--misfire", "never"), "--misfire"),
        (("--timeout", "soon"), "--timeout"),
        (("--label", "zone"), "zone=eu"),
        (("--label", "a=1", "--label", "a=2"), "twice"),
        (("--item-param", "x"), "0=a,1=b"),
        (("--item-param", "9=a"), "no item 9"),
        (("--timezone", "Mars"), "Mars"),
        (("--frequency", "3"), "--frequency"),
    ],
)
def test_job_create_wrong_usage_is_one_line(
    stage: Stage, shell: CommandLine, options: tuple[str, ...], words: str
) -> None:
    """Wrong usage exits with 2 and one line that names the option or the value."""
    stage.join("e1")
    assert words in shell.error(2, *CREATE, *options)
    assert stage.admin.jobs.names() == ()


def test_job_create_unhosted_handler_is_wrong_usage(stage: Stage, shell: CommandLine) -> None:
    """A handler that nobody hosts is refused with those that are hosted."""
    stage.join("e1", handlers=("alpha",))
    assert "alpha" in shell.error(2, *CREATE)


def test_job_update_changes_and_clears(stage: Stage, shell: CommandLine) -> None:
    """What is given changes, 'none' clears a limit, empty text clears parameters, and --no-labels clears labels."""
    stage.join("e1")
    shell.ok(*CREATE, "--timeout", "30", "--item-param", "0=a", "--label", "zone=eu", "--param", "p")
    out = shell.ok("job", "update", "books", "--timeout", "none", "--item-param", "", "--no-labels", "--param", "")
    assert "version 1" in out
    config = stage.config("books")
    assert (config.timeout_s, dict(config.item_params), dict(config.labels), config.param) == (None, {}, {}, "")
    assert "so already" in shell.ok("job", "update", "books", "--param", "")


def test_job_update_nothing_given_is_wrong_usage(stage: Stage, shell: CommandLine) -> None:
    """An update without a setting is a slip."""
    stage.join("e1")
    shell.ok(*CREATE)
    assert "--items" in shell.error(2, "job", "update", "books")
    assert "contradict" in shell.error(2, "job", "update", "books", "--label", "a=b", "--no-labels")


def test_job_update_old_version_is_a_conflict(stage: Stage, shell: CommandLine) -> None:
    """A change bound to a version is refused once the job has moved on."""
    stage.join("e1")
    shell.ok(*CREATE)
    shell.ok("job", "update", "books", "--items", "2", "--version", "0")
    shell.error(5, "job", "update", "books", "--items", "3", "--version", "0")


def test_job_pause_and_resume_say_what_was(stage: Stage, shell: CommandLine) -> None:
    """Pausing and resuming are idempotent and say so."""
    stage.join("e1")
    shell.ok(*CREATE)
    assert shell.ok("job", "pause", "books") == "books: paused\n"
    assert shell.ok("job", "pause", "books") == "books: was paused already\n"
    assert shell.ok("job", "resume", "books") == "books: resumed\n"
    assert shell.ok("job", "resume", "books") == "books: was not paused\n"


def test_job_trigger_says_where_it_runs(stage: Stage, shell: CommandLine) -> None:
    """The answer to a trigger names items and executors."""
    stage.join("e1")
    stage.job("books", {"e1": (0, 1, 2)}, items=3)
    assert "items 0-1 on e1" in shell.ok("job", "trigger", "books", "--items", "0-1", "--param", "x")
    trigger = stage.commands("books").triggers[0]
    assert (trigger.only, trigger.param) == ((0, 1), "x")
    assert "@" in trigger.by
    assert "0 to 2" in shell.error(2, "job", "trigger", "books", "--items", "7")
    assert "0-3,7" in shell.error(2, "job", "trigger", "books", "--items", "a")


def test_job_disable_and_enable_items(stage: Stage, shell: CommandLine) -> None:
    """Items are switched off and on by number, and both commands say what they did."""
    stage.join("e1")
    stage.job("books", {"e1": (0, 1, 2)}, items=3)
    assert "changed disabled_items" in shell.ok("job", "disable", "books", "--items", "0-1")
    assert "disabled already" in shell.ok("job", "disable", "books", "--items", "1")
    assert shell.json("job", "show", "books")["disabled_items"] == [0, 1]
    assert "items 0-1 are disabled" in shell.ok("job", "show", "books")
    assert "changed disabled_items" in shell.ok("job", "enable", "books", "--items", "0")
    assert "changed disabled_items" in shell.ok("job", "enable", "books")
    assert "enabled already" in shell.ok("job", "enable", "books")
    assert "0 to 2" in shell.error(2, "job", "disable", "books", "--items", "7")


def test_job_policies_are_options(stage: Stage, shell: CommandLine) -> None:
    """Pauses, retries and what is done about failures can be given, shown and cleared; a cron need not be given."""
    stage.join("e1")
    shell.ok(
        "job", "create", "books", "--handler", "crawl", "--pause", "sat,sun", "--pause", "22:00-06:00", "--retries", "3",
        "--retry-delay", "5", "--on-failure", "shop:mourn",
    )  # fmt: skip
    shown = shell.json("job", "show", "books")
    assert (shown["cron"], shown["next_fire"], shown["pause"]) == ("", None, ["sat,sun", "22:00-06:00"])
    assert (shown["retries"], shown["retry_delay"], shown["on_failure"]) == (3, 5, "shop:mourn")
    text = shell.ok("job", "show", "books") + shell.ok("job", "list")
    assert "pause: sat,sun, 22:00-06:00" in text
    assert "'25:00-06:00'" in shell.error(2, "job", "update", "books", "--pause", "sat 25:00-06:00")
    assert "on_failure" in shell.error(2, "job", "update", "books", "--on-failure", "mourn")
    assert "leave" in shell.error(2, "job", "update", "books", "--cron", "0 12 * * *", "--pause", "00:00-24:00")
    shell.ok("job", "update", "books", "--cron", "0 12 * * *", "--pause", "")
    assert shell.json("job", "show", "books")["pause"] == []
    shell.ok("job", "update", "books", "--cron", "")
    assert shell.json("job", "show", "books")["cron"] == ""


def test_job_show_says_when_an_item_is_tried_again(stage: Stage, shell: CommandLine) -> None:
    """A failed item that waits for its retry says until when."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)}, retries=2)
    retry_at = stage.clock.now()
    stage.write_cursor("books", 0, state=ItemState.FAILED, failures=1, retry_at=retry_at, message="boom")
    assert "boom; tried again at " in shell.ok("job", "show", "books")


def test_job_trigger_without_owner_is_a_conflict(stage: Stage, shell: CommandLine) -> None:
    """A trigger that nobody would run is refused with the reason."""
    stage.join("e1")
    stage.job("books")
    assert "leads" in shell.error(5, "job", "trigger", "books")


def test_job_stop_names_what_ran(stage: Stage, shell: CommandLine) -> None:
    """Stopping says which items were running."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    assert "nothing ran" in shell.ok("job", "stop", "books")
    stage.claim("books", 0, "e1")
    assert "items 0 are being stopped" in shell.ok("job", "stop", "books")


def test_job_delete_without_terminal_does_not_ask(stage: Stage, shell: CommandLine) -> None:
    """In a script nothing is asked."""
    stage.join("e1")
    shell.ok(*CREATE)
    assert shell.ok("job", "delete", "books") == "books: deleted\n"
    assert "books" in shell.error(4, "job", "delete", "books", "--yes")


def test_job_delete_running_fails_and_says_who_finishes(stage: Stage, shell: CommandLine) -> None:
    """A deletion that has to wait longer than told exits with 1; it is not undone."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    stage.claim("books", 0, "e1")
    result = shell("job", "delete", "books", "--yes", "--wait", "0")
    assert result.exit_code == 1
    assert "items 0 still run" in result.stdout
    assert stage.config("books").deleting


def test_job_delete_hosted_by_code_says_that_it_comes_back(stage: Stage, shell: CommandLine) -> None:
    """Who deletes what code makes is told who makes it again."""
    stage.join("e1", handlers=("books",))
    stage.admin.jobs.register("books", {"cron": "@daily"})
    assert "e1" in shell.ok("job", "delete", "books", "--yes")


def test_job_show_and_list_as_json(stage: Stage, shell: CommandLine) -> None:
    """The reading commands give the promised JSON."""
    stage.join("e1")
    shell.ok(*CREATE, "--items", "2", "--timeout", "9")
    stage.assign("books", {"e1": (0, 1)})
    stage.write_cursor("books", 0, token=3)
    shown = shell.json("job", "show", "books")
    assert (shown["version"], shown["items"], shown["timeout"], shown["cron"]) == (0, 2, 9, "0 */5 * * * ?")
    assert [cursor["token"] for cursor in shown["cursors"]] == [3, None]
    listed = shell.json("job", "list")["jobs"]
    assert [(job["name"], job["state"]) for job in listed] == [("books", "enabled")]


def test_job_show_and_list_as_text_are_safe_for_a_terminal(stage: Stage, shell: CommandLine) -> None:
    """What somebody wrote by hand cannot steer a terminal."""
    stage.join("e1")
    shell.ok(*CREATE, "--description", "red \x1b[31m text", "--item-param", "0=x")
    stage.assign("books", {"e1": (0,)})
    stage.write_cursor("books", 0, message="bell \x07")
    text = shell.ok("job", "show", "books") + shell.ok("job", "list")
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\\x1b[31m" in text
    assert "books" in text


@pytest.mark.parametrize("command", ["show", "pause", "resume", "trigger", "stop", "delete"])
@pytest.mark.parametrize("name", ["nothing", "a/b", ".."])
def test_job_unknown_exits_with_not_found(stage: Stage, shell: CommandLine, command: str, name: str) -> None:
    """A job that is not there exits with 4, whatever its name is made of."""
    stage.join("e1")
    assert "job list" in shell.error(4, "job", command, name)


def test_job_list_empty_says_what_to_do(shell: CommandLine) -> None:
    """A fleet without jobs is told how to get one."""
    assert "job create" in shell.ok("job", "list")
    assert shell.json("job", "list") == {"jobs": []}


def test_job_reset_clears_what_items_saved(stage: Stage, shell: CommandLine) -> None:
    """The checkpoints are shown, and cleared for some items or for all."""
    stage.join("e1")
    stage.job("books", {"e1": (0, 1)}, items=2)
    for item in (0, 1):
        stage.save("books", item, '{"page":17}')
    shown = shell.ok("job", "show", "books")
    assert "SAVED" in shown
    assert '{"page":17}' in shown
    assert shell.json("job", "show", "books")["cursors"][1]["checkpoint"]["state"] == '{"page":17}'
    assert shell.ok("job", "reset", "books", "--items", "1") == "books: cleared the checkpoints of items 1\n"
    stage.claim("books", 0, "e1")
    assert "--running" in shell.error(5, "job", "reset", "books")
    assert shell.ok("job", "reset", "books", "--running") == "books: cleared the checkpoints of items 0\n"
    assert shell.ok("job", "reset", "books") == "books: nothing was saved\n"
    assert "SAVED" not in shell.ok("job", "show", "books")


def test_job_show_says_what_cannot_be_loaded(stage: Stage, shell: CommandLine) -> None:
    """A record that is none is shown as that."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    stage.save("books", 0, "1")
    stage.put(stage.paths.checkpoint("books", 0), b"scribble")
    assert "cannot be loaded: it is not JSON" in shell.ok("job", "show", "books")
