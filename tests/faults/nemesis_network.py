"""Faults of the links between executors and ZooKeeper."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tests.faults.fault import Fault, briefly, longer, struck
from tests.faults.site import NAMES
from tests.faults.strike import Kind, Strike
from tests.tcp_proxy import Mode

if TYPE_CHECKING:
    import random

    from tests.faults.site import Site

REPLY_DELAY_S = 0.5
"""How much later each answer comes from a slow ZooKeeper."""


def _cut(fault: str, mode: Mode, count: int, site: Site, rng: random.Random) -> Strike:
    victims = rng.sample(NAMES, count)
    site.set_unable(victims)
    site.set_mode(victims, mode)
    return struck(fault, Kind.SILENT, victims)


def _mend(site: Site, strike: Strike) -> None:
    site.set_mode(strike.victims, Mode.PASS)
    site.set_able(strike.victims)


def _slow(fault: str, site: Site, _rng: random.Random) -> Strike:
    # Requests and answers pass the proxy, each half as late.
    site.set_delay(NAMES, REPLY_DELAY_S / 2)
    return struck(fault, Kind.TROUBLED, NAMES)


def _hurry(site: Site, strike: Strike) -> None:
    site.set_delay(strike.victims, 0.0)


def _cut_fault(name: str, mode: Mode, count: int = 1) -> Fault:
    return Fault(
        name=name,
        promise="items dead before anyone else starts them, nothing new starts; it rejoins by itself",
        begin=partial(_cut, name, mode, count),
        heal=_mend,
        hold_s=longer,
    )


NETWORK_FAULTS = (
    _cut_fault("link-stalled", Mode.STALL),
    _cut_fault("link-refused", Mode.REFUSE),
    _cut_fault("link-requests-only", Mode.REQUESTS_ONLY),
    _cut_fault("link-replies-only", Mode.REPLIES_ONLY),
    _cut_fault("two-of-three-links-stalled", Mode.STALL, 2),
    _cut_fault("two-of-three-links-refused", Mode.REFUSE, 2),
    Fault(
        name="link-refused-briefly",
        promise="running items go on",
        begin=partial(_cut, "link-refused-briefly", Mode.REFUSE, 1),
        heal=_mend,
        hold_s=briefly,
    ),
    Fault(
        name="zookeeper-slow",
        promise="fires go on, later by the delay",
        begin=partial(_slow, "zookeeper-slow"),
        heal=_hurry,
        hold_s=longer,
    ),
)
"""What may happen to links."""
