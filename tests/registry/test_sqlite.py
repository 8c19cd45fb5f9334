"""The registry in an SQLite file: the contract, and what the contract does not say about it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from shardsched.registry.url import open_registry
from tests.registry.contract import Registries, RegistryContract

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from shardsched.registry.base import Registry


class SqliteRegistries(Registries):
    """Clients of one file."""

    can_disconnect = False

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def build(self, session_timeout_s: float) -> Registry:
        """Return a client."""
        return open_registry(f"sqlite:///{self.path}", session_timeout_s=session_timeout_s)

    def expire(self, registry: Registry) -> None:
        """Put the session's expiry back, as if it had not been extended."""
        with closing(sqlite3.connect(self.path, timeout=20)) as connection, connection:
            connection.execute("UPDATE shardsched_sessions SET expires_us = 0 WHERE id = ?", (registry.session_id,))


class TestSqliteRegistry(RegistryContract):
    """Keeps every promise; there is no link that could be cut."""

    @pytest.fixture
    def registries(self, tmp_path: Path) -> Iterator[Registries]:
        """Clients of a file that does not exist yet."""
        bench = SqliteRegistries(tmp_path / "fleet.db")
        yield bench
        bench.close()
