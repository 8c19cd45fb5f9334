"""Clients in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from shardsched.registry.base import Check, Create, SessionState
from tests.waiting import Picture, eventually, pass_time

if TYPE_CHECKING:
    from shardsched.registry.base import Registry

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def start(module: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a client; whoever does so ends it."""
    return subprocess.Popen(
        [sys.executable, str(HERE / f"{module}.py"), *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def count_together(registry: Registry, url: str, process_count: int, times: int) -> tuple[int, int]:
    """Have processes count one node up at once; return what it counted and how often it was written."""
    registry.transact([Create("/counter", b"0")])
    processes = [start("counting_client", url, str(times)) for _ in range(process_count)]
    try:
        for process in processes:
            assert process.wait(90) == 0
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    node = registry.get("/counter", fresh=True)
    assert node is not None
    return int(node.value), node.version


def freeze_past_the_time_out(registry: Registry, url: str, timeout_s: float) -> list[str]:
    """Freeze a client until its fence has gone, and let it go on; return what it says from then on.

    Nothing that it had under way, or begins, is written after its fence has gone.
    """
    registry.transact([Create("/count")])
    gone = Picture()
    process = start("frozen_client", url, str(timeout_s))
    try:
        assert process.stdout is not None
        before = [process.stdout.readline().strip() for _ in range(2)]
        assert set(before) == {"ready", SessionState.CONNECTED}
        registry.watch("/fence", gone)
        gone.wait_for(lambda it: "/fence" in it.nodes)
        process.send_signal(signal.SIGSTOP)
        gone.wait_for(lambda it: not it.nodes, timeout_s + 20)
        count = registry.get("/count", fresh=True)
        process.send_signal(signal.SIGCONT)
        said = [process.stdout.readline().strip() for _ in range(2)]
        pass_time(timeout_s / 4)
        eventually(lambda: registry.transact([Check("/count")]))
        assert registry.get("/count", fresh=True) == count
        return said
    finally:
        process.kill()
        process.communicate()
