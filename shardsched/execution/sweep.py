"""What the warden does when the leader of a run is dead: nothing may outlive it, and then its end is told."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING, Any

from shardsched.execution.frame import FrameError
from shardsched.execution.outcome import Verdict, judge
from shardsched.execution.process_tree import (
    Mark,
    is_marked,
    own_children,
    signal_group,
    signal_process,
    stat_of,
)
from shardsched.execution.stats import clean_stats

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from shardsched.execution.ward import Ward


def is_dead(pid: int) -> bool:
    """Return whether a child is dead, and leave it a zombie: its id and its group cannot be reused before `close`."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def is_own_child(pid: int) -> bool:
    """Return whether a process is a child of this one, dead or alive."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except (ChildProcessError, OverflowError):
        return False
    return True


def reap_strays(known: Collection[int]) -> None:
    """Collect children that are dead and belong to no ward any more."""
    for pid in own_children():
        if pid not in known:
            _reap(pid)


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def kill_leftovers(ward: Ward, cookie: str, known: Collection[int]) -> bool:
    """Kill what the dead leader of a ward left behind; return whether nothing was left.

    Orphans become children of the warden when their parent dies, so each pass sees the next generation, and a pass
    that finds nothing is the last.
    """
    signal_group(ward.pid, signal.SIGKILL)
    mark = Mark(cookie, ward.number)
    leftovers = [pid for pid in own_children() if pid not in known and _belongs(pid, ward.pid, mark)]
    for pid in leftovers:
        signal_process(pid, signal.SIGKILL)
        _reap(pid)
    return not leftovers


def _belongs(pid: int, leader: int, mark: Mark) -> bool:
    stat = stat_of(pid)
    is_near = stat is not None and leader in {stat.group, stat.session}
    return is_near or is_marked(pid, mark.cookie, mark.number)


def kill_all_children() -> bool:
    """Kill every child of this process; return whether there was none."""
    children = own_children()
    for pid in children:
        signal_process(pid, signal.SIGKILL)
        _reap(pid)
    return not children


def close_ward(ward: Ward, has_oom_grown: Callable[[], bool]) -> dict[str, Any]:
    """Collect the leader, read what it left in its streams and return the report of its end."""
    try:
        _, status, usage = os.wait4(ward.pid, 0)
    except ChildProcessError:
        return ended(ward, Verdict(*judge(ward.stop, -signal.SIGKILL, None, is_oom=False)))
    code = os.waitstatus_to_exitcode(status)
    if ward.channel is not None:
        with contextlib.suppress(FrameError):
            note_report(ward, ward.channel.receive())
    verdict = judge(ward.stop, code, ward.report, is_oom=code == -signal.SIGKILL and has_oom_grown())
    return ended(ward, verdict) | {
        "exit_code": code if code >= 0 else None,
        "signal": -code if code < 0 else None,
        "peak_memory_kb": usage.ru_maxrss,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "duration_s": max(0.0, ward.died_at - ward.started_at),
    }


def note_report(ward: Ward, messages: list[dict[str, Any]]) -> None:
    """Keep what a process said of its end; the first word counts."""
    for message in messages:
        # A process that is about to become a program says so; it says more only if that fails.
        if message.get("type") == "end" and (ward.report is None or ward.report.get("ending") == "program"):
            ward.report = message


def ended(ward: Ward, verdict: Verdict) -> dict[str, Any]:
    """Complete the log of a ward and return the message of its end."""
    return {
        "type": "ended",
        "run": ward.run,
        "outcome": verdict.outcome,
        "message": verdict.message,
        "traceback": verdict.traceback,
        "log": ward.log_path,
        "dropped_bytes": ward.close_log(),
        "stats": clean_stats((ward.report or {}).get("stats")),
    }
