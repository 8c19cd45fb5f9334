"""Views of the control plane, made of the values found in the registry.

A record that cannot be read holds its own job (or hides its own executor), never another: every fault ends as a
reason in the view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.core.assignment import decode_assignment
from shardsched.core.command import decode_commands
from shardsched.core.executor import decode_drain, decode_executor, decode_leader
from shardsched.core.item import check_item_params
from shardsched.core.job_record import decode_job
from shardsched.core.name import check_job_name, name_fault
from shardsched.core.schedule import check_schedule
from shardsched.core.view import JobEntry
from shardsched.errors import CorruptNodeError, CronExpressionError, ItemParameterError, JobConfigError
from shardsched.sentence import Sentence, sentence_of

if TYPE_CHECKING:
    from shardsched.core.assignment import Assignment
    from shardsched.core.command import Commands
    from shardsched.core.executor import DrainMark, ExecutorRecord, LeaderRecord
    from shardsched.core.job import JobConfig
    from shardsched.core.paths import Paths


def job_entry(
    name: str,
    *,
    job: tuple[bytes, int, int] | None,
    assignment: tuple[bytes, int] | None,
    commands: tuple[bytes, int] | None,
    paths: Paths,
) -> JobEntry | None:
    """Return the entry of one job, None if the job does not exist.

    Args:
        name: The job's name.
        job: Value, version and creation id of its configuration's node.
        assignment: Value and version of its assignment's node.
        commands: Value and version of its commands' node.
        paths: The namespace's paths, for messages.
    """
    if job is None:
        return None
    value, version, created_id = job
    config, held = _job(paths.job(name), name, value)
    plan, assignment_fault = _assignment(paths.assignment(name), config, assignment)
    asked, commands_fault = _commands(paths.commands(name), config, commands)
    return JobEntry(
        name=name,
        version=version,
        created_id=created_id,
        config=config,
        held=held or commands_fault,
        assignment=plan,
        assignment_version=None if assignment is None else assignment[1],
        assignment_fault=assignment_fault,
        commands=asked,
        commands_version=None if commands is None else commands[1],
    )


def _job(path: str, name: str, value: bytes) -> tuple[JobConfig | None, str | None]:
    fault = name_fault(name)
    if fault:
        return None, Sentence("its name is not valid: %(fault)s", fault=fault)
    try:
        config = decode_job(path, name, value)
    except CorruptNodeError as error:
        return None, Sentence("unreadable configuration: %(reason)s", reason=error.reason)
    return config, _held_reason(config)


def _held_reason(config: JobConfig) -> str | None:
    """Return why a stored configuration cannot be used although it could be read, or None."""
    try:
        check_schedule(config.schedule(), config.armed_at)
        check_job_name(config.name)
        check_item_params(config.item_params, config.items)
    except CronExpressionError as error:
        if error.field is None:
            return Sentence("invalid cron: %(reason)s", reason=error.reason)
        return Sentence("invalid cron, %(field)s: %(reason)s", field=error.field, reason=error.reason)
    except (JobConfigError, ItemParameterError) as error:
        return sentence_of(error)
    return None


def _assignment(
    path: str, config: JobConfig | None, stored: tuple[bytes, int] | None
) -> tuple[Assignment | None, str | None]:
    if stored is None:
        return None, None
    try:
        assignment = decode_assignment(path, stored[0])
    except CorruptNodeError as error:
        return None, error.reason
    if config is None or assignment.uid != config.uid:
        return None, Sentence("it belongs to an earlier job of this name")
    return assignment, None


def _commands(
    path: str, config: JobConfig | None, stored: tuple[bytes, int] | None
) -> tuple[Commands | None, str | None]:
    if stored is None:
        return None, None
    try:
        commands = decode_commands(path, stored[0])
    except CorruptNodeError as error:
        return None, Sentence("unreadable commands: %(reason)s", reason=error.reason)
    if config is None or commands.uid != config.uid:
        return None, None
    return commands, None


def executor_or_none(paths: Paths, name: str, value: bytes) -> ExecutorRecord | None:
    """Return an executor's record, None where it cannot be read."""
    try:
        return None if name_fault(name) else decode_executor(paths.executor(name), name, value)
    except CorruptNodeError:
        return None


def drain_or_none(paths: Paths, name: str, value: bytes) -> DrainMark | None:
    """Return a drain mark, None where it cannot be read (the executor then counts as not drained)."""
    try:
        return decode_drain(paths.drained(name), value)
    except CorruptNodeError:
        return None


def leader_or_none(paths: Paths, value: bytes) -> LeaderRecord | None:
    """Return the leader's record, None where it cannot be read."""
    try:
        return decode_leader(paths.leader, value)
    except CorruptNodeError:
        return None
