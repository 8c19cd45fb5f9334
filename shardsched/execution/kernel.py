"""The kernel calls that Python has no name for; where they do not exist, nothing happens."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_SIGACTION_BYTES = 512
"""Room for any platform's ``struct sigaction``; glibc's has 152 bytes."""

IS_LINUX = sys.platform == "linux"

_LIBC = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> None:
    """Have every orphan among the descendants of this process become its child."""
    if IS_LINUX:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends; end at once if it has already.

    The signal comes when the *thread* that is the parent ends, so the parent must have only one.
    """
    if IS_LINUX:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


class SignalSwitch:
    """A Python signal handler that can be put in force later, from any thread.

    ``signal.signal`` may be called by the main thread alone, and a handler in Python does not run while C code holds
    the interpreter. So the handler is prepared, the default action is put back beneath it, and `turn_on` changes
    only what the kernel knows.
    """

    def __init__(self, signum: signal.Signals, handler: signal.Handlers | object) -> None:
        """Prepare a handler and leave the default action in force; called by the main thread."""
        self._signum = int(signum)
        self._prepared = ctypes.create_string_buffer(_SIGACTION_BYTES)
        signal.signal(signum, handler)  # type: ignore[arg-type]  # any callable of two arguments
        _LIBC.sigaction(self._signum, None, self._prepared)
        # All zero is SIG_DFL with no flags and an empty mask.
        _LIBC.sigaction(self._signum, ctypes.create_string_buffer(_SIGACTION_BYTES), None)

    def turn_on(self) -> None:
        """Put the handler in force."""
        _LIBC.sigaction(self._signum, self._prepared, None)
