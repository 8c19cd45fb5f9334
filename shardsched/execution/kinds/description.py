"""Describing jobs of the built-in handlers in code: what the command line does, kept under version control."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

from shardsched.core.task import HTTP, SCRAPY, SHELL
from shardsched.errors import RunFailedError
from shardsched.execution.handlers import TABLE, Handler

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack


class JobSettings(TypedDict, total=False):
    """The arguments of `sharded_job` but name and cron."""

    items: int
    item_params: Mapping[int, str] | str | None
    param: str
    timezone: str
    pause: Sequence[str]
    after: Sequence[str] | str
    after_mode: str
    after_on: str
    retries: int
    retry_delay: float
    retry_backoff: float
    retry_max_delay: float
    on_failure: str
    failover: bool
    misfire: str
    misfire_grace: float
    timeout: float | None
    warn_after: float | None
    stop_grace: float
    isolation: str
    strategy: str
    labels: Mapping[str, str] | None
    priority: int
    description: str
    paused: bool
    overwrite: bool


def shell_job(
    name: str,
    command: Sequence[str] | str,
    *,
    cron: str = "",
    env: Mapping[str, str] | None = None,
    cwd: str = "",
    ok_codes: Sequence[int] = (0,),
    **settings: Unpack[JobSettings],
) -> None:
    """Describe a job that runs a program.

    Args:
        name: The job's name.
        command: The program and its arguments, in which ``{item}`` and its kin are filled; or one text, which
            ``/bin/sh -c`` runs as it is.
        cron: When it fires; empty for only when it is triggered.
        env: Environment variables besides the executor's own and those that tell of the run.
        cwd: Folder in which it runs; empty for the executor's.
        ok_codes: Exit codes that mean success.
        settings: As for `sharded_job`.

    Raises:
        ConfigurationError: The name is that of other code.
    """
    task: dict[str, Any] = {"shell": command} if isinstance(command, str) else {"argv": list(command)}
    task |= {"env": dict(env)} if env else {}
    task |= {"cwd": cwd} if cwd else {}
    task |= {"ok_codes": list(ok_codes)} if list(ok_codes) != [0] else {}
    _describe(name, SHELL, task, {"cron": cron, **settings})


def http_job(
    name: str,
    url: str,
    *,
    cron: str = "",
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
    expect: str = "200-299",
    connect_timeout: float = 10,
    http_timeout: float = 30,
    redirects: int = 0,
    **settings: Unpack[JobSettings],
) -> None:
    """Describe a job that makes an HTTP request.

    ``{item}`` and its kin are filled in the URL, the headers and the body, each value encoded as it must be there.

    Args:
        name: The job's name.
        url: An address of http or https.
        cron: When it fires; empty for only when it is triggered.
        method: In capitals.
        headers: By name.
        body: A text; without a ``Content-Type`` among the headers it is sent as plain text.
        expect: Statuses that mean success, such as ``200-299,304``.
        connect_timeout: Seconds that connecting may take.
        http_timeout: Seconds that the server may be silent.
        redirects: How many redirects are followed; with none a redirect is the answer.
        settings: As for `sharded_job`; its `timeout` bounds the whole run.

    Raises:
        ConfigurationError: The name is that of other code.
    """
    task: dict[str, Any] = {"url": url, "method": method, "expect": expect}
    task |= {"headers": dict(headers)} if headers else {}
    task |= {} if body is None else {"body": body}
    task |= {"connect_timeout": connect_timeout, "timeout": http_timeout, "redirects": redirects}
    _describe(name, HTTP, task, {"cron": cron, **settings})


def scrapy_job(
    name: str,
    spider: str,
    *,
    cron: str = "",
    spider_settings: Mapping[str, Any] | None = None,
    spider_args: Mapping[str, str] | None = None,
    **settings: Unpack[JobSettings],
) -> None:
    """Describe a job that runs a Scrapy spider.

    Args:
        name: The job's name.
        spider: ``module:Class``, or the name of a spider of the Scrapy project in the executor's folder.
        cron: When it fires; empty for only when it is triggered.
        spider_settings: Scrapy settings that win over the project's.
        spider_args: Arguments besides those that tell of the run.
        settings: As for `sharded_job`.

    Raises:
        ConfigurationError: The name is that of other code.
    """
    task: dict[str, Any] = {"spider": spider}
    task |= {"settings": dict(spider_settings)} if spider_settings else {}
    task |= {"args": dict(spider_args)} if spider_args else {}
    _describe(name, SCRAPY, task, {"cron": cron, **settings})


def _describe(name: str, handler: str, task: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Have a job registered at the start; called by the functions that users call, so that their caller is told."""
    caller = sys._getframe(2)  # noqa: SLF001 - as logging does, to say where a second job of that name is described

    def refuse(_: object) -> NoReturn:
        message = f"{name!r} is the name of a job, not of code; a job like it takes the handler {handler}"
        raise RunFailedError(message)

    TABLE.add(
        Handler(
            name=name,
            function=refuse,
            module=str(caller.f_globals.get("__name__", "")),
            qualname=f"line {caller.f_lineno}",
            settings={**settings, "handler": handler, "task": task},
        )
    )
