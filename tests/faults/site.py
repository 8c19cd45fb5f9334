"""A fleet with everything around it that can be made to fail: three servers, a proxy for each link, disks and clocks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from shardsched.execution.process_tree import is_marked
from shardsched.execution.warden_process import cookie_of
from shardsched.settings import ExecutorSettings
from tests.faults.history_verdict import PROCESS_BEGUN
from tests.fleet.fleet_harness import HERE, NAMESPACE, ROOT, SLOW, ExecutorProcess, Fleet, wait_until
from tests.tcp_proxy import Mode, TcpProxy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.faults.archive import Archive
    from tests.zookeeper_server import Ensemble

NAMES = ("e1", "e2", "e3")
GRACE_S = 4.0
"""How long a stopping executor lets its items finish."""
DISK_BYTES = 16 << 20
"""Size of an executor's disk, where disks can be made."""
DISK_SLACK_BYTES = 4096
_TICKS = os.sysconf("SC_CLK_TCK")
_FILLER = "filler"


def boot_s() -> float:
    """Return the boot clock, in seconds: the clock of the jobs' record."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def children_of(pid: int) -> list[int]:
    """Return the process ids of a process's children, whichever thread of it started them; none if it is gone."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def command_line(pid: int) -> str:
    """Return a process's command line, empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def is_alive(pid: int, begun_at: float) -> bool:
    """Whether a process that began about then runs code: neither gone nor a zombie, nor another of its number."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] not in {"Z", "X"} and abs(int(fields[19]) / _TICKS - begun_at) < 5.0


@dataclass(slots=True)
class Site:
    """Executors behind proxies, on an ensemble, with one history."""

    ensemble: Ensemble
    chroot: str
    folder: Path
    t_s: float
    """Session time-out of the executors."""
    archive: Archive
    """Where the executors keep their history."""
    fleet: Fleet = field(init=False)
    proxies: dict[str, list[TcpProxy]] = field(default_factory=dict)
    unable: set[str] = field(default_factory=set)
    """Executors that cannot work now, by a fault of ours."""
    ended: set[str] = field(default_factory=set)
    """Executors whose process we ended."""
    changed_at: float = 0.0
    """When the membership last changed."""
    has_disks: bool = False
    """Whether each executor's state is on a small disk of its own."""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        hosts = self.ensemble.hosts
        self.fleet = Fleet(f"zk://{hosts}{self.chroot}?tick={self.ensemble.tick_s}", self.folder)
        for name in NAMES:
            self.proxies[name] = [TcpProxy.to(address) for address in hosts.split(",")]
        self.has_disks = self._make_disks()

    # Executors

    def url(self, name: str) -> str:
        """Return the registry's URL as an executor is given it: by way of its proxies."""
        addresses = ",".join(proxy.address for proxy in self.proxies[name])
        return f"zk://{addresses}{self.chroot}?tick={self.ensemble.tick_s}"

    def start(self, name: str, *, preload: Mapping[str, str] | None = None) -> None:
        """Start an executor; it is not waited for."""
        options = {
            "name": name,
            "registry": self.url(name),
            "namespace": NAMESPACE,
            "session-timeout": str(self.t_s),
            "grace": str(GRACE_S),
            "state-dir": str(self.disk(name)),
            "history": self.archive.url,
        }
        arguments = [part for key, value in options.items() for part in (f"--{key}", value)]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)]),
            "FLEET_RECORD": str(self.fleet.record),
            **(preload or {}),
        }
        log = self.log(name)
        with log.open("ab") as output:
            output.write(json.dumps({"event": PROCESS_BEGUN}).encode() + b"\n")
            output.flush()
            process = subprocess.Popen(
                [sys.executable, "-m", "shardsched", "run", "fleet_jobs", *arguments, "--log-json", "-v"],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        self.fleet.executors[name] = ExecutorProcess(name, process, log)
        self.ended.discard(name)

    def start_all(self) -> None:
        """Start all executors and return when they are in the fleet."""
        for name in NAMES:
            self.start(name)
        for name in NAMES:
            wait_until(partial(self.fleet.is_live, name), f"{name} to join, see {self.log(name)}", 40.0)

    def log(self, name: str) -> Path:
        """Return where an executor logs, over all its starts."""
        return self.folder / f"{name}.log"

    def executor(self, name: str) -> ExecutorProcess:
        """Return the present process of an executor."""
        return self.fleet.executors[name]

    def leader(self) -> str:
        """Return who leads."""
        leader = wait_until(lambda: (found := self.fleet.status()["leader"]) in NAMES and found, "a leader", 30.0)
        return str(leader)

    def warden(self, name: str) -> int:
        """Return the process id of an executor's warden."""
        pid = self.executor(name).process.pid
        found = wait_until(partial(_children_with, pid, "launch.py"), f"the warden of {name}")
        return int(found[0])

    def fork_server(self, name: str) -> int:
        """Return the process id of an executor's fork server: the child of its warden that is no item."""
        settings = ExecutorSettings(registry=self.url(name), namespace=NAMESPACE, name=name, state_dir=self.disk(name))
        cookie = cookie_of(str(settings.home()))
        # Items have its command line too, since they are forked from it, but each bears a number of its own.
        is_found = partial(_children_with, self.warden(name), "forkserver")
        found = wait_until(
            lambda: [pid for pid in is_found() if is_marked(pid, cookie, 0)], f"the fork server of {name}"
        )
        return int(found[0])

    def set_unable(self, names: Iterable[str]) -> None:
        """Take note that executors cannot work."""
        self.unable |= set(names)
        self.changed_at = boot_s()

    def set_able(self, names: Iterable[str]) -> None:
        """Take note that executors can work again."""
        self.unable -= set(names)
        self.changed_at = boot_s()

    def able(self) -> frozenset[str]:
        """Return the executors that can work."""
        return frozenset(NAMES) - self.unable

    def unexpected_ends(self) -> list[str]:
        """Return what to say of executors that ended although nobody ended them."""
        return [
            f"{name} ended by itself with exit code {executor.process.poll()}"
            for name, executor in self.fleet.executors.items()
            if name not in self.ended and executor.process.poll() is not None
        ]

    def set_mode(self, names: Iterable[str], mode: Mode) -> None:
        """Have the links of executors behave otherwise."""
        for name in names:
            for proxy in self.proxies[name]:
                proxy.set_mode(mode)

    def set_delay(self, names: Iterable[str], delay_s: float) -> None:
        """Have everything on the links of executors, each way, come so much later."""
        for name in names:
            for proxy in self.proxies[name]:
                proxy.delay_s = delay_s

    # Disks

    def disk(self, name: str) -> Path:
        """Return the folder of an executor's own state."""
        return self.folder / f"disk-{name}"

    def _make_disks(self) -> bool:
        for name in NAMES:
            disk = self.disk(name)
            disk.mkdir(exist_ok=True)
            made = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "shardsched-test", str(disk)],
                capture_output=True,
                check=False,
            )
            if made.returncode != 0:
                return False
        return True

    def fill_disk(self, name: str) -> None:
        """Leave no room on an executor's disk."""
        with (self.disk(name) / _FILLER).open("wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(DISK_SLACK_BYTES))
            except OSError:
                return

    def free_disk(self, name: str) -> None:
        """Give the room back."""
        (self.disk(name) / _FILLER).unlink(missing_ok=True)

    def close(self) -> None:
        """End all that was started here; the servers go on."""
        self.fleet.close()
        for proxies in self.proxies.values():
            for proxy in proxies:
                proxy.close()
        for name in NAMES:
            if self.disk(name).is_mount():
                subprocess.run(["umount", "-l", str(self.disk(name))], check=False)


def _children_with(pid: int, word: str) -> list[int]:
    return [child for child in children_of(pid) if word in command_line(child)]


PATIENCE_S = 45.0 * SLOW
"""How long a fleet may take to be well again."""
