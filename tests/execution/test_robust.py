"""Runs that end in unusual ways are told as what they were, and harm nobody else."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shardsched.execution.pool import Outcome
from shardsched.execution.stats import MAX_BYTES, clean_stats
from tests.execution.pool_harness import is_alive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.execution.pool_harness import PoolUnderTest

GIB = 1 << 30
MEMORY_CGROUP = Path("/sys/fs/cgroup/memory")


def resident_kb(pid: int) -> int:
    """Return the memory that a process has in use."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def test_flood_of_a_gibibyte_costs_neither_disk_nor_memory(pool: PoolUnderTest) -> None:
    """Of 1 GiB of output the log keeps what it may; warden and executor stay as small as they were."""
    pool.run("quick")
    pids = (pool.pool.warden_pid, os.getpid())
    before = [resident_kb(pid) for pid in pids]
    end = pool.ended(pool.launch("@shell", task={"shell": f"echo first; yes | head -c {GIB}; echo last"}), 100)
    after = [resident_kb(pid) for pid in pids]
    assert end.outcome is Outcome.OK
    log = Path(end.log_path)
    assert log.stat().st_size <= 1 << 20
    assert log.read_text().startswith("first\n")
    assert log.read_text().endswith("last\n")
    assert end.dropped_bytes > GIB - (1 << 20)
    assert [later - earlier < 8 * 1024 for earlier, later in zip(before, after, strict=True)] == [True, True]


def test_exception_that_cannot_be_pickled_is_told(pool: PoolUnderTest) -> None:
    """What is told is text, so nothing an exception holds matters."""
    end = pool.run("raises_unpicklable")
    assert end.outcome is Outcome.FAILED
    assert "LocalError: holds a lock" in end.message
    assert "raise LocalError(threading.Lock())" in end.traceback


def test_module_with_a_syntax_error_is_told(make_pool: Callable[..., PoolUnderTest], tmp_path: Path) -> None:
    """The traceback shows the line; other modules work."""
    (tmp_path / "torn_jobs.py").write_text("def broken(:\n    pass\n")
    pool = make_pool(modules=["torn_jobs", "tests.execution.item_jobs"], import_paths=[str(tmp_path)])
    pool.start()
    end = pool.run("handler_of_torn")
    assert end.outcome is Outcome.START_FAILED
    assert "torn_jobs" in end.message
    assert "SyntaxError" in end.traceback
    assert "def broken(:" in end.traceback
    assert pool.run("quick").outcome is Outcome.OK


def test_hard_exit_is_told_with_its_code(pool: PoolUnderTest) -> None:
    """A process that leaves without a word has failed with its code."""
    end = pool.run("exits_hard", "3")
    assert (end.outcome, end.exit_code) == (Outcome.FAILED, 3)


def test_failure_in_one_sentence_has_no_traceback(pool: PoolUnderTest) -> None:
    """A handler that raises RunFailedError says all there is to say."""
    end = pool.run("refuses")
    assert (end.outcome, end.message, end.traceback) == (Outcome.FAILED, "the shop is shut", "")


def test_processes_of_a_handler_work_and_are_gone(pool: PoolUnderTest) -> None:
    """A pool of processes within a run does its work."""
    for _ in range(5):
        end = pool.run("pools_processes")
        assert (end.outcome, pool.log(end)) == (Outcome.OK, "55\n")


def test_item_that_talks_nonsense_does_not_end_the_warden(pool: PoolUnderTest) -> None:
    """What an item says of itself is cut and cleaned before it is passed on; its neighbours go on."""
    neighbour = pool.launch("own_pid")
    (pid,) = pool.pids(neighbour)
    warden = pool.pool.warden_pid
    end = pool.run("says_nonsense")
    assert end.outcome in {Outcome.OK, Outcome.NO_RESULT}
    assert pool.pool.warden_pid == warden
    assert is_alive(pid)


def test_stats_are_kept_with_the_end(pool: PoolUnderTest) -> None:
    """Numbers and texts come as they are, the rest as text that anything can store."""
    end = pool.run("counts")
    assert end.outcome is Outcome.OK
    assert {name: end.stats[name] for name in ("pages", "share", "shelf", "3")} == {
        "pages": 3, "share": 0.5, "shelf": "fiction", "3": None
    }  # fmt: skip
    assert end.stats["huge"] == 1e30
    assert end.stats["nan"] == "nan"
    assert end.stats["at"].startswith("2026-01-01")
    assert len(end.stats["text"]) == 2_000
    assert pool.run("quick").stats == {}


def test_stats_beyond_their_limit_are_left_out(pool: PoolUnderTest) -> None:
    """More than 16 KiB, or a value that cannot be written out, is no reason to fail."""
    end = pool.run("counts_too_much")
    assert end.outcome is Outcome.OK
    assert "odd" not in end.stats
    assert 100 < len(end.stats) < MAX_BYTES // 100
    assert clean_stats(end.stats) == end.stats
    assert clean_stats([1]) == clean_stats(None) == {}


@pytest.fixture
def small_cgroup() -> Iterator[Path]:
    """A control group with little memory, where one can be made."""
    folder = MEMORY_CGROUP / f"shardsched-test-{uuid.uuid4().hex[:8]}"
    try:
        folder.mkdir()
        (folder / "memory.limit_in_bytes").write_text(str(192 << 20))
    except OSError:
        pytest.skip("no control group can be made here; the verdict is tested with values")
    yield folder
    with contextlib.suppress(OSError):
        folder.rmdir()


def test_run_that_takes_all_memory_is_told_and_alone_killed(
    make_pool: Callable[..., PoolUnderTest], small_cgroup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel picks the item, not the warden nor a neighbour, and the run is called so."""
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\necho $$ > {small_cgroup}/cgroup.procs\nexec {sys.executable} "$@"\n')
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(wrapper))
    pool = make_pool()
    pool.start()
    neighbour = pool.launch("own_pid")
    (pid,) = pool.pids(neighbour)
    warden = pool.pool.warden_pid
    end = pool.run("hungry")
    assert end.outcome is Outcome.OOM
    assert "out of memory" in end.message
    assert is_alive(pid)
    assert pool.pool.warden_pid == warden
    pool.pool.close(10)
