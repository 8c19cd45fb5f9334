"""What is told of a failure, and to whom."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.errors import ConfigurationError, ShutdownError
from shardsched.execution.failure import FailureReport, is_of_modules, report_failure, report_of
from shardsched.execution.outcome import Outcome
from shardsched.execution.run import RunEnded, RunSpec
from shardsched.loop.failure_call import MAX_CALL_COUNT, MAX_WAITING, FailureCalls

if TYPE_CHECKING:
    from pathlib import Path

REPORT = FailureReport(
    job="books", item=3, items=4, fire=datetime(2026, 3, 1, 12, tzinfo=UTC), attempt=2, executor="e1", run_id="r1",
    outcome="timeout", message="too slow", traceback="Traceback", log_path="/logs/r1.log",
)  # fmt: skip


def test_report_goes_through_json_unchanged() -> None:
    """What the function is given is what the executor knew, the fire as an aware time."""
    assert report_of(json.loads(json.dumps(REPORT.fields()))) == REPORT


@pytest.mark.parametrize(
    ("place", "is_ours"),
    [
        ("shop.jobs:mourn", True),
        ("shop.alarms:mourn", True),
        ("shop:mourn", True),
        ("shopping:mourn", False),
        ("os:abort", False),
        ("builtins:exec", False),
        (":mourn", False),
        ("", False),
    ],
)
def test_function_must_be_of_a_package_that_is_imported(place: str, *, is_ours: bool) -> None:
    """Only the users' own code can be named, since a registry may be written by others."""
    assert is_of_modules(place, ("shop.jobs",)) == is_ours


def test_function_is_called_with_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module is imported, and what is no function there is refused in one sentence."""
    (tmp_path / "mourner_module.py").write_text(
        "seen = []\ndef mourn(report):\n    seen.append(report)\n    return 7\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert report_failure("mourner_module:mourn", REPORT.fields()) == 7
    import mourner_module  # type: ignore[import-not-found]  # made above

    assert mourner_module.seen == [REPORT]
    for name in ("seen", "gone"):
        with pytest.raises(ConfigurationError, match="no function"):
            report_failure(f"mourner_module:{name}", REPORT.fields())


class _Pool:
    """Takes note of what is launched."""

    def __init__(self) -> None:
        self.launched: list[RunSpec] = []
        self.is_closed = False

    def launch(self, spec: RunSpec) -> None:
        if self.is_closed:
            raise ShutdownError("closed")
        self.launched.append(spec)


def end(calls: FailureCalls, spec: RunSpec, outcome: Outcome = Outcome.OK) -> bool:
    """Have a run end; return whether it was a call."""
    return calls.ended(RunEnded(run_id=spec.run_id, job=spec.job, item=spec.item, outcome=outcome, message="boom"))


def words(caplog: pytest.LogCaptureFixture) -> list[Any]:
    """Return the levels of what was told."""
    return [record.levelname for record in caplog.records if vars(record).get("event") == "failure_reported"]


def test_calls_run_a_few_at_once_and_all_in_the_end() -> None:
    """A thousand failures do not become a thousand processes."""
    pool = _Pool()
    calls = FailureCalls(["shop.jobs"], pool.launch)
    for _ in range(10):
        calls.call("shop:mourn", REPORT)
    assert len(pool.launched) == MAX_CALL_COUNT
    for index in range(10):
        assert end(calls, pool.launched[index])
    assert len({spec.run_id for spec in pool.launched}) == 10
    assert not end(calls, pool.launched[0])
    assert pool.launched[0].timeout_s == 60.0


def test_calls_that_fail_or_cannot_be_made_are_told_only(caplog: pytest.LogCaptureFixture) -> None:
    """A function that raises, a foreign one, a flood of calls and a closed pool each give one line of log."""
    pool = _Pool()
    calls = FailureCalls(["shop.jobs"], pool.launch)
    calls.call("shop:mourn", REPORT)
    end(calls, pool.launched[0], Outcome.FAILED)
    calls.call("os:abort", REPORT)
    pool.is_closed = True
    calls.call("shop:mourn", REPORT)
    assert words(caplog) == ["ERROR"] * 3
    caplog.clear()
    pool.is_closed = False
    for _ in range(MAX_CALL_COUNT + MAX_WAITING + 1):
        calls.call("shop:mourn", REPORT)
    assert words(caplog) == ["ERROR"]
