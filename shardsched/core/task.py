"""What the built-in handlers do: the task of a job, checked before it is written and again before it is done.

``@shell`` runs a program, ``@http`` makes a request, ``@scrapy`` runs a spider. Their names cannot be those of jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shardsched.core import task_value
from shardsched.errors import JobConfigError
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable

SHELL = "@shell"
"""Runs a program: ``argv``, or ``shell`` for a line of ``/bin/sh``."""
HTTP = "@http"
"""Makes one HTTP request."""
SCRAPY = "@scrapy"
"""Runs a Scrapy spider."""
BUILTIN_HANDLERS = (SHELL, HTTP, SCRAPY)
"""Handlers that come with shardsched; `SCRAPY` is hosted where Scrapy is installed."""

GIVEN_VARIABLES = (
    "SHARDSCHED_JOB",
    "SHARDSCHED_ITEM",
    "SHARDSCHED_ITEMS",
    "SHARDSCHED_PARAM",
    "SHARDSCHED_JOB_PARAM",
    "SHARDSCHED_RUN_ID",
    "SHARDSCHED_FENCING_TOKEN",
    "SHARDSCHED_ATTEMPT",
    "SHARDSCHED_FIRE_TIME",
    "SHARDSCHED_CAUSE",
    "SHARDSCHED_EXECUTOR",
)
"""Environment variables that a program gets from its run: the field of the context in capitals."""
GIVEN_ARGUMENTS = ("item", "items", "param", "job_param", "fire_time", "run_id", "fencing_token")
"""Arguments that a spider gets from its run."""

_KEYS: Mapping[str, Mapping[str, Callable[[Any], str | None]]] = {
    SHELL: {
        "argv": task_value.argv_fault,
        "shell": task_value.text_fault,
        "env": lambda value: task_value.environment_fault(value, {*GIVEN_VARIABLES, "SHARDSCHED_MARK"}),
        "cwd": task_value.text_fault,
        "ok_codes": task_value.codes_fault,
    },
    HTTP: {
        "url": task_value.url_fault,
        "method": task_value.method_fault,
        "headers": task_value.headers_fault,
        "body": task_value.string_fault,
        "expect": task_value.statuses_fault,
        "connect_timeout": task_value.seconds_fault,
        "timeout": task_value.seconds_fault,
        "redirects": task_value.redirects_fault,
    },
    SCRAPY: {
        "spider": task_value.text_fault,
        "settings": task_value.settings_fault,
        "args": lambda value: task_value.arguments_fault(value, GIVEN_ARGUMENTS),
    },
}
_ONE_OF: Mapping[str, tuple[str, ...]] = {SHELL: ("argv", "shell"), HTTP: ("url",), SCRAPY: ("spider",)}
"""Of these keys exactly one must be there."""


def is_builtin(handler: str) -> bool:
    """Return whether a name is kept for built-in handlers."""
    return handler.startswith("@")


def check_task(handler: str, task: Any) -> None:
    """Refuse a task that its handler cannot do.

    Args:
        handler: Name of the handler, built in or not.
        task: As it was given or is stored.

    Raises:
        JobConfigError: With the key at fault and what to give.
    """
    if not isinstance(task, Mapping):
        raise JobConfigError(Sentence("task is not a mapping; give the keys that its kind takes"), setting="task")
    if not is_builtin(handler):
        if task:
            message = Sentence(
                "task is for %(handlers)s; leave it out for the handler %(handler)r",
                handlers=", ".join(BUILTIN_HANDLERS),
                handler=handler,
            )
            raise JobConfigError(message, setting="task")
        return
    if handler not in _KEYS:
        message = Sentence(
            "there is no built-in handler %(handler)r; there are %(handlers)s",
            handler=handler,
            handlers=", ".join(BUILTIN_HANDLERS),
        )
        raise JobConfigError(message, setting="handler")
    _check_keys(handler, task)


def _check_keys(handler: str, task: Mapping[str, Any]) -> None:
    keys = _KEYS[handler]
    for key, value in task.items():
        fault = (
            keys[key](value)
            if key in keys
            else Sentence("is not known; %(handler)s takes %(keys)s", handler=handler, keys=", ".join(keys))
        )
        if fault is not None:
            raise JobConfigError(
                Sentence("the task's %(key)a %(fault)s", key=str(key)[:64], fault=fault),
                setting="task",
                key=str(key)[:64],
            )
    given = [key for key in _ONE_OF[handler] if key in task]
    if len(given) != 1:
        first, *others = _ONE_OF[handler]
        either = Sentence("%(first)s or %(other)s", first=first, other=others[0]) if others else first
        message = (
            Sentence("the task of %(handler)s has both %(keys)s; give one of them", handler=handler, keys=either)
            if given
            else Sentence("the task of %(handler)s has no %(keys)s; give it", handler=handler, keys=either)
        )
        raise JobConfigError(message, setting="task", key=_ONE_OF[handler][0])
