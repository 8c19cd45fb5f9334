"""Runs that are programs."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.execution.pool import Outcome
from tests.execution.pool_harness import all_dead, is_alive, stopwatch
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from shardsched.execution.pool import RunEnded
    from tests.execution.pool_harness import PoolUnderTest

SCRIPT_COUNT = int(os.environ.get("SHARDSCHED_TEST_SCRIPTS", "200"))
"""How many short scripts are run in a row."""


def run(pool: PoolUnderTest, *argv: str, param: str = "", **task: Any) -> RunEnded:
    """Run a program and wait for its end."""
    return pool.run("@shell", param, task={"argv": list(argv), **task})


def run_line(pool: PoolUnderTest, line: str, param: str = "", **settings: Any) -> RunEnded:
    """Run a line of the shell and wait for its end."""
    return pool.run("@shell", param, task={"shell": line}, **settings)


def zombies(pool: PoolUnderTest) -> list[int]:
    """Return the dead children that the warden has not collected."""
    warden = pool.pool.warden_pid
    children = Path(f"/proc/{warden}/task/{warden}/children").read_text().split()
    return [int(pid) for pid in children if not is_alive(int(pid))]


def test_program_that_succeeds_is_ok_with_its_output_and_costs(pool: PoolUnderTest) -> None:
    """Its exit code decides, its output is kept, and its time and memory are its own."""
    end = run(pool, "sh", "-c", "echo out; echo err >&2; pwd", cwd="/usr")
    assert (end.outcome, end.exit_code, end.message) == (Outcome.OK, 0, "")
    assert pool.log(end) == "out\nerr\n/usr\n"
    assert 0 < end.peak_memory_kb < 100_000
    assert end.duration_s > 0


@pytest.mark.parametrize(
    ("line", "codes", "outcome", "code", "signum", "word"),
    [
        ("exit 3", [0], Outcome.FAILED, 3, None, "exited with code 3"),
        ("exit 3", [0, 3], Outcome.OK, 3, None, ""),
        ("exit 0", [3], Outcome.FAILED, 0, None, "exited with code 0"),
        ("no-such-program-anywhere", [0], Outcome.FAILED, 127, None, "127"),
        ("kill -KILL $$", [0], Outcome.KILLED, None, signal.SIGKILL, "from outside (SIGKILL)"),
        ("kill -SEGV $$", [0], Outcome.CRASHED, None, signal.SIGSEGV, "SIGSEGV"),
        ("kill -TERM $$", [0], Outcome.KILLED, None, signal.SIGTERM, "from outside (SIGTERM)"),
    ],
)
def test_end_of_a_program_is_told_apart(
    pool: PoolUnderTest, line: str, codes: list[int], outcome: Outcome, code: int, signum: int, word: str
) -> None:
    """Codes that mean success are the task's to name; signals are told as such."""
    end = pool.run("@shell", task={"shell": line, "ok_codes": codes})
    assert (end.outcome, end.exit_code, end.signal) == (outcome, code, signum)
    assert word in end.message


@pytest.mark.parametrize(
    ("task", "word"),
    [
        ({"argv": ["no-such-program-anywhere"]}, "'no-such-program-anywhere' could not be started: No such file"),
        ({"argv": ["/etc/passwd"]}, "Permission denied"),
        ({"argv": ["true"], "cwd": "/no/such/folder"}, "the folder '/no/such/folder' cannot be entered"),
        ({"argv": ["x\0y"]}, "holds a NUL"),
        ({"argv": ["true"], "shell": "true"}, "give one of them"),
        ({}, "give it"),
        (None, "give it"),
        ([], "is not a mapping"),
        ("rm -rf /", "is not a mapping"),
        ({"argv": ["{param}"]}, "could not be started"),
    ],
)
def test_program_that_cannot_be_started_says_why(pool: PoolUnderTest, task: Any, word: str) -> None:
    """A missing program or folder, or a task that somebody wrote by hand, fails its run with one sentence."""
    end = pool.run("@shell", task=task)
    assert end.outcome is Outcome.START_FAILED
    assert word in end.message


def test_program_too_long_for_the_kernel_says_so(pool: PoolUnderTest) -> None:
    """A parameter larger than one word may be fails its run only."""
    end = run(pool, "true", "{param}", param="x" * 300_000)
    assert end.outcome is Outcome.START_FAILED
    assert "too long" in end.message


@pytest.mark.parametrize(
    "param", ["; touch MARKER", "$(touch MARKER)", "`touch MARKER`", "a\ntouch MARKER", "-rf", "' \"", "{item}"]
)
def test_parameter_never_becomes_code(pool: PoolUnderTest, tmp_path: Path, param: str) -> None:
    """In a word of the program and in the environment of a shell line it stays what it is."""
    show = "import json, os, sys; print(json.dumps([sys.argv[1:], os.environ['SHARDSCHED_PARAM']]))"
    end = run(pool, sys.executable, "-c", show, "{param}", "n={item}", param=param, cwd=str(tmp_path))
    assert json.loads(pool.log(end)) == [[param, "n=0"], param]
    end = pool.run("@shell", param, task={"shell": 'printf %s "$SHARDSCHED_PARAM"', "cwd": str(tmp_path)})
    assert pool.log(end) == param
    assert list(tmp_path.glob("**/MARKER")) == []


def test_program_gets_only_what_it_should(pool: PoolUnderTest) -> None:
    """No descriptor of ours but the three, the default action for signals, and the variables of the task."""
    end = pool.run("@shell", task={"argv": ["ls", "-l", "/proc/self/fd"]})
    opened = [line.rpartition(" -> ")[2].partition(":")[0] for line in pool.log(end).splitlines() if "->" in line]
    assert opened[:3] == ["/dev/null", "pipe", "pipe"]
    assert [place.startswith("/proc/") for place in opened[3:]] == [True]
    end = pool.run("@shell", task={"argv": ["printenv", "SHELF", "SHARDSCHED_JOB"], "env": {"SHELF": "fiction"}})
    assert pool.log(end) == "fiction\n@shell\n"
    end = run_line(pool, "grep SigIgn /proc/self/status")
    # Above 31 are those of the C library and of real time, which nobody here has touched.
    assert int(pool.log(end).split()[1], 16) & 0x7FFFFFFF == 0


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGQUIT, signal.SIGHUP])
def test_program_hears_what_the_executor_was_started_deaf_to(
    make_pool: Callable[..., PoolUnderTest], signum: signal.Signals
) -> None:
    """A script that starts an executor with ``&`` or nohup has it ignore signals; its programs do not."""
    before = signal.signal(signum, signal.SIG_IGN)
    try:
        pool = make_pool()
        pool.start()
        end = run_line(pool, f"kill -{signum.value} $$; echo deaf")
    finally:
        signal.signal(signum, before)
    assert (end.outcome, end.signal) == (Outcome.KILLED, signum)


def test_program_hears_what_the_executor_has_blocked(make_pool: Callable[..., PoolUnderTest]) -> None:
    """A program that an executor is embedded in may have blocked a signal; its items have not."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        pool = make_pool()
        pool.start()
        end = run_line(pool, "kill -TERM $$; echo deaf")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert (end.outcome, end.signal) == (Outcome.KILLED, signal.SIGTERM)


def test_program_whose_reader_leaves_ends_quietly(pool: PoolUnderTest) -> None:
    """SIGPIPE does in a program what programs expect, not what Python sets."""
    end = run_line(pool, "yes | head -n 1")
    assert end.outcome is Outcome.OK
    assert pool.log(end) == "y\n"


def test_program_is_stopped_and_may_clean_up(pool: PoolUnderTest) -> None:
    """SIGTERM reaches it and its children; a program that ends by it with code 0 was stopped all the same."""
    run_id = pool.launch(
        "@shell", task={"shell": "trap 'echo cleaned up; exit 0' TERM; echo ready; while :; do sleep 0.1; done"}
    )
    log = pool.pool._log_dir / f"{run_id}.log"
    eventually(lambda: log.exists() and "ready" in log.read_text())
    pool.pool.stop_run(run_id, "asked by the test", 5)
    end = pool.ended(run_id)
    assert (end.outcome, end.message) == (Outcome.STOPPED, "asked by the test")
    assert "cleaned up" in pool.log(end)


def test_program_that_takes_too_long_is_ended(pool: PoolUnderTest) -> None:
    """A time-out ends a program that ignores SIGTERM, after the grace."""
    end = run_line(pool, "trap '' TERM; sleep 1000", timeout_s=0.4, stop_grace_s=0.3)
    assert (end.outcome, end.signal) == (Outcome.TIMEOUT, signal.SIGKILL)


def test_nothing_of_a_program_escapes(pool: PoolUnderTest, tmp_path: Path) -> None:
    """Children that compute, ignore SIGTERM, call setsid or daemonise are dead when the end of the run is told."""
    note = tmp_path / "pids"
    line = (
        f'{sys.executable} -c "while 1: pass" & echo $! >> {note};'
        f"setsid sh -c 'trap \"\" TERM; echo $$ >> {note}; sleep 1000' &"
        f"(setsid env -i sh -c 'echo $$ >> {note}; sleep 1000' &);"
        "wait"
    )
    run_id = pool.launch("@shell", task={"shell": line})
    pids = eventually(
        lambda: (
            [int(pid) for pid in note.read_text().split()]
            if note.exists() and note.read_text().count("\n") == 3
            else []
        )
    )
    assert all(is_alive(pid) for pid in pids)
    begun = stopwatch()
    pool.pool.stop_run(run_id, "asked by the test", 0.2)
    assert pool.ended(run_id).outcome is Outcome.STOPPED
    assert stopwatch() - begun < 10
    assert all_dead(pids)


def test_leftovers_of_a_program_that_ended_are_killed(pool: PoolUnderTest, tmp_path: Path) -> None:
    """What a program leaves in the background does not outlive its run."""
    note = tmp_path / "pid"
    end = run_line(
        pool, f"setsid sh -c 'echo $$ > {note}; exec sleep 1000' & while [ ! -s {note} ]; do sleep 0.01; done"
    )
    assert end.outcome is Outcome.OK
    assert not is_alive(int(note.read_text()))


def test_many_short_programs_leave_no_zombie(pool: PoolUnderTest) -> None:
    """Hundreds of scripts with grandchildren later, nothing waits to be collected."""
    line = "(sleep 0 & sleep 0) & true"
    run_ids = [pool.launch("@shell", task={"shell": line}) for _ in range(SCRIPT_COUNT)]
    assert {pool.ended(run_id, 100).outcome for run_id in run_ids} == {Outcome.OK}
    eventually(lambda: zombies(pool) == [])
    assert pool.pool.running() == frozenset()


def test_program_runs_without_the_fork_server_too(make_pool: Callable[..., PoolUnderTest], tmp_path: Path) -> None:
    """Where each item gets a fresh interpreter, that becomes the program."""
    (tmp_path / "threaded_jobs.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    pool = make_pool(modules=["threaded_jobs"], import_paths=[str(tmp_path)])
    pool.start()
    assert pool.ready().thread_count == 2
    end = run_line(pool, "echo $SHARDSCHED_ITEM; exit 4")
    assert (end.outcome, end.exit_code, pool.log(end)) == (Outcome.FAILED, 4, "0\n")
