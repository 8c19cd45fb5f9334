"""Real ZooKeeper servers for tests and benchmarks: one, or an ensemble, from Debian's ``zookeeper.jar``.

Servers listen on the loopback only, keep their data in a folder of the caller's, and are ended by process id.
`tests.zookeeper_source` chooses between these, a container and a server that runs already.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

JAR = Path("/usr/share/java/zookeeper.jar")
START_TIMEOUT_S = 40.0
PAUSE_BETWEEN_LOOKS_S = 0.05
_NEVER = threading.Event()


class ZooKeeperMissingError(RuntimeError):
    """Raised when no ZooKeeper can be run here."""


def free_port() -> int:
    """Return a loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def ask(port: int, command: str, timeout_s: float = 2.0) -> str:
    """Return a server's answer to a four-letter command; empty if there is none."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout_s) as connection:
        connection.sendall(command.encode())
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
        return b"".join(parts).decode(errors="replace")
    return ""


class Server(ABC):
    """A running ZooKeeper server."""

    tick_s = 0.5
    """Its tickTime, in seconds."""
    port = 0
    """Where clients connect."""

    @property
    def hosts(self) -> str:
        """Its address, ``127.0.0.1:port``."""
        return f"127.0.0.1:{self.port}"

    @abstractmethod
    def kill(self) -> None:
        """End it as a crash does."""

    @abstractmethod
    def start(self) -> None:
        """Start it with the data that it has, and return when it serves."""

    @abstractmethod
    def pause(self) -> None:
        """Freeze it: connections stay, nothing answers."""

    @abstractmethod
    def resume(self) -> None:
        """Let it go on."""

    @abstractmethod
    def close(self) -> None:
        """End it for good."""

    def restart(self) -> None:
        """Kill it and start it with its data."""
        self.kill()
        self.start()

    def mntr(self) -> dict[str, str]:
        """Return its counters (packets, watches, znodes, …); empty if it does not serve."""
        lines = (line.partition("\t") for line in ask(self.port, "mntr").splitlines())
        return {name: value.strip() for name, _, value in lines if name.startswith("zk_")}

    def is_serving(self) -> bool:
        """Say whether it serves clients."""
        return "zk_server_state" in self.mntr()

    def wait_until_serving(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Return when it serves clients.

        Raises:
            TimeoutError: It does not in time.
        """
        deadline = time.monotonic() + timeout_s
        while not self.is_serving():
            if time.monotonic() > deadline:
                raise TimeoutError(f"ZooKeeper at port {self.port} does not serve after {timeout_s:g} s")
            _NEVER.wait(PAUSE_BETWEEN_LOOKS_S)


class ServerProcess(Server):
    """A server of our own, with its data in a folder."""

    def __init__(
        self,
        folder: Path,
        *,
        tick_s: float = 0.5,
        port: int = 0,
        settings: Sequence[str] = (),
        jars: Sequence[Path] = (JAR,),
    ) -> None:
        if not (JAR.exists() and shutil.which("java")):
            raise ZooKeeperMissingError(f"java or {JAR} is missing; install Debian's libzookeeper-java and a JRE")
        self.tick_s = tick_s
        self.port = port or free_port()
        self.folder = folder
        self.data = folder / "data"
        self.data.mkdir(parents=True, exist_ok=True)
        self._settings = settings
        self._class_path = ":".join(map(str, jars))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Its process, if it runs."""
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start it with the data that it has, and return when it serves."""
        self.launch()
        try:
            self.wait_until_serving()
        except TimeoutError as error:
            self.kill()
            tail = (self.folder / "server.log").read_text(errors="replace")[-2000:]
            raise TimeoutError(f"{error}; its log ends with:\n{tail}") from None

    def launch(self) -> None:
        """Start it without waiting."""
        config = self.folder / "zoo.cfg"
        config.write_text(
            "\n".join(
                (
                    f"tickTime={int(self.tick_s * 1000)}",
                    f"dataDir={self.data}",
                    f"clientPort={self.port}",
                    "clientPortAddress=127.0.0.1",
                    "admin.enableServer=false",
                    "maxClientCnxns=0",
                    "4lw.commands.whitelist=mntr,ruok,srvr,wchs,wchc,dump",
                    "initLimit=10",
                    "syncLimit=5",
                    *self._settings,
                    "",
                )
            )
        )
        # forceSync=no: what a killed process wrote survives in the page cache, and a test machine's disk is slow.
        options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no"]
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                ["java", *options, "-cp", self._class_path, main, str(config)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        """End it as a crash does."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait(10)

    def stop(self) -> None:
        """Ask it to end, and return when it has."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)

    def wipe(self) -> None:
        """Remove all data of a stopped server, as a lost disk does (an ensemble's ``myid`` stays)."""
        for child in self.data.iterdir():
            if child.is_dir():
                shutil.rmtree(child)

    def pause(self) -> None:
        """Freeze it: connections stay, nothing answers."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End it for good."""
        self.kill()


class Ensemble:
    """Three servers (or more) that elect a leader among them."""

    def __init__(self, folder: Path, *, count: int = 3, tick_s: float = 0.5) -> None:
        self.tick_s = tick_s
        lines = [f"server.{i}=127.0.0.1:{free_port()}:{free_port()}" for i in range(1, count + 1)]
        self.servers = []
        for i in range(1, count + 1):
            server = ServerProcess(folder / f"server{i}", tick_s=tick_s, settings=lines)
            (server.data / "myid").write_text(f"{i}\n")
            self.servers.append(server)

    @property
    def hosts(self) -> str:
        """All addresses, with commas."""
        return ",".join(server.hosts for server in self.servers)

    def start(self) -> None:
        """Start all and return when all serve."""
        for server in self.servers:
            server.launch()
        for server in self.servers:
            server.wait_until_serving()

    def leader(self) -> ServerProcess | None:
        """Return the server that leads now."""
        return next((one for one in self.servers if one.mntr().get("zk_server_state") == "leader"), None)

    def close(self) -> None:
        """End all."""
        for server in self.servers:
            server.close()
