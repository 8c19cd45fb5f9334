"""How a run ended, decided from what its process left behind.

This module decides; it does not act.
"""

from __future__ import annotations

import signal
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Outcome(StrEnum):
    """The classes of ends that history tells apart."""

    OK = "ok"
    """The handler returned."""
    FAILED = "failed"
    """It raised, or its process exited with a code that does not say success."""
    NO_RESULT = "no_result"
    """Its process exited with code 0 before the handler returned."""
    TIMEOUT = "timeout"
    """It took longer than it may."""
    STOPPED = "stopped"
    """It was stopped on request."""
    LEASE_LOST = "lease_lost"
    """It was stopped because its executor could no longer prove that the item is its own."""
    CRASHED = "crashed"
    """Its process was ended by a signal of its own making, such as SIGSEGV."""
    OOM = "oom"
    """The kernel killed it for want of memory."""
    KILLED = "killed"
    """Somebody else ended it."""
    WARDEN_LOST = "warden_lost"
    """Its supervisor was lost, and it with it, by no fault of its own."""
    REFUSED = "refused"
    """It was never started, since there was no valid lease."""
    START_FAILED = "start_failed"
    """It could not be started."""


class Stop(NamedTuple):
    """Why a run was asked to stop; the first reason counts."""

    outcome: Outcome
    """What the run is called if it ends by this."""
    message: str
    """For people."""


class Verdict(NamedTuple):
    """What is said of a run that ended."""

    outcome: Outcome
    """The class."""
    message: str = ""
    """One line for people."""
    traceback: str = ""
    """The exception in full, where there was one."""


MAX_SAID_CHARS = 64_000
"""Of what an item says the end is kept, so that it always fits a message to the executor."""

_FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT}


def judge(stop: Stop | None, status: int, report: Mapping[str, object] | None, *, is_oom: bool) -> Verdict:
    """Return the verdict on a process that lived.

    A handler that returned before it could know of a request to stop is done, whatever was asked of it meanwhile.

    Args:
        stop: Why it was asked to stop, None if it was not.
        status: Its wait status.
        report: What it said of itself at its end, None if nothing. One that has become a program said so before, with
            the exit codes that are good.
        is_oom: Whether the kernel killed something for want of memory meanwhile.
    """
    said = {key: str(value)[-MAX_SAID_CHARS:] for key, value in (report or {}).items()}
    ending, message, traceback = said.get("ending", ""), said.get("message", ""), said.get("traceback", "")
    if ending == "ok" and status == 0 and not (report or {}).get("asked_to_stop"):
        return Verdict(Outcome.OK)
    if stop is not None:
        return Verdict(stop.outcome, f"{stop.message}; {message}" if message else stop.message, traceback)
    if ending == "start_failed":
        return Verdict(Outcome.START_FAILED, message, traceback)
    if ending == "program" and status >= 0:
        return _judge_code(status, (report or {}).get("ok_codes"))
    return _judge_alone(status, ending, Verdict(Outcome.FAILED, message, traceback), is_oom=is_oom)


def _judge_alone(status: int, ending: str, failed: Verdict, *, is_oom: bool) -> Verdict:
    """Return the verdict on a handler that nobody asked to stop."""
    if status < 0:
        return _judge_signal(-status, is_oom=is_oom)
    if ending == "stopped":
        return Verdict(Outcome.KILLED, "was asked to stop from outside")
    if ending == "failed" or status != 0:
        return failed._replace(message=failed.message or f"ended with exit code {status} without a result")
    if ending == "ok":
        return Verdict(Outcome.OK)
    return Verdict(Outcome.NO_RESULT, "the process ended before the handler returned")


def _judge_code(status: int, ok_codes: object) -> Verdict:
    if isinstance(ok_codes, list) and status in ok_codes:
        return Verdict(Outcome.OK)
    return Verdict(Outcome.FAILED, f"exited with code {status}")


def judge_unstarted(stop: Stop) -> Verdict:
    """Return the verdict on a run that was stopped before any user code of it ran."""
    # A run that never began has lost nothing: it may be claimed again like one that was refused.
    return Verdict(Outcome.REFUSED if stop.outcome is Outcome.LEASE_LOST else stop.outcome, stop.message)


def _judge_signal(number: int, *, is_oom: bool) -> Verdict:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    if number == signal.SIGKILL and is_oom:
        return Verdict(Outcome.OOM, "killed by the kernel (out of memory); give the machine more or the item less")
    if number in _FROM_OUTSIDE:
        return Verdict(Outcome.KILLED, f"killed from outside ({name})")
    return Verdict(Outcome.CRASHED, f"crashed ({name}); the log has the stack")
