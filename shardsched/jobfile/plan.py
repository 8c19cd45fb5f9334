"""What an import would do: for each job of a file create, change or leave it, and why. This module only decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from shardsched.core.job import SETTINGS, JobConfig
from shardsched.core.job_check import change_job
from shardsched.core.secret import shown_task
from shardsched.core.setting import PUBLIC_NAMES, differing_settings, new_job, public_settings
from shardsched.errors import ConfigurationError, JobConfigError
from shardsched.jobfile.entry import MAX_REASON_LENGTH
from shardsched.jobfile.hidden import hidden_name, restored_task
from shardsched.sentence import Sentence, sentence_of, shortened

if TYPE_CHECKING:
    from datetime import datetime

    from shardsched.core.view import JobEntry
    from shardsched.jobfile.entry import Entry, Parsed, Refusal, Remark


class OnConflict(StrEnum):
    """What becomes of a job of the file that exists already and differs."""

    FAIL = "fail"
    """Nothing at all is written, for no job."""
    SKIP = "skip"
    """The stored one stays."""
    OVERWRITE = "overwrite"
    """It becomes what the file says."""


class Action(StrEnum):
    """What is done about one job of the file."""

    CREATE = "create"
    """It is new."""
    CHANGE = "change"
    """The stored one is changed."""
    UNCHANGED = "unchanged"
    """The stored one is as the file says."""
    SKIP = "skip"
    """The stored one stays as it is."""
    CONFLICT = "conflict"
    """The stored one differs, and nobody said that it may be changed."""
    REFUSED = "refused"
    """It cannot be taken."""


WRITING = frozenset({Action.CREATE, Action.CHANGE})
"""The actions that write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One setting that differs."""

    setting: str
    """Its name, as people use it."""
    old: Any
    """The stored value, or the default of a new job; as JSON takes it."""
    new: Any
    """The file's value, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is done about one job of the file."""

    name: str
    """The job."""
    action: Action
    """What is done."""
    place: str = ""
    """Where it stands in the file."""
    reason: str = ""
    """Why it is not taken, or is left."""
    changes: tuple[Change, ...] = ()
    """What differs from what is stored, or from the defaults."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What is to be written, by the configuration's names."""
    version: int | None = None
    """Version of the stored job that this was decided on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPlan:
    """What is done about a whole file."""

    form: str
    """The file's form."""
    on_conflict: OnConflict
    """What was asked for."""
    steps: tuple[Step, ...]
    """One for each entry: those that can be read in the file's order, then the others."""
    remarks: tuple[Remark, ...]
    """What in the file has no like here."""

    @property
    def is_blocked(self) -> bool:
        """Whether nothing may be written, since one job cannot be."""
        faulty = {Action.CONFLICT, Action.REFUSED}
        return self.on_conflict is OnConflict.FAIL and any(step.action in faulty for step in self.steps)


def plan_import(
    parsed: Parsed, stored: Mapping[str, JobEntry], now: datetime, on_conflict: OnConflict = OnConflict.FAIL
) -> ImportPlan:
    """Return what is done about a file.

    Settings that the file does not name are set to their defaults, except `paused` and `disabled_items` of a job that
    exists: what people switched off stays off.

    Args:
        parsed: The file.
        stored: The jobs of these names that exist.
        now: The time.
        on_conflict: What becomes of jobs that exist and differ.
    """
    steps = [_step(entry, stored.get(entry.name), now, on_conflict) for entry in parsed.entries]
    return ImportPlan(
        form=parsed.form,
        on_conflict=on_conflict,
        steps=(*steps, *map(_refused, parsed.refusals)),
        remarks=parsed.remarks,
    )


def _refused(refusal: Refusal) -> Step:
    return Step(name=refusal.name, action=Action.REFUSED, place=refusal.place, reason=refusal.reason)


def _step(entry: Entry, stored: JobEntry | None, now: datetime, on_conflict: OnConflict) -> Step:
    try:
        if stored is None:
            return _creation(entry, now)
        if stored.config is None:
            return _repair(entry, stored, now, on_conflict)
        return _change(entry, stored, stored.config, now, on_conflict)
    except ConfigurationError as error:
        reason = shortened(sentence_of(error), MAX_REASON_LENGTH)
        return Step(name=entry.name, action=Action.REFUSED, place=entry.place, reason=reason)


def _creation(entry: Entry, now: datetime) -> Step:
    wanted = new_job(entry.name, "-", _uncovered(entry, {}), now)
    blank = JobConfig(name=entry.name, uid="-", handler="", cron="", armed_at=now)
    return Step(
        name=entry.name,
        action=Action.CREATE,
        place=entry.place,
        changes=_changes(blank, wanted),
        settings=_values(wanted, SETTINGS),
    )


def _repair(entry: Entry, stored: JobEntry, now: datetime, on_conflict: OnConflict) -> Step:
    """Return what is done about a job whose record cannot be read."""
    wanted = new_job(entry.name, "-", _uncovered(entry, {}), now)
    blank = JobConfig(name=entry.name, uid="-", handler="", cron="", armed_at=now)
    reason = Sentence("the stored job cannot be read (%(held)s)", held=stored.held)
    changes = _changes(blank, wanted)
    return _decided(
        entry, stored, on_conflict, changes, _values(wanted, SETTINGS), shortened(reason, MAX_REASON_LENGTH)
    )


def _change(entry: Entry, stored: JobEntry, config: JobConfig, now: datetime, on_conflict: OnConflict) -> Step:
    if config.deleting:
        reason = Sentence("the stored job is being deleted; wait until it is gone")
        return Step(name=entry.name, action=Action.REFUSED, place=entry.place, reason=reason)
    kept = {PUBLIC_NAMES[name]: getattr(config, name) for name in ("paused", "disabled_items")}
    # A job that has had its last fire is no mistake of the file: it must have had one when it was armed.
    wanted = new_job(entry.name, config.uid, kept | _uncovered(entry, config.task), config.armed_at)
    differing = differing_settings(config, wanted)
    if not differing:
        return Step(name=entry.name, action=Action.UNCHANGED, place=entry.place, version=stored.version)
    settings = _values(wanted, differing)
    change_job(config, settings, now)
    reason = Sentence("a job of this name exists and differs")
    return _decided(entry, stored, on_conflict, _changes(config, wanted), settings, reason)


def _uncovered(entry: Entry, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry's settings with the secrets of its task taken from the stored one.

    Raises:
        JobConfigError: That has not all of them.
    """
    settings = dict(entry.settings)
    task = settings.get("task")
    if isinstance(task, Mapping):
        settings["task"] = restored_task(task, stored)
        name = hidden_name(settings["task"])
        if name is not None:
            message = Sentence(
                "the task's %(name)r is hidden in the file; write its value, or export with --secrets", name=name[:80]
            )
            raise JobConfigError(message, setting="task")
    return settings


def _decided(
    entry: Entry,
    stored: JobEntry,
    on_conflict: OnConflict,
    changes: tuple[Change, ...],
    settings: Mapping[str, Any],
    reason: str,
) -> Step:
    actions = {OnConflict.FAIL: Action.CONFLICT, OnConflict.SKIP: Action.SKIP, OnConflict.OVERWRITE: Action.CHANGE}
    action = actions[on_conflict]
    return Step(
        name=entry.name,
        action=action,
        place=entry.place,
        reason="" if action is Action.CHANGE else reason,
        changes=changes,
        settings=settings if action is Action.CHANGE else {},
        version=stored.version,
    )


def _values(config: JobConfig, settings: tuple[str, ...]) -> dict[str, Any]:
    return {setting: getattr(config, setting) for setting in settings}


def _changes(old: JobConfig, new: JobConfig) -> tuple[Change, ...]:
    before, after = (public_settings(one) | {"task": shown_task(one.task)} for one in (old, new))
    names = [PUBLIC_NAMES[setting] for setting in differing_settings(old, new)]
    return tuple(Change(setting=name, old=before[name], new=after[name]) for name in names)
