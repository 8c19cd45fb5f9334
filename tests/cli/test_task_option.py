"""Jobs of built-in handlers from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.admin.stage import Stage
    from tests.cli.conftest import CommandLine

CREATE = ("job", "create", "books", "--cron", "@daily")
PING = (*CREATE, "--url", "https://shop.example/?token=very-secret", "--header", "Authorization: Bearer very-secret")


@pytest.mark.parametrize(
    ("options", "handler", "task"),
    [
        (("--shell", "tar cf 'a b.tar' {item}"), "@shell", {"argv": ["tar", "cf", "a b.tar", "{item}"]}),
        (
            ("--shell-string", "a | b", "--env", "A=b=c", "--env", "D=", "--cwd", "/srv", "--ok-code", "0", "--ok-code", "3"),
            "@shell",
            {"shell": "a | b", "env": {"A": "b=c", "D": ""}, "cwd": "/srv", "ok_codes": [0, 3]},
        ),
        (
            (
                *("--url", "https://shop.example/{item}", "--method", "post", "--header", "Content-Type: text/html"),
                *("--body", "x", "--expect", "200,304", "--http-timeout", "5", "--connect-timeout", "1", "--redirects", "2"),
            ),
            "@http",
            {
                "url": "https://shop.example/{item}",
                "method": "POST",
                "headers": {"Content-Type": "text/html"},
                "body": "x",
                "expect": "200,304",
                "timeout": 5.0,
                "connect_timeout": 1.0,
                "redirects": 2,
            },
        ),
        (
            ("--spider", "shop:Shelf", "--spider-setting", "DOWNLOAD_DELAY=0.5", "--spider-setting", "BOT_NAME=b", "--spider-arg", "a=1"),
            "@scrapy",
            {"spider": "shop:Shelf", "settings": {"DOWNLOAD_DELAY": 0.5, "BOT_NAME": "b"}, "args": {"a": "1"}},
        ),
    ],
)  # fmt: skip
def test_job_create_by_what_it_does_needs_no_executor(
    stage: Stage, shell: CommandLine, options: tuple[str, ...], handler: str, task: dict[str, Any]
) -> None:
    """The kind is known whoever lives, and each option has its place in the task."""
    shell.ok(*CREATE, *options, "--items", "2")
    config = stage.config("books")
    assert (config.handler, config.task, config.items) == (handler, task, 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "give --handler, --shell, --shell-string, --url or --spider"),
        (("--shell", "x", "--url", "https://shop.example/"), "@shell and @http"),
        (("--shell", "x", "--handler", "crawl"), "@shell and crawl"),
        (("--shell", "x", "--shell-string", "y"), "one of them"),
        (("--shell", "echo 'x"), "close each quote"),
        (("--shell", ""), "begins with a program"),
        (("--env", "A=b"), "no argv or shell"),
        (("--shell", "x", "--env", "very-secret"), "NAME=VALUE"),
        (("--shell", "x", "--isolation", "thread"), "in a process only"),
        (("--url", "ftp://shop.example/"), "http or https"),
        (("--url", "https://shop.example/", "--header", "very-secret"), "NAME:VALUE"),
        (("--url", "https://shop.example/", "--expect", "fine"), "200-299,304"),
        (("--url", "https://shop.example/", "--http-timeout", "0"), "0.1 to 3600"),
        (("--handler", "@sql"), "@shell, @http, @scrapy"),
        (("--handler", "@shell"), "no argv or shell"),
    ],
)
def test_job_create_wrong_task_is_one_line(
    stage: Stage, shell: CommandLine, options: tuple[str, ...], words: str
) -> None:
    """Wrong usage exits with 2 and one line; nothing is written, and no secret is told."""
    stage.join("e1")
    line = shell.error(2, *CREATE, *options)
    assert words in line
    assert "very-secret" not in line
    assert stage.admin.jobs.names() == ()


def test_job_update_changes_parts_of_a_task(stage: Stage, shell: CommandLine) -> None:
    """What is not given stays; a line takes the place of a command; an empty text clears."""
    shell.ok(*CREATE, "--shell", "a b", "--env", "A=b", "--cwd", "/srv")
    shell.ok("job", "update", "books", "--shell-string", "a | b")
    assert stage.config("books").task == {"shell": "a | b", "env": {"A": "b"}, "cwd": "/srv"}
    shell.ok("job", "update", "books", "--env", "", "--shell", "c", "--items", "3")
    assert stage.config("books").task == {"argv": ["c"], "env": {}, "cwd": "/srv"}
    assert stage.config("books").items == 3
    assert "so already" in shell.ok("job", "update", "books", "--cwd", "/srv")
    shell.error(5, "job", "update", "books", "--cwd", "/usr", "--version", "0")


def test_job_update_to_another_kind_starts_anew(stage: Stage, shell: CommandLine) -> None:
    """The task of one handler is nothing to another."""
    stage.join("e1")
    shell.ok(*CREATE, "--shell", "a b")
    shell.ok("job", "update", "books", "--url", "https://shop.example/")
    assert (stage.config("books").handler, stage.config("books").task) == ("@http", {"url": "https://shop.example/"})
    shell.ok("job", "update", "books", "--handler", "crawl")
    assert (stage.config("books").handler, stage.config("books").task) == ("crawl", {})
    assert "no argv or shell" in shell.error(2, "job", "update", "books", "--env", "A=b")


def test_job_show_hides_secrets(stage: Stage, shell: CommandLine) -> None:
    """They are stored, since the run needs them, and shown to nobody."""
    shell.ok(*PING, "--header", "X-Shelf: fiction")
    for text in (shell.ok("job", "show", "books"), shell.ok("job", "show", "books", "--json"), shell.ok("status")):
        assert "very-secret" not in text
    assert shell.json("job", "show", "books")["task"]["headers"] == {"Authorization": "***", "X-Shelf": "fiction"}
    assert stage.config("books").task["headers"]["Authorization"] == "Bearer very-secret"


def test_job_of_a_kind_that_nobody_hosts_says_so(stage: Stage, shell: CommandLine) -> None:
    """A spider waits for an executor with Scrapy, with the reason."""
    stage.join("e1", handlers=("@shell", "@http"))
    shell.ok(*CREATE, "--spider", "shop:Shelf")
    assert "no executor hosts the handler '@scrapy'" in shell.ok("job", "show", "books")
