"""A TCP proxy on the loopback that can stall, refuse, delay or cut one direction, to try links that fail.

It serves tests and benchmarks alike: one thread accepts, two threads move the bytes of each connection.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from enum import StrEnum
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

CONNECT_TIMEOUT_S = 2.0
CHUNK_BYTES = 65536


class Mode(StrEnum):
    """What the proxy does with connections."""

    PASS = "pass"  # noqa: S105 - a mode, not a password
    """Forward both directions."""
    STALL = "stall"
    """Keep connections (and take new ones), forward nothing: a silent cut. What was sent arrives after healing."""
    REFUSE = "refuse"
    """Close all connections and refuse new ones, as a stopped server does."""
    REQUESTS_ONLY = "requests-only"
    """Forward what the client sends, hold back what the server answers."""
    REPLIES_ONLY = "replies-only"
    """Forward what the server sends, hold back what the client sends."""


class _Connection:
    """One client's connection and its counterpart at the server."""

    def __init__(self, proxy: TcpProxy, client: socket.socket, server: socket.socket) -> None:
        self.proxy = proxy
        self.client = client
        self.server = server
        self.closed = threading.Event()
        self.threads = [
            threading.Thread(target=self._move, args=(client, server, Mode.REQUESTS_ONLY), daemon=True),
            threading.Thread(target=self._move, args=(server, client, Mode.REPLIES_ONLY), daemon=True),
        ]

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def _move(self, source: socket.socket, target: socket.socket, direction: Mode) -> None:
        with contextlib.suppress(OSError):
            while not self.closed.is_set():
                chunk = source.recv(CHUNK_BYTES)
                if not self.proxy.wait_until_open(direction, self.closed) or not chunk:
                    break
                if self.proxy.delay_s and self.closed.wait(self.proxy.delay_s):
                    break
                target.sendall(chunk)
        self.close()

    def close(self) -> None:
        self.closed.set()
        for side in (self.client, self.server):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)
        self.proxy.forget(self)

    def release(self) -> None:
        self.close()
        for thread in self.threads:
            if thread is not threading.current_thread():
                thread.join(5)
        for side in (self.client, self.server):
            side.close()


class TcpProxy:
    """Forwards a loopback port to a server, as well as its mode allows.

    Example:
        >>> with TcpProxy("127.0.0.1", 2181) as proxy:  # doctest: +SKIP
        ...     connect(proxy.address)
        ...     proxy.set_mode(Mode.STALL)
    """

    def __init__(self, target_host: str, target_port: int) -> None:
        self.delay_s = 0.0
        self.accepted_count = 0
        self._target = (target_host, target_port)
        self._mode = Mode.PASS
        self._changed = threading.Condition()
        self._connections: set[_Connection] = set()
        self._spent: list[_Connection] = []
        self._closed = threading.Event()
        self._listener: socket.socket | None = None
        self._acceptor = threading.Thread(target=self._accept, name="tcp-proxy", daemon=True)
        self.port = 0
        self._listen()
        self._acceptor.start()

    @classmethod
    def to(cls, hosts: str) -> Self:
        """Return a proxy to the one server of ``host:port``."""
        host, _, port = hosts.rpartition(":")
        return cls(host, int(port))

    @property
    def address(self) -> str:
        """Where clients connect: ``127.0.0.1:port``."""
        return f"127.0.0.1:{self.port}"

    @property
    def mode(self) -> Mode:
        """What it does now."""
        return self._mode

    @property
    def connection_count(self) -> int:
        """Connections that are open now."""
        with self._changed:
            return len(self._connections)

    def set_mode(self, mode: Mode) -> None:
        """Go over to another mode; connections are kept, unless it is REFUSE."""
        with self._changed:
            self._mode = mode
            self._changed.notify_all()
        if mode is Mode.REFUSE:
            self._unlisten()
            self.drop()
        elif self._listener is None:
            self._listen()

    def drop(self) -> None:
        """Close all connections once; new ones are taken as the mode says."""
        with self._changed:
            connections = list(self._connections)
        for connection in connections:
            connection.close()
        self._release_spent()

    def close(self) -> None:
        """End it: all connections, the listener and the threads."""
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
        self._unlisten()
        self._acceptor.join(5)
        self.drop()

    def __enter__(self) -> Self:
        """Return itself, listening."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def wait_until_open(self, direction: Mode, closed: threading.Event) -> bool:
        """Hold the caller while its direction is cut; False if the connection ended meanwhile."""
        with self._changed:
            while not (closed.is_set() or self._closed.is_set()):
                if self._mode in {Mode.PASS, direction}:
                    return True
                self._changed.wait(1.0)
        return False

    def forget(self, connection: _Connection) -> None:
        """Take a closed connection off the list."""
        with self._changed:
            if connection in self._connections:
                self._connections.discard(connection)
                self._spent.append(connection)
            self._changed.notify_all()

    def _listen(self) -> None:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(128)
        self.port = listener.getsockname()[1]
        with self._changed:
            self._listener = listener
            self._changed.notify_all()

    def _unlisten(self) -> None:
        with self._changed:
            listener, self._listener = self._listener, None
        if listener is not None:
            # A blocked accept() does not notice close(), but it does notice shutdown().
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def _accept(self) -> None:
        while not self._closed.is_set():
            with self._changed:
                listener = self._listener
                if listener is None:
                    self._changed.wait(1.0)
                    continue
            try:
                client, _ = listener.accept()
            except OSError:
                self._closed.wait(0.01)
                continue
            self.accepted_count += 1
            self._release_spent()
            self._connect(client)

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self._target, CONNECT_TIMEOUT_S)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        for side in (client, server):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = _Connection(self, client, server)
        with self._changed:
            self._connections.add(connection)
        connection.start()
        if self._mode is Mode.REFUSE or self._closed.is_set():
            connection.close()

    def _release_spent(self) -> None:
        with self._changed:
            spent, self._spent = self._spent, []
        for connection in spent:
            connection.release()
