"""A real browser on a console that is really served."""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright
from werkzeug.serving import make_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flask import Flask
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response

AXE = Path(__file__).with_name("vendor") / "axe.min.js"
_TOO_WIDE = """() => [...document.querySelectorAll("html, .table-box, .bar-title, .card-head, .btn, .badge")]
  .filter((one) => one.clientWidth && one.scrollWidth > one.clientWidth + 1)
  .map((one) => `${one.tagName}.${one.className} ${one.scrollWidth} > ${one.clientWidth}`)"""
_TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
_ASLEEP = ("target-size",)
"""Rules of these that axe-core switches off by itself."""
LOOK_RULES = ("color-contrast", "link-in-text-block")
"""Rules of axe-core whose findings a theme can change."""
SMALL_RULES = ("scrollable-region-focusable", "target-size")
"""Rules of axe-core whose findings a small window can change."""
_JUDGE = """async (options) => (await axe.run(document, options)).violations.map(
  (found) => `${found.id}: ${found.nodes.map((node) => node.html.slice(0, 200)).slice(0, 3).join(" ")}`)"""
_SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@functools.cache
def _axe() -> str:
    return AXE.read_text()


@contextlib.contextmanager
def chromium(path: str) -> Iterator[Browser]:
    """Start Chromium; Playwright's own browsers are not needed."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_SWITCHES))
        yield browser
        browser.close()


@contextlib.contextmanager
def served(app: Flask) -> Iterator[str]:
    """Serve an app on the loopback, and return its address."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, name="server", daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join(10)
    server.server_close()


class Window:
    """One window, which keeps what the browser complains of.

    Attributes:
        page: Playwright's page.
        address: Of the site.
        faults: Errors of scripts, violations of the policy, and requests to other places.
        expected: Statuses of answers that the test wants although they are errors.
        status: Of the last page that was gone to.
    """

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.faults: list[str] = []
        self.expected: set[int] = set()
        self.status = 0
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        page.on("request", self._on_request)
        page.on("response", self._on_response)

    @classmethod
    @contextlib.contextmanager
    def open(cls, browser: Browser, address: str, **options: Any) -> Iterator[Window]:
        """Open a window with a profile of its own."""
        settings: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}, "locale": "en-GB", **options}
        context = browser.new_context(
            base_url=address, reduced_motion="reduce", timezone_id="Europe/Berlin", **settings
        )
        context.set_default_timeout(15_000)
        yield cls(context.new_page(), address)
        context.close()

    def sign_in(self, name: str, password: str) -> None:
        """Sign in by the form."""
        self.page.goto("/login")
        self.page.fill("[name=name]", name)
        self.page.fill("[name=password]", password)
        self.page.click("button.btn-primary")
        self.page.wait_for_selector("#content .card, #content .empty")

    def axe(self, only: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> list[str]:
        """Return what axe-core finds wrong with the page: WCAG 2.2 AA and best practice, or by some rules only."""
        options: dict[str, Any] = {
            "runOnly": list(only or _TAGS),
            "resultTypes": ["violations"],
            "preload": False,
            "iframes": False,
        }
        if not only:
            options["rules"] = {name: {"enabled": name not in without} for name in (*_ASLEEP, *without)}
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(_axe())
        return [str(line) for line in self.page.evaluate(_JUDGE, options)]

    def too_wide(self) -> list[str]:
        """Return what does not fit where it stands: the page itself, tables, buttons."""
        return [str(line) for line in self.page.evaluate(_TOO_WIDE)]

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type not in {"error", "warning"}:
            return
        if any(f"status of {status} " in message.text for status in self.expected):
            return
        self.faults.append(f"{self.page.url}: {message.text}")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.faults.append(f"a request to {request.url}")

    def _on_response(self, answer: Response) -> None:
        if answer.request.is_navigation_request():
            self.status = answer.status
