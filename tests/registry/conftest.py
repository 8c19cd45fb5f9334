"""Fixtures of the registries' tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import missing
from tests.registry.postgres_server import PostgresMissingError, PostgresServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One PostgreSQL for the whole session; each test takes a schema of its own, and none stops it."""
    yield from _running()


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL of the test's own, to be stopped and killed."""
    yield from _running()


def _running() -> Iterator[PostgresServer]:
    try:
        server = PostgresServer()
    except PostgresMissingError as error:
        missing(str(error))
        return
    try:
        server.start()
        yield server
    finally:
        server.close()
