"""All pages of the console, and what becomes of them under somebody's hands: what tests of barriers go through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

NOT_PAGES = {
    "home.index": "leads on",
    "audit.export": "file",
    "away.index": "part",
    "execution.hits": "part",
    "execution.log": "data",
    "execution.raw": "file",
    "health.healthz": "for programs",
    "health.metrics": "for programs",
    "health.readyz": "for programs",
    "job.checkpoints": "part",
    "job.export": "file",
    "job.preview": "part",
    "job.runs": "part",
    "map.live": "data",
    "map.success": "data",
    "openapi": "data",
    "overview.runs": "data",
    "static": "file",
    "statistics.export": "file",
}
"""Views that give something else to a GET."""
ERRORS = (409, 429, 500)
_SUBMIT = """([address, fields]) => {
  const form = document.createElement("form");
  form.method = "post";
  form.action = address;
  const all = [["csrf_token", document.querySelector("meta[name=csrf-token]").content], ...fields];
  for (const [name, value] of all) {
    const field = document.createElement("input");
    Object.assign(field, {type: "hidden", name, value});
    form.append(field);
  }
  document.body.append(form);
  form.submit();
}"""


@dataclass(frozen=True, slots=True)
class PageState:
    """One page as it is found, or after something was done to it."""

    name: str
    """What the test is called by."""
    path: str
    """Where it begins."""
    endpoint: str = ""
    """The view of the path, where it is the page itself."""
    act: Callable[[Page], Any] | None = None
    """What is done or waited for before it is judged."""
    scene: str = "full"
    """Which site it belongs to: see `tests.console.scene`."""
    who: str = "admin"
    """Who is signed in; empty for nobody."""
    status: int = 200
    """Of the last answer."""
    without: tuple[str, ...] = ()
    """Rules that it is not judged by."""


def _submit(address: str, *fields: tuple[str, str]) -> Callable[[Page], None]:
    """Send a form from where one is."""

    def act(page: Page) -> None:
        with page.expect_navigation():
            page.evaluate(_SUBMIT, [address, [list(field) for field in fields]])

    return act


def _click(*selectors: str) -> Callable[[Page], None]:
    """Click on one after the other."""

    def act(page: Page) -> None:
        for selector in selectors:
            page.locator(selector).first.click()

    return act


def _see(selector: str) -> Callable[[Page], None]:
    """Wait until something is there."""
    return lambda page: page.locator(selector).first.wait_for()


def _drawer(page: Page) -> None:
    page.locator(".map-body .cell").first.click()
    page.locator("#item-body .facts").wait_for()


def _no_job(page: Page) -> None:
    page.locator("[name=q].map-text").fill("nothing has this name")
    page.locator(".map-none").wait_for()


def _hits(page: Page) -> None:
    page.locator("#search").fill("e")
    page.locator("#search-hits .hits").nth(1).wait_for()


def _no_hits(page: Page) -> None:
    page.locator("#search").fill("nothing has this name")
    page.locator("#search-hits .hits-head").wait_for()


def _log_hits(page: Page) -> None:
    page.locator("#log-hits").locator("xpath=..").get_by_role("searchbox").fill("line 7")
    page.locator("#log-hits a").first.wait_for()


def _toast(page: Page) -> None:
    _submit("/jobs/books/pause")(page)
    page.locator(".toast-item").wait_for()


def _selected(page: Page) -> None:
    page.locator("[data-check]").first.check()
    page.locator("#bulk.is-on").wait_for()


def _table(page: Page) -> None:
    page.locator("#chart-switch").click()
    page.locator("#chart-table").wait_for()


def _token(page: Page) -> None:
    _submit("/profile/tokens", ("name", "ci"), ("role", "viewer"), ("days", "9"), ("scope", "news-*"))(page)
    page.locator("#secret").wait_for()


def _runs(page: Page) -> None:
    page.locator(".run-grid").wait_for()
    page.locator("#saved table").wait_for()


def _preview(page: Page) -> None:
    page.fill("[name=cron]", "30 6 * * 1-5")
    page.locator("#preview li").first.wait_for()


_BOTH = (("names", "books"), ("names", "news"))
_FAULTY = (("name", "no/name"), ("kind", "@http"), ("task_http_url", "ftp://x"), ("cron", "99 * * * *"), ("items", "x"))
_CRONTAB = "*/5 * * * * news-fetch\n0 3 * * * backup --all\n@reboot x\n"
_STALE = (("tag", "an old one"), ("base", "{}"), ("kind", "code"), ("handler", "crawl"), ("description", "mine"))

_OF_SWAGGER = (
    "heading-order",
    "landmark-main-is-top-level",
    "landmark-no-duplicate-main",
    "landmark-unique",
    "nested-interactive",
)
"""Rules that the markup of Swagger UI breaks, which is not ours."""

PAGES = (
    PageState("login", "/login", "login.index", who=""),
    PageState("login refused", "/login", act=_submit("/login", ("name", "x")), who="", status=422),
    PageState("missing, signed out", "/nothing", who="", status=404),
    PageState("setup", "/setup", "setup.index", scene="new", who=""),
    PageState("setup refused", "/setup", act=_submit("/setup", ("code", "x")), scene="new", who="", status=422),
    PageState("proof", "/login/proof?next=/users", "login.proof"),
    PageState("proof refused", "/login/proof", act=_submit("/login/proof", ("password", "x")), status=422),
    PageState("overview", "/overview", "overview.index", _see(".uplot")),
    PageState("overview, table", "/overview", act=_table),
    PageState("map", "/map", "map.index", _see(".map-body .cell")),
    PageState("map by executor", "/map?by=executor&owner=1", act=_see(".map-body .cell")),
    PageState("map, drawer", "/map", act=_drawer),
    PageState("map, question", "/map", act=_click(".map-body [data-act=run][aria-disabled=false]")),
    PageState("map, nothing fits", "/map", act=_no_job),
    PageState("map item", "/map/item?job=news&item=0", "map.item"),
    PageState("map table", "/map/table", "map.table"),
    PageState("jobs", "/jobs", "job.index"),
    PageState("jobs, selected", "/jobs", act=_selected),
    PageState("jobs, nothing fits", "/jobs?q=nothing"),
    PageState("jobs, question", "/jobs", act=_submit("/jobs:bulk", ("action", "trigger"), *_BOTH)),
    PageState("jobs, deletion", "/jobs", act=_submit("/jobs:bulk", ("action", "delete"), *_BOTH)),
    PageState("jobs, failures", "/jobs", act=_submit("/jobs:bulk", ("action", "resume"), ("names", "gone"))),
    PageState("job", "/jobs/books", "job.show", _runs),
    PageState("job, running", "/jobs/news"),
    PageState("job, held", "/jobs/%3Cimg%20src=x%20onerror=alert(1)%3E"),
    PageState("job, run dialog", "/jobs/books", act=_click("[data-open=run-dialog]")),
    PageState("job, menu", "/jobs/books", act=_click("[popovertarget=job-menu]")),
    PageState("job, stop", "/jobs/news", act=_click("[formaction$='/stop']")),
    PageState(
        "job, run refused",
        "/jobs/books",
        act=_submit("/jobs/books/trigger", ("asked", "1"), ("items", "x")),
        status=422,
    ),
    PageState("job edit", "/jobs/books/edit", "job.edit", _see("#preview li")),
    PageState("job merge", "/jobs/books/edit", act=_submit("/jobs/books/edit", *_STALE), status=412),
    PageState("job new", "/jobs:new", "job.create", _preview),
    PageState("job new, faults", "/jobs:new", act=_submit("/jobs:new", *_FAULTY), status=422),
    PageState("job revisions", "/jobs/books/revisions", "job.revisions"),
    PageState("job revision", "/jobs/books/revisions/1?against=now", "job.revision"),
    PageState("job delete", "/jobs/books/delete", "job.delete"),
    PageState("job files", "/jobs:files", "job.files"),
    PageState(
        "job files, preview", "/jobs:files", act=_submit("/jobs:import", ("text", _CRONTAB), ("form", "crontab"))
    ),
    PageState(
        "job files, fault", "/jobs:files", act=_submit("/jobs:import", ("text", "{"), ("form", "json")), status=422
    ),
    PageState("executions", "/executions", "execution.index"),
    PageState("executions, nothing fits", "/executions?job=nobody"),
    PageState("execution", "/executions/failed", "execution.show"),
    PageState("execution, hits", "/executions/failed", act=_log_hits),
    PageState("execution, dialog", "/executions/failed", act=_click("[data-open=rerun]")),
    PageState("execution, live", "/executions/live"),
    PageState("executors", "/executors", "executor.index"),
    PageState("executors, menu", "/executors", act=_click("[popovertarget=a1]")),
    PageState("executor", "/executors/crawler-a", "executor.show", _see(".plot canvas")),
    PageState("statistics", "/statistics?range=1h", "statistics.index", _see(".plot canvas")),
    PageState("users", "/users", "user.index"),
    PageState("user", "/users/2", "user.edit"),
    PageState("user, deletion", "/users/2", act=_click("form[action$='/delete'] button")),
    PageState("user new", "/users/new", "user.create"),
    PageState("user new, faults", "/users/new", act=_submit("/users/new", ("name", "x y")), status=422),
    PageState("tokens", "/tokens", "token.index"),
    PageState("profile", "/profile", "profile.index"),
    PageState("profile, secret", "/profile", act=_token),
    PageState("audit", "/audit", "audit.index"),
    PageState("audit entry", "/audit/1", "audit.show"),
    PageState("search", "/search?q=e", "search.index"),
    PageState("search hits", "/search", act=_hits),
    PageState("no search hits", "/search", act=_no_hits),
    PageState("docs", "/api/docs", "docs.index", _see(".opblock-summary"), without=_OF_SWAGGER),
    PageState("toast", "/jobs/books", act=_toast),
    PageState("language menu", "/search", act=_click("[popovertarget=languages]")),
    PageState("account menu", "/search", act=_click("[popovertarget=me]")),
    PageState("keys", "/search", act=_click("[data-open=keys]")),
    PageState("missing", "/nothing", status=404),
    PageState("forbidden", "/users", who="viewer", status=403),
    *(PageState(f"error {status}", f"/jobs:export?status={status}", status=status) for status in ERRORS),
    PageState("no job", "/jobs", scene="empty"),
    PageState("no item", "/map", scene="empty"),
    PageState("no fleet", "/overview", act=_see(".uplot"), scene="empty"),
    PageState("no executor", "/executors", scene="empty"),
    PageState("no run", "/executions", scene="empty"),
    PageState("no statistics", "/statistics", scene="empty"),
    PageState("no token", "/tokens", scene="empty"),
    PageState("unseen jobs", "/jobs", scene="unseen"),
    PageState("unseen map", "/map", scene="unseen"),
    PageState("unseen overview", "/overview", scene="unseen"),
    PageState("unseen executors", "/executors", scene="unseen"),
    PageState("unseen job", "/jobs/books", scene="unseen", status=503),
    PageState("away jobs", "/jobs", scene="away"),
    PageState("away map", "/map", act=_see("#away .notice"), scene="away"),
    PageState("away job", "/jobs/books", scene="away"),
    PageState("away edit", "/jobs/books/edit", scene="away", status=503),
    PageState("no history executions", "/executions", scene="ill"),
    PageState("no history statistics", "/statistics", scene="ill"),
    PageState("no history execution", "/executions/failed", scene="ill", status=503),
    PageState("no database", "/jobs", scene="broken", who="", status=503),
    PageState("dense map", "/map", act=_see(".dense .cell"), scene="crowd", without=("target-size",)),
)
"""The narrow cells of a dense map have their like in the job's page and the table, and are walked by keys."""
