"""What items loaded and saved, by their own record, and what it must show (pure)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Item = tuple[str, int]
SAVES = ".saves"
"""What the name of the record has beside that of the runs."""


@dataclass(slots=True)
class SavedStates:
    """Counters that items keep in their checkpoints: what is loaded is whole, was saved, and never goes back."""

    faults: list[str] = field(default_factory=list)
    """What was found."""
    saved: dict[Item, int] = field(default_factory=dict)
    """The last number of each item whose save was acknowledged."""
    loads: list[tuple[Item, str, int]] = field(default_factory=list)
    """Which run of which item loaded what, in their order."""
    refusals: list[tuple[str, str]] = field(default_factory=list)
    """Which run was refused, and with which error."""
    saving: dict[Item, str] = field(default_factory=dict)
    """Items whose last word is that they save, with their executors."""
    _tried: dict[Item, int] = field(default_factory=dict)

    def see(self, lines: Iterable[str]) -> SavedStates:
        """Take lines of the record; return itself."""
        for line in lines:
            if line.endswith("\n"):
                self._see(json.loads(line))
        return self

    def _see(self, fields: dict[str, Any]) -> None:
        item = (fields["job"], fields["item"])
        self.saving.pop(item, None)
        if "loaded" in fields:
            self.loads.append((item, fields["run"], fields["loaded"]))
            self._check_load(item, fields)
        elif "saving" in fields:
            self.saving[item] = fields.get("executor", "")
            self._tried[item] = max(self._tried.get(item, 0), fields["saving"])
        elif "saved" in fields:
            if fields["saved"] <= self.saved.get(item, 0):
                self._find(item, f"{fields['saved']} was saved after {self.saved[item]}")
            self.saved[item] = fields["saved"]
        elif "refused" in fields:
            self.refusals.append((fields["run"], fields["refused"]))

    def _check_load(self, item: Item, fields: dict[str, Any]) -> None:
        loaded = fields["loaded"]
        if not fields["is_whole"]:
            self._find(item, f"{loaded} was loaded torn")
        if loaded < self.saved.get(item, 0):
            self._find(item, f"{loaded} was loaded after {self.saved[item]} had been saved")
        if loaded > self._tried.get(item, 0):
            self._find(item, f"{loaded} was loaded and never saved")

    def _find(self, item: Item, what: str) -> None:
        self.faults.append(f"{item[0]}/{item[1]}: {what}")


def read_saves(record: Path) -> SavedStates:
    """Return what the record beside that of the runs shows."""
    path = record.with_name(record.name + SAVES)
    return SavedStates().see(path.read_text().splitlines(keepends=True) if path.exists() else [])
