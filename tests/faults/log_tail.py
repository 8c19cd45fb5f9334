"""What the executors of a fleet wrote since it was last read: the jobs' record and the logs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tests.faults.history_verdict import PROCESS_BEGUN
from tests.faults.targets import MissedFires
from tests.fleet.fleet_record import RecordedRun, _begun
from tests.fleet.saved_record import SAVES, SavedStates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(slots=True)
class Tail:
    """The whole lines of a growing file, each given once."""

    path: Path
    _offset: int = 0

    def lines(self) -> Iterator[str]:
        """Return the lines that were completed since the last call."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._offset += len(line)
                yield line.decode(errors="replace")


class RunTail:
    """The runs of a record that is still written."""

    def __init__(self, path: Path) -> None:
        self._tail = Tail(path)
        self._runs: dict[str, RecordedRun] = {}

    def runs(self) -> list[RecordedRun]:
        """Return all runs so far, in the order of their starts."""
        for line in self._tail.lines():
            fields = json.loads(line)
            if fields["what"] == "start":
                self._runs[fields["run"]] = _begun(fields)
                continue
            run = self._runs[fields["run"]]
            run.last = fields["at"]
            if fields["what"] != "alive":
                run.end, run.outcome = fields["at"], fields["what"]
        return sorted(self._runs.values(), key=lambda run: run.start)


class SaveTail:
    """What items load and save, by their record, which is still written."""

    def __init__(self, path: Path) -> None:
        self._tail = Tail(path.with_name(path.name + SAVES))
        self._states = SavedStates()

    def states(self) -> SavedStates:
        """Return what it shows so far."""
        return self._states.see(self._tail.lines())


_HISTORY_EVENTS = frozenset({"history_away", "history_back", "history_dropped", PROCESS_BEGUN})
_BAD_EVENTS = frozenset({"loop_failed", "callback_failed", "record_corrupt", "job_held"})


@dataclass(slots=True)
class LogTail:
    """What matters of one executor's log."""

    tail: Tail
    missed: list[MissedFires] = field(default_factory=list)
    """Fires that were given up."""
    errors: list[str] = field(default_factory=list)
    """What should not have happened in the executor's own code."""
    lost_count: int = 0
    """Sessions that were lost."""
    events: list[str] = field(default_factory=list)
    """What it said of its history, and where a new process begins."""

    def read(self) -> None:
        """Take in what was written since."""
        for line in self.tail.lines():
            if not line.startswith("{"):
                continue
            try:
                self._take(json.loads(line))
            except json.JSONDecodeError:
                continue

    def _take(self, fields: dict[str, Any]) -> None:
        event = fields.get("event")
        if event in _HISTORY_EVENTS:
            self.events.append(str(event))
        if event == "fires_missed":
            self.missed.append(
                MissedFires(
                    job=fields["job"],
                    item=fields["item"],
                    first=datetime.fromisoformat(fields["first"]),
                    last=datetime.fromisoformat(fields["last"]),
                    reason=fields["message"],
                )
            )
        elif event == "session_lost":
            self.lost_count += 1
        elif event in _BAD_EVENTS or fields.get("exception"):
            text = str(fields.get("exception", "")).strip().splitlines()
            self.errors.append(f"{fields['time']} {self.tail.path.name}: {fields['message']} {text[-1:]}")
