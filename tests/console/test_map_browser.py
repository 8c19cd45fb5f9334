"""The shard map and the overview in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from flask import g
from playwright.sync_api import expect

from console.run_text import percent_text
from shardsched.core.fire import ItemState
from tests.console.site import PASSWORD
from tests.console.troupe import Troupe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.console.page import Window
    from tests.console.site import Site


@pytest.fixture
def troupe(site: Site) -> Iterator[Troupe]:
    """Two executors and some jobs, one of which has failed, one that nobody owns."""
    made = Troupe(site)
    made.assemble()
    made.job("news", {"crawler-a": (0, 2), "crawler-b": (1, 3)}, items=4)
    made.job("shop", {"crawler-a": (0,), "crawler-b": (1,)}, items=2, cron="*/10 * * * *")
    made.job("alone", {"nobody": (0,)})
    made.write_cursor("shop", 1, state=ItemState.FAILED, message="HTTP 503")
    made.claim("news", 1, "crawler-b")
    yield made
    made.close()


def test_map_is_walked_by_keys_and_watched_while_an_executor_leaves(site: Site, troupe: Troupe, window: Window) -> None:
    """Cells follow the fleet; the drawer opens and closes by keys, acts, and gives the focus back."""
    page = window.page
    window.sign_in(site.user("operator").name, PASSWORD)
    page.goto("/map")
    cell = page.get_by_role("gridcell", name="news item 1: Running, owner 2 crawler-b")
    expect(cell).to_have_class(re.compile("s-running"))
    page.get_by_role("gridcell", name=re.compile("^alone item 0: Unowned")).focus()
    for key in ("ArrowDown", "ArrowRight", "End", "Home", "ArrowRight"):
        page.keyboard.press(key)
    expect(cell).to_be_focused()
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text("attempt 1")
    drawer.get_by_role("button", name="Disable item").click()
    expect(page.get_by_role("status")).to_contain_text("Item 1 of news is disabled.")
    expect(drawer.get_by_role("button", name="Enable item")).to_be_visible()
    page.keyboard.press("Escape")
    expect(cell).to_be_focused()
    assert troupe.config("news").disabled_items == (1,)

    page.get_by_role("button", name="crawler-a", exact=False).first.click()
    expect(cell).to_have_class(re.compile("is-dim"))
    expect(page).to_have_url(re.compile("owner=1"))
    page.get_by_role("button", name="crawler-a", exact=False).first.click()

    troupe.leave("crawler-b")
    troupe.assign("news", {"crawler-a": (0, 1, 2, 3)})
    troupe.assign("shop", {"crawler-a": (0, 1)})
    moved = page.get_by_role("gridcell", name=re.compile("^news item 3: Waiting, owner 1 crawler-a"))
    expect(moved).to_have_class(re.compile("is-moved"))
    expect(page.locator("#exec-2")).to_contain_text("offline")


SHARES = (0.0, 0.004, 0.1234, 0.5, 0.899, 0.9, 0.98765, 0.99, 0.9901, 0.9987, 0.99994, 0.999999, 1.0)


@pytest.mark.usefixtures("troupe")
def test_map_says_shares_as_the_server_does(site: Site, window: Window) -> None:
    """The success rate of a job is the same on the map as in the list and in the statistics."""
    with site.app.test_request_context():
        g.actor = None
        expected = [percent_text(share) for share in SHARES]
    window.sign_in(site.user("viewer").name, PASSWORD)
    window.page.goto("/map")
    said = window.page.evaluate(
        """async (shares) => {
          const place = performance.getEntriesByType("resource").find((one) => one.name.includes("map_state"));
          const { percent } = await import(place.name);
          return shares.map(percent);
        }""",
        SHARES,
    )
    assert said == expected


def test_filters_choose_the_jobs_and_stay_in_the_address(site: Site, troupe: Troupe, window: Window) -> None:
    """By text, by problems, by state; what matches nothing says so; colour by executor."""
    page = window.page
    window.sign_in(site.user("viewer").name, PASSWORD)
    page.goto("/map")
    names = page.locator(".map-body .map-job a")
    expect(names).to_have_text(["alone", "news", "shop"])
    page.get_by_label("Problems only").check()
    expect(names).to_have_text(["alone", "shop"])
    page.get_by_role("button", name="Failed").click()
    expect(names).to_have_text(["shop"])
    page.reload()
    expect(names).to_have_text(["shop"])
    page.get_by_label("Filter jobs").fill("nothing")
    expect(page.get_by_text("No job matches")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(names).to_have_count(3)
    page.get_by_text("Executor", exact=True).click()
    expect(page.locator("#map")).to_have_class(re.compile("by-owner"))
    run = page.get_by_role("button", name="Run all items of news now: Needs the role Operator")
    expect(run).to_have_attribute("aria-disabled", "true")
    troupe.job("wide", {"crawler-a": tuple(range(60))}, items=60)
    page.reload()
    rows = page.locator(".map-body .map-row")
    expect(rows.filter(has_text="wide")).to_have_class(re.compile("is-dense"))
    expect(rows.filter(has_text="news")).not_to_have_class(re.compile("is-dense"))
    expect(page.get_by_role("gridcell", name=re.compile("^news item 1: "))).to_have_text("2")
    page.goto("/overview")
    expect(page.get_by_text("HTTP 503")).to_be_visible()
    page.get_by_role("button", name="Show as table").click()
    expect(page.locator("#chart-table td").first).to_be_visible()


def test_next_visit_asks_for_what_has_changed(site: Site, troupe: Troupe, window: Window) -> None:
    """Of a large fleet, whose state is not in the page; what was kept goes when nobody is signed in."""
    for number in range(201):
        troupe.job(f"job-{number}", {"crawler-a": (0,)})
    page, asked = window.page, list[str]()
    page.on("request", lambda request: asked.append(request.url) if "/live" in request.url else None)
    window.sign_in(site.user("viewer").name, PASSWORD)
    page.goto("/map")
    expect(page.get_by_text("204 of 204 jobs")).to_be_visible()
    page.goto("/profile")
    troupe.admin.jobs.pause("alone")
    asked.clear()
    with page.expect_response(lambda answer: "/live" in answer.url) as first:
        page.goto("/map")
    change = first.value.json()
    assert asked[0].partition("since=")[2]
    assert not change["full"]
    assert len(change["jobs"]) < 5
    expect(page.get_by_text("204 of 204 jobs")).to_be_visible()
    expect(page.locator(".map-body .is-paused")).to_have_count(1)
    expect(page.locator(".map-body .is-moved")).to_have_count(0)
    page.context.clear_cookies()
    page.goto("/login")
    assert page.evaluate("sessionStorage.length") == 0
