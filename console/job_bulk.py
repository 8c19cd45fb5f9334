"""Acting on many jobs: each by itself, so that one that is refused does not keep the others from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from console import job_action
from console.actor import ForbiddenError
from console.context import actor, context
from console.job_list import Wanted, wanted_rows
from console.trail import audited
from shardsched.errors import ConfigurationError, ConflictError, CorruptNodeError, NotFoundError
from shardsched.people.role import Role
from shardsched.sentence import Sentence, sentence_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MAX_JOBS = 5_000


class CountChangedError(ConflictError):
    """Raised when other jobs match than were looked at.

    Attributes:
        count: How many match now.
    """

    def __init__(self, *, expected: int, count: int) -> None:
        super().__init__(
            Sentence(
                "%(count)s jobs match now, not %(expected)s; look again and repeat it", count=count, expected=expected
            )
        )
        self.count = count


class Result(NamedTuple):
    """What became of one job."""

    name: str
    """Which."""
    is_done: bool
    """Whether it was done."""
    is_changed: bool
    """Whether that changed anything."""
    message: str
    """Why it was not done, or what is to be known."""


class Outcome(NamedTuple):
    """What became of all."""

    audit_id: int
    """The audit's entry of the whole."""
    results: tuple[Result, ...]
    """By job, in the order asked for."""

    @property
    def failed(self) -> list[Result]:
        """Those that were not done."""
        return [one for one in self.results if not one.is_done]

    @property
    def changed(self) -> list[str]:
        """The jobs that are another way now."""
        return [one.name for one in self.results if one.is_changed]


def _pause(name: str) -> tuple[bool, str]:
    return bool(job_action.pause(name).changed), ""


def _resume(name: str) -> tuple[bool, str]:
    return bool(job_action.resume(name).changed), ""


def _trigger(name: str) -> tuple[bool, str]:
    receipt = job_action.trigger(name)
    return True, Sentence("number %(number)s", number=receipt.number)


def _stop(name: str) -> tuple[bool, str]:
    return bool(job_action.stop(name).running), ""


def _delete(name: str) -> tuple[bool, str]:
    removal = job_action.delete(name, wait_s=0.0)
    return True, "" if removal.is_done else Sentence("as soon as its running items have ended")


ACTIONS: Mapping[str, Callable[[str], tuple[bool, str]]] = {
    "pause": _pause,
    "resume": _resume,
    "trigger": _trigger,
    "stop": _stop,
    "delete": _delete,
}


def matching(wanted: Wanted, expected: int) -> list[str]:
    """Return the names of all jobs that a filter takes, if there are as many as were expected.

    Raises:
        CountChangedError: There are more or fewer.
    """
    parts = context()
    rows = wanted_rows(parts.jobs.rows(parts.fleet.sight(fresh=True)), wanted, {})
    if len(rows) != expected:
        raise CountChangedError(expected=expected, count=len(rows))
    return [row.name for row in rows]


def act(action: str, names: Sequence[str]) -> Outcome:
    """Do one thing to many jobs, one after the other.

    Raises:
        ForbiddenError: Not for their role.
        RegistryUnavailableError: No answer; those before may be done.
    """
    actor().require(Role.ADMIN if action == "delete" else Role.OPERATOR)
    results: list[Result] = []
    with audited("job.bulk", "jobs", f"{action} {len(names)}") as deed:
        for name in dict.fromkeys(names[:MAX_JOBS]):
            results.append(_one(action, name))  # noqa: PERF401 - what is done is in the list when the next one raises
        outcome = Outcome(deed.id, tuple(results))
        deed.after = _document(action, outcome)
    return outcome


def undoable(audit_id: int) -> list[str]:
    """Return the jobs that somebody who now asks has paused by one bulk action; empty where it is none of theirs."""
    entry = context().people.audit.get(audit_id)
    if entry is None or entry.action != "job.bulk" or entry.actor != actor().name or not isinstance(entry.after, dict):
        return []
    names = entry.after.get("changed")
    return list(names) if entry.after.get("action") == "pause" and isinstance(names, list) else []


def _one(action: str, name: str) -> Result:
    try:
        is_changed, message = ACTIONS[action](name)
    except (ConflictError, NotFoundError, ConfigurationError, CorruptNodeError, ForbiddenError) as error:
        return Result(name, is_done=False, is_changed=False, message=sentence_of(error))
    return Result(name, is_done=True, is_changed=is_changed, message=message)


def _document(action: str, outcome: Outcome) -> dict[str, Any]:
    failed = {one.name: one.message for one in outcome.failed}
    return {"action": action, "changed": outcome.changed, "failed": failed}
