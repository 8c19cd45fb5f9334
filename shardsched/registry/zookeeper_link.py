"""The parts of kazoo 2.11 that are replaced: its socket pair, how its connection sends and receives, its limits.

kazoo wakes its connection thread by a byte in a socket pair. The pair holds about 280 bytes, so that a thread that
asks for more at once blocks; the connection thread itself would block for ever. Answers come to our callers on that
very thread (a callback may ask the next thing at once), so the pair is replaced by a counter that cannot be full.
"""

from __future__ import annotations

import math
import os
import select
import socket
import ssl
import threading
from collections import namedtuple
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import ConnectionDropped
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.connection import CLOSE_RESPONSE, ConnectionHandler
from kazoo.protocol.serialization import Connect, Transaction, int_struct, write_string

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable

DATA_WATCHES = 2
"""ZooKeeper's WatcherType for what `GetData` and `Exists` leave."""
ANY_WATCHES = 3
"""ZooKeeper's WatcherType for those and what `GetChildren` leaves."""
MAX_TOGETHER_BYTES = 64 * 1024
"""Requests are gathered into one write up to about this size."""
RECEIVE_BYTES = 64 * 1024
"""Received at once at most."""


class Bell:
    """Wakes a thread in select(): a count of requests, and a pipe that is readable while it is not 0.

    It stands for both ends of kazoo's socket pair, which only sends, receives, polls and closes.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._read_end, self._write_end = os.pipe()
        self._closed = False

    def send(self, _: bytes) -> None:
        """Count one request more."""
        with self._lock:
            if self._closed:
                raise OSError("the connection was closed")
            self._count += 1
            if self._count == 1:
                os.write(self._write_end, b"\0")

    def recv(self, _: int) -> bytes:
        """Count one request less."""
        with self._lock:
            if not self._count:
                raise BlockingIOError
            self._count -= 1
            if not self._count:
                os.read(self._read_end, 1)
            return b"\0"

    @property
    def is_rung(self) -> bool:
        """Whether requests are counted that were not taken."""
        return self._count > 0

    def fileno(self) -> int:
        """Return what to poll."""
        return self._read_end

    def close(self) -> None:
        """Close the pipe (both ends of the pair are closed; the second time does nothing)."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self._read_end)
                os.close(self._write_end)


class LinkHandler(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo is untyped
    """kazoo's threads, with a bell for its socket pair and sockets that are made and awaited otherwise.

    kazoo gives a connect the whole session time-out, so that one host behind a dead link could cost the session; it
    leaks a socket at each TLS handshake that fails; and it waits on a TLS socket without looking at what has been
    decrypted already, which holds up all answers but the first of those that came together.

    Args:
        connect_cap_s: How long a TCP connect may take, and as long again a TLS handshake.
        tls: What sockets are wrapped with, or None.
    """

    def __init__(self, connect_cap_s: float, tls: ssl.SSLContext | None) -> None:
        super().__init__()
        self._connect_cap_s = connect_cap_s
        self._tls = tls
        self.has_unread: Callable[[], bool] = lambda: False
        """Whether something that was received waits to be read."""

    def create_socket_pair(self) -> tuple[Bell, Bell]:
        """Return the two ends of a pair."""
        bell = Bell()
        return bell, bell

    def create_connection(self, address: tuple[str, int], *, timeout: float, hostname: str, **_: Any) -> socket.socket:
        """Connect to an address of a host, or raise within the cap."""
        connection = socket.create_connection(address, min(timeout, self._connect_cap_s))
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self._tls.wrap_socket(connection, server_hostname=hostname) if self._tls else connection
        except BaseException:
            connection.close()
            raise

    def select(self, readers: list[Any], writers: list[Any], others: list[Any], timeout: float | None = None) -> Any:
        """Return what can be read or written; the connection alone while something that was received waits."""
        if readers and self.has_unread():
            return readers[:1], [], []
        return self.wait(readers, writers, others, timeout)

    @staticmethod
    def wait(readers: list[Any], writers: list[Any], others: list[Any], timeout: float | None = None) -> Any:
        """Return what can be read or written, at once when something decrypted waits.

        kazoo's own makes an epoll object for each call: five system calls where this takes one, and several calls for
        each request. At each, this thread must also win the interpreter back from the others.
        """
        waiting = [one for one in readers if isinstance(one, ssl.SSLSocket) and one.pending()]
        poll = select.poll()
        for one in readers:
            poll.register(one, select.POLLIN | select.POLLPRI)
        for one in writers:
            poll.register(one, select.POLLOUT)
        limit_ms = 0 if waiting else None if timeout is None else max(math.ceil(timeout * 1000), 0)
        # What has hung up or broken down counts as ready, so that whoever reads or writes is told.
        ready = {number for number, _ in poll.poll(limit_ms)}
        readable = [one for one in readers if one.fileno() in ready or one in waiting]
        return readable, [one for one in writers if one.fileno() in ready], others[:0]


class Link(ConnectionHandler):  # type: ignore[misc]  # kazoo is untyped
    """kazoo's connection, which also tells what it negotiated, why it fails, and how it ended.

    kazoo makes nine system calls for a request and its answer, one request at a time. Here what was asked meanwhile
    goes out together, and what has come in is received together: a thousand jobs due at once are a few writes.
    """

    def __init__(self, client: Any, retry: Any, reply_cap_s: float, log: logging.Logger) -> None:
        super().__init__(client, retry, logger=log)
        self._reply_cap_s = reply_cap_s
        self.negotiated_s = 0.0
        """The session time-out in force; kazoo keeps only what was requested."""
        self.last_error = ""
        """Why the last attempt to connect failed."""
        self.session_ended = False
        """Whether the server confirmed the end of the session."""
        self._outgoing: bytearray | None = None
        self._incoming = bytearray()
        self.handler.has_unread = lambda: bool(self._incoming)

    def _send_request(self, read_timeout: float, connect_timeout: float) -> None:
        # If this is cut short, what was to go out counts as sent and is failed as unknown when the connection drops.
        together = self._outgoing = bytearray()
        try:
            super()._send_request(read_timeout, connect_timeout)
            while self._read_sock.is_rung and len(together) < MAX_TOGETHER_BYTES:
                super()._send_request(read_timeout, connect_timeout)
        finally:
            self._outgoing = None
        if together:
            super()._write(bytes(together), connect_timeout)

    def _write(self, msg: bytes, timeout: float) -> None:
        if self._outgoing is None:
            super()._write(msg, timeout)
        else:
            self._outgoing += msg

    def _read(self, length: int, timeout: float) -> bytes:
        incoming = self._incoming
        with self._socket_error_handling():
            while len(incoming) < length:
                self._receive(timeout)
        part = bytes(incoming[:length])
        del incoming[:length]
        return part

    def _receive(self, timeout: float) -> None:
        try:
            received = self._socket.recv(RECEIVE_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            if not self.handler.wait([self._socket], [], [], timeout)[0]:
                raise self.handler.timeout_exception("socket time-out during read") from None
            return
        if not received:
            raise ConnectionDropped("socket connection broken")
        self._incoming += received

    def _connect(self, host: str, hostip: str, port: int) -> Any:
        self._incoming.clear()
        try:
            timeouts = super()._connect(host, hostip, port)
        except Exception as error:
            self.last_error = f"{host}:{port}: {str(error) or type(error).__name__}"
            raise
        self.last_error = ""
        return timeouts

    def _invoke(self, timeout: float, request: Any, xid: int | None = None) -> Any:
        # A server that is just booting may never answer; kazoo would wait for the whole session time-out.
        answer = super()._invoke(min(timeout, self._reply_cap_s), request, xid)
        if isinstance(request, Connect):
            self.negotiated_s = answer[0].time_out / 1000
        return answer

    def _read_response(self, header: Any, buffer: bytes, offset: int) -> Any:
        answer = super()._read_response(header, buffer, offset)
        if answer == CLOSE_RESPONSE:
            self.session_ended = True
        return answer


class BoundTransaction(Transaction):  # type: ignore[misc]  # kazoo is untyped
    """A transaction that goes out under its own session only, else as one of no operations.

    kazoo queues requests while it has no connection, and sends them when it has one again, be it under another
    session. Here the session is looked at on the connection's thread, when the bytes are made.
    """

    def bind(self, admit: Callable[[], bool]) -> BoundTransaction:
        """Set who is asked, and return itself."""
        self._admit = admit
        return self

    def serialize(self) -> bytes:
        """Return the bytes to be sent."""
        operations = self if self._admit() else Transaction(())
        return bytes(Transaction.serialize(operations))


class RemoveWatches(namedtuple("RemoveWatches", "path kind")):
    """Ends the watches that this connection has on a path (ZooKeeper 3.5 and later)."""

    type = 18

    def serialize(self) -> bytes:
        """Return the bytes to be sent."""
        return bytes(write_string(self.path) + int_struct.pack(self.kind))

    @classmethod
    def deserialize(cls, _: bytes, __: int) -> bool:
        """Return that it was done."""
        return True
