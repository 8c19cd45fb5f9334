"""What a fault is: begun, held for a while, healed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.faults.site import NAMES, boot_s
from tests.faults.strike import Strike

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable

    from tests.faults.site import Site
    from tests.faults.strike import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way in which a fleet can be troubled.

    Attributes:
        name: What it is called in stories and tables.
        promise: What was promised under it.
        begin: Makes it, and says whom it concerns.
        heal: Ends it.
        hold_s: How long it lasts, by the session time-out.
        missing: Says what it lacks here; empty if it can be made.
    """

    name: str
    promise: str
    begin: Callable[[Site, random.Random], Strike]
    heal: Callable[[Site, Strike], None]
    hold_s: Callable[[float], float]
    missing: Callable[[Site], str] = lambda _: ""


def struck(fault: str, kind: Kind, victims: Iterable[str]) -> Strike:
    """Return a strike that is in force from now on."""
    return Strike(fault=fault, kind=kind, victims=tuple(victims), begun_at=boot_s())


def longer(t_s: float) -> float:
    """Longer than a session lasts, by more than the others may take to have everything moved."""
    return t_s + 5.0


def briefly(_t_s: float) -> float:
    """Shorter than the lease, and than its soft end."""
    return 1.0


def anyone(_site: Site, rng: random.Random) -> str:
    """Return some executor."""
    return rng.choice(NAMES)


def the_leader(site: Site, _rng: random.Random) -> str:
    """Return the executor that leads."""
    return site.leader()
