"""Times such as "3 minutes ago": the browser keeps them true, and says them as the server does."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from flask import g
from playwright.sync_api import expect

from console.locale import LANGUAGE_COOKIE, ago_text
from tests.console.run_stage import Stage
from tests.console.site import PASSWORD

if TYPE_CHECKING:
    from tests.console.page import Window
    from tests.console.site import Site

_UNITS = (1, 60, 3600, 86_400, 604_800, 2_592_000, 31_536_000)
SPANS = sorted(
    {
        sign * seconds
        for unit in _UNITS
        for share in (1, 1.19, 1.2, 1.49, 1.5, 2, 2.5, 5)
        for seconds in (int(unit * share) - 1, int(unit * share), int(unit * share) + 1)
        for sign in (1, -1)
    }
)
"""Seconds about every place where the words change."""


@pytest.mark.parametrize("language", ["en", "zh_Hans"])
def test_browser_and_server_use_the_same_words(site: Site, window: Window, language: str) -> None:
    """For each span of time, past and to come; so no text jumps when a part is sent anew."""
    site.user("viewer")
    with site.app.test_request_context(headers={"Cookie": f"{LANGUAGE_COOKIE}={language}"}):
        g.actor = None
        now = site.clock.now()
        expected = [ago_text(now + timedelta(seconds=seconds)) for seconds in SPANS]
    cookie = {"name": LANGUAGE_COOKIE, "value": language, "url": window.address}
    window.page.context.add_cookies([cookie])  # type: ignore[list-item]
    window.page.goto("/login")
    said = window.page.evaluate("(spans) => spans.map((seconds) => window.shell.ago(seconds))", SPANS)
    assert dict(zip(SPANS, said, strict=True)) == dict(zip(SPANS, expected, strict=True))


def test_texts_go_on_by_the_clock_of_the_server(site: Site, window: Window) -> None:
    """Though that of the browser is years away; and though nothing is sent, as nothing changes."""
    stage = Stage(site)
    stage.executor("crawler-a", started_at=stage.now - timedelta(minutes=5))
    stage.keep(stage.run(run_id="old", queued_at=stage.now - timedelta(hours=2)))
    page = window.page
    window.sign_in(site.user("viewer").name, PASSWORD)
    page.goto("/executors")
    since = page.locator("td time")
    expect(since).to_have_text("5 minutes ago")
    server_ms = page.evaluate("window.shell.now()")
    assert abs(server_ms / 1000 - site.clock.now().timestamp()) < 60
    since.evaluate("(time) => { time.dateTime = new Date(window.shell.now() - 3 * 3600e3).toISOString(); }")
    expect(since).to_have_text("3 hours ago")
    page.goto("/executions")
    exact = page.locator("#runs time").first
    exact.evaluate("(time) => { time.dateTime = new Date(window.shell.now() + 120e3).toISOString(); }")
    expect(exact).to_have_attribute("title", "in 2 minutes · Europe/Berlin")
    stage.close()
