"""Measures the peers one after the other and writes ``docs/performance/peers.csv``.

Each runs a number of jobs due every second, for half a minute at 50, then at growing rates until one in a hundred
fires is lost or late by a second; then what others can take over is killed. ``--quick`` measures less and keeps it in
a temporary folder.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers.apscheduler_peer import APSchedulerPeer
from benchmarks.peers.celery_peer import CeleryPeer
from benchmarks.peers.dask_peer import DaskPeer
from benchmarks.peers.room import Room
from benchmarks.peers.shardsched_peer import ShardschedPeer, ShardschedProcessPeer
from benchmarks.stage.fleet import ROOT, machine_load

if TYPE_CHECKING:
    from collections.abc import Sequence

if TYPE_CHECKING:
    from benchmarks.peers.peer import Peer

PEERS: tuple[type[Peer], ...] = (ShardschedPeer, ShardschedProcessPeer, APSchedulerPeer, CeleryPeer, DaskPeer)
BASE_RATE = 50
RATES = (100, 200, 400, 800, 1600)


class Report:
    """What was found, printed and kept; figures of peers that are not measured this time stay."""

    def __init__(self, path: Path, measured: set[str]) -> None:
        self._path = path
        self._rows: list[Sequence[str]] = []
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                self._rows = [row for row in list(csv.reader(file))[1:] if row and row[0] not in measured]

    def add(self, peer: str, what: str, value: str) -> None:
        """Print a figure and write all anew."""
        self._rows.append((peer, what, value, f"{os.getloadavg()[0]:.1f}"))
        print(f"  {what}: {value} ({machine_load()})", flush=True)
        with self._path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([("peer", "what", "value", "load"), *self._rows])


def sustained_rate(peer: Peer, report: Report, rates: tuple[int, ...]) -> None:
    """Go through growing rates until one is too much; with none, the steady one was."""
    best = str(BASE_RATE) if rates else f"less than {BASE_RATE}"
    for rate in rates:
        found = peer.steadiness(rate, 6)
        report.add(peer.name, f"at {rate}/s", found.text)
        if not found.is_sustained:
            break
        best = str(rate)
    report.add(peer.name, "fires a second sustained, of the rates tried", best)


def measure(peer: Peer, report: Report, *, quick: bool) -> None:
    """Measure all of one peer."""
    print(f"{peer.name} ({machine_load()}):", flush=True)
    steady = peer.steadiness(BASE_RATE, 6 if quick else 30)
    report.add(peer.name, f"steady {BASE_RATE}/s", steady.text)
    if not quick:
        sustained_rate(peer, report, RATES if steady.is_sustained else ())
    for finding in peer.faults(1 if quick else 3):
        report.add(peer.name, finding.what, finding.value)


def main(arguments: list[str]) -> None:
    """Measure the peers whose names contain a word that was given, or all."""
    quick = "--quick" in arguments
    words = [word.lower() for word in arguments if not word.startswith("-")]
    folder = Path(tempfile.mkdtemp(prefix="shardsched-peers-run-"))
    results = folder if quick else ROOT / "docs" / "performance"
    results.mkdir(parents=True, exist_ok=True)
    kinds = [kind for kind in PEERS if not words or any(word in kind.name.lower() for word in words)]
    report = Report(results / "peers.csv", {kind.name for kind in kinds})
    for number, kind in enumerate(kinds):
        place = folder / str(number)
        place.mkdir()
        with Room(place) as room:
            measure(kind(room), report, quick=quick)
    print(f"the figures are in {results / 'peers.csv'} ({machine_load()})")


if __name__ == "__main__":
    main(sys.argv[1:])
