"""A run that is a program of any language: the item's process becomes it.

There is no Python between the warden and the program: signals reach it and its children at once, and its exit code is
the run's.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

from shardsched.core.program import Program, program_of
from shardsched.core.task import SHELL, check_task
from shardsched.errors import JobConfigError
from shardsched.execution.frame import send_blocking
from shardsched.execution.report import unstarted

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
"""An ignored signal stays ignored through exec, and ``yes | head`` would then complain instead of ending."""


def become_program(channel: socket.socket, order: Mapping[str, Any]) -> dict[str, Any]:
    """Become the program of a shell task; return the report of the end if that cannot be.

    Args:
        channel: Where the warden is told which exit codes mean success; it closes when the program begins.
        order: The warden's order.
    """
    fields = order["context"]
    try:
        task = fields.get("task", {})
        check_task(SHELL, task)
        program = program_of(task, fields, os.environ)
    except JobConfigError as error:
        return unstarted(str(error))
    send_blocking(channel, {"type": "end", "ending": "program", "ok_codes": program.ok_codes})
    try:
        return unstarted(_execute(program))
    except ValueError as error:
        return unstarted(f"the program {program.argv[0]!a} could not be started: {error}")


def _execute(program: Program) -> str:
    """Become a program; return why that could not be."""
    try:
        os.chdir(program.folder or ".")
    except OSError as error:
        return f"the folder {program.folder!r} cannot be entered: {error.strerror}; name one that every executor has"
    for signum in _IGNORED_BY_PYTHON:
        signal.signal(signum, signal.SIG_DFL)
    try:
        os.execvpe(program.argv[0], program.argv, program.environment)  # noqa: S606 - which is the point
    except OSError as error:
        return f"the program {program.argv[0]!r} could not be started: {error.strerror}"
