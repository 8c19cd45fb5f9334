"""What the demo's job wrote, read again: pages crawled, and when each run began and ended."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """One page, crawled once."""

    item: int
    """By which item."""
    fire: datetime
    """For which fire."""
    url: str
    """Its address."""
    run_id: str
    """By which run."""
    executor: str
    """By which executor."""
    ended_at: datetime
    """When it had been read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run of one item."""

    item: int
    """Which item."""
    fire: datetime
    """For which fire."""
    run_id: str
    """Its identity."""
    executor: str
    """Who ran it."""
    cause: str
    """Why."""
    attempt: int
    """Which attempt at the fire."""
    token: int
    """Its fencing token."""
    started_at: datetime
    """When its code began."""
    ended_at: datetime | None = None
    """When its code ended; None while it runs, and for ever when it was killed."""
    is_finished: bool = False
    """Whether it did all that it had to do; not so when it was stopped or failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """All that was written so far."""

    pages: tuple[PageRecord, ...] = ()
    """In the order of their files."""
    runs: tuple[RunRecord, ...] = ()
    """By item, then in the order in which they began."""
    unreadable_count: int = 0
    """Lines that are no record: torn by the death of their writer."""


class RecordFolder:
    """The folder of the job's files; `read` returns all records, and reads only what is new.

    **Thread:** one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._offsets: dict[Path, int] = {}
        self._pages: list[PageRecord] = []
        self._runs: dict[str, RunRecord] = {}
        self._unreadable_count = 0

    def read(self) -> Records:
        """Return what was written so far; a line that is still being written is left for the next call."""
        for path in sorted(self._folder.glob("*-*.jsonl")):
            offset = self._offsets.get(path, 0)
            with path.open("rb") as file:
                file.seek(offset)
                whole, newline, _ = file.read().rpartition(b"\n")
            self._offsets[path] = offset + len(whole) + len(newline)
            for line in filter(None, whole.split(b"\n")):
                self._take(line)
        runs = sorted(self._runs.values(), key=lambda run: (run.item, run.started_at))
        return Records(pages=tuple(self._pages), runs=tuple(runs), unreadable_count=self._unreadable_count)

    def _take(self, line: bytes) -> None:
        try:
            self._add(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError):
            self._unreadable_count += 1

    def _add(self, fields: Mapping[str, Any]) -> None:
        event = fields.get("event")
        if event == "start":
            run = _run(fields)
            self._runs[run.run_id] = run
        elif event == "end":
            run = self._runs[fields["run_id"]]
            ended_at = datetime.fromisoformat(fields["end"])
            self._runs[run.run_id] = replace(run, ended_at=ended_at, is_finished=bool(fields["finished"]))
        else:
            self._pages.append(_page(fields))


def _run(fields: Mapping[str, Any]) -> RunRecord:
    return RunRecord(
        item=int(fields["item"]),
        fire=datetime.fromisoformat(fields["fire"]),
        run_id=str(fields["run_id"]),
        executor=str(fields["executor"]),
        cause=str(fields["cause"]),
        attempt=int(fields["attempt"]),
        token=int(fields["token"]),
        started_at=datetime.fromisoformat(fields["start"]),
    )


def _page(fields: Mapping[str, Any]) -> PageRecord:
    return PageRecord(
        item=int(fields["item"]),
        fire=datetime.fromisoformat(fields["fire"]),
        url=str(fields["url"]),
        run_id=str(fields["run_id"]),
        executor=str(fields["executor"]),
        ended_at=datetime.fromisoformat(fields["ended"]),
    )
