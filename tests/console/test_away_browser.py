"""A page that stands open while the registry or the history database goes away and comes back, in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.console.site import PASSWORD
from tests.console.store_away import fleet_of, put_back, take_away

if TYPE_CHECKING:
    from tests.console.page import Window
    from tests.console.site import Site

REGISTRY = "The registry does not answer"
HISTORY = "The history database does not answer"


@pytest.mark.parametrize(
    ("path", "controls"),
    [("/jobs/news", ["Pause", "Run now"]), ("/map", [re.compile("^Run all items of news now"), "Drain"])],
)
def test_what_cannot_be_done_is_off_while_something_is_away(
    site: Site, window: Window, path: str, controls: list[str | re.Pattern[str]]
) -> None:
    """It is told, and told no more, on pages that nobody loads again; first the registry, then the history."""
    fleet_of(site)
    page = window.page
    window.sign_in(site.user("operator").name, PASSWORD)
    page.goto(path)
    buttons, chip = [page.get_by_role("button", name=name).first for name in controls], page.locator("#live")
    for button in buttons:
        expect(button).not_to_have_attribute("aria-disabled", "true")
    assert site.registry is not None

    site.registry.disconnect()
    expect(page.get_by_role("alert").filter(has_text=REGISTRY)).to_contain_text("Shown as of")
    for button in buttons:
        expect(button).to_have_attribute("aria-disabled", "true")
        expect(button).to_have_attribute("title", re.compile(REGISTRY))
    expect(chip).to_have_attribute("data-state", "reconnecting")
    site.registry.reconnect()
    for button in buttons:
        expect(button).not_to_have_attribute("aria-disabled", "true")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(chip).to_have_attribute("data-state", "live")

    aside = take_away(site)
    expect(page.get_by_role("alert").filter(has_text=HISTORY)).to_contain_text("yours is good for looking on until")
    for button in buttons:
        expect(button).to_have_attribute("title", re.compile(HISTORY))
    expect(chip).to_have_attribute("data-state", "live")
    put_back(site, aside)
    for button in buttons:
        expect(button).not_to_have_attribute("aria-disabled", "true")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_page_of_an_account_needs_no_registry(site: Site, window: Window) -> None:
    """Its controls stay on; what needs the history database alone is off only without it."""
    fleet_of(site)
    page = window.page
    window.sign_in(site.user("operator").name, PASSWORD)
    page.goto("/profile")
    assert site.registry is not None
    site.registry.disconnect()
    expect(page.get_by_role("alert").filter(has_text=REGISTRY)).to_be_visible()
    save = page.locator("main form[method=post] button").first
    expect(save).not_to_have_attribute("aria-disabled", "true")
    take_away(site)
    expect(save).to_have_attribute("title", HISTORY)
    page.get_by_role("button", name=re.compile("^Account of")).click()
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Nobody can sign in at present")
