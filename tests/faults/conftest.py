"""Fixtures of the tests that make faults: one ensemble for the session, a fleet and its surroundings for each test."""

from __future__ import annotations

import random
import uuid
from typing import TYPE_CHECKING

import pytest

from tests.conftest import missing
from tests.faults import report
from tests.faults.archive import archive_server
from tests.faults.campaign import Campaign
from tests.faults.soak import ensemble_in, site_on
from tests.zookeeper_server import ZooKeeperMissingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.registry.postgres_server import PostgresServer
    from tests.zookeeper_server import Ensemble


@pytest.fixture(scope="session")
def ensemble(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ensemble]:
    """Three servers; every test leaves them running and well."""
    try:
        with ensemble_in(tmp_path_factory.mktemp("ensemble")) as servers:
            yield servers
    except ZooKeeperMissingError as error:
        missing(str(error))


@pytest.fixture(scope="session")
def history_server() -> Iterator[PostgresServer | None]:
    """A PostgreSQL server for histories, if there is one; every test leaves it running."""
    with archive_server() as server:
        yield server


@pytest.fixture
def is_in_file() -> bool:
    """Whether the history is in a file although there is a server; tests say so with a parameter."""
    return False


@pytest.fixture
def campaign(
    ensemble: Ensemble, history_server: PostgresServer | None, is_in_file: bool, tmp_path: Path
) -> Iterator[Callable[[int], Campaign]]:
    """Opens a campaign under a seed; its story and picture are written at the end, whatever came of it."""
    server = None if is_in_file else history_server
    with site_on(ensemble, tmp_path / "fleet", server, chroot=f"/faults-{uuid.uuid4().hex[:12]}") as site:
        opened: list[tuple[Campaign, int]] = []

        def open_campaign(seed: int) -> Campaign:
            made = Campaign(site, random.Random(seed))  # noqa: S311 - a seed is to give the same faults again
            opened.append((made, seed))
            made.open()
            return made

        yield open_campaign
        for made, seed in opened:
            made.stop_looking()
            report.write(made, seed, tmp_path)
