"""The program that a run of a shell task becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from shardsched.core.placeholder import PLACEHOLDERS, fill
from shardsched.core.task import GIVEN_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Mapping


class Program(NamedTuple):
    """What is to be executed."""

    argv: list[str]
    """The program, looked up in ``PATH``, and its arguments."""
    environment: dict[str, str]
    """All of its environment variables."""
    folder: str
    """Where it works; empty: where the executor does."""
    ok_codes: list[int]
    """The exit codes that mean success."""


def run_values(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return what the placeholders stand for in a run.

    Args:
        fields: Of the run's context, plain.
    """
    return {name: str(fields.get(name, "")) for name in PLACEHOLDERS}


def program_of(task: Mapping[str, Any], fields: Mapping[str, Any], environment: Mapping[str, str]) -> Program:
    """Return the program of a checked task for one run.

    Placeholders are filled within single words of ``argv``: a parameter with blanks, quotes or ``;`` stays one word. A
    line of ``/bin/sh`` has none, since there a parameter could become code; it reads them from its environment.

    Args:
        task: As `check_task` takes it.
        fields: Of the run's context, plain.
        environment: The executor's own variables.
    """
    values = run_values(fields)
    line = task.get("shell")
    argv = ["/bin/sh", "-c", line] if line is not None else [fill(word, values) for word in task["argv"]]
    given = {name: str(fields.get(name.removeprefix("SHARDSCHED_").lower(), "")) for name in GIVEN_VARIABLES}
    return Program(
        argv=argv,
        environment={**environment, **task.get("env", {}), **given},
        folder=task.get("cwd", ""),
        ok_codes=list(task.get("ok_codes", [0])),
    )
