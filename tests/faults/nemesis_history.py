"""Faults of the history database, upon which neither firing nor running depends."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tests.faults.fault import Fault, anyone, longer, struck
from tests.faults.site import NAMES
from tests.faults.strike import Kind, Strike

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from tests.faults.site import Site


def _no_server(site: Site) -> str:
    return "" if site.archive.is_postgres else "the history is in a file, and has no server"


def _no_file(site: Site) -> str:
    return "the history is in a server, and has no file" if site.archive.is_postgres else ""


def _no_server_or_disks(site: Site) -> str:
    return _no_server(site) or ("" if site.has_disks else "small disks can be mounted by root only")


def _stop(fault: str, site: Site, _rng: random.Random) -> Strike:
    site.archive.stop()
    return struck(fault, Kind.BESIDE, NAMES)


def _start(site: Site, _strike: Strike) -> None:
    site.archive.start()


def _restart(fault: str, site: Site, _rng: random.Random) -> Strike:
    strike = struck(fault, Kind.BESIDE, NAMES)
    site.archive.stop()
    site.archive.start()
    return strike


def _end_backends(fault: str, site: Site, _rng: random.Random) -> Strike:
    site.archive.end_backends()
    return struck(fault, Kind.BESIDE, NAMES)


def _stop_and_fill(fault: str, site: Site, rng: random.Random) -> Strike:
    name = anyone(site, rng)
    site.fill_disk(name)
    site.archive.stop()
    return struck(fault, Kind.BESIDE, [name])


def _start_and_free(site: Site, strike: Strike) -> None:
    try:
        site.archive.start()
    finally:
        for name in strike.victims:
            site.free_disk(name)


def _lock(fault: str, site: Site, _rng: random.Random) -> Strike:
    site.archive.lock()
    return struck(fault, Kind.BESIDE, NAMES)


def _unlock(site: Site, _strike: Strike) -> None:
    site.archive.unlock()


def _nothing(_site: Site, _strike: Strike) -> None:
    """Whatever it was heals by itself."""


def _fault(
    name: str,
    begin: Callable[[str, Site, random.Random], Strike],
    heal: Callable[[Site, Strike], None],
    promise: str,
    missing: Callable[[Site], str] = _no_server,
    hold_s: Callable[[float], float] = longer,
) -> Fault:
    return Fault(name=name, promise=promise, begin=partial(begin, name), heal=heal, hold_s=hold_s, missing=missing)


_COMPLETE = "jobs go on; no row is missing in the end, none is out of order"

HISTORY_FAULTS = (
    _fault("history-away", _stop, _start, f"{_COMPLETE}; one warning"),
    _fault("history-restarted", _restart, _nothing, _COMPLETE, hold_s=lambda _: 3.0),
    _fault("history-backend-terminated", _end_backends, _nothing, _COMPLETE, hold_s=lambda _: 3.0),
    _fault(
        "history-away-and-spool-full",
        _stop_and_fill,
        _start_and_free,
        "jobs go on; what cannot be kept is given up and counted, with one warning",
        _no_server_or_disks,
    ),
    _fault("history-locked", _lock, _unlock, _COMPLETE, _no_file),
)
"""What may happen to the history database."""
