"""What is done before a picture of the jobs' pages or of the map is taken, by the picture's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.console.shot_fleet import LONG

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.console.crew import Crew

Scene = Callable[["Page", "Crew"], None]
Scenes = dict[str, Scene]
_FILE = """format: 1
jobs:
  shop:
    handler: news:crawl
    cron: '*/5 * * * *'
  news:
    handler: news:crawl
    cron: '0 * * * *'
    items: 12
  odd:
    handler: news:other
    cron: '61 * * * *'
"""
"""One job is new, one differs, and one is wrong."""


def _revisions(page: Page, crew: Crew) -> None:
    page.goto("/jobs/news/edit")
    page.fill("[name=description]", f"Front pages of the news sites {crew.clock.now():%H:%M:%S}")
    page.fill("[name=item_params_text], [name=param]", f'{{"depth": {crew.clock.now().second}}}')
    page.locator(".form-foot .btn-primary").click()
    page.wait_for_load_state("networkidle")
    page.goto("/jobs/news/revisions")


def _merge(page: Page, crew: Crew) -> None:
    page.goto("/jobs/news/edit")
    crew.admin.jobs.update(
        "news",
        {"description": f"theirs {crew.clock.now().timestamp()}", "retries": 1 + int(crew.clock.now().timestamp()) % 5},
    )
    crew.clock.advance(1)
    page.fill("[name=description]", "mine")
    page.fill("[name=timeout]", "77")
    page.locator(".form-foot button[type=submit], .form-foot .btn-primary").click()
    page.wait_for_load_state("networkidle")


def _faults(page: Page, crew: Crew) -> None:
    page.goto("/jobs:new")
    page.fill("[name=name]", "a b")
    page.fill("[name=cron]", "99 * * * *")
    page.fill("[name=items]", "many")
    page.fill("[name=retries]", "-1")
    page.fill("[name=labels]", "gpu")
    page.locator(".form-foot .btn-primary").click()
    page.wait_for_load_state("networkidle")


def _bulk(page: Page, crew: Crew) -> None:
    page.goto("/jobs")
    for box in page.locator("[data-check]").all()[:3]:
        box.check()


def _bulk_all(page: Page, crew: Crew) -> None:
    page.goto("/jobs")
    page.locator("[data-check-all]").check()


def _bulk_ask(action: str) -> Scene:
    def act(page: Page, crew: Crew) -> None:
        _bulk(page, crew)
        page.locator(f"#bulk [value={action}]").click()
        page.wait_for_load_state("networkidle")

    return act


def _bulk_done(page: Page, crew: Crew) -> None:
    page.goto("/jobs")
    page.locator("[data-check-all]").check()
    page.locator("#bulk [value=trigger]").click()
    page.wait_for_load_state("networkidle")
    page.locator(".box-foot .btn-primary").first.click()
    page.wait_for_load_state("networkidle")


def _run_dialog(page: Page, crew: Crew) -> None:
    page.goto("/jobs/news")
    page.locator("[data-open=run-dialog]").click()


def _menu(page: Page, crew: Crew) -> None:
    page.goto("/jobs/news")
    page.locator("[popovertarget=job-menu]").click()


def _import(page: Page, crew: Crew) -> None:
    page.goto("/jobs:files")
    page.fill("[name=text]", _FILE)
    page.locator("form .btn-primary[type=submit]").last.click()
    page.wait_for_load_state("networkidle")


def _import_fault(page: Page, crew: Crew) -> None:
    page.goto("/jobs:files")
    page.fill("[name=text]", "jobs: [}")
    page.locator("form .btn-primary[type=submit]").last.click()
    page.wait_for_load_state("networkidle")


def _drawer(row: int, item: int) -> Scene:
    def act(page: Page, crew: Crew) -> None:
        page.goto("/map")
        page.locator(".map-body .map-row").nth(row).locator(".cell").nth(item).click()
        page.wait_for_selector("#item[open] .item-acts")

    return act


def _map_filter(query: str) -> Scene:
    def act(page: Page, crew: Crew) -> None:
        page.goto(f"/map{query}")
        page.wait_for_selector(".map-body .map-row, .map-none:not([hidden]), .empty")

    return act


def _search(text: str) -> Scene:
    def act(page: Page, crew: Crew) -> None:
        page.goto("/jobs")
        page.locator("#search").click()
        page.keyboard.type(text)
        page.wait_for_selector("#search-hits > *")

    return act


def _go(path: str) -> Scene:
    def act(page: Page, crew: Crew) -> None:
        page.goto(path)
        page.wait_for_load_state("networkidle")

    return act


FULL: Scenes = {
    "jobs": _go("/jobs"),
    "jobs-none": _go("/jobs?q=nobody"),
    "job": _go("/jobs/news"),
    "job-big": _go("/jobs/big"),
    "job-long": _go(f"/jobs/{LONG}"),
    "job-broken": _go("/jobs/broken"),
    "job-paused": _go("/jobs/asleep"),
    "job-after": _go("/jobs/prices"),
    "job-hand": _go("/jobs/by-hand"),
    "job-dst": _go("/jobs/dst"),
    "job-missing": _go("/jobs/nobody"),
    "run-dialog": _run_dialog,
    "run-menu": _menu,
    "run-page": _go("/jobs/news/trigger"),
    "edit": _go("/jobs/news/edit"),
    "edit-http": _go(f"/jobs/{LONG}/edit"),
    "edit-broken": _go("/jobs/broken/edit"),
    "new": _go("/jobs:new"),
    "copy": _go("/jobs:new?from=news"),
    "faults": _faults,
    "merge": _merge,
    "revisions": _revisions,
    "revision": _go("/jobs/news/revisions/2"),
    "revision-now": _go("/jobs/news/revisions/1?against=now"),
    "delete": _go("/jobs/news/delete"),
    "files": _go("/jobs:files"),
    "import": _import,
    "import-fault": _import_fault,
    "bulk": _bulk,
    "bulk-all": _bulk_all,
    "bulk-stop": _bulk_ask("stop"),
    "bulk-delete": _bulk_ask("delete"),
    "map": _map_filter(""),
    "map-owner": _map_filter("?by=executor"),
    "map-marked": _map_filter("?owner=2"),
    "map-problems": _map_filter("?problems=1"),
    "map-nothing": _map_filter("?q=nobody"),
    "map-drawer": _drawer(3, 3),
    "map-drawer-failed": _drawer(8, 3),
    "map-item": _go("/map/item?job=news&item=3"),
    "map-table": _go("/map/table"),
    "search": _search("n"),
    "search-none": _search("zzzz"),
    "search-page": _go("/search?q=e"),
    "search-empty": _go("/search"),
}
EMPTY: Scenes = {
    "empty-jobs": _go("/jobs"),
    "empty-map": _go("/map"),
    "empty-files": _go("/jobs:files"),
    "empty-new": _go("/jobs:new"),
}
CROWD: Scenes = {
    "crowd-jobs": _go("/jobs?page=3"),
    "crowd-job": _go("/jobs/crawl-0100"),
    "crowd-map": _map_filter(""),
    "crowd-map-owner": _map_filter("?by=executor"),
    "crowd-search": _search("crawl"),
}


def _act(path: str, selector: str, wait: str = "#toasts > *") -> Scene:
    def act(page: Page, crew: Crew) -> None:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        page.locator(selector).first.click()
        page.wait_for_selector(wait)

    return act


ACTS: Scenes = {
    "act-run": _act("/jobs/news", ".job-acts .btn-primary"),
    "act-stop-dialog": _act("/jobs/news", ".job-acts [data-confirm]", "#confirm[open]"),
    "act-pause": _act("/jobs?q=dst", "tbody .actions button:nth-of-type(2)"),
    "act-resume": _act("/jobs?q=dst", "tbody .actions button:nth-of-type(2)"),
    "act-disable": _act("/jobs/news", ".items .actions button:nth-of-type(2)"),
    "act-enable": _act("/jobs/news", ".items .actions button:nth-of-type(2)"),
    "act-reset-dialog": _act("/jobs/prices", ".items .actions button", "#toasts > *"),
    "act-map-run-dialog": _act("/map?q=shell", "[data-act=run]", "#confirm[open]"),
    "act-map-pause": _act("/map?q=shell", "[data-act=pause]"),
    "act-map-resume": _act("/map?q=shell", "[data-act=resume]"),
    "act-map-drain-dialog": _act("/map", ".exec-foot .btn", "#confirm[open]"),
    "act-restore-dialog": _act("/jobs/news/revisions/1", ".job-head .btn-primary", "#confirm[open]"),
    "bulk-done": _bulk_done,
    "bulk-pause": _bulk_ask("pause"),
    "act-failover": _act("/jobs/news", "[popovertarget=job-menu]", "#job-menu:popover-open"),
}
