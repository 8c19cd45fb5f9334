"""What an executor says of itself."""

from __future__ import annotations

import os
import socket
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from shardsched.coordination.process import process_start
from shardsched.core.executor import ExecutorRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shardsched.clock import Clock
    from shardsched.settings import ExecutorSettings


def own_record(
    settings: ExecutorSettings, clock: Clock, handlers: Mapping[str, str], listening: Iterable[str]
) -> ExecutorRecord:
    """Return the record of an executor in this process, without its incarnation.

    Args:
        settings: What it was told.
        clock: The time.
        handlers: What it hosts: the code behind each name.
        listening: Those of them whose listeners are told of whole fires.
    """
    return ExecutorRecord(
        name=settings.name,
        incarnation="",
        host=socket.gethostname(),
        ip=_own_address(),
        pid=os.getpid(),
        process_start=process_start(os.getpid()) or "",
        started_at=clock.now(),
        version=release(),
        handlers=dict(handlers),
        listening=tuple(sorted(listening)),
        labels=dict(settings.labels),
        slots=settings.slots,
    )


def release() -> str:
    """Return the installed release of shardsched, empty when it runs from a bare folder."""
    try:
        return version("shardsched")
    except PackageNotFoundError:
        return ""


def _own_address() -> str:
    """Return an address of this machine for people to read; nothing is sent to find it."""
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return ""
