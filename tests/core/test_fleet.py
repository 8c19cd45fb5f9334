"""Views of the control plane, made of whatever is stored."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.assignment import Assignment, Layout, encode_assignment
from shardsched.core.command import Commands, encode_commands
from shardsched.core.executor import (
    DrainMark,
    ExecutorRecord,
    LeaderRecord,
    encode_drain,
    encode_executor,
    encode_leader,
)
from shardsched.core.fleet import drain_or_none, executor_or_none, job_entry, leader_or_none
from shardsched.core.job import JobConfig
from shardsched.core.job_record import encode_job
from shardsched.core.paths import Paths
from tests.strategies import ANY_SPEED

if TYPE_CHECKING:
    from shardsched.core.view import JobEntry

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PATHS = Paths()
CONFIG = JobConfig(name="books", uid="u", handler="crawl", cron="0 * * * *", armed_at=NOW)
ASSIGNMENT = Assignment(uid="u", layouts=(Layout(items=1, config=0),), owners={"e1": (0,)})
COMMANDS = Commands(uid="u", stop=3)


def view(
    job: bytes | None = None, assignment: bytes | None = None, commands: bytes | None = None, name: str = "books"
) -> JobEntry:
    """Return the entry of a job whose nodes hold these values, the configuration being good unless given."""
    entry = job_entry(
        name,
        job=(encode_job(CONFIG) if job is None else job, 4, 40),
        assignment=None if assignment is None else (assignment, 5),
        commands=None if commands is None else (commands, 6),
        paths=PATHS,
    )
    assert entry is not None
    return entry


def test_job_entry_good_records_are_all_there() -> None:
    """A job with readable records has each with its version, and nothing against it."""
    entry = view(assignment=encode_assignment(ASSIGNMENT), commands=encode_commands(COMMANDS))
    assert (entry.config, entry.version, entry.created_id, entry.held) == (CONFIG, 4, 40, None)
    assert (entry.assignment, entry.assignment_version, entry.assignment_fault) == (ASSIGNMENT, 5, None)
    assert entry.commands == COMMANDS


def test_job_entry_without_a_configuration_is_no_job() -> None:
    """Records without a configuration belong to no job."""
    stored = (encode_assignment(ASSIGNMENT), 1)
    assert job_entry("books", job=None, assignment=stored, commands=None, paths=PATHS) is None


@pytest.mark.parametrize(
    ("job", "held"),
    [
        (b"", "unreadable configuration: it is not JSON"),
        (b'{"format":2}', "unreadable configuration: it has format 2"),
        (encode_job(replace(CONFIG, cron="61 * * * *")), "invalid cron, minute"),
        (encode_job(replace(CONFIG, cron="0 0 31 2 *")), "invalid cron"),
        (encode_job(replace(CONFIG, timezone="Mars/Olympus")), "invalid cron"),
        (encode_job(replace(CONFIG, item_params={5: "x"})), "there is no item 5"),
    ],
)
def test_job_entry_bad_configuration_holds_the_job_with_its_reason(job: bytes, held: str) -> None:
    """What cannot be read or can never fire holds the job, and its reason says why."""
    assert held in (view(job).held or "")


def test_job_entry_bad_name_holds_the_job() -> None:
    """A node that somebody made under a name that is none is held, whatever it holds."""
    entry = view(name="a b")
    assert entry.config is None
    assert "its name is not valid" in (entry.held or "")


@pytest.mark.parametrize(
    ("stored", "fault"),
    [
        (b"?", "it is not JSON"),
        (encode_assignment(replace(ASSIGNMENT, uid="earlier")), "it belongs to an earlier job of this name"),
    ],
)
def test_job_entry_useless_assignment_is_absent_with_a_fault(stored: bytes, fault: str) -> None:
    """An assignment that is unreadable, or of a job that is gone, counts as none; the leader writes over its version."""
    entry = view(assignment=stored)
    assert (entry.assignment, entry.assignment_version, entry.assignment_fault) == (None, 5, fault)
    assert entry.held is None


def test_job_entry_commands_of_an_earlier_job_are_absent() -> None:
    """What was asked of a job that is gone is not asked of the new one."""
    entry = view(commands=encode_commands(replace(COMMANDS, uid="earlier")))
    assert (entry.commands, entry.held) == (None, None)


def test_job_entry_unreadable_commands_hold_the_job() -> None:
    """A stop may stand in commands that cannot be read, so nothing starts."""
    assert "unreadable commands" in (view(commands=b"?").held or "")


@ANY_SPEED
@given(st.binary(max_size=30), st.binary(max_size=30), st.binary(max_size=30))
def test_job_entry_bytes_of_nobody_harm_no_view(job: bytes, assignment: bytes, commands: bytes) -> None:
    """Any bytes give an entry that holds its job."""
    assert view(job, assignment, commands).held is not None


@pytest.mark.parametrize("grace", [-1, 1e300, float("nan"), "x", [], {}, True])
def test_job_entry_one_bad_field_holds_the_job(grace: Any) -> None:
    """One field out of range is enough, and is named."""
    record = json.loads(encode_job(CONFIG)) | {"misfire_grace_s": grace}
    assert "'misfire_grace_s'" in (view(json.dumps(record).encode()).held or "")


def test_executor_drain_and_leader_unreadable_are_none() -> None:
    """A record that cannot be read hides its executor, drains nobody, and leaves the lead unknown."""
    executor = ExecutorRecord(
        name="e1", incarnation="i", host="h", ip="", pid=1, process_start="", started_at=NOW, version="1"
    )
    mark, leader = DrainMark(at=NOW), LeaderRecord(name="e1", incarnation="i", epoch=1)
    assert executor_or_none(PATHS, "e1", encode_executor(executor)) == executor
    assert executor_or_none(PATHS, "a b", encode_executor(executor)) is None
    assert executor_or_none(PATHS, "e1", b"?") is None
    assert drain_or_none(PATHS, "e1", encode_drain(mark)) == mark
    assert drain_or_none(PATHS, "e1", b"?") is None
    assert leader_or_none(PATHS, encode_leader(leader)) == leader
    assert leader_or_none(PATHS, b"?") is None
