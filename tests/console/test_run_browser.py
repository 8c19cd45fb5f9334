"""Executions and executors in a real browser: an output that is followed, a run that is found, charts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from shardsched.core.executor import LoadReport
from tests.console.page import Window, served
from tests.console.run_stage import HOSTILE, LONG, RTL, Stage
from tests.console.site import PASSWORD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.console.site import Site


PAGES = (
    "/executions",
    "/executions?job=nobody",
    "/executions/failed",
    "/executions/live",
    "/executors",
    "/executors/crawler-a",
    "/statistics?range=1h",
)

_MISPLACED = """() => [...document.querySelectorAll("#log .line")].map((line) => [Number(line.dataset.no), line.textContent])
  .filter(([number, text], place, all) => text !== `line ${number}` || (place && number !== all[place - 1][0] + 1))"""


@pytest.fixture
def site(make_site: Callable[..., Site], tmp_path: Path) -> Site:
    """A console whose machine has a folder of outputs."""
    return make_site(state_dir=tmp_path / "state")


@pytest.fixture
def stage(site: Site, tmp_path: Path) -> Iterator[Stage]:
    """A fleet with a past that has everything that looks bad."""
    made, state = Stage(site), tmp_path / "state"
    for name in ("crawler-a", HOSTILE, LONG[:128]):
        made.executor(name, is_leader=name == "crawler-a", labels={"region": "eu"})
    for number, outcome in enumerate(("ok", "failed", "timeout", "stopped", "missed", "lost")):
        at = made.now - timedelta(seconds=60 * number + 90)
        made.keep(made.run(outcome=outcome, queued_at=at, job=(HOSTILE, RTL, LONG)[number % 3]))
    failed = made.run(run_id="failed", outcome="failed", traceback="Traceback\n  line", message="It failed", attempt=2)
    lines = b"".join(b"\x1b[31mline\x1b[0m %d of many\n" % number for number in range(1, 9_001))
    made.keep(made.with_log(failed, state, lines), made.with_log(made.running(run_id="live"), state, b"begins\n"))
    for number in range(30):
        report = LoadReport(
            at=made.now - timedelta(seconds=300 - 10 * number), running=number % 4, cpu=0.2, memory_mb=80.0
        )
        site.parts.loads.add({"crawler-a": report})
    made.event("executor_joined", executor="crawler-a", message="joined the fleet")
    yield made
    made.close()


def test_output_is_followed_searched_and_linked_by_line(
    site: Site, stage: Stage, browser: Browser, tmp_path: Path
) -> None:
    """The end grows by itself until the run is over; earlier lines come on demand, and a link leads to a line."""
    user = site.user("operator")
    with served(site.app) as address, Window.open(browser, address) as window:
        page = window.page
        window.sign_in(user.name, PASSWORD)
        page.goto("/executions/live")
        log = page.locator("#log")
        expect(log).to_have_text("begins")
        path = stage.log_path(stage.running(run_id="live"), tmp_path / "state")
        path.write_bytes(b"begins\n<b>more</b> " + b"x" * 3_000 + b"\nen")
        expect(log.locator(".line")).to_have_count(2)
        expect(log.locator("#L2")).to_contain_text("<b>more</b>")
        log.get_by_role("button", name="show the whole line").click()
        expect(log.locator("#L2 button")).to_have_count(0)
        with path.open("ab") as file:
            file.write(b"d")
        stage.keep(stage.run(run_id="live", log_path=str(path)))
        expect(log.locator("#L3")).to_have_text("end")
        expect(page.locator("#run .badge").first).to_have_text("Succeeded")
        expect(page.get_by_label("Follow")).to_be_hidden()

        page.goto("/executions/failed#L42")
        expect(page.locator("#L42.is-marked")).to_have_text("line 42 of many")
        page.goto("/executions/failed")
        first = page.locator("#log .line").first
        number = int(first.get_attribute("data-no") or 0)
        page.get_by_role("button", name="Earlier").click()
        expect(first).not_to_have_attribute("data-no", str(number))
        page.locator("#log-hits").locator("xpath=..").get_by_role("searchbox").fill("LINE 777 ")
        page.locator("#log-hits a[data-line='777']").click()
        expect(page.locator("#L777.is-marked")).to_be_visible()

        page.get_by_role("button", name="Run again…").click()
        page.fill("#rerun [name=items]", "0-1")
        window.expected.add(404)
        page.locator("#rerun").get_by_role("button", name="Run again").click()
        expect(page.locator("h1")).to_have_text("Not found")
    assert window.faults == []


def test_new_runs_wait_until_somebody_wants_them(site: Site, stage: Stage, browser: Browser) -> None:
    """The list does not move under the mouse; a selection survives what changes."""
    user = site.user("operator")
    with served(site.app) as address, Window.open(browser, address) as window:
        page = window.page
        window.sign_in(user.name, PASSWORD)
        page.goto("/executions?job=news")
        page.get_by_role("button", name="Re-run selected").click()
        expect(page.get_by_text("Select runs first.")).to_be_visible()
        expect(page.locator("#confirm")).to_be_hidden()
        page.locator("#run-failed input").check()
        stage.keep(stage.running(run_id="newest", queued_at=stage.now + timedelta(seconds=1)))
        news = page.get_by_role("link", name="1 new, show")
        expect(news).to_be_visible()
        expect(page.locator("#run-failed input")).to_be_checked()
        expect(page.locator("#run-newest")).to_have_count(0)
        news.click()
        expect(page.locator("#run-newest")).to_be_visible()
        page.select_option("[name=outcome]", "bad")
        page.wait_for_url("**outcome=bad**")
        expect(page.locator("#run-failed")).to_be_visible()
        expect(page.locator("#run-newest")).to_have_count(0)
    assert window.faults == []


def test_all_is_seen_at_every_width(site: Site, stage: Stage, browser: Browser) -> None:
    """Long names and full rows fit on a telephone too: nothing has to be scrolled to the side."""
    user = site.user("operator")
    wrong = []
    with served(site.app) as address, Window.open(browser, address) as window:
        window.sign_in(user.name, PASSWORD)
        for path in PAGES:
            window.page.goto(path)
            for width in (1440, 1280, 1024, 390):
                window.page.set_viewport_size({"width": width, "height": 900})
                wrong += [f"{path} at {width}: {line}" for line in window.too_wide()]
    assert wrong == []
    assert window.faults == []


def test_charts_tell_the_reader_s_time_and_paper_is_light(site: Site, stage: Stage, browser: Browser) -> None:
    """Times of charts are of the zone in the profile, not of the machine; what is printed is dark on white."""
    user = site.user("operator")
    site.people.users.update(user.id, {"zone": "Asia/Shanghai", "theme": "dark"})
    stage.keep(stage.run(queued_at=stage.now - timedelta(seconds=120)))
    with served(site.app) as address, Window.open(browser, address) as window:
        page = window.page
        window.sign_in(user.name, PASSWORD)
        page.goto("/overview")
        page.click("#chart-switch")
        last = page.locator("#chart-table tbody td").first
        expect(last).to_have_text(
            f"{stage.now.astimezone(ZoneInfo('Asia/Shanghai')) - timedelta(minutes=1):%Y-%m-%d %H:%M}"
        )
        page.emulate_media(media="print")
        expect(page.locator("h1")).to_have_css("color", "rgb(23, 32, 46)")
        expect(page.locator("#search")).to_be_hidden()
    assert window.faults == []


def test_lines_stay_in_their_order(site: Site, stage: Stage, browser: Browser, tmp_path: Path) -> None:
    """However fast somebody clicks or jumps: what was asked before is not put among the lines shown by now."""
    user = site.user("operator")
    path = stage.log_path(stage.running(run_id="live"), tmp_path / "state")
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(1, 9_001)))
    with served(site.app) as address, Window.open(browser, address) as window:
        page, held = window.page, list[Any]()
        window.sign_in(user.name, PASSWORD)
        page.goto("/executions/live")
        first = page.locator("#log .line").first
        begin = first.get_attribute("data-no") or ""
        page.get_by_role("button", name="Earlier").dblclick()
        expect(first).not_to_have_attribute("data-no", begin)
        assert page.evaluate(_MISPLACED) == []
        page.goto("/executions/live")
        page.route("**/log?after=*", lambda route: route.continue_() if held else held.append(route))
        with page.expect_request("**/log?after=*"), path.open("ab") as file:
            file.write(b"line 9001\n")
        page.evaluate("location.hash = '#L5'")
        expect(page.locator("#L5.is-marked")).to_be_visible()
        with page.expect_response("**/log?after=*"):
            held[0].continue_()
        page.get_by_label("Follow").check()
        expect(page.locator("#L9001")).to_have_text("line 9001")
        assert page.evaluate(_MISPLACED) == []
    assert window.faults == []
