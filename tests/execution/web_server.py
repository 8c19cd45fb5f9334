"""A server on the loopback interface that answers as a test says and keeps what it was asked."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


class Asked(NamedTuple):
    """One request."""

    method: str
    """In capitals."""
    path: str
    """With its query."""
    headers: Mapping[str, str]
    """By name in lower case."""
    body: str
    """As text."""


class WebServer(ThreadingHTTPServer):
    """Answers ``/status/N``, ``/to/PATH``, ``/silent``, ``/endless`` and ``/huge``; any other path with 200.

    Attributes:
        asked: The requests so far.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[Asked] = []
        self.closing = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Its address, without a slash at the end."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        """Begin to serve."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End, with all that still waits for an answer."""
        self.closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: WebServer

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name.lower(): text for name, text in self.headers.items()}
        body = self.rfile.read(length).decode()
        self.server.asked.append(Asked(self.command, self.path, headers, body))
        words = self.path.strip("/").split("/")
        with contextlib.suppress(ConnectionError):
            match words:
                case ["status", code]:
                    self._send(int(code), b"as told")
                case ["to", *path]:
                    self._send(302, b"elsewhere", location="/" + "/".join(path))
                case ["other", *path]:
                    port = self.server.server_address[1]
                    self._send(302, b"elsewhere", location=f"http://localhost:{port}/" + "/".join(path))
                case ["silent"]:
                    self.server.closing.wait(60)
                case ["endless"]:
                    self._send(200, None)
                    while not self.server.closing.is_set():
                        self.wfile.write(b"x" * 65_536)
                case _:
                    self._send(200, b"welcome")

    do_GET = do_POST = do_PUT = _answer  # noqa: N815 - the names that the library calls

    def _send(self, code: int, body: bytes | None, location: str = "") -> None:
        self.send_response(code)
        self.send_header("Set-Cookie", "id=very-secret")
        if location:
            self.send_header("Location", location)
        if body is not None:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if body is not None:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the terminal free of access logs."""
