"""Where a peer runs: a folder, a virtual environment with the peers, and processes that end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from benchmarks.curves.gauge import family, proportional_mib
from benchmarks.peers import record

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("apscheduler==3.11.3", "celery==5.7.0", "celery-redbeat==2.4.2", "redis", "distributed==2026.8.0")
_never = threading.Event()


def pause(seconds: float) -> None:
    """Let time pass while a peer works."""
    _never.wait(seconds)


def until(condition: Callable[[], object], what: str, timeout_s: float = 60.0) -> None:
    """Return when the condition is true.

    Raises:
        TimeoutError: It is not in time.
    """
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {timeout_s:g} s in vain for {what}")
        pause(0.02)


def peers_python() -> Path:
    """Return the interpreter of the virtual environment with the peers; make it if there is none yet."""
    home = Path(tempfile.gettempdir()) / "shardsched-peers"
    python, ready = home / "bin" / "python", home / ".ready"
    if not ready.exists() or ready.read_text() != " ".join(PACKAGES):
        print(f"installs {', '.join(PACKAGES)} into {home}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        ready.write_text(" ".join(PACKAGES))
    return python


class Room:
    """Processes of one peer, and their record."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.record = folder / "record"
        self.python = peers_python()
        self._groups: dict[str, list[subprocess.Popen[bytes]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def run(self, role: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a process in a group of its own.

        Args:
            role: What it is, in the table of memory.
            arguments: The command.
            environment: Variables it gets besides ours.
        """
        more = {"PYTHONPATH": str(ROOT), "PEER_RECORD": str(self.record)} | environment
        processes = self._groups.setdefault(role, [])
        with (self.folder / f"{role}-{len(processes)}.log").open("ab") as log:
            process = subprocess.Popen(
                arguments,
                cwd=self.folder,
                env=os.environ | more,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        processes.append(process)
        return process

    def python_module(self, role: str, module: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a module under the peers' interpreter."""
        return self.run(role, str(self.python), "-m", module, *arguments, **environment)

    def marks(self) -> list[record.Mark]:
        """Return what ran so far."""
        return record.read(self.record)

    def memory_mib(self) -> dict[str, float]:
        """Return the memory of all processes of each role, with shared pages divided among those who share them."""
        return {
            role: round(proportional_mib([pid for one in self.processes(role) for pid in family(one.pid)]), 1)
            for role in self._groups
        }

    def holder(self, pid: int, role: str) -> subprocess.Popen[bytes]:
        """Return the process of a role that is, or started, the one of a process id."""
        return next(one for one in self.processes(role) if pid in family(one.pid))

    def processes(self, role: str) -> list[subprocess.Popen[bytes]]:
        """Return the processes of a role that live."""
        return [one for one in self._groups[role] if one.poll() is None]

    @staticmethod
    def cpu_ticks(process: subprocess.Popen[bytes]) -> int:
        """Return the processor time of a process, in the kernel's ticks."""
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    @staticmethod
    def kill(process: subprocess.Popen[bytes]) -> float:
        """Kill -9 a process and its group, as a machine that dies would; return when."""
        os.killpg(process.pid, signal.SIGKILL)
        moment = record.wall()
        process.wait(10)
        return moment

    def clear(self) -> None:
        """End all processes, and forget what ran."""
        for group in self._groups.values():
            for process in group:
                if process.poll() is None:
                    self.kill(process)
        self._groups.clear()
        self.record.unlink(missing_ok=True)
