"""The end of a run's output, read from its log."""

from __future__ import annotations

import os
import stat

from shardsched.history.text import MAX_TAIL_BYTES, clean_output

_READ_BYTES = MAX_TAIL_BYTES + 4096
"""A little more, since what steers terminals is left out."""


def log_tail(path: str) -> str:
    """Return the end of a log as text for people, at most 64 KiB; empty if it cannot be read."""
    try:
        # Should the path name something else by now, neither a pipe nor a device may hold us up.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError):
        return ""
    try:
        kind = os.fstat(fd)
        if not stat.S_ISREG(kind.st_mode):
            return ""
        begin = max(kind.st_size - _READ_BYTES, 0)
        data = os.pread(fd, _READ_BYTES, begin)
    except OSError:
        return ""
    finally:
        os.close(fd)
    return clean_output(data, is_cut=begin > 0)
