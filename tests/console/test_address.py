"""Addresses that somebody made to do harm: their numbers, their parameters, the site they say they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shardsched.people.audit import AuditFilter
from tests.console.crew import Crew
from tests.console.site import PASSWORD
from tests.console.test_route import SAMPLES, WHO

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask.testing import FlaskClient

    from tests.console.site import Site

HOSTILE_QUERIES = (
    (
        "endpoint=x&_method=POST&_anchor=x&filename=x&name=other&_external=1&_scheme=javascript"
        "&since=0001-01-01&until=9999-12-31&from=0001-01-01T00:00:00Z&to=9999-12-31T00:00:00Z&metric=runs&next=http://["
        "&cursor=WzEwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwXQ"
    ),
    (
        "page=99999999999999999999&item=99999999999999999999&before=999999999999999999&line=999999999999999&min=1e999"
        "&top=0001-01-01T00:00:00&after=AAAA&against=now&q=%00%ff&job=%00&executor=%00&action=%00&object=%00&name=%00"
        "&cron=%00&timezone=%00&pause=%00&cursor=Wy0xXQ"
    ),
)
HOSTILE_ARGUMENTS = (
    {"user_id": 10**30, "entry_id": 10**30, "number": 10**30, "item": 10**30},
    {"user_id": 2**31, "entry_id": 2**63, "number": 2**31, "item": 2**31},
    {"name": "a\x00b", "run_id": "a\x00b", "identity": "a\x00b", "session_id": "\x00"},
    {"name": "%2F..%2f\"'<script>", "run_id": "..%2F", "identity": "\u202e'<", "session_id": ".."},
)
LOUD = frozenset({"login.logout", "profile.end_all"})
"""After them one is signed out."""


def looks(site: Site, browser: FlaskClient, paths: list[str], query: str = "") -> list[tuple[str, int]]:
    """Return the addresses whose answer is an error of the console's own, or leads into a script."""
    wrong = []
    for path in paths:
        answer = browser.get(f"{path}?{query}", buffered=True)
        if answer.status_code >= 500 or "javascript:" in answer.text:
            wrong.append((f"{path}?{query}", answer.status_code))
    return wrong


@pytest.mark.parametrize("query", HOSTILE_QUERIES)
def test_no_query_breaks_a_page(site: Site, query: str) -> None:
    """Whoever makes somebody open a link of theirs gets no error, and no link to elsewhere into the page."""
    crew = Crew(site)
    crew.join("e1")
    crew.job("x", {"e1": (0,)})
    crew.show()
    browser = site.client("admin")
    adapter = site.app.url_map.bind("localhost")
    rules = [rule for rule in site.app.url_map.iter_rules() if "GET" in (rule.methods or ())]
    paths = [adapter.build(rule.endpoint, {name: SAMPLES[name] for name in rule.arguments}) for rule in rules]
    assert len(paths) > 40
    assert looks(site, browser, paths, query) == []


@pytest.mark.parametrize("given", HOSTILE_ARGUMENTS)
def test_no_argument_breaks_an_address(site: Site, given: dict[str, object]) -> None:
    """A number that no database takes is that of nothing; so is a name that nothing can have."""
    browser = site.client("admin")
    csrf = site.csrf(browser)
    adapter = site.app.url_map.bind("localhost")
    wrong = []
    for rule in site.app.url_map.iter_rules():
        if not rule.arguments & given.keys() or rule.endpoint in LOUD:
            continue
        path = adapter.build(rule.endpoint, {name: {**SAMPLES, **given}[name] for name in rule.arguments})
        for method in sorted((rule.methods or set()) - {"OPTIONS", "HEAD"}):
            answer = browser.open(path, method=method, headers={"X-CSRFToken": csrf}, buffered=True)
            if answer.status_code >= 500:
                wrong.append((method, path, answer.status_code))
    assert wrong == []


def test_links_of_a_page_stay_on_it(site: Site) -> None:
    """Parameters keep their meaning as such, whatever they are called, and do not lead to another object."""
    crew = Crew(site)
    crew.join("e1")
    for name in ("mine", "other"):
        crew.job(name, {"e1": (0,)})
    crew.show()
    browser = site.client("viewer")
    text = browser.get("/jobs/mine?name=other").text
    assert 'hx-get="/jobs/mine?name=other"' in text
    text = browser.get("/jobs?_external=1&_scheme=javascript&q=%0aalert(1)").text
    assert 'hx-get="/jobs?_external=1' in text


@pytest.mark.parametrize(
    "origin", ["http://[", "null", "", "//localhost", "http://localhost.evil.example", "http://\uff41"]
)
def test_write_from_a_strange_origin_is_refused(site: Site, origin: str) -> None:
    """What is no address of ours is another's, and no error of the console's own."""
    browser = site.client("viewer")
    headers = {"X-CSRFToken": site.csrf(browser), "Origin": origin.encode().decode("latin-1")}
    assert browser.post("/logout", headers=headers).status_code == 403
    assert browser.post("/logout", headers=headers | {"Origin": "http://localhost"}).status_code == 302


@pytest.mark.parametrize("role", WHO[1:])
def test_metrics_are_not_for_pages_of_other_sites(site: Site, role: str) -> None:
    """A site that has its own name lead to this machine reads nothing; a token is a token by any name."""
    client = site.app.test_client()
    headers = site.token(role)
    for host, is_given in (
        ("127.0.0.1:8350", True),
        ("localhost", True),
        ("[::1]:8350", True),
        ("[::1]", True),
        ("evil.example:8350", False),
        ("127.0.0.1.evil.example", False),
    ):
        assert (client.get("/metrics", headers={"Host": host}).status_code == 200) is is_given, host
        assert client.get("/metrics", headers={"Host": host, **headers}).status_code == 200


def test_password_is_not_guessed_from_within(site: Site) -> None:
    """An open browser, or a token that was found, tries as seldom as a stranger, by all ways together."""
    site.user("admin")
    browser, token = site.client("admin"), site.token("admin")
    api: Callable[[], int] = lambda: (  # noqa: E731
        site.app.test_client().post("/api/v1/me/password", json={"old": "no", "new": "x"}, headers=token).status_code
    )
    codes = [site.post(browser, "/login/proof", password="no", name=f"n{number}").status_code for number in range(2)]
    codes += [site.post(browser, "/profile/password", old="no", password="x").status_code for _ in range(2)]
    codes += [api(), api(), site.post(browser, "/login/proof", password=PASSWORD).status_code]
    assert codes == [422] * 5 + [429] * 2
    assert len(site.people.audit.page(AuditFilter(action="session.failed"))) == 5
