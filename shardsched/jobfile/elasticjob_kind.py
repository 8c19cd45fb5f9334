"""ElasticJob's script and HTTP jobs as tasks of the built-in kinds."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import MutableMapping


def script_task(line: str) -> dict[str, Any]:
    """Return the handler and the task of a script job.

    ElasticJob splits the line into words by its quotes and runs no shell; neither is one run here.

    Raises:
        ValueError: There is no command, or a quote is not closed.
    """
    try:
        argv = shlex.split(line)
    except ValueError:
        message = Sentence("script.command.line has a quote that is not closed; close it")
        raise ValueError(message) from None
    if not argv:
        message = Sentence("it is a script job without script.command.line; give its command")
        raise ValueError(message)
    return {"handler": "@shell", "task": {"argv": argv}}


def http_task(props: MutableMapping[str, str]) -> dict[str, Any]:
    """Return the handler and the task of an HTTP job, and take what it needs out of the properties.

    Raises:
        ValueError: It has no address, or a time-out is not a number.
    """
    url = props.pop("http.uri", "") or props.pop("http.url", "")
    if not url:
        message = Sentence("it is an HTTP job without http.uri; give its address")
        raise ValueError(message)
    task: dict[str, Any] = {"url": url, "method": (props.pop("http.method", "") or "GET").upper()}
    body, content_type = props.pop("http.data", ""), props.pop("http.content.type", "")
    if body:
        task["body"] = body
    if content_type:
        task["headers"] = {"Content-Type": content_type}
    for kind, setting in (("connect", "connect_timeout"), ("read", "timeout")):
        key = f"http.{kind}.timeout.milliseconds"
        text = props.pop(key, "")
        if text and not (text.isascii() and text.isdigit() and len(text) <= 9):
            message = Sentence("%(key)s is %(text)r; write a whole number", key=key, text=text[:80])
            raise ValueError(message)
        if text:
            task[setting] = int(text) / 1000
    return {"handler": "@http", "task": task}
