"""A random mix of faults under a seed: the same seed gives the same faults in the same order."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.campaign import Campaign

pytestmark = [pytest.mark.fleet]

FAULT_COUNT = int(os.environ.get("FAULTS", "12"))
"""How many faults; the environment may ask for more."""
SEED = int(os.environ.get("FAULTS_SEED") or random.SystemRandom().randrange(1_000_000))


@pytest.mark.timeout(300 + 60 * FAULT_COUNT)
def test_fleet_hit_by_a_mix_of_faults_keeps_its_promises(campaign: Callable[[int], Campaign]) -> None:
    """No invariant is broken, nothing is lost silently, and the fleet is well again after each."""
    some = campaign(SEED)
    deck = some.deck()
    while len(some.strikes) < FAULT_COUNT and not some.found:
        some.endure(next(deck))
    some.close()
    head = f"FAULTS_SEED={SEED} repeats it; logs, record and story: {some.site.folder}"
    assert not some.found, "\n".join((head, *some.found, *some.story))
    assert all(strike.is_settled for strike in some.strikes)
