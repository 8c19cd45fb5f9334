"""How one executor fares, in figures, for whoever watches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shardsched.coordination.mirror import Mirror
    from shardsched.coordination.session import Lease
    from shardsched.historian import Historian
    from shardsched.history.recorder import RecorderState
    from shardsched.history.row import RunRow
    from shardsched.loop.step import Loop
    from shardsched.registry.counted import CountedRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How it fares now."""

    items_owned: int
    """Items that it owns."""
    items_running: int
    """Items that it runs."""
    items_waiting: int
    """Items due that wait for a free slot."""
    is_leader: bool
    """Whether it leads, as far as it knows."""
    session: str
    """What its session is worth: ``absent``, ``active``, ``suspended`` or ``lost``."""
    requests: Mapping[str, int]
    """Requests to the registry since the start, by kind."""
    history: RecorderState
    """Where records of history go."""


class Vitals:
    """Looks at the parts of one executor. **Thread:** any; nothing is asked of the registry."""

    def __init__(
        self, name: str, registry: CountedRegistry, lease: Lease, mirror: Mirror, loop: Loop, historian: Historian
    ) -> None:
        self._name = name
        self._registry = registry
        self._lease = lease
        self._mirror = mirror
        self._loop = loop
        self._historian = historian

    def figures(self) -> Figures:
        """Return how it fares now."""
        leader = self._mirror.fleet().leader if self._mirror.is_complete else None
        return Figures(
            items_owned=self._items_owned(),
            items_running=self._loop.run_count,
            items_waiting=self._loop.waiting_count,
            is_leader=leader is not None and leader.incarnation == self._lease.incarnation,
            session=str(self._lease.standing),
            requests=self._registry.counts(),
            history=self._historian.state(),
        )

    def on_run_ended(self, callback: Callable[[RunRow], None]) -> None:
        """Call back with every run that ends from now on; it must not wait."""
        self._historian.chronicle.observers.append(callback)

    def _items_owned(self) -> int:
        entries = (self._mirror.entry(job) for job in self._mirror.job_names())
        return sum(len(entry.assignment.owners.get(self._name, ())) for entry in entries if entry and entry.assignment)
