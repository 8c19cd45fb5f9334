"""Fixtures of the tests with real executor processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fleet.fleet_harness import Fleet, fleet_on

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def fleet(zk_url: str, tmp_path: Path) -> Iterator[Fleet]:
    """A fleet on the session's ZooKeeper, in a namespace of its own; its record is checked at the end."""
    with fleet_on(zk_url, tmp_path / "fleet") as some:
        yield some


@pytest.fixture
def sqlite_fleet(tmp_path: Path) -> Iterator[Fleet]:
    """A fleet on an SQLite file."""
    with fleet_on(f"sqlite:///{tmp_path / 'fleet.db'}", tmp_path / "fleet") as some:
        yield some
