"""A fleet that a test plays in the registry of a site: executors join, claim and leave as real ones would."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.admin import Admin
from shardsched.registry.base import Delete
from shardsched.testing import MemoryRegistry
from tests.admin.stage import Stage

if TYPE_CHECKING:
    from shardsched.core.fire import ItemState
    from shardsched.registry.base import Registry
    from tests.console.site import Site

HOSTILE_NAMES = ("<img src=x onerror=alert(1)>", "\u202egpj.exe", "x" * 300, "..%2f..", "a\"'`${b}")
"""Of jobs that somebody made by hand."""


class Troupe(Stage):
    """The stage of the admin's tests, in the registry of a console."""

    def __init__(self, site: Site) -> None:
        self._made: list[Registry] = []

        def make() -> Registry:
            registry = MemoryRegistry(site.store)
            registry.open()
            self._made.append(registry)
            return registry

        super().__init__(make)
        self.paths = site.paths
        self.clock = site.clock
        self.admin = Admin(self.registry, self.paths, self.clock)

    def assemble(self) -> None:
        """Have two executors join, of which the first leads."""
        self.join("crawler-a")
        self.join("crawler-b")
        self.lead("crawler-a")

    def end(self, job: str, item: int, executor: str, state: ItemState, message: str = "") -> None:
        """Have a run end."""
        self.change_cursor(job, item, state=state, ended_at=self.clock.now(), message=message)
        self.actors[executor].registry.transact([Delete(self.paths.marker(job, item))])

    def close(self) -> None:
        """End all its clients."""
        for registry in self._made:
            registry.close()
