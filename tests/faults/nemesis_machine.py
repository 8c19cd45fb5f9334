"""Faults of an executor's machine (disk, clock), and what people do in the middle of it all."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.fault import Fault, anyone, longer, struck
from tests.faults.site import GRACE_S, NAMES, boot_s
from tests.faults.strike import Kind, Strike
from tests.fleet.fleet_harness import wait_until
from tests.tcp_proxy import Mode

if TYPE_CHECKING:
    import random

    from tests.faults.site import Site

FAKETIME = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)
"""Debian's ``faketime``, which shifts the wall clock of one process."""
_CLOCK_FILE = "clock"


def _no_disks(site: Site) -> str:
    return "" if site.has_disks else "small disks can be mounted by root only"


def _fill(fault: str, site: Site, rng: random.Random) -> Strike:
    name = anyone(site, rng)
    site.fill_disk(name)
    return struck(fault, Kind.TROUBLED, [name])


def _free(site: Site, strike: Strike) -> None:
    for name in strike.victims:
        site.free_disk(name)


def _fill_and_cut(fault: str, site: Site, rng: random.Random) -> Strike:
    name = anyone(site, rng)
    site.fill_disk(name)
    site.set_unable([name])
    site.set_mode([name], Mode.REFUSE)
    return struck(fault, Kind.SILENT, [name])


def _mend_then_free(site: Site, strike: Strike) -> None:
    """Mend the link, see the executor take part again although its disk is full, then free the disk."""
    (name,) = strike.victims
    site.set_mode([name], Mode.PASS)
    strike.healing_at = min(strike.healing_at, boot_s())
    site.set_able([name])
    try:
        wait_until(
            lambda: any(run.executor == name and run.start > strike.healing_at for run in site.fleet.runs("tick")),
            f"{name} to rejoin with a full disk",
            30.0,
        )
    finally:
        site.free_disk(name)


def _no_faketime(_site: Site) -> str:
    return "" if FAKETIME else "Debian's package faketime is not installed"


def _shift(fault: str, shift_s: float, site: Site, rng: random.Random) -> Strike:
    """Start an executor anew under a clock of its own, and step that once it is in the fleet."""
    name = anyone(site, rng)
    prepared_at = boot_s()
    clock = site.folder / f"{_CLOCK_FILE}-{name}"
    clock.write_text("+0\n")
    _restart(
        site,
        name,
        {
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        },
    )
    wait_until(lambda: site.fleet.owners("tick").get(name), f"{name} to be back under a clock of its own", 30.0)
    strike = struck(fault, Kind.TROUBLED, [name])
    strike.prepared_at = prepared_at
    # Replaced as a whole: the library reads it at any time.
    replacement = clock.with_suffix(".new")
    replacement.write_text(f"{shift_s:+g}\n")
    replacement.rename(clock)
    return strike


def _restart(site: Site, name: str, preload: dict[str, str] | None = None) -> None:
    site.ended.add(name)
    site.set_unable([name])
    code = site.executor(name).stop(GRACE_S + 15.0)
    assert code == 0, f"{name} ended with exit code {code} at SIGTERM"
    site.start(name, preload=preload)
    site.set_able([name])


def _right_clock(site: Site, strike: Strike) -> None:
    for name in strike.victims:
        _restart(site, name)


def _clock_fault(name: str, shift_s: float, promise: str) -> Fault:
    return Fault(
        name=name,
        promise=promise,
        begin=partial(_shift, name, shift_s),
        heal=_right_clock,
        hold_s=lambda _: 14.0,
        missing=_no_faketime,
    )


def _pause(fault: str, site: Site, _rng: random.Random) -> Strike:
    site.fleet.admin.jobs.pause("pausable")
    return struck(fault, Kind.ASKED, NAMES)


def _resume(site: Site, _strike: Strike) -> None:
    site.fleet.admin.jobs.resume("pausable")


def _drain(fault: str, is_now: bool, site: Site, rng: random.Random) -> Strike:
    name = anyone(site, rng)
    site.fleet.admin.executors.drain(name, now=is_now, by="faults")
    site.set_unable([name])
    return struck(fault, Kind.ASKED, [name])


def _undrain(site: Site, strike: Strike) -> None:
    for name in strike.victims:
        with contextlib.suppress(KeyError):
            site.fleet.admin.executors.undrain(name)
    site.set_able(strike.victims)


MACHINE_FAULTS = (
    Fault(
        name="disk-full",
        promise="jobs go on; output that cannot be written is dropped and counted",
        begin=partial(_fill, "disk-full"),
        heal=_free,
        hold_s=lambda _: 6.0,
        missing=_no_disks,
    ),
    Fault(
        name="disk-full-and-cut",
        promise="it rejoins by itself although its disk is full",
        begin=partial(_fill_and_cut, "disk-full-and-cut"),
        heal=_mend_then_free,
        hold_s=longer,
        missing=_no_disks,
    ),
    _clock_fault("clock-20s-ahead", 20.0, "fires are identified by their time: none is doubled, none is lost"),
    _clock_fault("clock-20s-behind", -20.0, "fires are identified by their time: none is doubled, none is lost"),
    _clock_fault("clock-2min-ahead", 120.0, "over the limit: it takes no items; none is doubled, none is lost"),
    _clock_fault("clock-2min-behind", -120.0, "over the limit: it takes no items; none is doubled, none is lost"),
    Fault(
        name="job-paused",
        promise="nothing of it starts until it is resumed; no back-filling",
        begin=partial(_pause, "job-paused"),
        heal=_resume,
        hold_s=lambda _: 6.0,
    ),
    Fault(
        name="executor-drained",
        promise="running items finish, nothing new starts on it",
        begin=partial(_drain, "executor-drained", False),
        heal=_undrain,
        hold_s=lambda _: 6.0,
    ),
    Fault(
        name="executor-drained-now",
        promise="running items are stopped and run elsewhere",
        begin=partial(_drain, "executor-drained-now", True),
        heal=_undrain,
        hold_s=lambda _: 6.0,
    ),
)
"""What may happen to machines, and what people do."""
