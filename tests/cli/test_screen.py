"""The status as text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from shardsched.cli.screen import duration, zoned
from shardsched.core.executor import LoadReport, encode_load

if TYPE_CHECKING:
    from tests.admin.stage import Stage
    from tests.cli.conftest import CommandLine


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0 s"), (0, "0 s"), (119.4, "119 s"), (120, "2 min"), (7199, "119 min"), (7260, "2 h 1 min")],
)
def test_duration_for_people(seconds: float, text: str) -> None:
    """A length of time has one or two units."""
    assert duration(seconds) == text


def test_zoned_shows_the_zone_and_never_fails() -> None:
    """A time is shown in the job's zone with its weekday; in UTC where the zone is not valid."""
    at = datetime(2026, 7, 1, 22, 30, tzinfo=UTC)
    assert zoned(at, "Europe/Berlin") == "Thu 2026-07-02 00:30:00 CEST"
    assert zoned(at, "Mars/Olympus") == "Wed 2026-07-01 22:30:00 UTC"
    assert zoned(None, "UTC") == "-"


def test_executor_list_shows_load_drift_and_leader(stage: Stage, shell: CommandLine) -> None:
    """What an executor reports of itself is shown with its unit."""
    actor = stage.join("e1", slots=4)
    stage.lead("e1")
    report = LoadReport(at=stage.clock.now(), cpu=0.25, memory_mb=80.4, drift_s=-1.26)
    stage.create(stage.paths.load("e1"), encode_load(report), actor.registry)
    line = shell.ok("executor", "list").splitlines()[1]
    for word in ("25%", "80 MB", "-1.3 s", "leads", "0/4", "host1", "4711"):
        assert word in line


def test_job_show_broken_record_shows_what_is_known(stage: Stage, shell: CommandLine) -> None:
    """A job that cannot be read is shown with the reason and its items."""
    stage.join("e1")
    stage.job("books", {"e1": (0,)})
    stage.claim("books", 0, "e1")
    stage.put(stage.paths.job("books"), b"nonsense")
    text = shell.ok("job", "show", "books")
    assert "held" in text
    assert "not JSON" in text
    assert "running" in text
    assert "?" in shell.ok("job", "list")
