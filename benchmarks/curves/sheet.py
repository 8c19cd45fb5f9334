"""A table of measurements: printed, kept as CSV, and drawn."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from benchmarks.curves.plot import Panel, draw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_TITLES = {
    "idle_requests_s": "requests a second, idle",
    "idle_bytes_s": "bytes a second, idle",
    "fire_requests": "requests for each fire",
    "fire_bytes": "bytes for each fire",
    "start_s": "seconds from start to ready",
    "join_reshard_s": "seconds from join to settled",
    "join_moves": "items moved by a join",
    "leave_reshard_s": "seconds from stop to settled",
    "leave_moves": "items moved by a leave",
    "late_p50_ms": "lateness p50, ms",
    "late_max_ms": "lateness max, ms",
    "rss_mib": "memory of an executor, MiB",
    "threads": "threads of an executor",
    "znodes": "znodes",
    "watches": "watches",
    "register_s": "seconds to register and assign",
}


class Sheet:
    """Rows of figures over one growing number.

    Args:
        folder: Where its files go.
        name: Their name without an ending.
        key: The column that grows.
        title: What the plot says above.
    """

    def __init__(self, folder: Path, name: str, key: str, title: str) -> None:
        self._base = folder / name
        self._key = key
        self._title = title
        self._rows: list[Mapping[str, float]] = []

    def add(self, row: Mapping[str, float]) -> None:
        """Print a row and write both files anew, so that a run cut short leaves what it has."""
        self._rows.append(row)
        print("  " + ", ".join(f"{name} {value:g}" for name, value in row.items()), flush=True)
        self._write_csv()
        self._base.with_suffix(".svg").write_text(draw(self._title, self._panels(), self._key), encoding="utf-8")

    def _columns(self) -> Sequence[str]:
        return list(dict.fromkeys(name for row in self._rows for name in row))

    def _write_csv(self) -> None:
        self._base.parent.mkdir(parents=True, exist_ok=True)
        with self._base.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            columns = self._columns()
            writer.writerow(columns)
            for row in self._rows:
                writer.writerow([f"{row[name]:.10g}" if name in row else "" for name in columns])

    def _panels(self) -> list[Panel]:
        return [
            Panel(_TITLES[name], [(row[self._key], row[name]) for row in self._rows if name in row])
            for name in self._columns()
            if name in _TITLES
        ]
