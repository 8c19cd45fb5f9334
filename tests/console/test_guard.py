"""Headers of answers, addresses behind proxies, and errors that tell no more than they should."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from console.header import HEADERS
from console.role import role
from console.trail import audited
from shardsched.people.audit import AuditFilter, Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.console.site import Site


@pytest.mark.parametrize("path", ["/setup", "/nothing", "/api/v1/me", "/static/console.css", "/healthz"])
def test_answer_carries_the_headers(site: Site, path: str) -> None:
    """Pages, errors, the API and files alike."""
    answer = site.app.test_client().get(path, buffered=True)
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert len(answer.headers["X-Request-ID"]) == 16
    assert "Strict-Transport-Security" not in answer.headers


def test_policy_is_looser_on_the_pages_of_swagger_only(site: Site) -> None:
    """Its library writes style attributes; scripts are as bounded as everywhere."""
    policy = site.client("viewer").get("/api/docs").headers["Content-Security-Policy"]
    assert "style-src 'self' 'unsafe-inline'" in policy
    assert "script-src 'self';" in policy


def test_https_is_kept(make_site: Callable[..., Site]) -> None:
    """Browsers that came by HTTPS once never come without."""
    answer = make_site(is_https=True).app.test_client().get("/healthz")
    assert "max-age=31536000" in answer.headers["Strict-Transport-Security"]


def test_file_with_its_version_is_kept_and_pages_are_not(site: Site) -> None:
    """A repeat visit fetches no file again; nobody finds a page in the cache after signing out."""
    client = site.app.test_client()
    page = client.get("/setup")
    assert page.headers["Cache-Control"] == "no-store"
    path = page.text.partition('rel="stylesheet" href="')[2].partition('"')[0]
    assert "immutable" in client.get(path, buffered=True).headers["Cache-Control"]
    assert "immutable" not in client.get(path.partition("?")[0], buffered=True).headers.get("Cache-Control", "")


def test_address_is_told_by_trusted_proxies_only(make_site: Callable[..., Site]) -> None:
    """Otherwise anybody could write another's address into the audit, and try passwords without limit."""
    headers = {"X-Forwarded-For": "203.0.113.9"}
    for count, address in ((0, "127.0.0.1"), (1, "203.0.113.9")):
        site = make_site(trusted_proxies=count)
        site.user("viewer")
        browser = site.app.test_client()
        browser.post("/login", data={"csrf_token": site.csrf(browser), "name": "x", "password": "x"}, headers=headers)
        assert site.people.audit.page(AuditFilter())[0].address == address


def test_unexpected_error_is_logged_not_told(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """The page has the request's number, the log has the rest."""

    @role("public")
    def broken() -> str:
        raise ZeroDivisionError("the secret is pomegranate")

    site.app.add_url_rule("/healthz/broken", view_func=broken)
    site.user("viewer")
    with caplog.at_level(logging.ERROR):
        answer = site.app.test_client().get("/healthz/broken")
    assert answer.status_code == 500
    assert "pomegranate" not in answer.text
    assert answer.headers["X-Request-ID"] in answer.text
    record = next(record for record in caplog.records if record.name == "console.problem")
    assert vars(record)["request_id"] == answer.headers["X-Request-ID"]


def test_refused_write_is_kept_in_the_audit(site: Site) -> None:
    """Who tried what they may not."""
    browser = site.client("viewer")
    assert site.post(browser, "/users/1/delete", confirm="x").status_code == 403
    entry = site.people.audit.page(AuditFilter(action="access"))[0]
    assert (entry.actor, entry.object, entry.result) == ("viewer-person", "/users/1/delete", Result.REFUSED)


def test_deed_by_a_get_is_refused(site: Site) -> None:
    """Whoever writes a view that changes something by a GET is stopped at the audit."""
    with (
        site.app.test_request_context("/"),
        pytest.raises(RuntimeError, match="must not change"),
        audited("x.y", "x", "y"),
    ):
        pytest.fail("it was done")


def test_view_without_a_role_is_refused_to_everybody(site: Site) -> None:
    """Forgetting the role opens nothing."""
    site.app.add_url_rule("/forgotten", view_func=lambda: "open")
    assert site.client("admin").get("/forgotten").status_code == 403


def test_database_away_is_told(site: Site) -> None:
    """A page with a status that machines understand, and a time to try again."""
    browser = site.client("viewer")
    site.people.close()
    path = site.people.place.removeprefix("SQLite file ")
    with open(path, "r+b") as file:  # noqa: PTH123
        file.write(b"no database at all" * 100)
    answer = browser.get("/profile")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "5"
    assert site.app.test_client().get("/readyz").json == {
        "status": "away",
        "checks": {"registry": "ok", "history": "away"},
    }
