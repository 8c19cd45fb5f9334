"""One fault that was made, and whom it concerned (pure)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a fault does to its victims."""

    KILLED = "killed"
    """Their processes, or all of their items, are dead from the moment it begins."""
    SILENT = "silent"
    """No request of theirs is answered while it lasts: nothing may start, and items are dead T after it began."""
    TROUBLED = "troubled"
    """Something is amiss, and items may be run again."""
    ASKED = "asked"
    """People or the system asked for it: running items end, or go on elsewhere."""
    BESIDE = "beside"
    """Neither firing nor running depends on what it troubles: it excuses nothing of them."""


@dataclass(slots=True, kw_only=True)
class Strike:
    """One fault as it was made; times are of the boot clock, in seconds."""

    fault: str
    """Its name."""
    victims: tuple[str, ...]
    """The executors concerned."""
    kind: Kind
    """What it does to them."""
    begun_at: float = 0.0
    """When all of it was in force."""
    prepared_at: float = math.inf
    """When something was first done for it, if that was before."""
    healing_at: float = math.inf
    """When healing began: up to then it was in force."""
    healed_at: float = math.inf
    """When healing was done."""
    settled_at: float = math.inf
    """When everything worked as before."""
    is_alone: bool = True
    """Whether no other fault was in force meanwhile."""

    @property
    def touched_at(self) -> float:
        """When something was first done to its victims."""
        return min(self.prepared_at, self.begun_at)

    @property
    def is_settled(self) -> bool:
        """Whether the fleet came back to health."""
        return math.isfinite(self.settled_at)


def percentile(values: list[float], share: float) -> float:
    """Return the value below or at which that share of the values lies; not a number for none."""
    if not values:
        return math.nan
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
