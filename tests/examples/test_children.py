"""No process that the demo starts outlives it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from shardsched.clock import SYSTEM_CLOCK
from shardsched.demo.children import Children
from shardsched.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_OBEYS = "import signal; print('up', flush=True); signal.pause()"
_IGNORES = "import signal; signal.signal(15, signal.SIG_IGN); print('up', flush=True)\nwhile True: signal.pause()"
_FAILS = "raise SystemExit('no luck')"


@pytest.fixture
def children(tmp_path: Path) -> Iterator[Children]:
    """A family that is ended after the test."""
    family = Children(tmp_path, SYSTEM_CLOCK)
    yield family
    family.stop_all(grace_s=0.0)


def start(children: Children, name: str, code: str) -> int:
    """Start a Python process and wait until it is up."""
    pid = children.start(name, [sys.executable, "-c", code], os.environ, pipe=True)
    if code is not _FAILS:
        assert children.first_line(name, 30.0) == "up"
    return pid


def exists(pid: int) -> bool:
    """Whether a process of that id exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_stop_all_ends_those_that_obey_and_those_that_do_not(children: Children) -> None:
    """After the grace every child is gone, reaped."""
    pids = [start(children, "good", _OBEYS), start(children, "bad", _IGNORES)]
    assert all(map(exists, pids))
    children.stop_all(grace_s=0.3)
    assert not any(map(exists, pids))
    children.stop_all(grace_s=0.3)


def test_kill_ends_one_and_no_other(children: Children) -> None:
    """The killed one is gone at once, and the other lives."""
    victim, other = start(children, "victim", _IGNORES), start(children, "other", _OBEYS)
    children.kill("victim")
    assert not exists(victim)
    assert not children.is_alive("victim")
    assert exists(other)
    assert children.is_alive("other")


def test_child_that_fails_to_start_is_reported_with_its_last_words(children: Children) -> None:
    """The reason why a process does not start reaches the user."""
    start(children, "failing", _FAILS)
    with pytest.raises(ExecutionError, match=r"process 'failing' does not start; it says: no luck"):
        children.first_line("failing", 30.0)


def test_child_has_a_session_of_its_own(children: Children) -> None:
    """A Ctrl-C on the terminal reaches the demo, which ends its children itself."""
    pid = start(children, "apart", _OBEYS)
    assert os.getsid(pid) == pid != os.getsid(0)
