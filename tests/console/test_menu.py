"""The buttons of rows are kept as they were made: each reader still sees their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from console.locale import LANGUAGE_COOKIE
from tests.console.crew import Crew

if TYPE_CHECKING:
    from flask.testing import FlaskClient

    from tests.console.site import Site


@pytest.fixture
def crew(site: Site) -> Crew:
    """Two executors and a job."""
    made = Crew(site)
    made.join("crawler-a")
    made.join("crawler-b")
    made.job("news", {"crawler-a": (0,), "crawler-b": (1,)}, items=2)
    made.show()
    return made


def buttons(browser: FlaskClient, path: str) -> dict[str, str]:
    """Return, by where they send to, why each button of the rows cannot be used; empty where it can."""
    found = re.findall(r'<button [^>]*form="row"[^>]*>', browser.get(path).text)
    told = {}
    for button in found:
        address, title = re.search(r'formaction="([^"]+)"', button), re.search(r'title="([^"]+)"', button)
        assert address
        told[address[1]] = title[1] if title and "aria-disabled" in button else ""
    return told


def test_buttons_are_those_of_whoever_looks(site: Site, crew: Crew) -> None:
    """By role and language, asked for in turn; and they follow what becomes of the executor and the job."""
    operator, viewer, reader = site.client("operator"), site.client("viewer"), site.client("operator", "wang")
    reader.set_cookie(LANGUAGE_COOKIE, "zh_Hans")
    for _ in range(2):
        mine = buttons(operator, "/executors")
        assert len(mine) == 8
        assert mine["/executors/crawler-a/drain"] == mine["/executors/crawler-b/failover"] == ""
        assert mine["/executors/crawler-a/undrain"] == "It is not drained."
        assert set(buttons(viewer, "/executors").values()) == {"Needs the role Operator"}
        assert buttons(reader, "/executors")["/executors/crawler-a/undrain"] not in {"", "It is not drained."}
        assert buttons(operator, "/jobs") == {
            "/jobs/news/trigger": "",
            "/jobs/news/pause": "",
            "/jobs/news/stop": "Nothing of it runs",
        }
        assert set(buttons(viewer, "/jobs").values()) == {"Needs the role Operator"}
        assert "立即运行 news" in reader.get("/jobs").text
    # Nothing is barred now, so no reason in the reader's language tells the buttons apart.
    crew.claim("news", 0, "crawler-a")
    crew.show()
    assert set(buttons(operator, "/jobs").values()) == {""}
    for browser, text in ((operator, "Run news now"), (reader, "立即运行 news"), (operator, "Run news now")):
        assert f'aria-label="{text}"' in browser.get("/jobs").text
    crew.admin.executors.drain("crawler-a")
    crew.admin.jobs.pause("news")
    crew.show()
    assert buttons(operator, "/executors")["/executors/crawler-a/undrain"] == ""
    assert buttons(operator, "/executors")["/executors/crawler-b/undrain"] == "It is not drained."
    assert "/jobs/news/resume" in buttons(operator, "/jobs")
