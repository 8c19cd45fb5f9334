"""Databases to keep history in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shardsched.history.engine import Database
from shardsched.history.query import History
from shardsched.testing import FakeClock
from tests.history.stage import NAMESPACE, make_recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from shardsched.history.recorder import Recorder


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """A file that does not exist yet, in a folder that does not either."""
    return f"sqlite:///{tmp_path / 'history' / 'history.db'}"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("sqlite_url"))
    server = request.getfixturevalue("postgres")
    return str(server.url(server.new_schema()))


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """The way to it."""
    made = Database(url)
    yield made
    made.close()


@pytest.fixture
def clock() -> FakeClock:
    """A clock that stands at the beginning of all rows."""
    return FakeClock()


@pytest.fixture
def history(url: str, clock: FakeClock) -> Iterator[History]:
    """Its reading side."""
    made = History(url, namespace=NAMESPACE, clock=clock)
    yield made
    made.close()


@pytest.fixture
def start_recorder(tmp_path: Path) -> Iterator[Callable[..., Recorder]]:
    """Starts recorders, and closes them at the end."""
    made: list[Recorder] = []

    def start(url: str, spool_dir: Path | None = None, **options: object) -> Recorder:
        recorder = make_recorder(url, spool_dir or tmp_path / "spool", **options)
        made.append(recorder)
        recorder.start()
        return recorder

    yield start
    for recorder in made:
        recorder.close(10.0)
