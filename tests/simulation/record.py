"""What the launchers of a simulated fleet saw: the starts and ends of runs, independent of what the product says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shardsched.core.fire import TRIGGERED

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from shardsched.coordination.ledger import Claimed
    from shardsched.core.fire import Cause, ItemState
    from tests.simulation.call_body import CallRecord

Key = tuple[str, int, str]
"""Uid of the job, item, and which fire of it: a scheduled time or the number of a trigger."""


def fire_key(uid: str, item: int, *, first_cause: Cause, run_fire: datetime | None, trigger: int) -> Key:
    """Return which fire of which item a run is for."""
    name = f"trigger {trigger}" if first_cause in TRIGGERED else f"fire {run_fire}"
    return uid, item, name


def claim_key(claimed: Claimed) -> Key:
    """Return which fire of which item a claim is for."""
    cursor = claimed.cursor
    return fire_key(
        cursor.uid, claimed.item, first_cause=cursor.cause, run_fire=cursor.run_fire, trigger=cursor.trigger
    )


@dataclass(slots=True)
class RunRecord:
    """One run, as its launcher saw it."""

    claimed: Claimed
    key: Key
    started_at: float
    ended_at: float | None = None
    state: ItemState | None = None

    def __str__(self) -> str:
        """Say it in one line."""
        claimed = self.claimed
        end = "runs" if self.ended_at is None else f"{self.ended_at:.2f}"
        return (
            f"{claimed.job}[{claimed.item}] {self.key[2]} attempt {claimed.run.attempt} {claimed.run.cause} "
            f"of {claimed.run.items} token {claimed.cursor.token} on {claimed.marker.executor}: "
            f"{self.started_at:.2f} to {end} {self.state}"
        )


@dataclass(slots=True)
class Record:
    """All runs of a simulation."""

    boot: Callable[[], float]
    """The true boot clock."""
    on_start: Callable[[RunRecord], None]
    """Judges each start."""
    on_end: Callable[[RunRecord], None]
    """Is told of each end."""
    calls: CallRecord
    """The calls of fire listeners."""
    runs: list[RunRecord] = field(default_factory=list)
    active: dict[tuple[str, int], RunRecord] = field(default_factory=dict)

    def start(self, claimed: Claimed) -> RunRecord:
        """Note a start."""
        run = RunRecord(claimed, claim_key(claimed), self.boot())
        self.on_start(run)
        self.runs.append(run)
        self.active[claimed.job, claimed.item] = run
        return run

    def end(self, run: RunRecord, state: ItemState | None) -> None:
        """Note an end."""
        run.ended_at, run.state = self.boot(), state
        place = run.claimed.job, run.claimed.item
        if self.active.get(place) is run:
            del self.active[place]
        self.on_end(run)
