"""A fleet that a test plays, behind a console of the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.admin import Admin
from shardsched.core.attention import COLD_S
from shardsched.testing import MemoryRegistry
from tests.admin.stage import Stage
from tests.waiting import eventually

if TYPE_CHECKING:
    from tests.console.site import Site


class Crew(Stage):
    """The fleet of a site. What is changed by it is changed outside the console."""

    def __init__(self, site: Site) -> None:
        def make_registry() -> MemoryRegistry:
            registry = MemoryRegistry(site.store)
            registry.open()
            return registry

        super().__init__(make_registry)
        self.paths, self.clock = site.paths, site.clock
        self.admin = Admin(self.registry, self.paths, self.clock)
        self.site = site

    def assemble(self) -> None:
        """Have two executors join, and make two jobs with an item on each."""
        for name in ("crawler-a", "crawler-b"):
            self.join(name)
        for name in ("books", "news"):
            self.job(name, {"crawler-a": (0,), "crawler-b": (1,)}, items=2)

    def show(self) -> None:
        """Have the console look at what was changed, also where it would have no reason to."""
        self.site.parts.fleet.sight()
        self.clock.advance(COLD_S + 1)
        stored = {name: self.admin.jobs.entry(name).version for name in self.admin.jobs.names()}
        assert eventually(lambda: self._seen() == stored)

    def _seen(self) -> dict[str, int]:
        status = self.site.parts.fleet.sight(fresh=True).status
        return {} if status is None else {job.entry.name: job.entry.version for job in status.jobs}
