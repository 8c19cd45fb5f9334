"""Every page in each of its states, in each language and theme, as assistive technology and small screens meet it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import TimeoutError

from console.limit import limiter
from tests.console.page import LOOK_RULES, SMALL_RULES, Window, served
from tests.console.page_state import NOT_PAGES, PAGES, PageState
from tests.console.scene import SCENES
from tests.console.site import PASSWORD, Site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

PATIENCE_MS = 60_000
"""The page of the API builds a long description before it answers."""
WIDTHS = (390, 320)
"""Of a telephone, and of a window of 1280 at 400 % (WCAG 1.4.10)."""
_FITS = """() => document.documentElement.scrollWidth <= innerWidth
  && [...document.querySelectorAll("dialog[open]")].every((box) => box.getBoundingClientRect().right <= innerWidth)"""


class Gallery:
    """All scenes, each with its site and its windows, made when first wanted and kept for the module."""

    def __init__(self, folder: Path, empty_history: Path, browser: Browser) -> None:
        self._folder = folder
        self._empty_history = empty_history
        self._browser = browser
        self._open = ExitStack()
        self._sites: dict[str, tuple[Site, str]] = {}
        self._windows: dict[tuple[str, str], Window] = {}

    def window(self, state: PageState) -> Window:
        """Return the window of somebody on a site."""
        key = (state.scene, state.who)
        if key not in self._windows:
            site, address = self._served(state.scene)
            window = self._open.enter_context(Window.open(self._browser, address, color_scheme="light"))
            window.page.set_default_timeout(PATIENCE_MS)
            if state.who:
                window.sign_in(site.user(state.who).name, PASSWORD)
            self._windows[key] = window
        return self._windows[key]

    def _served(self, scene: str) -> tuple[Site, str]:
        if scene not in self._sites:
            folder = self._folder / scene
            folder.mkdir()
            site = Site(folder, self._empty_history, state_dir=folder / "state")
            self._open.callback(site.close)
            SCENES[scene](site, folder / "state")
            self._sites[scene] = (site, self._open.enter_context(served(site.app)))
        return self._sites[scene]

    def close(self) -> None:
        """End all of it."""
        self._open.close()


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory, empty_history: Path, browser: Browser) -> Iterator[Gallery]:
    """All scenes; forms are refused more often than one address may usually be."""
    made = Gallery(tmp_path_factory.mktemp("gallery"), empty_history, browser)
    limiter.enabled = False
    yield made
    limiter.enabled = True
    made.close()


@pytest.mark.parametrize("state", PAGES, ids=[state.name for state in PAGES])
@pytest.mark.parametrize("language", ["en", "zh_Hans"])
def test_page_has_no_barriers(gallery: Gallery, language: str, state: PageState) -> None:
    """axe-core finds nothing by day and by night, and nothing is wider than its window."""
    window = gallery.window(state)
    page = window.page
    window.expected = {state.status} | ({503} if state.scene in {"unseen", "away"} else set())
    window.faults.clear()
    page.context.add_cookies([{"name": "language", "value": language, "url": window.address}])
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(state.path)
    if state.act is not None:
        state.act(page)
    assert window.status == state.status
    assert page.locator("html").get_attribute("lang") == language.replace("_", "-")
    page.evaluate("scrollTo(0, 0)")  # what is half below the bar would be too small a target
    is_first = language == "en"  # sizes are judged once: words do not make them
    found = window.axe(without=state.without if is_first else (*state.without, "target-size"))
    page.evaluate("document.documentElement.dataset.bsTheme = 'dark'")
    found += [f"dark: {fault}" for fault in window.axe(LOOK_RULES)]
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        try:
            page.wait_for_function(_FITS, timeout=3_000)  # charts are drawn anew a moment later
        except TimeoutError:
            found.append(f"it is wider than {width} px")
    if is_first:
        small = tuple(rule for rule in SMALL_RULES if rule not in state.without)
        found += [f"{WIDTHS[-1]} px: {fault}" for fault in window.axe(small)]
    assert found == []
    assert window.faults == []


def test_every_page_is_looked_at(site: Site) -> None:
    """A view that gives a page stands in the list; what is left out gives none."""
    rules = [rule for rule in site.app.url_map.iter_rules() if "GET" in (rule.methods or ())]
    views = {rule.endpoint for rule in rules if not rule.endpoint.startswith("api_")}
    pages = {state.endpoint for state in PAGES if state.endpoint}
    assert views - pages == set(NOT_PAGES)
    adapter = site.app.url_map.bind("localhost")
    wrong = {
        state.name: state.path
        for state in PAGES
        if state.endpoint and adapter.match(state.path.partition("?")[0])[0] != state.endpoint
    }
    assert wrong == {}
    browser = site.client("admin")
    for rule in rules:
        if rule.endpoint in NOT_PAGES and not rule.arguments:
            answer = browser.get(rule.rule)
            assert answer.status_code >= 300 or "<html" not in answer.text, rule
