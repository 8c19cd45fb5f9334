"""Questions before dangerous things: whoever agrees, agrees to what was asked, whatever the page became meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from shardsched.core.fire import ItemState
from shardsched.registry.base import Delete
from tests.console.crew import Crew
from tests.console.site import PASSWORD

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.console.page import Window
    from tests.console.site import Site

CHANGED = "What was asked about has changed meanwhile; nothing was done."


@pytest.fixture
def crew(site: Site) -> Crew:
    """Two executors, one of which runs an item of each of two jobs."""
    made = Crew(site)
    made.assemble()
    for name in ("books", "news"):
        made.claim(name, 0, "crawler-a")
    made.show()
    return made


@pytest.fixture
def page(site: Site, crew: Crew, window: Window) -> Page:
    """A window of an operator."""
    assert crew.admin.jobs.names() == ("books", "news")
    window.sign_in(site.user("operator").name, PASSWORD)
    return window.page


def agree(page: Page) -> None:
    """Agree to what is asked."""
    page.locator("#confirm [data-agree]").click()


def stops(crew: Crew, job: str) -> bool:
    """Whether somebody asked that a job is stopped."""
    path = crew.paths.commands(job)
    return crew.registry.get(path, fresh=True) is not None and crew.commands(job).stop > 0


def stop_button(page: Page, job: str) -> Locator:
    """Return the button that stops a job, in its row."""
    return page.locator("#jobs").get_by_role("button", name=f"Stop {job}", exact=True)


def test_agreement_holds_for_the_job_that_was_asked_about(crew: Crew, page: Page) -> None:
    """Its row goes away beneath the question, and another takes its place: that one is not stopped instead."""
    page.goto("/jobs?state=running")
    stop_button(page, "books").click()
    expect(page.locator("#confirm")).to_contain_text("Stop what runs of books?")
    expect(page.locator("#confirm [data-agree]")).to_have_text("Stop books")
    crew.change_cursor("books", 0, state=ItemState.DONE, ended_at=crew.clock.now())
    crew.actors["crawler-a"].registry.transact([Delete(crew.paths.marker("books", 0))])
    crew.show()
    expect(page.locator("#jobs tbody tr")).to_have_count(1)
    agree(page)
    expect(page.locator("#toasts")).to_contain_text(CHANGED)
    assert not stops(crew, "books")
    assert not stops(crew, "news")


def test_agreement_to_what_cannot_be_done_any_more_is_not_kept(crew: Crew, page: Page) -> None:
    """The next dangerous thing is asked about like the first."""
    page.goto("/jobs")
    stop_button(page, "books").click()
    stop_button(page, "books").evaluate("button => button.setAttribute('aria-disabled', 'true')")
    agree(page)
    expect(page.locator("#toasts")).to_contain_text(CHANGED)
    stop_button(page, "news").click()
    expect(page.locator("#confirm")).to_contain_text("Stop what runs of news?")
    assert not stops(crew, "news")
    agree(page)
    expect(page.locator("#toasts")).to_contain_text("1 item of news is being stopped")
    assert stops(crew, "news")
    assert not stops(crew, "books")


def test_executor_is_failed_over_and_forgotten_from_the_list(crew: Crew, page: Page) -> None:
    """Its menu sends a form that stands outside of the list; to forget it, its name must be typed."""
    page.goto("/executors")
    page.get_by_role("button", name="Actions of crawler-a").click()
    page.locator("#a1").get_by_role("button", name="Fail over now").click()
    expect(page.locator("#confirm")).to_contain_text(
        "Stop the 2 items that crawler-a runs, and have others run them now?"
    )
    agree(page)
    expect(page.locator("#toasts")).to_contain_text("crawler-a is failed over")
    crew.leave("crawler-a")
    crew.show()
    page.goto("/executors")
    page.get_by_role("button", name="Actions of crawler-a").click()
    page.locator(".menu-acts:popover-open").get_by_role("button", name="Forget").click()
    button, typed = page.locator("#confirm [data-agree]"), page.locator("#confirm input")
    expect(button).to_be_disabled()
    typed.fill("crawler-b")
    expect(button).to_be_disabled()
    typed.fill("crawler-a")
    agree(page)
    expect(page.locator("#toasts")).to_contain_text("crawler-a is forgotten")
    assert crew.registry.get(crew.paths.drained("crawler-a"), fresh=True) is None


def test_executor_that_was_asked_about_is_meant(crew: Crew, page: Page) -> None:
    """Another takes its number, and so its card, beneath the question: it is not drained instead."""
    path = crew.paths.executor("by hand")
    crew.create(path, b"{}")
    crew.show()
    page.goto("/map")
    card = page.locator(".exec", has_text="by hand")
    number = card.get_attribute("id")
    card.get_by_role("button", name="Drain", exact=True).click()
    expect(page.locator("#confirm")).to_contain_text("Take all items away from by hand?")
    crew.join("crawler-c")
    crew.registry.transact([Delete(path)])
    crew.show()
    expect(page.locator(f"#{number}")).to_contain_text("crawler-c")
    page.locator("#confirm [data-agree]").click()
    expect(page.locator("#toasts")).to_contain_text(CHANGED)
    assert crew.registry.get(crew.paths.drained("crawler-c"), fresh=True) is None
