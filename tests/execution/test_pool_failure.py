"""Items never outlive their executor, whichever process of it is killed or frozen."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING

import pytest

from shardsched.execution import warden_process
from shardsched.execution.pool import Outcome, PoolFailed, cookie_of, sweep_orphans
from tests.execution.pool_harness import ROOT, all_dead, is_alive, marked_pids, noted_pids, stopwatch
from tests.waiting import eventually, pass_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.execution.pool_harness import PoolUnderTest

ALL_KINDS = (
    "busy", "recv", "sleeping", "ignores_sigterm", "regex", "power",
    "cooperative", "async_hang", "child", "child_in_session", "daemon",
)  # fmt: skip
NOTED_COUNT = 6
"""How many of these note process ids."""
DRIVER = "tests.execution.pool_driver"


class Driver:
    """A process that owns a pool with items of all kinds."""

    def __init__(self, folder: Path, lease_s: float) -> None:
        folder.mkdir()
        self.executor = f"test {uuid.uuid4().hex}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", DRIVER, str(folder), self.executor, str(lease_s), *ALL_KINDS],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        try:
            eventually((folder / "driver.json").exists, 60)
            eventually(lambda: len(noted_pids(folder)) >= NOTED_COUNT)
        except AssertionError:
            self.close()
            raise
        said = json.loads((folder / "driver.json").read_text())
        self.warden: int = said["warden"]
        self.pids = [*said["items"].values(), *noted_pids(folder)]
        assert all(is_alive(pid) for pid in self.pids)

    def close(self) -> None:
        """End whatever is left."""
        self.process.kill()
        self.process.wait()
        sweep_orphans(cookie_of(self.executor))


@pytest.fixture
def make_driver(tmp_path: Path) -> Iterator[Callable[[float], Driver]]:
    """Starts drivers, and ends them."""
    made: list[Driver] = []

    def make(lease_s: float) -> Driver:
        made.append(Driver(tmp_path / f"driver{len(made)}", lease_s))
        return made[-1]

    yield make
    for driver in made:
        driver.close()


def test_executor_killed_takes_everything_along(make_driver: Callable[[float], Driver]) -> None:
    """Within a second of kill -9 of the executor, items of every kind and their descendants are dead."""
    driver = make_driver(600)
    driver.process.kill()
    begun = stopwatch()
    eventually(lambda: all_dead([driver.warden, *driver.pids]), pause_s=0.002)
    assert stopwatch() - begun < 1.0
    assert marked_pids(cookie_of(driver.executor)) == []


def test_executor_frozen_loses_everything_at_the_lease(make_driver: Callable[[float], Driver]) -> None:
    """With the executor under SIGSTOP its last lease runs out, and by its end everything is dead."""
    driver = make_driver(2.0)
    os.kill(driver.process.pid, signal.SIGSTOP)
    frozen_at = stopwatch()
    eventually(lambda: all_dead(driver.pids), pause_s=0.002)
    assert stopwatch() - frozen_at <= 2.0
    assert is_alive(driver.warden)


def test_executor_thawed_keeps_its_warden(make_driver: Callable[[float], Driver]) -> None:
    """A freeze longer than the patience with the warden is no reason to kill the warden, which answered all along."""
    driver = make_driver(600)
    os.kill(driver.process.pid, signal.SIGSTOP)
    pass_time(3.0)
    os.kill(driver.process.pid, signal.SIGCONT)
    pass_time(1.5)
    assert all(is_alive(pid) for pid in [driver.warden, *driver.pids])


def test_executor_and_warden_killed_leave_orphans_for_the_sweep(make_driver: Callable[[float], Driver]) -> None:
    """The kernel kills the leaders; what detached itself is found by its mark at the next start."""
    driver = make_driver(600)
    bystander = subprocess.Popen(["sleep", "1000"])
    os.kill(driver.process.pid, signal.SIGSTOP)
    os.kill(driver.warden, signal.SIGKILL)
    driver.process.kill()
    driver.process.wait()
    eventually(lambda: sum(is_alive(pid) for pid in driver.pids) <= 3)
    assert not all_dead(driver.pids)
    assert sweep_orphans(cookie_of(driver.executor)) >= 3
    eventually(lambda: all_dead(driver.pids), 1.0)
    assert bystander.poll() is None
    assert sweep_orphans(cookie_of(driver.executor)) == 0
    bystander.kill()
    bystander.wait()


def launch_all_kinds(pool: PoolUnderTest) -> tuple[list[str], list[int]]:
    """Launch items of every kind and return their ids and all their processes."""
    run_ids = [pool.launch(handler) for handler in ALL_KINDS]
    pids = [pool.started(run_id).pid for run_id in run_ids]
    return run_ids, [*pids, *eventually(lambda: _noted(pool))]


def _noted(pool: PoolUnderTest) -> list[int]:
    pids = noted_pids(pool.notes)
    return pids if len(pids) >= NOTED_COUNT else []


def check_loss(pool: PoolUnderTest, run_ids: list[str], pids: list[int], lost_warden: int) -> None:
    """After the loss of a warden all is dead and reported, and a new one works."""
    for run_id in run_ids:
        end = pool.ended(run_id)
        assert end.outcome is Outcome.WARDEN_LOST
        assert "the warden was lost" in end.message
    assert all_dead(pids)
    assert not is_alive(lost_warden)
    assert any(isinstance(event, PoolFailed) for event in pool.events.values)
    assert pool.run("quick").outcome is Outcome.OK
    assert pool.pool.warden_pid not in {0, lost_warden}


def test_warden_killed_ends_its_items_and_is_replaced(pool: PoolUnderTest) -> None:
    """The kernel kills the leaders, the executor sweeps the rest and tells, and launches work again under the lease."""
    run_ids, pids = launch_all_kinds(pool)
    warden = pool.pool.warden_pid
    begun = stopwatch()
    os.kill(warden, signal.SIGKILL)
    eventually(lambda: all_dead(pids), pause_s=0.002)
    assert stopwatch() - begun < 1.0
    check_loss(pool, run_ids, pids, warden)


def test_warden_frozen_is_killed_and_replaced(pool: PoolUnderTest) -> None:
    """A warden that answers no ping for 2 s is killed, with all it supervised."""
    run_ids, pids = launch_all_kinds(pool)
    warden = pool.pool.warden_pid
    begun = stopwatch()
    os.kill(warden, signal.SIGSTOP)
    eventually(lambda: all_dead(pids), pause_s=0.002)
    assert stopwatch() - begun < 4.0
    check_loss(pool, run_ids, pids, warden)


def test_frozen_warden_does_not_hold_up_the_executor(pool: PoolUnderTest) -> None:
    """While the warden is frozen, launching and leasing return at once; the runs are told as lost."""
    pool.ready()
    os.kill(pool.pool.warden_pid, signal.SIGSTOP)
    begun = stopwatch()
    run_ids = [pool.launch("quick", "x" * 100_000) for _ in range(50)]
    pool.lease(60)
    assert stopwatch() - begun < 1.0
    assert {pool.ended(run_id).outcome for run_id in run_ids} == {Outcome.WARDEN_LOST}


def test_warden_frozen_at_close_is_killed(make_pool: Callable[..., PoolUnderTest]) -> None:
    """Closing waits for a warden no longer than told, and everything is dead all the same."""
    pool = make_pool()
    pool.start()
    run_id = pool.launch("daemon")
    pids = pool.pids(run_id)
    os.kill(pool.pool.warden_pid, signal.SIGSTOP)
    pool.pool.close(0.3)
    assert all_dead(pids)
    assert pool.ended(run_id).outcome is Outcome.WARDEN_LOST


def test_fork_server_killed_is_replaced_at_the_next_launch(pool: PoolUnderTest) -> None:
    """Items do not notice the loss of the fork server, and the next launch makes a new one."""
    run_id = pool.launch("child")
    pids = [pool.started(run_id).pid, *pool.pids(run_id)]
    fork_server = pool.fork_server_pid()
    os.kill(fork_server, signal.SIGKILL)
    assert pool.run("quick").outcome is Outcome.OK
    assert pool.fork_server_pid() not in {0, fork_server}
    assert all(is_alive(pid) for pid in pids)
    assert not any(isinstance(event, PoolFailed) for event in pool.events.values)


def test_fork_server_killed_under_many_launches_loses_none(pool: PoolUnderTest) -> None:
    """Launches that were on their way are tried again by the next fork server."""
    pool.ready()
    run_ids = [pool.launch("quick") for _ in range(30)]
    pool.started(run_ids[3])
    os.kill(pool.fork_server_pid(), signal.SIGKILL)
    assert {pool.ended(run_id, 60).outcome for run_id in run_ids} == {Outcome.OK}


def test_fork_server_frozen_is_replaced(pool: PoolUnderTest) -> None:
    """A fork server that brings nothing to life for 10 s is killed, and what waited for it is started by the next."""
    running = pool.launch("own_pid")
    (pid,) = pool.pids(running)
    os.kill(pool.fork_server_pid(), signal.SIGSTOP)
    run_ids = [pool.launch("quick") for _ in range(3)]
    assert {pool.ended(run_id, 40).outcome for run_id in run_ids} == {Outcome.OK}
    assert is_alive(pid)


def test_terminal_interrupt_does_not_reach_the_warden(pool: PoolUnderTest) -> None:
    """SIGINT and SIGTERM to the warden are ignored, and items do not inherit that."""
    pool.ready()
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(pool.pool.warden_pid, signum)
    run_id = pool.launch("sleeping")
    pid = pool.started(run_id).pid
    os.kill(pid, signal.SIGTERM)
    assert pool.ended(run_id).signal == signal.SIGTERM


def test_warden_that_is_told_nonsense_takes_everything_along(pool: PoolUnderTest) -> None:
    """A warden that cannot go on ends with all it supervised, rather than leave it unsupervised."""
    run_ids, pids = launch_all_kinds(pool)
    warden = pool.pool._warden
    assert warden is not None
    warden.send(b"\0\0\0\2no")
    check_loss(pool, run_ids, pids, warden.pid)


def test_warden_that_ends_at_once_is_not_restarted_at_full_speed(
    make_pool: Callable[..., PoolUnderTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a broken installation each launch fails with a word on it, and the machine is not kept busy."""
    monkeypatch.setattr(warden_process, "_LAUNCH", "/no/such/launch.py")
    pool = make_pool()
    pool.start()
    assert pool.run("quick").outcome is Outcome.START_FAILED
    pass_time(1.5)
    assert sum(isinstance(event, PoolFailed) for event in pool.events.values) <= 3


def test_warden_of_a_pool_that_cannot_start_is_told(make_pool: Callable[..., PoolUnderTest]) -> None:
    """Without an interpreter to start, the runs fail with the reason, and nobody waits for ever."""
    pool = make_pool()
    python = sys.executable
    sys.executable = "/no/such/python"
    try:
        pool.pool.start()
        pool.events.wait_for(lambda events: any(isinstance(event, PoolFailed) for event in events))
        end = pool.run("quick")
    finally:
        sys.executable = python
    assert end.outcome is Outcome.START_FAILED
    assert "/no/such/python" in end.message
    pool.lease(60)
    assert pool.run("quick").outcome is Outcome.OK
