"""What is measured of each peer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.peers.room import pause, until
from benchmarks.stage.fleet import spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.peers.record import Mark
    from benchmarks.peers.room import Room

TIMEOUT_S = 10
"""After how long silence each peer that can holds a process for dead: shardsched's default."""
WARM_UP_S = 4.0


@dataclass(frozen=True, slots=True)
class Steadiness:
    """How a second's jobs ran for a while."""

    due: int
    done: int
    doubled: int
    late_s: Sequence[float]
    memory_mib: dict[str, float]

    @property
    def text(self) -> str:
        """The figures, for people."""
        memory = ", ".join(f"{role} {value:g}" for role, value in self.memory_mib.items())
        return (
            f"{self.done} of {self.due} fires ran, {self.doubled} doubled; lateness {spread(self.late_s)}; "
            f"MiB: {memory}, together {sum(self.memory_mib.values()):.0f}"
        )

    def late_ms(self, share: float) -> float:
        """Return a percentile of lateness, in milliseconds."""
        ordered = sorted(self.late_s)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000 if ordered else float("nan")

    @property
    def is_sustained(self) -> bool:
        """Whether 99 in 100 fires ran, and as many within a second."""
        return self.done >= 0.99 * self.due and self.late_ms(0.99) < 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about a fault."""

    what: str
    value: str

    @classmethod
    def of_gaps(cls, what: str, gaps_s: Sequence[float]) -> Finding:
        """Return how long something stood still, each time."""
        return cls(what, ", ".join(f"{gap:.1f}" for gap in gaps_s) + " s")


UNDISTURBED = f"a task of 60 s, nobody killed: begun in its first {TIMEOUT_S + 5} s"
WORKER_KILLED = "worker killed, to its task's next first line"


class Peer(ABC):
    """One way to run jobs each second."""

    name: str

    def __init__(self, room: Room) -> None:
        self.room = room

    @abstractmethod
    def begin(self, jobs: int) -> None:
        """Start it with so many jobs, each due every second."""

    @abstractmethod
    def faults(self, times: int) -> Iterator[Finding]:
        """Kill what others can take over, so many times."""

    def times_begun(self) -> Finding:
        """Have one long task run; it should begin once."""
        self.begin(0)
        try:
            self.wait_for_long(1)
            pause(TIMEOUT_S + 5)
            return Finding(UNDISTURBED, f"{len(self.marks())} times")
        finally:
            self.end()

    def wait_for_long(self, count: int) -> None:
        """Wait until the long task has begun so often."""
        until(lambda: len(self.marks()) >= count, f"the long task to begin, {count} times in all", 180)

    def end(self) -> None:
        """End it."""
        self.room.clear()

    def marks(self) -> list[Mark]:
        """Return what ran so far."""
        return self.room.marks()

    def memory_mib(self) -> dict[str, float]:
        """Return memory by role."""
        return self.room.memory_mib()

    def steadiness(self, jobs: int, seconds: int) -> Steadiness:
        """Run so many jobs each second for a while."""
        self.begin(jobs)
        try:
            self.wait_for_fires(jobs)
            pause(WARM_UP_S)
            first = max((mark.fire for mark in self.marks()), default=0.0) + 2
            pause(seconds + 3.5)
            memory = self.memory_mib()
            found = [mark for mark in self.marks() if first <= mark.fire < first + seconds]
        finally:
            self.end()
        fires = {(mark.job, mark.fire) for mark in found}
        late = [mark.moment - mark.fire for mark in found]
        return Steadiness(jobs * seconds, len(fires), len(found) - len(fires), late, memory)

    def wait_for_fires(self, jobs: int) -> None:
        """Wait until it fires; what follows shows how well, also if not all do."""
        for _ in range(600):
            if len({mark.job for mark in self.marks()}) >= min(jobs, 10):
                return
            pause(0.1)
