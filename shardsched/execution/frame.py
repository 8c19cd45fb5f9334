"""JSON objects over a stream socket, each behind its length in four bytes.

A `Channel` never blocks: what the other side does not take yet is kept in memory, so that a frozen executor cannot
hold up the warden, nor a frozen warden the executor.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

MAX_FRAME_BYTES = 8 * 1024 * 1024
"""Largest frame taken; parameters are limited to 64 KiB each and tracebacks are cut, so more is no frame of ours."""

_LENGTH = struct.Struct(">I")
_READ_BYTES = 256 * 1024
_READS_AT_ONCE = 16
"""So that one side that never pauses cannot keep the reader from its other duties."""


class FrameError(Exception):
    """Raised when what arrives is no frame; the stream cannot be read any further."""


def pack(message: Mapping[str, Any]) -> bytes:
    """Return the frame of a message.

    Raises:
        TypeError: The message has a value that JSON does not know.
        ValueError: The message has a number that JSON does not know, or is too large.
    """
    body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    if len(body) > MAX_FRAME_BYTES:
        message_text = f"a message of {len(body)} bytes is too large; {MAX_FRAME_BYTES} are allowed"
        raise ValueError(message_text)
    return _LENGTH.pack(len(body)) + body


class FrameReader:
    """Bytes in, messages out."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Add bytes and return the messages that are complete now.

        Raises:
            FrameError: The bytes are no frames.
        """
        self._buffer += data
        messages = []
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > MAX_FRAME_BYTES:
                message = f"a frame of {length} bytes is announced; {MAX_FRAME_BYTES} are allowed"
                raise FrameError(message)
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                break
            messages.append(_parse(bytes(self._buffer[_LENGTH.size : end])))
            del self._buffer[:end]
        return messages


def _parse(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise FrameError("a frame is not JSON") from None
    if not isinstance(message, dict):
        raise FrameError("a frame is not a JSON object")
    return message


class Channel:
    """One end of a stream of messages.

    Thread: not safe; its owner calls it from one thread or under a lock.

    Attributes:
        sock: The socket, set not to block.
        is_open: False once the other side is gone; what is sent from then on is dropped.
    """

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self.sock = sock
        self.is_open = True
        self._reader = FrameReader()
        self._unsent = bytearray()

    def fileno(self) -> int:
        """Return the file descriptor, for a selector."""
        return self.sock.fileno()

    @property
    def has_unsent(self) -> bool:
        """Whether bytes wait for the other side to read."""
        return self.is_open and bool(self._unsent)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message, or keep it until `flush` can.

        Raises:
            TypeError: The message has a value that JSON does not know.
            ValueError: The message has a number that JSON does not know, or is too large.
        """
        self.send_packed(pack(message))

    def send_packed(self, frame: bytes) -> None:
        """Send a frame of `pack`, or keep it until `flush` can."""
        if self.is_open:
            self._unsent += frame
            self.flush()

    def flush(self) -> None:
        """Send what the other side takes now."""
        while self.has_unsent:
            try:
                sent = self.sock.send(self._unsent)
            except BlockingIOError:
                return
            except OSError:
                # The reason does not matter: reading will tell that the other side is gone.
                self._unsent.clear()
                return
            del self._unsent[:sent]

    def receive(self) -> list[dict[str, Any]]:
        """Return the messages that have arrived; `is_open` is False when these are the last.

        Raises:
            FrameError: What arrived is no frame.
        """
        messages: list[dict[str, Any]] = []
        for _ in range(_READS_AT_ONCE):
            try:
                data = self.sock.recv(_READ_BYTES)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self.is_open = False
                break
            messages += self._reader.feed(data)
        return messages

    def close(self) -> None:
        """Close the socket."""
        self.is_open = False
        self.sock.close()


def send_blocking(sock: socket.socket, message: Mapping[str, Any]) -> None:
    """Send one message over a blocking socket.

    Raises:
        OSError: The other side is gone.
        TypeError: The message has a value that JSON does not know.
        ValueError: The message has a number that JSON does not know, or is too large.
    """
    sock.sendall(pack(message))


def receive_blocking(sock: socket.socket) -> dict[str, Any] | None:
    """Return the next message of a blocking socket, None when the other side is gone.

    Nothing may follow the message before it is answered: bytes read beyond it are lost.

    Raises:
        FrameError: What arrived is no frame.
    """
    reader = FrameReader()
    while True:
        try:
            data = sock.recv(_READ_BYTES)
        except OSError:
            return None
        if not data:
            return None
        messages = reader.feed(data)
        if messages:
            return messages[0]
