"""The parts of kazoo 2.11 that are replaced: how its connection waits, sends and receives, and its limits."""

from __future__ import annotations

import contextlib
import logging
import math
import select
import socket
import ssl
import threading
from collections import namedtuple
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import ConnectionDropped, SessionExpiredError
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.connection import CLOSE_RESPONSE, ConnectionHandler
from kazoo.protocol.serialization import CloseInstance, Connect, Transaction, int_struct, write_string

from shardsched.core.events import Event
from shardsched.registry.zookeeper_bell import Bell

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

DATA_WATCHES = 2
"""ZooKeeper's WatcherType for what `GetData` and `Exists` leave."""
ANY_WATCHES = 3
"""ZooKeeper's WatcherType for those and what `GetChildren` leaves."""
MAX_TOGETHER_BYTES = 64 * 1024
"""Requests are gathered into one write up to about this size."""
RECEIVE_BYTES = 64 * 1024
"""Received at once at most."""


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

    Where requests arrive and answers do not, each attempt to connect keeps the session alive at the servers, while
    nothing can be done under it. So a session can be given up: at the end of an attempt that is not answered the
    servers are told that it is over, and the next attempt asks for a new one.
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
        self._giving_up = threading.Lock()
        self._is_unanswered = False
        self._is_given_up = False
        self._cut_short: Any = None
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
        timeout = min(timeout, self._reply_cap_s)
        if not isinstance(request, Connect):
            return super()._invoke(timeout, request, xid)
        try:
            answer = super()._invoke(timeout, request, xid)
        except (ConnectionDropped, self.handler.timeout_exception) as error:
            if request.session_id and self._is_over(error):
                self._end_session(timeout)
            raise
        with self._giving_up:
            self._is_unanswered = self._is_given_up = False
        self.negotiated_s = answer[0].time_out / 1000
        return answer

    def give_up(self) -> None:
        """Give the session up, if the servers were asked to go on with it and did not answer (any thread)."""
        with self._giving_up:
            if self._is_unanswered:
                self._is_given_up = True
                self._cut_short = self._socket
                # The answer is waited for no longer, but the end of the session can still be sent.
                with contextlib.suppress(OSError, AttributeError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RD)

    def _is_over(self, error: Exception) -> bool:
        """Take note of an attempt that failed with its request sent; return whether the session was given up."""
        with self._giving_up:
            is_silent = isinstance(error, self.handler.timeout_exception) or self._cut_short is self._socket
            self._is_unanswered |= is_silent
            return is_silent and self._is_given_up

    def _end_session(self, timeout: float) -> None:
        logger.error(
            "ZooKeeper takes requests and does not answer them: the session is given up",
            extra={"event": Event.REGISTRY_STUCK},
        )
        self._is_unanswered = self._is_given_up = False
        # Where requests do arrive, the nodes of the session go at once, and not only after its time-out.
        with contextlib.suppress(ConnectionDropped, self.handler.timeout_exception):
            self._submit(CloseInstance, timeout, xid=1)
        raise SessionExpiredError

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
