"""The contract of registries, on a real ZooKeeper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shardsched.registry.zookeeper import ZooKeeperRegistry
from tests.registry.contract import Registries, RegistryContract
from tests.tcp_proxy import Mode, TcpProxy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shardsched.registry.base import Registry
    from tests.zookeeper_server import Server


MAX_CLIENTS = 16
"""As many as any test makes."""


class ZooKeeperRegistries(Registries):
    """Clients of one chroot, each behind a proxy of its own."""

    def __init__(self, server: Server, chroot: str) -> None:
        super().__init__()
        self._server = server
        self._chroot = chroot
        # Made before any client, so that their threads are not taken for a client's.
        self._free = [TcpProxy.to(server.hosts) for _ in range(MAX_CLIENTS)]
        self._proxies: dict[int, TcpProxy] = {}
        self._ender = ZooKeeperRegistry(server.hosts, chroot=chroot, tick_s=server.tick_s)

    def build(self, session_timeout_s: float) -> Registry:
        """Return a client with a proxy."""
        proxy = self._free.pop()
        registry = ZooKeeperRegistry(
            proxy.address, chroot=self._chroot, session_timeout_s=session_timeout_s, tick_s=self._server.tick_s
        )
        self._proxies[id(registry)] = proxy
        return registry

    def expire(self, registry: Registry) -> None:
        """End the session by its ticket, as the server does with a silent one."""
        self._ender.end_session(registry.session_ticket)

    def disconnect(self, registry: Registry) -> None:
        """Cut the link."""
        self._proxies[id(registry)].set_mode(Mode.REFUSE)

    def reconnect(self, registry: Registry) -> None:
        """Heal the link."""
        self._proxies[id(registry)].set_mode(Mode.PASS)

    def close(self) -> None:
        """Close all clients and proxies."""
        super().close()
        for proxy in (*self._proxies.values(), *self._free):
            proxy.close()


@pytest.mark.zookeeper
class TestZooKeeperRegistry(RegistryContract):
    """Keeps every promise."""

    @pytest.fixture
    def registries(self, zookeeper: Server, zk_chroot: str) -> Iterator[Registries]:
        """Clients of an empty chroot."""
        bench = ZooKeeperRegistries(zookeeper, zk_chroot)
        yield bench
        bench.close()
