"""The console without a mouse: where keys lead, and where the focus is afterwards."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from console.navigation import ADMINISTRATION, PAGES
from tests.console.crew import Crew
from tests.console.site import PASSWORD

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.console.page import Window
    from tests.console.site import Site

OPENERS = (
    ("/jobs/books", "[data-open=run-dialog]", "#run-dialog"),
    ("/jobs/books", "[popovertarget=job-menu]", "#job-menu"),
    ("/jobs/news", ".job-acts [formaction$='/stop']", "#confirm"),
    ("/executors", "tbody [popovertarget]", ".menu-acts"),
    ("/search", "[popovertarget=languages]", "#languages"),
    ("/search", "[popovertarget=me]", "#me"),
    ("/search", "[data-open=keys]", "#keys"),
    ("/profile", "form[action$='/end-all'] button", "#confirm"),
    ("/map", ".map-body .cell", "#item"),
    ("/map", ".map-body [data-act=run]", "#confirm"),
)
"""Where, what opens something, and what it opens."""
_OUTLINE = """() => { const style = getComputedStyle(document.activeElement);
  return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2; }"""


@pytest.fixture
def page(site: Site, window: Window) -> Page:
    """A window of an admin, with a fleet to see."""
    crew = Crew(site)
    crew.join("crawler-a")
    for name in ("books", "news"):
        crew.job(name, {"crawler-a": (0, 1)}, items=2)
    crew.claim("news", 0, "crawler-a")
    crew.show()
    window.sign_in(site.user("admin").name, PASSWORD)
    return window.page


def test_letters_after_g_reach_every_page(site: Site, page: Page) -> None:
    """Each entry of the left bar has one, and no two the same."""
    entries = (*PAGES, *ADMINISTRATION)
    assert len({entry.key for entry in entries}) == len(entries)
    for entry in entries:
        page.keyboard.press("g")
        page.keyboard.press(entry.key)
        with site.app.test_request_context():
            address = site.app.url_for(entry.endpoint)
        expect(page).to_have_url(re.compile(f"{re.escape(address)}$"))
        expect(page.locator(".side [aria-current=page]")).to_have_attribute("data-key", entry.key)


def test_what_opens_gives_the_focus_back(page: Page) -> None:
    """It opens by Enter, takes the focus where it asks something, and closes by Escape."""
    for path, opener, opened in OPENERS:
        page.goto(path)
        button, box = page.locator(opener).first, page.locator(opened).first
        button.focus()
        page.keyboard.press("Enter")
        expect(box, f"{opener} opens").to_be_visible()
        if box.evaluate("box => box.matches('dialog')"):
            expect(box.locator(":focus"), f"{opened} has the focus").to_have_count(1)
        page.keyboard.press("Escape")
        expect(box, f"{opened} closes").to_be_hidden()
        expect(button, f"{opener} has the focus again").to_be_focused()


def test_rows_are_walked_chosen_and_opened(page: Page) -> None:
    """By j and k, x, the point, and Enter; Escape leaves the search."""
    page.goto("/jobs")
    for key in ("j", "j", "k", "x"):
        page.keyboard.press(key)
    expect(page.locator("tr.is-current")).to_contain_text("books")
    expect(page.get_by_label("Select books")).to_be_checked()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile("^news · Jobs"))
    page.goto("/executors")
    page.keyboard.press("j")
    page.keyboard.press(".")
    menu = page.locator(".menu-acts")
    expect(menu).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#search")).not_to_be_focused()


def test_focus_begins_with_the_way_past_the_bars_and_is_seen(page: Page) -> None:
    """The first stop leads to the content; each stop has a border that is seen and is in the window."""
    page.goto("/jobs")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_be_focused()
    seen = set()
    for _ in range(24):
        page.keyboard.press("Tab")
        focus = page.locator(":focus")
        expect(focus).to_be_in_viewport()
        assert page.evaluate(_OUTLINE), focus.evaluate("element => element.outerHTML")
        seen.add(focus.evaluate("element => element.outerHTML"))
    assert len(seen) > 20


def test_keys_that_are_switched_off_do_nothing(site: Site, page: Page) -> None:
    """Whoever needs single letters for something else has them."""
    site.people.users.update(site.user("admin").id, {"has_keys": False})
    page.goto("/jobs")
    page.keyboard.press("j")
    page.keyboard.press("?")
    expect(page.locator("tr.is-current")).to_have_count(0)
    expect(page.locator("#keys")).to_be_hidden()
