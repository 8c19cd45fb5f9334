"""How long this executor may run items without hearing from the registry again."""

from __future__ import annotations

from typing import NamedTuple


class Lease(NamedTuple):
    """One promise of the registry, in seconds of the boot clock, so that a message read late is harmless."""

    epoch: str = ""
    """Which session gave it; items started under another one are void."""
    until: float = 0.0
    """Every item must be dead by then."""
    soft: float = 0.0
    """Items are asked to stop then, and nothing is started any more."""

    def refusal(self, epoch: str, now: float) -> str | None:
        """Return why an item may not be started now, None if it may."""
        if not self.epoch:
            return "there is no lease of the registry"
        if self.epoch != epoch:
            return "it was claimed under a session that is over"
        if now >= self.soft:
            return "the lease of the registry has run out"
        return None
