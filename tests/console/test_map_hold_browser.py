"""The shard map while jobs come and go: the focus, the drawer and what is asked stay with what they were about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.console.site import PASSWORD
from tests.console.troupe import Troupe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Locator, Page, Route

    from tests.console.page import Window
    from tests.console.site import Site


@pytest.fixture
def troupe(site: Site) -> Iterator[Troupe]:
    """Two executors and three jobs."""
    made = Troupe(site)
    made.assemble()
    for name in ("books", "news", "shop"):
        made.job(name, {"crawler-a": (0, 1)}, items=2)
    yield made
    made.close()


@pytest.fixture
def page(site: Site, troupe: Troupe, window: Window) -> Page:
    """The map, as an operator has it."""
    assert troupe.admin.jobs.names() == ("books", "news", "shop")
    window.sign_in(site.user("operator").name, PASSWORD)
    window.page.goto("/map")
    return window.page


def cell(page: Page, job: str, item: int) -> Locator:
    """Return an item of a job."""
    return page.get_by_role("gridcell", name=re.compile(f"^{job} item {item}: "))


def hold(page: Page, pattern: str) -> list[Route]:
    """Keep the first request of a kind from the server; return it when it has come."""
    held: list[Route] = []
    page.route(pattern, lambda route: route.continue_() if held else held.append(route))
    return held


def test_focus_stays_with_its_item(troupe: Troupe, page: Page) -> None:
    """While a job is made above it, and while it is out of sight: no other item is opened instead."""
    cell(page, "news", 0).focus()
    page.keyboard.press("ArrowRight")
    troupe.job("dawn", {"crawler-a": (0,)})
    expect(page.locator(".map-body .map-job a")).to_have_count(4)
    expect(cell(page, "news", 1)).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name="Run all items of news now")).to_be_focused()
    for number in range(60):
        troupe.job(f"job-{number:02}", {"crawler-a": (0,)})
    expect(page.locator(".map-count")).to_have_text("64 of 64 jobs")
    expect(page.get_by_role("button", name="Run all items of news now")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(cell(page, "news", 1)).to_be_focused()
    page.locator(".map-box").evaluate("box => { box.scrollTop = box.scrollHeight; }")
    expect(cell(page, "news", 1)).to_have_count(0)
    expect(page.locator(".map-box")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#item")).to_be_hidden()
    page.keyboard.press("ArrowLeft")
    expect(cell(page, "news", 0)).to_be_focused()


@pytest.mark.usefixtures("troupe")
def test_drawer_shows_the_item_that_was_opened_last(page: Page) -> None:
    """The answer to what was asked of the one before comes later, and is not shown as this one's."""
    held = hold(page, "**/map/item?*")
    with page.expect_request("**/map/item?job=news&item=0"):
        cell(page, "news", 0).click()
    page.keyboard.press("Escape")
    with page.expect_request("**/map/item?job=shop&item=1"):
        cell(page, "shop", 1).click()
    expect(page.locator("#item-body [name=job]").first).to_have_value("shop")
    held[0].continue_()
    expect(page.locator("#item-body [name=job]").first).to_have_value("shop")


@pytest.mark.usefixtures("troupe")
def test_what_fails_again_is_told_once(window: Window, page: Page) -> None:
    """The drawer looks every two seconds, and what failed is told until somebody takes it away."""
    window.expected.add(503)
    page.route("**/map/item?*", lambda route: route.fulfill(status=503, body='{"detail": "Not now."}'))
    cell(page, "news", 0).click()
    expect(page.locator("#toasts")).to_contain_text("Not now.")
    for _ in range(2):
        page.wait_for_event("response", lambda answer: "/map/item" in answer.url)
    expect(page.locator(".toast-item")).to_have_count(1)


def test_all_that_is_clicked_is_done(troupe: Troupe, page: Page) -> None:
    """Jobs that are paused one after the other while the server is slow; each once, however often it is clicked."""
    held = hold(page, "**/map/pause")
    with page.expect_request("**/map/pause"):
        page.get_by_role("button", name="Pause books").dblclick()
    page.get_by_role("button", name="Pause news").click()
    page.get_by_role("button", name="Pause shop").click()
    held[0].continue_()
    for name in ("books", "news", "shop"):
        expect(page.locator("#toasts")).to_contain_text(f"{name} is paused.")
    expect(page.locator(".toast-item")).to_have_count(3)
    assert all(troupe.config(name).paused for name in ("books", "news", "shop"))
