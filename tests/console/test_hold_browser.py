"""What somebody has open, typed, chosen or begun stays theirs while parts of the page are sent anew."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from shardsched.core.fire import ItemState
from shardsched.people.audit import AuditEntry, Result
from tests.console.crew import Crew
from tests.console.site import PASSWORD

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from tests.console.page import Window
    from tests.console.site import Site


@pytest.fixture
def crew(site: Site) -> Crew:
    """Two executors with two jobs."""
    made = Crew(site)
    made.assemble()
    made.show()
    return made


@pytest.fixture
def page(site: Site, crew: Crew, window: Window) -> Page:
    """A window of an admin."""
    assert crew.admin.jobs.names() == ("books", "news")
    window.sign_in(site.user("admin").name, PASSWORD)
    return window.page


def hold(page: Page, pattern: str) -> list[Route]:
    """Keep the first request of a kind from the server; return it when it has come."""
    held: list[Route] = []
    page.route(pattern, lambda route: route.continue_() if held else held.append(route))
    return held


def test_second_click_while_the_first_is_under_way_does_nothing(crew: Crew, page: Page) -> None:
    """A job runs once; and again when somebody means it, on a page that has the first in it."""
    page.goto("/jobs/books")
    held, asked = hold(page, "**/trigger"), list[str]()
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    button = page.get_by_role("button", name="Run now", exact=True).first
    box = button.bounding_box()
    assert box
    with page.expect_request("**/trigger"):
        page.mouse.click(box["x"] + 5, box["y"] + 5)
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    held[0].continue_()
    expect(page.get_by_role("status")).to_contain_text("books is triggered")
    assert len(asked) == len(crew.commands("books").triggers) == 1
    button.click()
    expect(page.get_by_role("status")).to_contain_text("books is triggered")
    assert len(asked) == len(crew.commands("books").triggers) == 2


def test_current_row_stays_the_current_one(site: Site, crew: Crew, page: Page) -> None:
    """The keys go on from it, and the focus stays in it; where it has gone, from its place."""
    page.goto("/jobs")
    page.keyboard.press("j")
    page.keyboard.press("j")
    crew.job("dawn", {"crawler-a": (0,)})
    crew.write_cursor("news", 0, state=ItemState.FAILED)
    crew.show()
    expect(page.locator("#jobs tbody tr")).to_have_count(3)
    expect(page.locator("#jobs .item-failed")).to_have_count(1)
    expect(page.locator("tr.is-current")).to_contain_text("news")
    page.keyboard.press("x")
    expect(page.get_by_label("Select news")).to_be_checked()
    page.keyboard.press("k")
    expect(page.locator("tr.is-current")).to_contain_text("dawn")
    crew.admin.jobs.delete("dawn", wait_s=0.0)
    crew.show()
    expect(page.locator("#jobs tbody tr")).to_have_count(2)
    page.keyboard.press("j")
    expect(page.locator("tr.is-current")).to_contain_text("news")

    site.people.audit.begin(AuditEntry(actor="robot", action="user.create", object="first", result=Result.DONE))
    page.goto("/audit")
    page.keyboard.press("j")
    expect(page.locator("tr.is-current")).to_contain_text("first")
    site.people.audit.begin(AuditEntry(actor="robot", action="user.create", object="second", result=Result.DONE))
    expect(page.locator("#entries")).to_contain_text("second")
    expect(page.locator("tr.is-current")).to_contain_text("first")
    assert page.locator(":focus").evaluate("link => link.closest('tr').textContent.includes('first')")


def test_what_was_unfolded_stays_so(crew: Crew, page: Page) -> None:
    """On the page of an executor, whose figures change all the time."""
    page.goto("/executors/crawler-a")
    page.locator("details summary").first.click()
    expect(page.locator("details[open]")).to_have_count(1)
    crew.admin.executors.drain("crawler-a")
    crew.show()
    expect(page.locator("#executor")).to_contain_text("Drained")
    expect(page.locator("details[open]")).to_have_count(1)


@pytest.mark.parametrize("path", ["/jobs/books", "/users"])
def test_whoever_is_signed_out_comes_back_to_the_page(site: Site, window: Window, page: Page, path: str) -> None:
    """Not to a part of it, which is what was refused."""
    window.expected.add(401)
    page.goto(path)
    title = page.title()
    page.context.clear_cookies()
    expect(page).to_have_url(re.compile("/login"))
    page.fill("[name=name]", site.user("admin").name)
    page.fill("[name=password]", PASSWORD)
    page.click("button.btn-primary")
    expect(page).to_have_title(title)
    expect(page).to_have_url(re.compile(f"{path}$"))


def test_what_was_typed_last_is_what_is_looked_for(page: Page) -> None:
    """Also while the server is slow with what was typed before."""
    page.goto("/jobs")
    held = hold(page, "**/search?*")
    for text in ("b", "bo", "news"):
        with page.expect_request(lambda request, text=text: request.url.endswith(f"?q={text}")):  # type: ignore[misc]
            page.fill("#search", text)
    held[0].continue_()
    expect(page.locator("#search-hits")).to_contain_text("news")
