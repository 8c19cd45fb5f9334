"""Fixtures of the console's tests."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.people import People
from tests.conftest import missing
from tests.console.page import Window, chromium, served
from tests.console.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def empty_history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history database with tables and no rows."""
    path = tmp_path_factory.mktemp("history") / "empty.db"
    people = People(f"sqlite:///{path}", "fleet")
    people.check()
    people.close()
    return path


@pytest.fixture
def make_site(tmp_path: Path, empty_history: Path) -> Iterator[Callable[..., Site]]:
    """Makes consoles with settings of the test's own."""
    made: list[Site] = []

    def make(**settings: Any) -> Site:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Site(folder, empty_history, **settings))
        return made[-1]

    yield make
    for site in made:
        site.close()


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    """A console with nobody in it yet."""
    return make_site()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium, ended with its module: while it is driven, this thread can run no other event loop."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        missing("there is no Chromium; install it with apt-get install chromium")
    with chromium(str(path)) as started:
        yield started


@pytest.fixture
def window(site: Site, browser: Browser) -> Iterator[Window]:
    """A window of a real browser on the site; the test fails on any error that the browser tells."""
    with served(site.app) as address, Window.open(browser, address) as opened:
        yield opened
    assert opened.faults == []
