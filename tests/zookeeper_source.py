"""Where tests take a ZooKeeper server from: the environment, a Docker engine, or a process of their own."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import TYPE_CHECKING, Any

from tests.zookeeper_server import Server, ServerProcess, ZooKeeperMissingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IMAGE = "zookeeper:3.8"


class ServerContainer(Server):
    """A server in a Docker container; its data lives as long as the container."""

    tick_s = 2.0

    def __init__(self, engine: Any) -> None:
        self._container = engine.containers.run(
            IMAGE,
            detach=True,
            ports={"2181/tcp": ("127.0.0.1", None)},
            environment={"ZOO_4LW_COMMANDS_WHITELIST": "mntr,ruok,srvr,wchs,wchc,dump", "ZOO_MAX_CLIENT_CNXNS": "0"},
        )
        try:
            self._find_port()
            self.wait_until_serving()
        except BaseException:
            self.close()
            raise

    def _find_port(self) -> None:
        self._container.reload()
        self.port = int(self._container.ports["2181/tcp"][0]["HostPort"])

    def kill(self) -> None:
        """End it as a crash does."""
        self._container.kill()
        self._container.wait()

    def start(self) -> None:
        """Start it with the data that it has, and return when it serves."""
        self._container.start()
        self._find_port()
        self.wait_until_serving()

    def pause(self) -> None:
        """Freeze it: connections stay, nothing answers."""
        self._container.pause()

    def resume(self) -> None:
        """Let it go on."""
        self._container.unpause()

    def close(self) -> None:
        """End it for good."""
        self._container.remove(force=True, v=True)


class OutsideServer(Server):
    """A server that someone else runs; it can be used but not ended."""

    tick_s = 2.0

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        if host not in {"127.0.0.1", "localhost"}:
            raise ValueError(f"SHARDSCHED_TEST_ZOOKEEPER is {address}; tests use the loopback only")
        self.port = int(port)

    def kill(self) -> None:
        """Refuse."""
        raise ZooKeeperMissingError("the server of SHARDSCHED_TEST_ZOOKEEPER is not ours to end")

    start = pause = resume = kill

    def close(self) -> None:
        """Leave it running."""


def docker_engine() -> Any | None:
    """Return a Docker engine that answers, or None."""
    # Asked first, since docker 7.2 leaks its socket when nobody listens.
    if not os.environ.get("DOCKER_HOST") and not _is_listening("/var/run/docker.sock"):
        return None
    try:
        import docker
        from docker.errors import DockerException
    except ImportError:
        return None
    try:
        engine = docker.from_env(timeout=2)
        engine.ping()
    except (DockerException, OSError):
        return None
    return engine


def _is_listening(address: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(address)
        except OSError:
            return False
    return True


@contextlib.contextmanager
def running_server(folder: Path) -> Iterator[Server]:
    """Give a running server: the one of the environment, a container, or a process, whichever can be had first.

    Raises:
        ZooKeeperMissingError: None of them can.
    """
    address = os.environ.get("SHARDSCHED_TEST_ZOOKEEPER")
    engine = None if address else docker_engine()
    server: Server
    if address:
        server = OutsideServer(address)
    elif engine is not None:
        server = ServerContainer(engine)
    else:
        server = ServerProcess(folder)
        server.start()
    try:
        yield server
    finally:
        server.close()
