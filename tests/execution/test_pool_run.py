"""What is told of runs that end by themselves."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from shardsched.errors import ExecutionError, ShutdownError
from shardsched.execution.pool import Outcome, RunWarned
from tests.execution.pool_harness import all_dead, spec, stopwatch
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.execution.pool_harness import PoolUnderTest


def test_run_that_returns_is_ok_with_its_costs(pool: PoolUnderTest) -> None:
    """A handler that returns is done, and its time and memory are told."""
    end = pool.run("quick")
    assert (end.outcome, end.exit_code, end.signal, end.message) == (Outcome.OK, 0, None, "")
    assert end.peak_memory_kb > 1000
    assert 0 <= end.cpu_s < 5
    assert 0 < end.duration_s < 20


def test_async_run_is_awaited(pool: PoolUnderTest) -> None:
    """A coroutine runs to its end."""
    end = pool.run("async_quick")
    assert end.outcome is Outcome.OK
    assert pool.log(end) == "awaited\n"


def test_output_of_every_kind_is_kept_in_order(pool: PoolUnderTest) -> None:
    """Print, stderr, logging, system calls and child shells all reach the log of the run, in their order."""
    end = pool.run("talk")
    lines = pool.log(end).splitlines()
    ways = ["print", "stderr", "logging", "ctx.log", "os.write", "shell", "shell error"]
    assert [line.rpartition("by ")[2] for line in lines[:7]] == ways
    assert lines[7:] == ["without a newline at the end"]
    assert " INFO shardsched.job: " in lines[3]


def test_flood_keeps_both_ends_within_the_cap(pool: PoolUnderTest) -> None:
    """Of 200 MB the first and the last lines are kept, in no more bytes than allowed, and the gap is told."""
    end = pool.run("flood", log_cap=100_000)
    log = pool.log(end)
    assert end.outcome is Outcome.OK
    assert len(log) <= 100_000
    assert log.startswith("first line\n")
    assert log.endswith("\nlast line\n")
    assert f"...[{end.dropped_bytes} bytes dropped]..." in log
    assert end.dropped_bytes > 200_000_000


@pytest.mark.parametrize(
    ("handler", "param", "outcome", "code", "signum", "word"),
    [
        ("raises", "", Outcome.FAILED, 1, None, "LookupError: no such shelf \N{REPLACEMENT CHARACTER}"),
        ("async_raises", "", Outcome.FAILED, 1, None, "LookupError: no such shelf"),
        ("exits", "7", Outcome.FAILED, 7, None, "exited with code 7"),
        ("exits", "0", Outcome.OK, 0, None, ""),
        ("exits_hard", "9", Outcome.FAILED, 9, None, "exit code 9 without a result"),
        ("exits_hard", "0", Outcome.NO_RESULT, 0, None, "before the handler returned"),
        ("signals_itself", str(int(signal.SIGSEGV)), Outcome.CRASHED, None, signal.SIGSEGV, "SIGSEGV"),
        ("signals_itself", str(int(signal.SIGKILL)), Outcome.KILLED, None, signal.SIGKILL, "from outside"),
        ("signals_itself", str(int(signal.SIGTERM)), Outcome.KILLED, None, signal.SIGTERM, "from outside"),
        ("missing", "", Outcome.START_FAILED, 1, None, "no handler 'missing'"),
    ],
)
def test_end_is_told_apart(
    pool: PoolUnderTest, handler: str, param: str, outcome: Outcome, code: int, signum: int, word: str
) -> None:
    """Every way to end has its outcome, code and signal."""
    end = pool.run(handler, param)
    assert (end.outcome, end.exit_code, end.signal) == (outcome, code, signum)
    assert word in end.message


def test_exception_is_told_with_its_traceback(pool: PoolUnderTest) -> None:
    """The traceback names the line of the handler, in the event and in the log, and nothing of ours."""
    end = pool.run("raises")
    assert "item_jobs.py" in end.traceback
    assert "call.py" not in end.traceback
    assert "raise LookupError(message)" in pool.log(end)
    assert "\0" not in end.traceback


def test_crash_leaves_the_stack_in_the_log(pool: PoolUnderTest) -> None:
    """After a segmentation fault the log says where it was."""
    end = pool.run("signals_itself", str(int(signal.SIGSEGV)))
    assert "in signals_itself" in pool.log(end)


@pytest.mark.parametrize("handler", ["thread_left_behind", "async_thread_left_behind"])
def test_thread_left_behind_does_not_keep_the_item(pool: PoolUnderTest, handler: str) -> None:
    """A run ends with its handler, whatever its threads do."""
    assert pool.run(handler).outcome is Outcome.OK


def test_nothing_outlives_a_normal_end(pool: PoolUnderTest) -> None:
    """Children, sessions without our environment and daemons are dead when the end is told; others go on."""
    neighbour = pool.launch("child_in_session")
    (neighbours_child,) = pool.pids(neighbour)
    run_id = pool.launch("daemon_left_behind")
    end = pool.ended(run_id)
    assert end.outcome is Outcome.OK
    left = pool.pids(run_id, 3)
    assert all_dead(left)
    assert not all_dead([neighbours_child])
    eventually(lambda: pool.pool.running() == {neighbour})


def test_timeout_ends_a_run_that_takes_too_long(pool: PoolUnderTest) -> None:
    """After its time a run is stopped and called so."""
    begun = stopwatch()
    end = pool.run("sleeping", timeout_s=0.3)
    assert end.outcome is Outcome.TIMEOUT
    assert "0.3 s" in end.message
    assert 0.3 <= end.duration_s < stopwatch() - begun


def test_timeout_kills_after_the_grace(pool: PoolUnderTest) -> None:
    """A run that ignores the request at its time-out is killed when the grace is over."""
    end = pool.run("ignores_sigterm", timeout_s=0.5, stop_grace_s=0.4)
    assert (end.outcome, end.signal) == (Outcome.TIMEOUT, signal.SIGKILL)
    assert end.duration_s >= 0.9


def test_warning_is_told_once(pool: PoolUnderTest) -> None:
    """A run that takes long is reported once and goes on."""
    run_id = pool.launch("sleeping", warn_after_s=0.2, timeout_s=1.2)
    pool.ended(run_id)
    warnings = [event for event in pool.events.values if isinstance(event, RunWarned)]
    assert [warning.run_id for warning in warnings] == [run_id]


def test_start_without_a_lease_is_refused(make_pool: Callable[..., PoolUnderTest]) -> None:
    """Before the first lease, under another session's, after its end and after a revocation nothing starts."""
    pool = make_pool()
    pool.pool.start()
    ends = [pool.run("quick")]
    pool.lease(60)
    ends.append(pool.run("quick", epoch="session-0"))
    pool.lease(60, soft_s=-0.001)
    ends.append(pool.run("quick"))
    pool.pool.revoke()
    ends.append(pool.run("quick"))
    assert [end.outcome for end in ends] == [Outcome.REFUSED] * 4
    assert [
        next(word for word in ("no lease", "session that is over", "run out") if word in end.message) for end in ends
    ] == ["no lease", "session that is over", "run out", "no lease"]
    pool.lease(60)
    assert pool.run("quick").outcome is Outcome.OK


def test_log_that_cannot_be_written_does_not_stop_the_run(pool: PoolUnderTest, tmp_path: Path) -> None:
    """With no place for its output a run works all the same."""
    (tmp_path / "file").touch()
    end = pool.run("talk", log_path=str(tmp_path / "file" / "below.log"))
    assert end.outcome is Outcome.OK
    assert end.log_path == ""


def test_large_parameter_reaches_the_handler(pool: PoolUnderTest) -> None:
    """A context larger than any socket buffer arrives whole."""
    end = pool.run("exits", " " * 1_000_000 + "3")
    assert end.exit_code == 3


def test_many_runs_at_once_all_end(pool: PoolUnderTest) -> None:
    """Sixty launches at once come to sixty ends."""
    run_ids = [pool.launch("quick") for _ in range(60)]
    assert {pool.ended(run_id, 60).outcome for run_id in run_ids} == {Outcome.OK}


def test_pool_that_is_closed_refuses_launches(make_pool: Callable[..., PoolUnderTest]) -> None:
    """Closing ends what runs, tells of it, and nothing can be started afterwards."""
    pool = make_pool()
    pool.start()
    run_id = pool.launch("daemon")
    pids = pool.pids(run_id)
    pool.pool.close(10)
    assert all_dead(pids)
    assert pool.ended(run_id).outcome is Outcome.STOPPED
    with pytest.raises(ShutdownError):
        pool.pool.launch(spec("quick", "late"), "session-1")


def test_run_of_an_id_that_is_running_is_refused(pool: PoolUnderTest) -> None:
    """Two runs of one id could not be told apart; when the first has ended the id is free."""
    pool.pool.launch(spec("own_pid", "same", pool.notes), "session-1")
    with pytest.raises(ExecutionError, match="one of that id is running"):
        pool.pool.launch(spec("quick", "same"), "session-1")
    pool.pool.stop_run("same", "asked by the test", 5)
    pool.ended("same")
    eventually(lambda: not pool.pool.running())
    pool.pool.launch(spec("own_pid", "same", pool.notes), "session-1")


def test_context_that_is_no_json_is_refused_by_launch(pool: PoolUnderTest) -> None:
    """A mistake of the caller is an exception for the caller, and nothing is counted as running."""
    with pytest.raises(TypeError):
        pool.launch("quick", param=object())  # type: ignore[arg-type]  # the mistake itself
    with pytest.raises(ValueError, match="Out of range"):
        pool.launch("quick", param=float("nan"))  # type: ignore[arg-type]  # the mistake itself
    assert pool.pool.running() == frozenset()


def test_listener_that_raises_does_not_end_the_pool(make_pool: Callable[..., PoolUnderTest]) -> None:
    """An exception in the listener is logged; later events still come."""
    pool = make_pool()
    heard: set[str] = set()

    def listen(event: object) -> None:
        heard.add(type(event).__name__)
        raise RuntimeError(event)

    events, pool.pool._on_event = pool.events, listen
    pool.start()
    run_id = pool.launch("quick")
    eventually(lambda: run_id not in pool.pool.running(), 30)
    assert heard == {"PoolReady", "RunStarted", "RunEnded"}
    pool.pool._on_event = events
    assert pool.run("quick").outcome is Outcome.OK
