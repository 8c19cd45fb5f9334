"""Whatever an item does, it can be stopped in bounded time, with all that it started."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shardsched.clock import SYSTEM_CLOCK
from shardsched.execution.pool import Outcome
from tests.execution.pool_harness import all_dead, is_alive, stopwatch
from tests.waiting import eventually

if TYPE_CHECKING:
    from tests.execution.pool_harness import PoolUnderTest

DYING_S = 1.0
"""From SIGKILL to the report of the end; 0.02 s is usual, and machines that run tests are busy."""


@pytest.mark.parametrize("handler", ["busy", "recv", "sleeping", "regex", "power", "cooperative", "async_hang"])
def test_stop_ends_a_run_long_before_its_grace(pool: PoolUnderTest, handler: str) -> None:
    """A run that does not ignore SIGTERM ends by it: computing, reading, waiting, or holding the interpreter."""
    run_id = pool.launch(handler)
    pool.started(run_id)
    begun = stopwatch()
    pool.pool.stop_run(run_id, "asked by the test", 30)
    end = pool.ended(run_id)
    assert stopwatch() - begun < 5
    assert (end.outcome, end.message) == (Outcome.STOPPED, "asked by the test")


@pytest.mark.parametrize("handler", ["ignores_sigterm", "deaf_power"])
def test_stop_kills_at_the_grace(pool: PoolUnderTest, handler: str) -> None:
    """A run that ignores SIGTERM, or cannot hear it since C code holds the interpreter, is killed at the grace."""
    run_id = pool.launch(handler)
    pool.pids(run_id)
    begun = stopwatch()
    pool.pool.stop_run(run_id, "asked by the test", 0.5)
    end = pool.ended(run_id)
    assert 0.5 <= stopwatch() - begun < 0.5 + DYING_S
    assert (end.outcome, end.signal) == (Outcome.STOPPED, signal.SIGKILL)


@pytest.mark.parametrize("handler", ["child", "child_in_session", "daemon"])
def test_stop_kills_what_the_run_started(pool: PoolUnderTest, handler: str) -> None:
    """Grandchildren die with the run, in another session or detached, with or without our environment."""
    run_id = pool.launch(handler)
    pids = pool.pids(run_id)
    assert all(is_alive(pid) for pid in pids)
    pool.pool.stop_run(run_id, "asked by the test", 5)
    assert pool.ended(run_id).outcome is Outcome.STOPPED
    assert all_dead(pids)


@pytest.mark.parametrize("handler", ["cooperative", "async_hang"])
def test_stop_lets_clean_up_run(pool: PoolUnderTest, handler: str) -> None:
    """A handler that looks at the flag, and an async one, run their clean-up."""
    run_id = pool.launch(handler)
    pool.pids(run_id)
    pool.pool.stop_run(run_id, "asked by the test", 10)
    end = pool.ended(run_id)
    assert (end.outcome, end.signal) == (Outcome.STOPPED, None)
    assert "cleaned up" in pool.log(end)


def test_stop_is_heard_where_only_a_thread_looks(pool: PoolUnderTest) -> None:
    """The flag may be watched from any thread of the handler, although only the main one may set signal handlers."""
    run_id = pool.launch("watched_from_a_thread")
    eventually(lambda: is_catching_sigterm(pool.started(run_id).pid))
    pool.pool.stop_run(run_id, "asked by the test", 20)
    end = pool.ended(run_id)
    assert (end.outcome, end.signal) == (Outcome.STOPPED, None)
    assert pool.log(end) == "seen\n"


def is_catching_sigterm(pid: int) -> bool:
    """Say whether a process has a handler of its own for SIGTERM."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def test_second_stop_shortens_the_grace(pool: PoolUnderTest) -> None:
    """Who cannot wait any longer asks again; the first reason stays."""
    run_id = pool.launch("ignores_sigterm")
    pool.pids(run_id)
    pool.pool.stop_run(run_id, "first", 60)
    pool.pool.stop_run(run_id, "second", 0)
    end = pool.ended(run_id)
    assert (end.outcome, end.message) == (Outcome.STOPPED, "first")


def test_stop_right_after_launch_runs_nothing(pool: PoolUnderTest) -> None:
    """A run that is stopped before it greets ends without its handler."""
    run_id = pool.launch("raises")
    pool.pool.stop_run(run_id, "at once", 0)
    end = pool.ended(run_id)
    assert end.outcome is Outcome.STOPPED
    assert end.traceback == ""


def test_stop_of_one_run_leaves_the_others(pool: PoolUnderTest) -> None:
    """Neighbours do not notice."""
    stopped, other = pool.launch("daemon"), pool.launch("daemon")
    pool.pids(stopped)
    others = pool.pids(other)
    pool.pool.stop_run(stopped, "asked by the test", 1)
    pool.ended(stopped)
    assert not all_dead(others)
    eventually(lambda: pool.pool.running() == {other})


def test_stop_of_an_unknown_run_is_passed_over(pool: PoolUnderTest) -> None:
    """A run that has ended meanwhile is no error."""
    pool.pool.stop_run("no such run", "asked by the test", 1)
    assert pool.run("quick").outcome is Outcome.OK


def test_lease_that_runs_out_ends_everything_by_its_end(pool: PoolUnderTest) -> None:
    """SIGTERM comes at the soft end and SIGKILL before the hard one, for items of every kind at once."""
    run_ids = [pool.launch(handler) for handler in ("busy", "ignores_sigterm", "power", "daemon", "child_in_session")]
    for run_id in run_ids:
        pool.started(run_id)
    pids = pool.pids(run_ids[1]) + pool.pids(run_ids[3]) + pool.pids(run_ids[4])
    pids += [pool.started(run_id).pid for run_id in run_ids]
    until = pool.lease(1.5, soft_s=0.8)
    eventually(lambda: all_dead(pids), pause_s=0.005)
    assert SYSTEM_CLOCK.boot() <= until
    ends = [pool.ended(run_id) for run_id in run_ids]
    assert {end.outcome for end in ends} == {Outcome.LEASE_LOST}
    assert (ends[0].signal, ends[1].signal) == (signal.SIGTERM, signal.SIGKILL)


def test_lease_that_is_renewed_lets_runs_go_on(pool: PoolUnderTest) -> None:
    """Runs outlive any number of leases as long as the next one comes in time."""
    run_id = pool.launch("own_pid")
    (pid,) = pool.pids(run_id)
    for _ in range(3):
        end = pool.lease(2.0, soft_s=1.0) - 1.5
        eventually(partial(is_past, end))
    assert is_alive(pid)
    assert pool.pool.running() == {run_id}
    pool.lease(60)


def is_past(moment: float) -> bool:
    """Say whether the boot clock has reached a moment."""
    return SYSTEM_CLOCK.boot() >= moment


def test_new_epoch_kills_runs_of_the_old_one(pool: PoolUnderTest) -> None:
    """A lease of another session voids what was claimed before, without any grace, and lets new claims run."""
    run_id = pool.launch("ignores_sigterm")
    pids = pool.pids(run_id)
    pool.lease(60, epoch="session-2")
    end = pool.ended(run_id)
    assert (end.outcome, end.signal) == (Outcome.LEASE_LOST, signal.SIGKILL)
    assert all_dead(pids)
    assert pool.run("quick", epoch="session-2").outcome is Outcome.OK


def test_revoke_kills_everything_at_once(pool: PoolUnderTest) -> None:
    """When the session is lost nothing is asked any more."""
    run_ids = [pool.launch(handler) for handler in ("ignores_sigterm", "daemon")]
    pids = [pid for run_id in run_ids for pid in pool.pids(run_id)]
    begun = stopwatch()
    pool.pool.revoke()
    ends = [pool.ended(run_id) for run_id in run_ids]
    assert stopwatch() - begun < DYING_S
    assert [end.outcome for end in ends] == [Outcome.LEASE_LOST] * 2
    assert all_dead(pids)


def test_item_stopped_by_somebody_is_killed_all_the_same(pool: PoolUnderTest) -> None:
    """A process under SIGSTOP does not hear SIGTERM, but the grace ends it."""
    run_id = pool.launch("own_pid")
    (pid,) = pool.pids(run_id)
    os.kill(pid, signal.SIGSTOP)
    eventually(lambda: ") T " in Path(f"/proc/{pid}/stat").read_text())
    pool.pool.stop_run(run_id, "asked by the test", 0.3)
    assert pool.ended(run_id).signal == signal.SIGKILL


def test_item_runs_at_low_priority_and_dies_first_when_memory_is_short(pool: PoolUnderTest) -> None:
    """A busy or greedy item must not take the executor down."""
    run_id = pool.launch("own_pid")
    (pid,) = pool.pids(run_id)
    assert Path(f"/proc/{pid}/oom_score_adj").read_text() == "500\n"
    assert os.getpriority(os.PRIO_PROCESS, pid) >= min(19, os.getpriority(os.PRIO_PROCESS, 0) + 5)
