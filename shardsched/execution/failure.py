"""What a function is told that a job names to be called when one of its items has failed for good."""

from __future__ import annotations

import importlib
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from shardsched.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CALL = "on_failure"
"""The word in an order's context that says that a report is to be given, not an item run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureReport:
    """An item of a fire that failed and is not tried again."""

    job: str
    """Name of the job."""
    item: int
    """Which sharding item."""
    items: int
    """How many items the fire has."""
    fire: datetime
    """The fire: a scheduled time, or when it was triggered; aware."""
    attempt: int
    """Which attempt was the last, from 1."""
    executor: str
    """Who ran it."""
    run_id: str
    """The last run."""
    outcome: str
    """How that ended: ``failed``, ``timeout``, ``crashed`` and so on."""
    message: str
    """One line on it."""
    traceback: str = ""
    """The exception in full, where there was one and the executor that ran it is the one that reports it."""
    log_path: str = ""
    """Where its output is, likewise."""

    def fields(self) -> dict[str, Any]:
        """Return it as plain JSON fields."""
        return asdict(self) | {"fire": self.fire.isoformat()}


def report_of(fields: Mapping[str, Any]) -> FailureReport:
    """Return the report that plain JSON fields describe.

    Raises:
        KeyError: A field is missing.
        ValueError: The fire is no time.
    """
    known = {name: fields[name] for name in FailureReport.__dataclass_fields__}
    return FailureReport(**known | {"fire": datetime.fromisoformat(fields["fire"])})


def is_of_modules(place: str, modules: Sequence[str]) -> bool:
    """Whether ``module:function`` lies in a package that the executor was told to import.

    Whoever may write to the registry can so have called only what belongs to the users' own code.
    """
    return place.partition(":")[0].partition(".")[0] in {module.partition(".")[0] for module in modules}


def report_failure(place: str, fields: Mapping[str, Any]) -> object:
    """Call ``module:function`` with a report and return what it returns, such as a coroutine.

    Raises:
        ConfigurationError: There is no such function.
        Exception: The module cannot be imported, or whatever the function raises.
    """
    module, _, name = place.partition(":")
    function = getattr(importlib.import_module(module), name, None)
    if not callable(function):
        message = f"on_failure names {place!r}, which is no function; define it, or name another one"
        raise ConfigurationError(message)
    returned: object = function(report_of(fields))
    return returned
