"""The stage, on a registry in memory and on an SQLite file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shardsched.clock import SYSTEM_CLOCK
from shardsched.registry.url import open_registry
from shardsched.testing import MemoryRegistry, MemoryStore
from tests.admin.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from shardsched.registry.base import Registry


@pytest.fixture(params=["memory", "sqlite"])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """A namespace that nobody has used."""
    store = MemoryStore(SYSTEM_CLOCK)
    made: list[Registry] = []

    def make() -> Registry:
        if request.param == "memory":
            registry: Registry = MemoryRegistry(store)
        else:
            registry = open_registry(f"sqlite:///{tmp_path / 'fleet.db'}")
        registry.open()
        made.append(registry)
        return registry

    yield Stage(make)
    for registry in made:
        registry.close()
