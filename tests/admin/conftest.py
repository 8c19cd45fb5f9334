"""The stage, on every kind of registry that needs no preparation, and on ZooKeeper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shardsched.clock import SYSTEM_CLOCK
from shardsched.registry.url import open_registry
from shardsched.testing import MemoryRegistry, MemoryStore
from tests.admin.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from shardsched.registry.base import Registry


@pytest.fixture(params=["memory", "sqlite", pytest.param("zookeeper", marks=pytest.mark.zookeeper)])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """A namespace that nobody has used."""
    if request.param == "zookeeper":
        yield Stage(request.getfixturevalue("make_zk"))
        return
    store = MemoryStore(SYSTEM_CLOCK)
    url = f"sqlite:///{tmp_path / 'fleet.db'}"
    make: Callable[[], Registry] = (
        (lambda: MemoryRegistry(store)) if request.param == "memory" else lambda: open_registry(url)
    )
    made: list[Registry] = []

    def make_open() -> Registry:
        registry = make()
        made.append(registry)
        registry.open()
        return registry

    yield Stage(make_open)
    for registry in made:
        registry.close()
