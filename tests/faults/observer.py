"""Looks at a fleet from outside, twice a second, as long as a campaign lasts."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from shardsched.errors import ShardschedError
from tests.faults.site import boot_s
from tests.faults.verdict import Orphans, Sample
from tests.faults.workload import JOBS

if TYPE_CHECKING:
    from tests.faults.site import Site

_SAMPLE_S = 0.5


class Observer:
    """Judges who owns the items, and notes who leads.

    Attributes:
        led: Who was seen to lead, and when.
    """

    def __init__(self, site: Site) -> None:
        self.led: list[tuple[float, str | None]] = []
        self._site = site
        self._orphans = Orphans(site.t_s + 3.0)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._look, name="observer", daemon=True)

    @property
    def faults(self) -> list[str]:
        """What was found wrong with the owners so far."""
        return list(self._orphans.faults)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join(10)

    def _look(self) -> None:
        while not self._ending.wait(_SAMPLE_S):
            # Asked before the fleet is, or an executor that died meanwhile would be blamed at once.
            able, changed_at = self._site.able(), self._site.changed_at
            sample = self._sample(able)
            self._orphans.see(sample, changed_at)
            self.led.append((sample.at, sample.leader))

    def _sample(self, able: frozenset[str]) -> Sample:
        at = boot_s()
        try:
            status = self._site.fleet.status()
        except ShardschedError:
            return Sample(at=at, owners=None, able=able)
        owners: dict[tuple[str, int], tuple[str, ...]] = {
            (job["name"], item): () for job in status["jobs"] if job["name"] in JOBS for item in range(job["items"])
        }
        for job in status["jobs"]:
            for name, items in job["owners"].items():
                for item in items:
                    if (job["name"], item) in owners:
                        owners[job["name"], item] += (name,)
        return Sample(at=at, owners=owners, able=able, leader=status["leader"])
