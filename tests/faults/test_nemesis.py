"""Each fault alone: a fleet at work is hit once, and everything promised must hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.nemesis import FAULTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.campaign import Campaign

pytestmark = [pytest.mark.fleet, pytest.mark.faults, pytest.mark.timeout(400)]


@pytest.mark.parametrize(("name", "is_in_file"), [(name, name == "history-locked") for name in FAULTS], ids=FAULTS)
@pytest.mark.usefixtures("is_in_file")
def test_fleet_hit_by_one_fault_keeps_its_promises(name: str, campaign: Callable[[int], Campaign]) -> None:
    """No invariant is broken, nothing is lost silently, and the fleet is well again by itself."""
    some = campaign(1)
    lacking = FAULTS[name].missing(some.site)
    if lacking:
        pytest.skip(lacking)
    some.endure(name)
    some.close()
    assert not some.found, "\n".join((*some.found, *some.story, f"logs: {some.site.folder}"))
    assert some.strikes[0].is_settled
