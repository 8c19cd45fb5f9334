"""Taking the history database of a console of the tests away, and giving it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.console.troupe import Troupe
from tests.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from tests.console.site import Site


def fleet_of(site: Site) -> Troupe:
    """Return a fleet with a job, of a site."""
    made = Troupe(site)
    made.join("crawler-a")
    made.job("news", {"crawler-a": (0, 1)}, items=2, cron="*/20 * * * * ?")
    return made


def take_away(site: Site) -> Path:
    """Move the database elsewhere; return where."""
    aside = site.database.with_name("aside.db")
    for end in ("", "-wal", "-shm"):
        part = site.database.with_name(site.database.name + end)
        if part.exists():
            part.rename(aside.with_name(aside.name + end))
    return aside


def put_back(site: Site, aside: Path) -> None:
    """Have it again, and wait until the console has found out."""
    for end in ("-wal", "-shm", ""):
        part = aside.with_name(aside.name + end)
        if part.exists():
            part.rename(site.database.with_name(site.database.name + end))
    eventually(lambda: site.parts.store.fault() is None)
