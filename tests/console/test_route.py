"""Every route of the console, by every role: who may, who may not, and that looking changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from console.guard import SAFE_METHODS
from console.role import Access, access_of
from shardsched.people.audit import AuditFilter
from shardsched.people.role import Role

if TYPE_CHECKING:
    from flask import Flask

    from tests.console.site import Site

SAMPLES = {
    "user_id": 4711,
    "entry_id": 1,
    "session_id": "x",
    "identity": "x",
    "filename": "console.css",
    "name": "x",
    "run_id": "x",
    "number": 1,
    "item": 0,
}
"""Arguments of addresses; those of things that are not there will do."""
WHO = ("", "viewer", "operator", "admin")


class Route(NamedTuple):
    """One method of one address."""

    method: str
    path: str
    access: Access | None


def routes(app: Flask) -> list[Route]:
    """All that the app answers."""
    found = []
    adapter = app.url_map.bind("localhost")
    for rule in app.url_map.iter_rules():
        path = adapter.build(rule.endpoint, {name: SAMPLES[name] for name in rule.arguments})
        view = app.view_functions[rule.endpoint]
        found += [
            Route(method, path, access_of(view, method)) for method in sorted((rule.methods or set()) - {"OPTIONS"})
        ]
    return found


def test_every_view_says_who_may_use_it(site: Site) -> None:
    """Forgetting it would be noticed here, and would refuse everybody."""
    assert [route for route in routes(site.app) if route.access is None] == []
    assert len(routes(site.app)) > 40


@pytest.mark.parametrize("role", WHO)
def test_route_is_open_to_its_roles_only(site: Site, role: str) -> None:
    """What a role may not is refused, and what it may is not: by page and by API, for every method."""
    site.user("admin")
    browser = site.client(role)
    csrf = site.csrf(browser)
    wrong = []
    for method, path, access in routes(site.app):
        if path == "/logout" or access is None:
            continue
        answer = browser.open(path, method=method, buffered=True, headers={"X-CSRFToken": csrf})
        is_refused = answer.status_code in {401, 403} or answer.headers.get("Location", "").startswith("/login?")
        may = access.role is None or (role != "" and Role(role).includes(access.role))
        if is_refused == may and path != "/metrics":
            wrong.append((method, path, answer.status_code))
        if answer.status_code >= 500:
            wrong.append((method, path, answer.status_code))
        if path.endswith(("end-all",)):
            browser = site.client(role)
            csrf = site.csrf(browser)
    assert wrong == []


def test_write_without_the_forgery_token_is_refused(site: Site) -> None:
    """A form of another site, which has the cookie but not the token, does nothing."""
    browser = site.client("admin")
    lax = []
    for method, path, _access in routes(site.app):
        if method not in SAFE_METHODS:
            answer = browser.open(path, method=method, buffered=True)
            if answer.status_code != 400:
                lax.append((method, path, answer.status_code))
    assert lax == []
    refused = site.people.audit.page(AuditFilter(action="access.refused"))
    assert {entry.actor for entry in refused} == {"admin-person"}


def test_write_from_another_site_is_refused_despite_its_token(site: Site) -> None:
    """What browsers say of where a request comes from counts too."""
    browser = site.client("admin")
    csrf = site.csrf(browser)
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
    ):
        answer = browser.post("/logout", headers={"X-CSRFToken": csrf, **headers})
        assert answer.status_code == 403
    assert browser.get("/profile").status_code == 200
    assert len(site.people.audit.page(AuditFilter(action="access.refused"))) == 3


def test_looking_changes_nothing(site: Site) -> None:
    """No GET writes: to the audit, to users, to the registry."""
    browser = site.client("admin")
    registry = site.parts.fleet.admin()
    before = (site.people.audit.page(AuditFilter()), site.people.users.page(), registry.jobs.names())
    for method, path, _access in routes(site.app):
        if method in SAFE_METHODS:
            assert browser.open(path, method=method, buffered=True).status_code < 500, path
    assert (site.people.audit.page(AuditFilter()), site.people.users.page(), registry.jobs.names()) == before
