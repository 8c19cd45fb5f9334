"""How long runs took, counted in slots that grow by half an octave, so that any two counts can be added.

A percentile read from such counts is off by at most a slot's width, a factor of 1.41, and mostly by far less.
This module decides; it does not act.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SLOT_COUNT = 52
"""The first slot holds all under 4 ms, the last all over 32 hours."""
_FIRST_S = 0.004
_PER_OCTAVE = 2


def slot(duration_s: float) -> int:
    """Return the slot of a duration in seconds."""
    if not duration_s > _FIRST_S:
        return 0
    return min(1 + int(math.log2(duration_s / _FIRST_S) * _PER_OCTAVE), SLOT_COUNT - 1)


def percentile(counts: Sequence[int], share: float) -> float | None:
    """Return the duration in seconds which that share of the runs did not exceed; None if there are none.

    Args:
        counts: Runs in each slot.
        share: From 0 to 1, such as 0.95.
    """
    wanted = max(share * sum(counts), 1e-9)
    passed = 0
    for number, count in enumerate(counts):
        if count and passed + count >= wanted:
            low, high = _bounds(number)
            # Within a slot, runs are taken as spread evenly on the logarithmic scale.
            return float(low * (high / low) ** ((wanted - passed) / count))
        passed += count
    return None


def _bounds(number: int) -> tuple[float, float]:
    high: float = _FIRST_S * 2 ** (number / _PER_OCTAVE)
    return (high / 2 ** (1 / _PER_OCTAVE), high)
