"""Jobs in a real browser: from an empty list to a job that ran, two people at once, many at once, and keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from shardsched.core.fire import ItemState
from tests.console.crew import Crew
from tests.console.site import PASSWORD
from tests.history.stage import make_end, run_record, store

if TYPE_CHECKING:
    from tests.console.page import Window
    from tests.console.site import Site

LONG = "a-name-that-somebody-let-a-script-make-from-an-address-shop.example.org." + "x" * 56


@pytest.fixture
def crew(site: Site) -> Crew:
    """A fleet with jobs in all states."""
    crew = Crew(site)
    crew.join("crawler-a")
    crew.lead("crawler-a")
    crew.job("books", {"crawler-a": (0, 1)}, items=2, item_params={0: "<b>fiction</b>"}, description="All shelves")
    crew.job("news", {"crawler-a": (0,)})
    crew.job("asleep", {"crawler-a": (0,)}, paused=True)
    crew.job(LONG, {}, handler="@http", task={"url": "https://shop.example/{item}"}, items=30)
    crew.write_cursor("books", 1, state=ItemState.FAILED, message="RuntimeError: 503")
    crew.claim("news", 0, "crawler-a")
    runs = [make_end(number, job="books", item=number % 2, fire=site.clock.now()) for number in range(4)]
    store(site.history.database, [run_record(run) for run in runs])
    crew.show()
    return crew


def test_job_is_made_run_and_changed(site: Site, crew: Crew, window: Window) -> None:
    """Faults are found while typing and when sending; leaving with edits asks; what is done is told."""
    page = window.page
    window.expected.add(422)
    window.sign_in(site.user("operator").name, PASSWORD)
    page.goto("/jobs")
    page.get_by_role("link", name="New job").click()
    page.fill("[name=name]", "shop")
    page.get_by_label("HTTP request").check()
    expect(page.locator("[name=handler]")).to_be_hidden()
    page.fill("[name=task_http_url]", "ftp://shop.example")
    page.fill("[name=cron]", "99 * * * *")
    expect(page.locator("#preview")).to_contain_text("minute")
    page.fill("[name=cron]", "30 6 * * 1-5")
    expect(page.locator("#preview")).to_contain_text("At 06:30, Monday through Friday")
    expect(page.locator("#preview li")).to_have_count(5)
    page.fill("[name=items]", "3")
    page.get_by_role("button", name="A row for every item").click()
    expect(page.locator("#param-rows tr")).to_have_count(3)
    page.locator("[name=param_value]").nth(1).fill("science")
    page.get_by_role("button", name="Create the job").click()
    expect(page.locator("#faults")).to_be_focused()
    expect(page.locator("#faults li")).to_contain_text("Address: ")
    page.locator("#faults a").click()
    page.fill("[name=task_http_url]", "https://shop.example/{item}")
    page.get_by_role("button", name="Create the job").click()
    expect(page).to_have_title("shop · Jobs · shardsched")
    expect(page.get_by_role("status")).to_contain_text("shop is made.")
    assert crew.config("shop").item_params == {1: "science"}

    page.goto("/jobs/books/edit")
    page.fill("[name=description]", "Some shelves")
    with page.expect_event("dialog") as asked:
        page.once("dialog", lambda dialog: dialog.dismiss())
        page.get_by_role("link", name="Revisions").click(no_wait_after=True)
    assert asked.value.type == "beforeunload"
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("books is changed: description")

    page.get_by_role("button", name="Run…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Items").fill("1")
    dialog.get_by_role("button", name="Run now").click()
    expect(page.get_by_role("status")).to_contain_text("books is triggered: 1 → crawler-a")
    assert crew.commands("books").triggers[0].only == (1,)


def test_page_follows_what_happens(site: Site, crew: Crew, window: Window) -> None:
    """A run that begins and ends is seen without a hand being moved; the menu stays open meanwhile."""
    page = window.page
    window.sign_in(site.user("operator").name, PASSWORD)
    page.goto("/jobs/books")
    row = page.locator(".items tbody tr").nth(1)
    expect(row).to_contain_text("Failed")
    expect(page.locator(".run-grid .item-ok")).to_have_count(2)
    crew.write_cursor("books", 1, state=ItemState.DONE)
    crew.show()
    expect(row).to_contain_text("Done")
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("books fires again.")
    assert not crew.config("books").paused


def test_many_are_chosen_and_undone(site: Site, crew: Crew, window: Window) -> None:
    """The choice outlives the polling; all that match are offered; undo brings them back."""
    page = window.page
    page.set_default_timeout(45_000)
    for number in range(52):
        crew.job(f"page-{number:02}", {"crawler-a": (0,)})
    crew.show()
    window.sign_in(site.user("operator").name, PASSWORD)
    page.goto("/jobs?q=page-")
    page.get_by_label("Select page-03").check()
    with page.expect_response(lambda answer: answer.url.endswith("/jobs?q=page-")):
        crew.write_cursor("page-03", 0, state=ItemState.FAILED)
        crew.show()
    expect(page.locator(".jobs .item-failed")).to_have_count(1)
    expect(page.get_by_label("Select page-03")).to_be_checked()
    expect(page.locator("#bulk-count")).to_have_text("1 selected")
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Select all 52 that match").click()
    expect(page.locator("#bulk-count")).to_have_text("All 52 that match are selected")
    page.locator("#bulk").get_by_role("button", name="Pause").click()
    toast = page.get_by_role("status")
    expect(toast).to_contain_text("52 jobs are paused.")
    assert all(crew.config(f"page-{number:02}").paused for number in range(52))
    toast.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("52 jobs fire again.")
    assert not crew.config("page-51").paused


def test_two_people_merge(site: Site, crew: Crew, window: Window) -> None:
    """The second one sees both versions, must choose where both changed the same, and overwrites nothing."""
    page = window.page
    window.expected.add(412)
    window.sign_in(site.user("operator").name, PASSWORD)
    page.goto("/jobs/books/edit")
    crew.admin.jobs.update("books", {"description": "theirs", "retries": 4})
    page.fill("[name=description]", "mine")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Two changes of books")
    expect(page.get_by_label("retries: take theirs")).to_be_checked()
    page.get_by_role("button", name="Save what is chosen").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Two changes of books")
    page.get_by_label("description: keep mine").check()
    assert window.axe() == []
    page.get_by_role("button", name="Save what is chosen").click()
    expect(page.get_by_role("status")).to_contain_text("books is changed: description")
    config = crew.config("books")
    assert (config.description, config.retries) == ("mine", 4)


@pytest.mark.usefixtures("crew")
def test_keys_choose_and_open(site: Site, window: Window) -> None:
    """Rows by j, x chooses, Enter opens."""
    page = window.page
    window.sign_in(site.user("operator").name, PASSWORD)
    page.goto("/jobs")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#bulk-count")).to_have_text("1 selected")
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile(" · Jobs · shardsched"))
