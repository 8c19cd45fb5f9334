"""Runs, executors and events of a fleet that never was, for pages that show them."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from shardsched.coordination.namespace import ensure_namespace
from shardsched.core.executor import (
    ExecutorRecord,
    LeaderRecord,
    LoadReport,
    encode_executor,
    encode_leader,
    encode_load,
)
from shardsched.history.column import event_values, run_values
from shardsched.history.record import Kind, Record
from shardsched.history.row import EventRow, RunRow
from shardsched.history.store import write
from shardsched.registry.base import Create, Delete, Put
from shardsched.testing import MemoryRegistry

if TYPE_CHECKING:
    from pathlib import Path

    from tests.console.site import Site

HOSTILE = "<img src=x onerror=alert(1)>"
RTL = "\u0645\u062c\u0644\u0629-\u202egnp.exe"
LONG = "news-" + "a-very-long-name-" * 18
PLACE = "0123456789ab"


class Stage:
    """Fills a site with a fleet and its past."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.now = site.clock.now()
        self.registry = MemoryRegistry(site.store)
        self.registry.open()
        ensure_namespace(self.registry, site.paths)

    def close(self) -> None:
        """End the session of all executors."""
        self.registry.close()

    def executor(self, name: str, *, is_leader: bool = False, **fields: Any) -> None:
        """Have an executor live."""
        paths = self.site.paths
        record = ExecutorRecord(
            **{
                "name": name,
                "incarnation": f"i-{name[:40]}",
                "host": f"node-{len(name) % 7}.example",
                "ip": "10.0.0.7",
                "pid": 4711,
                "process_start": "1",
                "started_at": self.now - timedelta(hours=5),
                "version": "0.1.0",
                "handlers": {"news:crawl": "news:crawl"},
                **fields,
            }
        )
        self._put(paths.executor(name), encode_executor(record))
        self.load(name)
        if is_leader:
            self._put(paths.leader, encode_leader(LeaderRecord(name=name, incarnation=record.incarnation, epoch=3)))

    def load(self, name: str, **fields: Any) -> None:
        """Have an executor report its load."""
        usual: dict[str, Any] = {"running": 3, "queued": 1, "cpu": 0.31, "memory_mb": 84.2, "drift_s": 0.02}
        report = LoadReport(**{"at": self.site.clock.now(), **usual, **fields})
        self._put(self.site.paths.load(name), encode_load(report))

    def _put(self, path: str, value: bytes) -> None:
        node = self.registry.get(path)
        self.registry.transact([Create(path, value, ephemeral=True) if node is None else Put(path, value)])

    def delete(self, path: str) -> Delete:
        """Return what removes a record."""
        node = self.registry.get(path)
        assert node is not None
        return Delete(path, node.version)

    def run(self, **fields: Any) -> RunRow:
        """Return a run that succeeded, unless told otherwise."""
        began = fields.get("queued_at") or self.now - timedelta(minutes=3)
        ended = began + timedelta(seconds=12)
        usual: dict[str, Any] = {
            "run_id": uuid.uuid4().hex,
            "job": "news",
            "uid": "u1",
            "item": 2,
            "items": 10,
            "fire": began.replace(microsecond=0),
            "cause": "schedule",
            "attempt": 1,
            "executor": "crawler-a",
            "incarnation": "i-crawler-a",
            "token": 17,
            "queued_at": began,
            "started_at": began + timedelta(milliseconds=40),
            "ended_at": ended,
            "outcome": "ok",
            "exit_code": 0,
            "peak_memory_kb": 48_200,
            "cpu_s": 1.42,
            "duration_s": 11.96,
            "param": "cn",
            "stats": {"pages": 1200, "rows": 88},
        }
        return RunRow(**usual | fields)

    def running(self, **fields: Any) -> RunRow:
        """Return a run that goes on."""
        return replace(self.run(**fields), ended_at=None, outcome=None, exit_code=None, duration_s=0.0, stats={})

    def keep(self, *runs: RunRow) -> None:
        """Put runs into history."""
        self._write([Record(Kind.RUN, run_values(run)) for run in runs])

    def event(self, kind: str, **fields: Any) -> None:
        """Put an event into history."""
        at = fields.pop("at", self.now)
        self._write([Record(Kind.EVENT, event_values(uuid.uuid4().hex, EventRow(at=at, kind=kind, **fields)))])

    def _write(self, records: list[Record]) -> None:
        with self.site.history.database.writing() as connection:
            write(connection, "fleet", records)

    def log_path(self, run: RunRow, state_dir: Path) -> Path:
        """Return where an executor of this machine would keep the output of a run."""
        return state_dir / PLACE / run.executor / "logs" / run.job / f"{run.run_id}.log"

    def with_log(self, run: RunRow, state_dir: Path, data: bytes) -> RunRow:
        """Write the output of a run, and return the run with its place."""
        path = self.log_path(run, state_dir)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return replace(run, log_path=str(path))


def at(site: Site, **ago: float) -> datetime:
    """Return a time before now."""
    return site.clock.now() - timedelta(**ago)
