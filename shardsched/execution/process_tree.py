"""Which processes belong to an item, and how all of them are killed.

An item may start children, put them in sessions of their own, give them another environment and let them outlive
their parents. Three things tell where such a process comes from:

- its session or process group, as long as it kept the item's;
- the **mark in its limits**: every item runs with a soft ``RLIMIT_LOCKS`` that holds a number of ours. The kernel has
  ignored that limit since Linux 2.4, hands it on through every fork and exec, and shows it in ``/proc/PID/limits``;
- the **mark in its environment**, handed on by exec, for kernels without the first (gVisor takes no such limit).

A mark is made of the *cookie* of the executor and a number: 0 for its warden and fork server, and one per item.
Where there is no ``/proc`` (macOS), nothing is found here and only process groups are killed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
from pathlib import Path
from typing import NamedTuple

ENVIRONMENT_NAME = "SHARDSCHED_MARK"
_PROC = Path("/proc")
_RLIMIT_LOCKS = 10
_LIMITS_LINE = b"\nMax file locks"
_OURS = 1 << 62
_COOKIE_BITS = 38
_NUMBER_BITS = 24
MAX_NUMBER = (1 << _NUMBER_BITS) - 1
"""Highest number of an item; then they begin anew at 1, long after the first have gone."""


class Mark(NamedTuple):
    """What all processes of one item carry."""

    cookie: str
    """The executor's part."""
    number: int
    """The item's part; 0 is the warden and the fork server."""

    @property
    def text(self) -> str:
        """The form in the environment."""
        return f"{self.cookie}:{self.number}"

    @property
    def limit(self) -> int:
        """The form in the limits; never a limit that anybody else would set."""
        digest = hashlib.blake2b(self.cookie.encode(), digest_size=8).digest()
        cookie = int.from_bytes(digest, "big") & ((1 << _COOKIE_BITS) - 1)
        return _OURS | cookie << _NUMBER_BITS | self.number & MAX_NUMBER


class Stat(NamedTuple):
    """A line of ``/proc/PID/stat``, as far as it matters."""

    parent: int
    """Process id of the parent."""
    group: int
    """Process group."""
    session: int
    """Session."""


def wear(mark: Mark) -> None:
    """Mark this process and all that it starts from now on."""
    os.environ[ENVIRONMENT_NAME] = mark.text
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - absent on some platforms, where the environment must do

        resource.setrlimit(_RLIMIT_LOCKS, (mark.limit, resource.getrlimit(_RLIMIT_LOCKS)[1]))


def is_marked(pid: int, cookie: str, number: int | None = None) -> bool:
    """Return whether a process carries a mark of an executor, or of one item of it."""
    limit = _limit_of(pid)
    if limit is not None and limit & _OURS:
        wanted = Mark(cookie, number or 0).limit
        return limit == wanted if number is not None else limit >> _NUMBER_BITS == wanted >> _NUMBER_BITS
    text = _environment_mark_of(pid)
    return text == f"{cookie}:{number}" if number is not None else text.startswith(f"{cookie}:")


def _limit_of(pid: int) -> int | None:
    # A plain open is a third of the cost of pathlib's, and a scan reads this of every process of the machine.
    try:
        with open(f"/proc/{pid}/limits", "rb", buffering=0) as file:  # noqa: PTH123
            limits = file.read(4096)
    except OSError:
        return None
    words = limits.partition(_LIMITS_LINE)[2].split(None, 1)
    return int(words[0]) if words and words[0].isdigit() and int(words[0]) < _OURS * 2 else None


def _environment_mark_of(pid: int) -> str:
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return ""
    start = f"{ENVIRONMENT_NAME}=".encode()
    marks = [entry[len(start) :] for entry in environment.split(b"\0") if entry.startswith(start)]
    return marks[0].decode(errors="replace") if marks else ""


def stat_of(pid: int) -> Stat | None:
    """Return parent, group and session of a process, None when there is no such process."""
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    # The name, in brackets, may itself hold spaces and brackets; only the last one ends it.
    words = text.rpartition(b")")[2].split()
    return Stat(parent=int(words[1]), group=int(words[2]), session=int(words[3]))


def own_children() -> list[int]:
    """Return the children of this single-threaded process, zombies included.

    The kernel's list is exact here because children leave it only when this process reaps them.
    """
    pid = os.getpid()
    try:
        words = (_PROC / str(pid) / "task" / str(pid) / "children").read_bytes().split()
    except OSError:
        return [child for child in all_processes() if (stat := stat_of(child)) is not None and stat.parent == pid]
    return [int(word) for word in words]


def all_processes() -> list[int]:
    """Return the ids of all processes that this one can see."""
    try:
        return [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208 - names, not paths, are wanted
    except OSError:
        return []


def signal_process(pid: int, signum: signal.Signals) -> None:
    """Send a signal to a process, if it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signum)


def signal_group(pid: int, signum: signal.Signals) -> None:
    """Send a signal to a process group, if it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signum)


def kill_marked(cookie: str) -> int:
    """Kill every process with an executor's mark, except this one and its ancestors; return how many were found.

    One pass: what they fork meanwhile is found by the next one, so call it until it returns 0.
    """
    spared = _ancestry()
    victims = [pid for pid in all_processes() if pid not in spared and is_marked(pid, cookie)]
    return sum(_kill_if_marked(pid, cookie) for pid in victims)


def _kill_if_marked(pid: int, cookie: str) -> bool:
    """Kill through a handle that a new process of the same id cannot inherit; return whether it was alive."""
    try:
        handle = os.pidfd_open(pid)
    except (OSError, AttributeError):
        return False
    try:
        if _is_zombie(pid) or not is_marked(pid, cookie):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _is_zombie(pid: int) -> bool:
    """Return whether a process is dead and only waits for its parent to notice."""
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return True
    return text.rpartition(b")")[2].split()[0] in {b"Z", b"X"}


def _ancestry() -> set[int]:
    pid, ancestry = os.getpid(), set[int]()
    while pid > 0 and pid not in ancestry:
        ancestry.add(pid)
        stat = stat_of(pid)
        pid = stat.parent if stat is not None else 0
    return ancestry
