"""Processes are known by their marks, whatever they do to hide where they come from."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.execution.oom_counter import OomCounter
from shardsched.execution.process_tree import (
    ENVIRONMENT_NAME,
    Mark,
    is_marked,
    kill_marked,
    own_children,
    stat_of,
)
from tests.execution.pool_harness import ROOT

COOKIE = "0123456789abcdef"
WEAR = "from shardsched.execution.process_tree import Mark, wear; import os, sys; wear(Mark(sys.argv[1], 7));"


def marked(code: str = "sys.stdin.read()") -> subprocess.Popen[str]:
    """Start a process that marks itself and then runs code; it has begun when this returns."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"{WEAR} print('ready', flush=True); {code}", COOKIE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    """End a process and collect it."""
    with process:
        process.kill()


@given(st.text(alphabet="0123456789abcdef", min_size=16, max_size=16), st.integers(0, 2**24 - 1))
def test_mark_is_a_limit_that_nobody_else_sets(cookie: str, number: int) -> None:
    """It is a valid soft limit, larger than any count of locks, and not infinite."""
    limit = Mark(cookie, number).limit
    assert 2**62 <= limit < 2**63
    assert limit != resource.RLIM_INFINITY
    assert limit & 0xFFFFFF == number


def test_mark_survives_exec_with_another_environment() -> None:
    """A descendant that was given no environment of ours is known all the same."""
    process = marked("os.execve('/bin/sh', ['sh', '-c', 'echo changed; read line'], {})")
    assert process.stdout is not None
    assert process.stdout.readline() == "changed\n"
    assert is_marked(process.pid, COOKIE)
    assert is_marked(process.pid, COOKIE, 7)
    assert not is_marked(process.pid, COOKIE, 8)
    assert not is_marked(process.pid, "f" * 16)
    end(process)


def test_mark_in_the_environment_serves_where_limits_cannot() -> None:
    """Without the limit the environment tells."""
    environment = os.environ | {ENVIRONMENT_NAME: Mark(COOKIE, 7).text}
    process = subprocess.Popen(["sh", "-c", "echo ready; read line"], stdin=-1, stdout=-1, env=environment, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    assert is_marked(process.pid, COOKIE)
    assert is_marked(process.pid, COOKIE, 7)
    assert not is_marked(process.pid, COOKIE, 8)
    end(process)


def test_process_without_a_mark_is_nobodys() -> None:
    """This process, an unknown one and the first of the machine are left alone."""
    assert not any(is_marked(pid, COOKIE) for pid in (os.getpid(), 2**22 + 1, 1))


def test_kill_marked_kills_the_marked_only() -> None:
    """One pass kills the marked, a second finds none, and neighbours live."""
    process = marked()
    neighbour = subprocess.Popen(["sleep", "1000"])
    assert kill_marked(COOKIE) == 1
    assert process.wait(10) == -9
    assert kill_marked(COOKIE) == 0
    assert neighbour.poll() is None
    neighbour.kill()
    neighbour.wait()
    end(process)


def test_kill_marked_spares_itself_and_its_ancestors() -> None:
    """An executor that was started by an item of its own kind does not end itself."""
    code = (
        "import subprocess; from shardsched.execution.process_tree import kill_marked;"
        "print(subprocess.run([sys.executable, '-c', 'from shardsched.execution.process_tree import kill_marked;"
        " import sys; print(kill_marked(sys.argv[1]))', sys.argv[1]], capture_output=True, text=True).stdout.strip())"
    )
    process = marked(code)
    answer, _ = process.communicate(timeout=30)
    assert answer == "0\n"
    assert process.returncode == 0


def test_stat_is_read_whatever_the_process_is_called() -> None:
    """Brackets and spaces in a process's name do not shift the fields."""
    process = marked("open('/proc/self/comm', 'w').write('a) R 1 2'); print('named', flush=True); sys.stdin.read()")
    assert process.stdout is not None
    assert process.stdout.readline() == "named\n"
    stat = stat_of(process.pid)
    assert stat is not None
    assert stat == (os.getpid(), os.getpgrp(), os.getsid(0))
    assert process.pid in own_children()
    end(process)


def test_stat_of_nobody_is_none() -> None:
    """A process that is gone has no stat."""
    assert stat_of(2**22 + 1) is None


def test_oom_counter_is_quiet_while_memory_lasts() -> None:
    """Without a kill by the kernel it does not grow, and reading it never fails."""
    counter = OomCounter()
    assert counter.has_grown() is False
    counter._last_count -= 1
    assert counter.has_grown() is True
    assert counter.has_grown() is False


@pytest.mark.parametrize("sources", [[], ["/no/such/file"], ["/proc/self/exe"]])
def test_oom_counter_without_a_source_says_nothing(sources: list[str]) -> None:
    """Where no counter can be read, nothing is put down to memory."""
    counter = OomCounter()
    counter._sources = [type(ROOT)(source) for source in sources]
    counter._last_count = 0
    assert counter.has_grown() is False
