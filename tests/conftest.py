"""Fixtures that more than one folder of tests uses."""

from __future__ import annotations

import os
import signal
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.registry.zookeeper import ZooKeeperRegistry
from tests.registry.postgres_server import PostgresMissingError, PostgresServer
from tests.tcp_proxy import TcpProxy
from tests.zookeeper_server import ServerProcess, ZooKeeperMissingError
from tests.zookeeper_source import running_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.zookeeper_server import Server


def pytest_configure() -> None:
    """Hear all signals, and so the processes that tests start: a script that starts us with ``&`` has us ignore some."""
    for signum, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL)):
        if signal.getsignal(signum) is signal.SIG_IGN:
            signal.signal(signum, handler)


def missing(what: str) -> None:
    """Skip the test, or fail it where CI promised that everything is there."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One ZooKeeper for the whole session; tests use it through `zk_chroot` and never stop it."""
    try:
        with running_server(tmp_path_factory.mktemp("zookeeper")) as server:
            yield server
    except ZooKeeperMissingError as error:
        missing(str(error))


@pytest.fixture
def own_zookeeper(tmp_path: Path) -> Iterator[ServerProcess]:
    """A ZooKeeper of the test's own, to be killed, frozen or wiped."""
    try:
        server = ServerProcess(tmp_path / "zookeeper")
    except ZooKeeperMissingError as error:
        missing(str(error))
        return
    server.start()
    yield server
    server.close()


@pytest.fixture
def zk_chroot() -> str:
    """A chroot that no other test uses; opening a registry makes it."""
    return f"/test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def zk_url(zookeeper: Server, zk_chroot: str) -> str:
    """The URL of an empty ZooKeeper registry."""
    return f"zk://{zookeeper.hosts}{zk_chroot}"


@pytest.fixture
def zk_proxy(zookeeper: Server) -> Iterator[TcpProxy]:
    """A proxy to the session's ZooKeeper, to cut links with."""
    with TcpProxy.to(zookeeper.hosts) as proxy:
        yield proxy


@pytest.fixture
def make_zk(zookeeper: Server, zk_chroot: str) -> Iterator[Callable[..., ZooKeeperRegistry]]:
    """Makes open registries on the session's ZooKeeper (or other hosts), and closes them at the end."""
    made: list[ZooKeeperRegistry] = []

    def make(hosts: str = "", **options: Any) -> ZooKeeperRegistry:
        settings = {"chroot": zk_chroot, "session_timeout_s": 4.0, "tick_s": zookeeper.tick_s, **options}
        registry = ZooKeeperRegistry(hosts or zookeeper.hosts, **settings)
        made.append(registry)
        registry.open()
        return registry

    yield make
    for registry in made:
        registry.close()


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
