"""A web site to crawl that every Python carries with it: the documentation of its standard library, by pydoc.

``/`` links to one index page for each letter, these to the pages of modules, and those to each other. Some modules
are for other systems and cannot be imported here; their pages answer with status 500, as pages do in real life.

It is served on the loopback interface only.
"""

from __future__ import annotations

import argparse
import contextlib
import html
import importlib
import importlib.util
import io
import os
import pkgutil
import pydoc
import re
import sys
import threading
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DEFAULT_PAGE_COUNT = 240
"""Pages served unless told: enough to share, and rendered within seconds."""

_LEFT_OUT = frozenset(
    {"antigravity", "idlelib", "lib2to3", "pydoc_data", "test", "this", "tkinter", "turtle", "turtledemo"}
)
"""Modules whose import opens a window or a browser, prints, or takes seconds."""

_NOT_PACKAGES = frozenset({"ctypes", "encodings"})
"""Packages of which only the top page is served: hundreds of tables, or parts of other systems."""

_LINK = re.compile(r'href="([\w.]+)\.html(#[^"]*)?"')


def module_names(count: int = DEFAULT_PAGE_COUNT) -> tuple[str, ...]:
    """Return the modules that have a page, sorted: the top-level ones first in line, then parts of packages."""
    tops = [name for name in sorted(sys.stdlib_module_names) if not name.startswith("_") and name not in _LEFT_OUT]
    parts = [part for name in tops if name not in _NOT_PACKAGES for part in _parts(name)]
    return tuple(sorted([*tops, *parts][:count]))


def _parts(name: str) -> list[str]:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return []
    folders = spec.submodule_search_locations if spec else None
    return [
        f"{name}.{module.name}"
        for module in pkgutil.iter_modules(folders or ())
        if not module.name.startswith("_") and module.name not in {"test", "tests"}
    ]


class PydocSite:
    """The pages, each rendered when it is first asked for.

    **Thread:** any; pages are rendered one at a time, since importing is not for many threads.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = frozenset(names)
        self._pages: dict[str, tuple[int, bytes]] = {}
        self._lock = threading.Lock()

    def page(self, path: str) -> tuple[int, bytes]:
        """Return status and body of a path."""
        with self._lock:
            if path not in self._pages:
                self._pages[path] = self._render(path)
            return self._pages[path]

    def _render(self, path: str) -> tuple[int, bytes]:
        name = path.removeprefix("/").removesuffix(".html")
        if path == "/":
            letters = sorted({name[0].lower() for name in self._names})
            return 200, _listing("The standard library", [f"index-{letter}" for letter in letters])
        if path.startswith("/index-") and len(name) == len("index-a"):
            names = sorted(module for module in self._names if module[0].lower() == name[-1])
            return (200, _listing(f"Modules in {name[-1]}", names)) if names else _missing(path)
        return self._module_page(name) if name in self._names else _missing(path)

    def _module_page(self, name: str) -> tuple[int, bytes]:
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                module = importlib.import_module(name)
                text = pydoc.html.page(name, pydoc.html.document(module, name))
        except Exception as error:  # noqa: BLE001 - whatever a module's import raises is that page's answer
            reason = html.escape(f"{name} cannot be shown: {error}")
            return 500, f"<html><title>Error</title><p>{reason}</p></html>".encode()
        return 200, _LINK.sub(self._kept_link, text).encode(errors="replace")

    def _kept_link(self, link: re.Match[str]) -> str:
        return link[0] if link[1] in self._names else 'href="#"'


def _listing(title: str, names: list[str]) -> bytes:
    links = "".join(f'<li><a href="{name}.html">{name}</a></li>' for name in names)
    return f"<html><title>{title}</title><ul>{links}</ul></html>".encode()


def _missing(path: str) -> tuple[int, bytes]:
    return 404, f"<html><title>Not found</title><p>There is no {html.escape(path)}.</p></html>".encode()


class PydocServer(ThreadingHTTPServer):
    """The site on a port of the loopback interface; port 0 takes a free one."""

    daemon_threads = True

    def __init__(self, site: PydocSite, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.site = site

    @property
    def url(self) -> str:
        """Address of the first page."""
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: PydocServer

    def do_GET(self) -> None:
        """Answer with the page."""
        status, body = self.server.site.page(self.path.partition("?")[0])
        with contextlib.suppress(ConnectionError):
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the terminal free of access logs."""


def forget_environment() -> None:
    """Drop environment variables, because the page of ``os`` shows them all."""
    for name in set(os.environ) - {"PATH", "HOME", "LANG", "LC_ALL", "TZ"}:
        del os.environ[name]


def main() -> None:
    """Serve until ended, after printing the address."""
    parser = argparse.ArgumentParser(description="Serve the standard library's documentation on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--pages", type=int, default=DEFAULT_PAGE_COUNT, help="how many pages")
    options = parser.parse_args()
    forget_environment()
    warnings.simplefilter("ignore")
    with PydocServer(PydocSite(module_names(options.pages)), options.port) as server:
        print(server.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()
