"""The registry in PostgreSQL: the contract, and what the contract does not say about it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from shardsched.registry.url import open_registry
from tests.registry.contract import Registries, RegistryContract
from tests.tcp_proxy import Mode, TcpProxy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shardsched.registry.base import Registry
    from tests.registry.postgres_server import PostgresServer

pytestmark = pytest.mark.postgres


MAX_CLIENTS = 6
"""As many as any test of the contract makes."""


class PostgresRegistries(Registries):
    """Clients of one schema, each by a proxy of its own."""

    def __init__(self, server: PostgresServer) -> None:
        super().__init__()
        self.server = server
        self.schema = server.new_schema()
        # Made before any client, so that their threads are not taken for a client's.
        self._free = [TcpProxy("127.0.0.1", server.port) for _ in range(MAX_CLIENTS)]
        self._proxies: dict[Registry, TcpProxy] = {}

    def build(self, session_timeout_s: float) -> Registry:
        """Return a client."""
        proxy = self._free.pop()
        registry = open_registry(self.server.url(self.schema, proxy.address), session_timeout_s=session_timeout_s)
        self._proxies[registry] = proxy
        return registry

    def expire(self, registry: Registry) -> None:
        """Put the session's expiry back, as if it had not been extended."""
        with self.server.connect(self.schema) as connection:
            connection.execute("UPDATE shardsched_sessions SET expires_us = 0 WHERE id = %s", (registry.session_id,))

    def disconnect(self, registry: Registry) -> None:
        """Close the client's connections and take no others."""
        self._proxies[registry].set_mode(Mode.REFUSE)

    def reconnect(self, registry: Registry) -> None:
        """Take connections again."""
        self._proxies[registry].set_mode(Mode.PASS)

    def threads(self) -> set[threading.Thread]:
        """Leave out those of the proxies, which have some for each connection."""
        return {thread for thread in super().threads() if thread.name.startswith("shardsched")}

    def close(self) -> None:
        """Close clients and proxies."""
        super().close()
        for proxy in (*self._proxies.values(), *self._free):
            proxy.close()


class TestPostgresRegistry(RegistryContract):
    """Keeps every promise."""

    @pytest.fixture
    def registries(self, postgres: PostgresServer) -> Iterator[Registries]:
        """Clients of an empty schema."""
        bench = PostgresRegistries(postgres)
        yield bench
        bench.close()
