"""The executors of the picture: each with a number of its own, and those that left a while ago."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.admin.executor_status import executor_status
from shardsched.admin.live_value import LiveExecutor
from shardsched.core.name import name_fault
from shardsched.core.view import FleetView

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from shardsched.admin.executor_status import ItemCounts
    from shardsched.admin.reader import Reader
    from shardsched.coordination.mirror import Mirror
    from shardsched.core.executor import LoadReport

LOAD_EVERY_S = 5.0
"""Executors report every ten seconds."""
REMEMBER = timedelta(minutes=10)
"""How long an executor that left stays in the picture, so that people see what happened."""


def number_executors(numbers: Mapping[str, int], names: Iterable[str]) -> dict[str, int]:
    """Return a number from 1 for each name: its own if it has one, else the lowest that is free."""
    kept = {name: numbers[name] for name in names if name in numbers}
    taken, next_number = set(kept.values()), 1
    for name in sorted(set(names) - set(kept)):
        while next_number in taken:
            next_number += 1
        kept[name] = next_number
        taken.add(next_number)
    return kept


class Crew:
    """The executors as they were last seen. **Thread:** used by one.

    Attributes:
        fleet: The control plane without jobs, as it was when last read.
        numbers: The number of each executor of the picture.
        request_count: Nodes and lists asked for so far.
    """

    def __init__(self, reader: Reader, mirror: Mirror) -> None:
        self._reader = reader
        self._mirror = mirror
        self._loads: dict[str, LoadReport] = {}
        self._loads_read_at: float | None = None
        self._departed: dict[str, LiveExecutor] = {}
        self._present: dict[str, LiveExecutor] = {}
        self._unreadable: frozenset[str] = frozenset()
        self._unreadable_marks: frozenset[str] = frozenset()
        self.fleet = FleetView()
        self.numbers: dict[str, int] = {}
        self.request_count = 0

    def read(self, boot: float, now: datetime) -> bool:
        """Take over what the mirror has, prove that the registry answers, and read the load reports now and then.

        Returns:
            Whether another executor lives, leads or is drained than before.

        Raises:
            RegistryUnavailableError: No answer.
        """
        # One read that lags behind nobody: it fails where the link is down and the mirror would go on to look fresh.
        self._reader.registry.read((self._reader.paths.leader,), fresh=True)
        self.request_count += 1
        before = (self.fleet, self._unreadable, self._unreadable_marks)
        self.fleet = replace(self._mirror.fleet(), jobs={})
        self._unreadable = self._mirror.unreadable("executors")
        self._unreadable_marks = self._mirror.unreadable("drained")
        is_changed = before != (self.fleet, self._unreadable, self._unreadable_marks)
        if is_changed:
            self._note_departures(now)
            self.numbers = number_executors(self.numbers, [*self._names(), *self._departed])
        if is_changed or self._loads_read_at is None or boot - self._loads_read_at >= LOAD_EVERY_S:
            self._loads = self._reader.loads(tuple(self.fleet.executors))
            self._loads_read_at = boot
            self.request_count += len(self.fleet.executors)
        return is_changed

    def executors(self, counts: ItemCounts, now: datetime) -> tuple[LiveExecutor, ...]:
        """Return the executors by number, those that left lately among them."""
        self._present = {name: self._executor(name, counts) for name in self._names()}
        self._departed = {
            name: one
            for name, one in self._departed.items()
            if one.left_at is not None and now - one.left_at <= REMEMBER
        }
        return tuple(sorted((*self._present.values(), *self._departed.values()), key=lambda one: one.number))

    def _names(self) -> set[str]:
        return self.fleet.executors.keys() | self.fleet.drained.keys() | self._unreadable | self._unreadable_marks

    def _executor(self, name: str, counts: ItemCounts) -> LiveExecutor:
        is_present = name in self.fleet.executors or name in self._unreadable
        status = executor_status(name, self.fleet, self._loads.get(name), counts, is_present=is_present)
        return LiveExecutor(number=self.numbers[name], status=status)

    def _note_departures(self, now: datetime) -> None:
        names = self._names()
        for name, one in self._present.items():
            if name not in names and name_fault(name) is None:
                status = replace(one.status, state="gone", reason=None, is_leader=False, items=0, running=0)
                self._departed[name] = replace(one, status=status, left_at=now)
        self._departed = {name: one for name, one in self._departed.items() if name not in names}
