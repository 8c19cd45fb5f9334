"""What a built-in handler does, as options of ``job create`` and ``job update``."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import click

from shardsched.core.task import HTTP, SCRAPY, SHELL, is_builtin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Command = Callable[..., Any]

_OPTIONS: tuple[Command, ...] = (
    click.option("--shell", metavar="COMMAND", help="Run a program, split into words as a shell would; no shell runs."),
    click.option("--shell-string", metavar="LINE", help="Run a line by /bin/sh -c."),
    click.option("--env", multiple=True, metavar="K=V", help="A variable of the program. Repeatable; '' for none."),
    click.option("--cwd", metavar="FOLDER", help="Where the program works."),
    click.option("--ok-code", "ok_codes", multiple=True, type=int, help="An exit code that means success. Repeatable."),
    click.option("--url", help="Make an HTTP request to this address."),
    click.option("--method", help="Of the request: GET, POST …"),
    click.option("--header", "headers", multiple=True, metavar="K:V", help="Of the request. Repeatable; '' for none."),
    click.option("--body", help="Of the request."),
    click.option("--expect", metavar="200-299", help="Statuses that mean success."),
    click.option("--http-timeout", type=float, metavar="S", help="Seconds that the server may be silent."),
    click.option("--connect-timeout", type=float, metavar="S", help="Seconds that connecting may take."),
    click.option("--redirects", type=int, metavar="N", help="How many redirects are followed."),
    click.option("--spider", metavar="MODULE:CLASS", help="Run a Scrapy spider, or one of the project by its name."),
    click.option("--spider-setting", "spider_settings", multiple=True, metavar="K=V", help="A Scrapy setting."),
    click.option("--spider-arg", "spider_args", multiple=True, metavar="K=V", help="An argument of the spider."),
)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        message = f"--shell {text!r} cannot be split into words: {error}; close each quote"
        raise click.UsageError(message) from None


def _pairs(texts: Iterable[str], option: str, mark: str) -> dict[str, str]:
    """Return values given as texts such as ``K=V``; an empty text stands for none."""
    pairs: dict[str, str] = {}
    for text in filter(None, texts):
        name, found, value = text.partition(mark)
        if not found or not name.strip():
            # The value alone is not told: it may be a secret.
            message = f"{option} takes NAME{mark}VALUE; one of those given has no {mark!r} or no name"
            raise click.UsageError(message)
        pairs[name.strip()] = value.strip() if mark == ":" else value
    return pairs


def _settings(texts: Iterable[str]) -> dict[str, Any]:
    """Return settings of Scrapy: values that are JSON as what they are, others as texts."""
    return {name: _json_or_text(text) for name, text in _pairs(texts, "--spider-setting", "=").items()}


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


_KINDS: Mapping[str, Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    SHELL: {
        "shell": ("argv", _words),
        "shell_string": ("shell", str),
        "env": ("env", lambda texts: _pairs(texts, "--env", "=")),
        "cwd": ("cwd", str),
        "ok_codes": ("ok_codes", list),
    },
    HTTP: {
        "url": ("url", str),
        "method": ("method", str.upper),
        "headers": ("headers", lambda texts: _pairs(texts, "--header", ":")),
        "body": ("body", str),
        "expect": ("expect", str),
        "http_timeout": ("timeout", float),
        "connect_timeout": ("connect_timeout", float),
        "redirects": ("redirects", int),
    },
    SCRAPY: {
        "spider": ("spider", str),
        "spider_settings": ("settings", _settings),
        "spider_args": ("args", lambda texts: _pairs(texts, "--spider-arg", "=")),
    },
}
"""By handler and option, the key of the task and how its value is made."""
_INSTEAD = {"argv": "shell", "shell": "argv"}
"""A key that is given takes the place of this other one."""


def task_options(command: Command) -> Command:
    """Give a command the options that say what a built-in handler does."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def take_task(options: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Take the options of a task out of those given; return their handler, None without any, and the task's keys.

    Raises:
        UsageError: Options of several handlers, or of another than ``--handler`` names.
    """
    given = {
        handler: {option: options[option] for option in keys if options.get(option) not in (None, ())}
        for handler, keys in _KINDS.items()
    }
    for keys in _KINDS.values():
        for option in keys:
            options.pop(option, None)
    handlers = [handler for handler, values in given.items() if values]
    handlers += [
        named for named in [options.get("handler")] if named is not None and handlers and named not in handlers
    ]
    if len(handlers) > 1:
        message = f"the options are those of {' and '.join(handlers)}; a job has one handler"
        raise click.UsageError(message)
    if not handlers:
        return None, {}
    keys = _KINDS[handlers[0]]
    return handlers[0], {keys[option][0]: keys[option][1](value) for option, value in given[handlers[0]].items()}


def merged_task(stored: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored task with keys given anew; what is not given stays."""
    replaced = {_INSTEAD.get(key) for key in given} - set(given)
    return {key: value for key, value in stored.items() if key not in replaced} | dict(given)


def without_task(handler: str | None) -> dict[str, Any]:
    """Return the setting that clears the task of a job that gets a handler of code."""
    return {"task": {}} if handler is not None and not is_builtin(handler) else {}
