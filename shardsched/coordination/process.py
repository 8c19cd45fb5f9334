"""Telling one process from a later one with the same number."""

from __future__ import annotations

import os
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def process_start(pid: int) -> str | None:
    """Return when a living process began, in a form to compare; None if there is no such process.

    On Linux it is the kernel's start tick after the boot's id and the pid namespace, so that neither a reused pid nor a
    reboot nor another container is mistaken. A zombie counts as gone. Elsewhere only the pid's existence is known.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None if _BOOT_ID.exists() else _exists(pid)
    return None if fields[0] in {"Z", "X"} else f"{_place()}:{fields[19]}"


def is_gone(pid: int, started: str) -> bool:
    """Whether a process that told its start is surely gone, as far as it can be seen from here.

    Of another boot or container nothing is known, and the answer is no.
    """
    place, colon, _ = started.rpartition(":")
    return bool(colon) and place == _place() and process_start(pid) != started


def _place() -> str:
    try:
        return f"{_BOOT_ID.read_text().strip()}:{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _exists(pid: int) -> str | None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return "alive"
    return "alive"
