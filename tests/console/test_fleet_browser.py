"""The console in a real browser, before a fleet of real processes: from the setup code to the console's own end."""

from __future__ import annotations

import re
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from shardsched.demo.console import door, free_port
from tests.console.page import Window
from tests.console.site import PASSWORD
from tests.console.test_server import Process
from tests.fleet.fleet_harness import NAMESPACE, SLOW, Fleet, fleet_on, wait_until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

    from shardsched.demo.console import Door

pytestmark = [pytest.mark.fleet, pytest.mark.zookeeper, pytest.mark.timeout(240)]

CREW = ("crawler-a", "crawler-b", "crawler-c")
ITEMS = 6
TALK = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; sleep 0.1; done"
PATIENCE_MS = 40_000 * SLOW
"""Of what executors bring about; a time-out of their sessions is in it."""


@pytest.fixture
def fleet(zk_url: str, tmp_path: Path) -> Iterator[Fleet]:
    """Three executors that keep a history; their record is checked at the end."""
    with fleet_on(zk_url, tmp_path / "fleet") as some:
        some.start(*CREW, wait=False, history=history_of(some))
        yield some


@pytest.fixture
def console(fleet: Fleet) -> Iterator[subprocess.Popen[bytes]]:
    """The console of that fleet, as its users start it."""
    environment = {
        "SHARDSCHED_REGISTRY": fleet.url,
        "SHARDSCHED_NAMESPACE": NAMESPACE,
        "SHARDSCHED_HISTORY": history_of(fleet),
    }
    process = Process(fleet.folder).start("--port", str(free_port(0)), log=fleet.folder / "console.log", **environment)
    yield process
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def history_of(fleet: Fleet) -> str:
    """Return the URL of the fleet's history."""
    return f"sqlite:///{fleet.folder / 'history.db'}"


def cells(page: Page, *, but: str = "-") -> Locator:
    """Return the cells of items that run, and are not owned by an executor."""
    not_by = f':not([aria-label$=" {but}"])'
    return page.locator(f".map-body .cell.s-running{not_by}, .map-body .cell.s-failover{not_by}")


@contextmanager
def not_loaded_again(page: Page) -> Iterator[None]:
    """Fail if the page was loaded anew."""
    page.evaluate("document.body.dataset.same = 'same'")
    yield
    assert page.evaluate("document.body.dataset.same") == "same"


def test_fleet_is_run_by_hand_and_outlives_its_console(
    fleet: Fleet, console: subprocess.Popen[bytes], browser: Browser
) -> None:
    """Set up, make a job, run it, lose an executor, stop, edit at once, pause and undo, follow an output."""
    entrance: Door = wait_until(lambda: door((fleet.folder / "console.log").read_text()), "the console to answer", 60)
    address = entrance.address.removesuffix("/setup")
    with Window.open(browser, address) as window:
        page = window.page
        page.set_default_timeout(PATIENCE_MS)
        _set_up(page, entrance)
        wait_until(lambda: all(map(fleet.is_live, CREW)), "the executors to join", 60)
        fleet.create("beat", cron="* * * * * ?")
        fleet.create("talk", handler="@shell", task={"shell": TALK})
        fleet.admin.commands.trigger("talk")
        _make_job(page)
        _watch_an_executor_die(page, fleet)
        _stop(page)
        _edit_at_once(window)
        _pause_and_undo(page, fleet)
        _follow(page)
        assert window.faults == []
    console.kill()
    console.wait(10)
    before = len(fleet.runs("beat"))
    wait_until(lambda: len(fleet.runs("beat")) >= before + 3, "the fleet to go on without its console")


def _set_up(page: Page, entrance: Door) -> None:
    page.goto(entrance.address)
    page.fill("[name=code]", entrance.code)
    page.fill("[name=name]", "li.wei")
    page.fill("[name=password]", PASSWORD)
    page.get_by_role("button", name="Make the admin").click()
    expect(page.get_by_role("status")).to_contain_text("Welcome, li.wei", timeout=PATIENCE_MS)


def _make_job(page: Page) -> None:
    page.goto("/jobs:new")
    page.fill("[name=name]", "crawl")
    page.fill("[name=handler]", "told")
    page.fill("[name=cron]", "30 6 * * 1-5")
    expect(page.locator("#preview")).to_contain_text("At 06:30, Monday through Friday", timeout=PATIENCE_MS)
    page.fill("[name=items]", str(ITEMS))
    page.fill("[name=param]", "hold=600")
    page.get_by_role("button", name="Create the job").click()
    expect(page).to_have_title("crawl · Jobs · shardsched", timeout=PATIENCE_MS)
    expect(page.locator(".items tbody tr", has_text="crawler-")).to_have_count(ITEMS, timeout=PATIENCE_MS)
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_role("status")).to_contain_text("crawl is triggered", timeout=PATIENCE_MS)


def _watch_an_executor_die(page: Page, fleet: Fleet) -> None:
    page.goto("/map?q=crawl")
    expect(cells(page)).to_have_count(ITEMS, timeout=PATIENCE_MS)
    victim = fleet.running("crawl")[0].executor
    expect(page.locator(f'.map-body .cell[aria-label$=" {victim}"]')).not_to_have_count(0)
    with not_loaded_again(page):
        fleet.executors[victim].kill()
        expect(cells(page, but=victim)).to_have_count(ITEMS, timeout=PATIENCE_MS)
        expect(page.locator(".exec", has_text=victim)).to_contain_text("offline", timeout=PATIENCE_MS)


def _stop(page: Page) -> None:
    page.goto("/jobs/crawl")
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(page.locator(".items tbody tr", has_text="Stopped")).to_have_count(ITEMS, timeout=PATIENCE_MS)


def _edit_at_once(window: Window) -> None:
    window.expected.add(412)
    page, other = window.page, window.page.context.new_page()
    for tab in (page, other):
        tab.goto("/jobs/crawl/edit")
    other.fill("[name=description]", "theirs")
    other.get_by_role("button", name="Save").click()
    expect(other.get_by_role("status")).to_contain_text("crawl is changed: description", timeout=PATIENCE_MS)
    other.close()
    page.fill("[name=description]", "mine")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Two changes of crawl", timeout=PATIENCE_MS)
    page.get_by_label("description: keep mine").check()
    page.get_by_role("button", name="Save what is chosen").click()
    expect(page.get_by_role("status")).to_contain_text("crawl is changed: description", timeout=PATIENCE_MS)


def _pause_and_undo(page: Page, fleet: Fleet) -> None:
    page.goto("/jobs")
    for name in ("beat", "crawl"):
        page.get_by_label(f"Select {name}", exact=True).check()
    page.locator("#bulk").get_by_role("button", name="Pause").click()
    toast = page.get_by_role("status")
    expect(toast).to_contain_text("2 jobs are paused.", timeout=PATIENCE_MS)
    assert fleet.job("beat")["state"] == "paused"
    toast.get_by_role("button", name="Undo").click()
    expect(toast).to_contain_text("2 jobs fire again.", timeout=PATIENCE_MS)


def _follow(page: Page) -> None:
    page.goto("/executions?job=talk")
    page.locator("tr[data-row] a[data-row-link]").first.click()
    log = page.locator("#log")
    expect(log).to_contain_text("line 1", timeout=PATIENCE_MS)
    last = int(re.findall(r"\d+", log.inner_text())[-1])
    with not_loaded_again(page):
        expect(log).to_contain_text(f"line {last + 20}", timeout=PATIENCE_MS)
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(page.locator("#run .badge").first).to_have_text("Stopped", timeout=PATIENCE_MS)
