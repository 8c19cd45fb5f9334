"""Fixtures: the console's records, on SQLite and on PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shardsched.people import People
from shardsched.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def clock() -> FakeClock:
    """A clock that stands still."""
    return FakeClock()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'history.db'}"
    server = request.getfixturevalue("postgres")
    return str(server.url(server.new_schema()))


@pytest.fixture
def people(url: str, clock: FakeClock) -> Iterator[People]:
    """The records of one fleet's console."""
    made = People(url, "fleet", clock)
    yield made
    made.close()
