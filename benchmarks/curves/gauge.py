"""What a fleet costs: ZooKeeper's own counters, bytes on its connections, memory and threads of the executors."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.stage.fleet import Member
    from tests.zookeeper_server import Server

_BYTES = re.compile(r"bytes_(?:acked|received):(\d+)")


@dataclass(frozen=True, slots=True)
class Traffic:
    """What ZooKeeper has served so far."""

    requests: float
    """Packets that it received, watches and pings included."""
    bytes: float
    """Payload of its open connections, both ways."""
    at: float
    """When, in monotonic seconds."""


def traffic(server: Server) -> Traffic:
    """Return ZooKeeper's counters of now; the question itself is one request."""
    arguments = ["ss", "-tinH", "state", "established", f"sport = :{server.port}"]
    lines = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    total = sum(int(count) for count in _BYTES.findall(lines))
    return Traffic(float(server.mntr()["zk_packets_received"]), float(total), time.monotonic())


@dataclass(frozen=True, slots=True)
class Rate:
    """Traffic a second."""

    requests: float
    bytes: float

    @classmethod
    def between(cls, before: Traffic, after: Traffic) -> Rate:
        """Return the rate from one moment to another."""
        seconds = after.at - before.at
        return cls((after.requests - before.requests - 1) / seconds, (after.bytes - before.bytes) / seconds)


def family(pid: int) -> list[int]:
    """Return a process and all that descend from it."""
    found = [pid]
    for parent in found:
        try:
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    return found


def proportional_mib(pids: list[int]) -> float:
    """Return the memory of processes, with each shared page divided among those who share it."""
    total_kib = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total_kib += next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
    return total_kib / 1024


def executor_costs(members: list[Member]) -> dict[str, float]:
    """Return memory and threads of the middle executor; its warden and fork server are in ``family_mib`` only."""
    families = [proportional_mib(family(member.process.pid)) for member in members]
    return {
        "rss_mib": round(statistics.median(member.rss_mib for member in members), 1),
        "family_mib": round(statistics.median(families), 1),
        "threads": statistics.median(member.status("Threads") for member in members),
    }


def server_costs(server: Server) -> dict[str, float]:
    """Return what ZooKeeper keeps."""
    counters = server.mntr()
    return {"znodes": float(counters["zk_znode_count"]), "watches": float(counters["zk_watch_count"])}


def load() -> float:
    """Return the machine's load over the last minute."""
    return round(os.getloadavg()[0], 1)
