"""The console in a real browser: the first hour of an admin, keys, themes, and what assistive technology meets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from shardsched.people.audit import AuditEntry, Result
from shardsched.people.role import Role
from tests.console.page import Window
from tests.console.site import PASSWORD

if TYPE_CHECKING:
    from tests.console.site import Site

_NEXT_POLL_IS_HELD = """() => new Promise((resolve) =>
  document.addEventListener("htmx:before:request", (event) => resolve(event.defaultPrevented), {once: true}))"""


def test_first_hour_of_an_admin(site: Site, window: Window) -> None:
    """Set up, sign out and in, choose language and theme, make a user and a token."""
    page = window.page
    page.goto("/")
    expect(page).to_have_title("Set up · shardsched")
    page.fill("[name=code]", site.parts.setup_code.text or "")
    page.fill("[name=name]", "li.wei")
    page.fill("[name=password]", PASSWORD)
    page.get_by_role("button", name="Make the admin").click()
    expect(page.get_by_role("status")).to_contain_text("Welcome, li.wei")

    page.get_by_role("button", name="Account of li.wei").click()
    page.get_by_role("button", name="Sign out", exact=True).first.click()
    expect(page).to_have_title("Sign in · shardsched")
    window.sign_in("LI.WEI", PASSWORD)

    page.get_by_role("button", name="Language").click()
    page.get_by_role("button", name="简体中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    page.goto("/profile")
    expect(page.locator("h1")).to_have_text("个人资料")
    page.select_option("select[name=language]", "en")
    page.select_option("select[name=theme]", "dark")
    page.fill("[name=zone]", "Asia/Shanghai")
    page.get_by_role("button", name="保存").click()
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    expect(page.locator("h1")).to_have_text("Profile")

    page.keyboard.press("g")
    page.keyboard.press("u")
    page.get_by_role("link", name="New user").click()
    page.fill("[name=name]", "ann")
    page.get_by_label("Operator").check()
    page.fill("[name=password]", PASSWORD)
    page.get_by_role("button", name="Make the user").click()
    expect(page.get_by_role("status")).to_contain_text("ann can sign in now.")

    page.goto("/profile")
    page.fill(".filters [name=name]", "ci")
    page.get_by_role("button", name="Make a token").click()
    expect(page.locator("#secret")).to_have_text(re.compile(r"sck_[0-9a-f]{8}_[\w-]{43}"))


def test_deletion_asks_for_the_name(site: Site, window: Window) -> None:
    """The button to go on works only once the name is typed."""
    page = window.page
    user = site.user("viewer")
    window.sign_in(site.user("admin").name, PASSWORD)
    page.goto(f"/users/{user.id}")
    page.get_by_role("button", name="Delete the user").click()
    dialog = page.get_by_role("dialog")
    agree = dialog.get_by_role("button", name="Delete the user")
    expect(agree).to_be_disabled()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Delete the user").click()
    dialog.get_by_role("textbox").fill(user.name)
    agree.click()
    expect(page.get_by_role("status")).to_contain_text(f"{user.name} is deleted.")
    assert site.people.users.named(user.name) is None


def test_keys_move_and_search(site: Site, window: Window) -> None:
    """Rows by j and k, the search by /, the list of keys by ?; nothing while somebody types."""
    page = window.page
    for name in ("ann", "bob"):
        site.people.users.create(name, Role.VIEWER, "-")
    window.sign_in(site.user("admin").name, PASSWORD)
    page.goto("/users")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("tr.is-current")).to_contain_text("ann")
    expect(page.locator(":focus")).to_have_text("ann")
    page.keyboard.press("k")
    expect(page.locator("tr.is-current")).to_contain_text("admin-person")
    page.keyboard.press("/")
    page.keyboard.type("audit?")
    expect(page.locator("#search")).to_have_value("audit?")
    expect(page.locator("#search-hits")).to_contain_text("No page, job or executor has that in its name")
    page.fill("#search", "aud")
    page.locator("#search-hits a").first.click()
    expect(page).to_have_title("Audit log · shardsched")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Next and previous row")
    page.keyboard.press("Escape")


def test_live_part_shows_what_happens_and_can_be_held(site: Site, window: Window) -> None:
    """New entries come by themselves; paused, nothing moves; a typed filter survives."""
    page = window.page
    window.sign_in(site.user("admin").name, PASSWORD)
    page.goto("/audit")
    page.locator("[name=actor]").press_sequentially("robot")
    site.people.audit.begin(AuditEntry(actor="robot", action="user.create", object="first", result=Result.DONE))
    expect(page.locator("#entries")).to_contain_text("first", timeout=10_000)
    expect(page.locator("[name=actor]")).to_have_value("robot")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("actor=robot"))
    page.locator("#live").click()
    expect(page.locator("#live")).to_have_text("Paused")
    site.people.audit.begin(AuditEntry(actor="robot", action="user.create", object="second", result=Result.DONE))
    assert page.evaluate(_NEXT_POLL_IS_HELD)
    expect(page.locator("#entries")).not_to_contain_text("second")
    page.locator("#live").click()
    expect(page.locator("#entries")).to_contain_text("second", timeout=10_000)


def test_page_is_light(site: Site, window: Window) -> None:
    """A first visit fetches at most 200 KB, a repeated one hardly anything."""
    page = window.page
    window.sign_in(site.user("admin").name, PASSWORD)
    sizes = "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
    total = f"{sizes}.reduce((sum, entry) => sum + entry.transferSize, 0)"
    fresh = window.page.context.browser
    assert fresh is not None
    page.goto("/users")
    again = page.evaluate(total)
    assert again < 15_000
    with Window.open(fresh, window.address) as other:
        other.page.goto("/login")
        assert 50_000 < other.page.evaluate(total) < 200_000
