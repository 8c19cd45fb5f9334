"""Faults without end on a fleet of its own: ``python -m tests.faults.soak --hours 1 --seed 7``."""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults import report
from tests.faults.archive import WANTED, Archive, archive_server
from tests.faults.campaign import Campaign
from tests.faults.site import Site, boot_s
from tests.zookeeper_server import Ensemble

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.registry.postgres_server import PostgresServer

T_S = float(os.environ.get("FAULTS_T", "4"))
"""Session time-out of the executors, in seconds."""


@contextlib.contextmanager
def site_on(
    ensemble: Ensemble,
    folder: Path,
    server: PostgresServer | None,
    *,
    t_s: float = T_S,
    chroot: str = "/faults",
) -> Iterator[Site]:
    """Give a site with its history in a server or, without one, in a file; end it afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    site = Site(ensemble, chroot, folder, t_s, Archive(folder / "history.db", server))
    try:
        yield site
    finally:
        site.close()


@contextlib.contextmanager
def ensemble_in(folder: Path) -> Iterator[Ensemble]:
    """Give three running servers, and end them afterwards."""
    ensemble = Ensemble(folder)
    try:
        ensemble.start()
        yield ensemble
    finally:
        ensemble.close()


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def soak(
    folder: Path,
    *,
    seed: int,
    hours: float,
    count: int | None,
    names: Sequence[str],
    stop_at_once: bool,
    history: str = WANTED,
) -> int:
    """Make faults for some hours, or so many; return how many violations were found."""
    with (
        ensemble_in(folder / "zookeeper") as ensemble,
        archive_server(history) as server,
        site_on(ensemble, folder / "fleet", server) as site,
    ):
        campaign = Campaign(site, random.Random(seed))  # noqa: S311 - a seed is to give the same faults again
        try:
            campaign.open()
            _go_through(campaign, hours=hours, count=count, names=names, stop_at_once=stop_at_once)
        finally:
            campaign.stop_looking()
            made = report.write(campaign, seed, folder)
    for line in (*report.lines(made), *made["violations"]):
        _say(line)
    _say(f"seed {seed}; story, picture, record and logs in {folder}")
    return len(campaign.found)


def _go_through(
    campaign: Campaign, *, hours: float, count: int | None, names: Sequence[str], stop_at_once: bool
) -> None:
    until = boot_s() + hours * 3600
    deck = campaign.deck(names)
    while boot_s() < until and (count is None or len(campaign.strikes) < count):
        told = len(campaign.story)
        is_fine = campaign.endure(next(deck))
        for line in campaign.story[told:]:
            _say(line)
        if stop_at_once and not is_fine:
            break
    campaign.close()


def main() -> None:
    """Read the command line, soak, and end with exit code 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0, help="how long")
    parser.add_argument("--faults", type=int, help="end after so many faults")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000), help="which faults")
    parser.add_argument("--only", action="append", default=[], metavar="FAULT", help="only these faults")
    parser.add_argument("--keep-going", action="store_true", help="go on after a violation")
    parser.add_argument("--history", choices=("postgres", "sqlite"), default=WANTED, help="where the history is kept")
    parser.add_argument("--folder", type=Path, help="where everything is written")
    told = parser.parse_args()
    folder = told.folder or Path(tempfile.mkdtemp(prefix="shardsched-faults-"))
    folder.mkdir(parents=True, exist_ok=True)
    # So that servers, executors and mounts are ended too when somebody loses patience.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    found = soak(
        folder,
        seed=told.seed,
        hours=told.hours,
        count=told.faults,
        names=told.only,
        stop_at_once=not told.keep_going,
        history=told.history,
    )
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
