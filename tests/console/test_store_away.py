"""The console while the history database is away: who was signed in looks on, nothing is changed, nobody signs in."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from console.known import KEPT
from tests.console.site import PASSWORD, Site
from tests.console.store_away import fleet_of, put_back, take_away
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask.testing import FlaskClient

    from tests.console.troupe import Troupe
    from tests.registry.postgres_server import PostgresServer

GONE = "The history database does not answer since"
LOOKS = ("/overview", "/map", "/map/table", "/jobs", "/jobs/news", "/executors", "/executors/crawler-a", "/away")
PANELS = ("/executions", "/statistics", "/jobs/news/runs", "/map/item?job=news&item=0")
REFUSED = ("/users", "/tokens", "/audit", "/profile", "/jobs/news/revisions", "/api/v1/users", "/api/v1/audit")


@pytest.fixture
def troupe(site: Site) -> Troupe:
    """A fleet with a job."""
    return fleet_of(site)


def check_that_one_may_only_look(site: Site, browser: FlaskClient) -> None:
    """Everything of the fleet is shown, nothing is changed, and all pages say why."""
    for path in LOOKS:
        answer = browser.get(path)
        assert (answer.status_code, GONE in answer.text) == (200, True), path
    assert browser.get("/live").status_code == 200
    for path in PANELS:
        answer = browser.get(path)
        assert answer.status_code == 200, path
        assert site.people.place.split()[0] in answer.text, path
    for path in REFUSED:
        answer = browser.get(path)
        assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "5"), path
    csrf = {"csrf_token": csrf_of(browser)}
    for path in (
        "/jobs/news/pause",
        "/map/run?job=news",
        "/executors/crawler-a/drain",
        "/profile/preferences",
        "/preference",
    ):
        answer = browser.post(path, data=csrf)
        assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "5"), path
    status = site.parts.fleet.sight(fresh=True).status
    assert status is not None
    assert status.jobs[0].state == "enabled"


def csrf_of(browser: FlaskClient) -> str:
    """Return the forgery token that a page has."""
    return browser.get("/map").text.split('name="csrf-token" content="')[1].split('"')[0]


@pytest.mark.parametrize("role", ["viewer", "operator", "admin"])
def test_who_was_signed_in_looks_on(site: Site, troupe: Troupe, role: str) -> None:
    """At most as a viewer; when the database is back they may again what they may."""
    browser = site.client(role)
    assert browser.get("/map").status_code == 200
    aside = take_away(site)
    check_that_one_may_only_look(site, browser)
    text = browser.get("/jobs/news").text
    assert 'title="The history database does not answer"' in text
    assert "Needs the role Operator" not in text or role == "viewer"
    ready = browser.get("/readyz")
    assert (ready.status_code, (ready.json or {})["checks"]["history"]) == (503, "away")
    assert browser.get("/healthz").status_code == 200
    put_back(site, aside)
    assert GONE not in browser.get("/map").text
    assert browser.get("/profile").status_code == 200
    assert browser.get("/users").status_code == (200 if role == "admin" else 403)


def test_limit_is_kept(site: Site, troupe: Troupe) -> None:
    """Fifteen minutes after the database last let somebody in they are nobody, and are told that at the door."""
    browser = site.client("operator")
    browser.get("/map")
    aside = take_away(site)
    site.clock.advance(KEPT.total_seconds() - 1)
    assert browser.get("/map").status_code == 200
    site.clock.advance(2)
    answer = browser.get("/map", follow_redirects=True)
    assert answer.request.path == "/login"
    assert "Nobody can sign in at present" in answer.text
    part = browser.get("/map", headers={"HX-Request": "true"})
    assert (part.status_code, part.headers.get("HX-Redirect")) == (503, None)  # what is shown stays, and goes on
    put_back(site, aside)
    assert browser.get("/map").status_code == 200


def test_strangers_stay_strangers(site: Site, troupe: Troupe) -> None:
    """The login page says why nobody can sign in, takes no password, and works when the database is back."""
    site.client("viewer").get("/map")
    aside = take_away(site)
    stranger = site.app.test_client()
    page = stranger.get("/map", follow_redirects=True)
    assert (page.request.path, page.status_code) == ("/login", 200)
    assert "Nobody can sign in at present" in page.text
    for _ in range(8):  # more than failures are allowed
        answer = site.post(stranger, "/login", name="viewer-person", password=PASSWORD)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert stranger.get("/api/v1/me").status_code == 401
    put_back(site, aside)
    assert site.post(stranger, "/login", name="viewer-person", password=PASSWORD).status_code == 302


def test_programs_are_told_to_come_back(site: Site, troupe: Troupe) -> None:
    """A token used lately still reads; one that nobody can look up is not said to be wrong."""
    used, unused = site.token("operator"), site.token("operator")
    client = site.app.test_client()
    assert client.get("/api/v1/me", headers=used).status_code == 200
    aside = take_away(site)
    assert client.get("/api/v1/jobs", headers=used).status_code == 200
    for answer in (
        client.post("/api/v1/jobs/news/pause", headers=used),
        client.get("/api/v1/jobs", headers=unused),
        client.get("/api/v1/audit", headers=used),
    ):
        assert (answer.status_code, (answer.json or {})["code"]) == (503, "history-away")
        assert answer.headers["Retry-After"] == "5"
    put_back(site, aside)
    assert client.get("/api/v1/jobs", headers=unused).status_code == 200


def _sign_out(site: Site, browser: FlaskClient) -> None:
    site.post(browser, "/logout")


def _end_all(site: Site, browser: FlaskClient) -> None:
    other = site.client("operator")
    assert site.post(other, "/profile/end-all").status_code in {302, 303}


def _delete(site: Site, browser: FlaskClient) -> None:
    admin = site.client("admin")
    path = f"/users/{site.user('operator').id}/delete"
    assert site.post(admin, path, confirm="operator-person").status_code in {302, 303}


def _demote(site: Site, browser: FlaskClient) -> None:
    admin = site.token("admin")
    client = site.app.test_client()
    path = f"/api/v1/users/{site.user('operator').id}"
    tag = client.get(path, headers=admin).headers["ETag"]
    answer = client.patch(path, headers=admin | {"If-Match": tag}, json={"role": "viewer"})
    assert answer.status_code == 200, answer.text


def _elsewhere(site: Site, browser: FlaskClient) -> None:
    site.people.sessions.end_all(site.user("operator").id)  # by another process, and seen by the next request
    assert browser.get("/map").status_code == 302


@pytest.mark.parametrize("end", [_sign_out, _end_all, _delete, _demote, _elsewhere])
def test_what_was_ended_does_not_revive(site: Site, troupe: Troupe, end: Callable[[Site, FlaskClient], None]) -> None:
    """However a sign-in was ended before: its cookie opens nothing."""
    browser = site.client("operator")
    browser.get("/map")
    cookie = browser.get_cookie("shardsched")
    assert cookie is not None
    end(site, browser)
    take_away(site)
    thief = site.app.test_client()
    thief.set_cookie("shardsched", cookie.value)
    assert thief.get("/map").status_code == 302
    assert thief.get("/live", headers={"HX-Request": "true"}).status_code == 503


def test_signing_out_works_while_the_database_is_away(site: Site, troupe: Troupe) -> None:
    """The browser forgets its sign-in, and so does the console."""
    browser = site.client("operator")
    browser.get("/map")
    cookie = browser.get_cookie("shardsched")
    assert cookie is not None
    take_away(site)
    assert browser.post("/logout", data={"csrf_token": csrf_of(browser)}).status_code == 302
    assert browser.get("/map").status_code == 302
    thief = site.app.test_client()
    thief.set_cookie("shardsched", cookie.value)
    assert thief.get("/map").status_code == 302


def test_locked_file_lets_people_look(site: Site, troupe: Troupe) -> None:
    """It can be read and not written: all is shown, to admins too; changes are refused until the lock is gone."""
    browser = site.client("admin")
    csrf = site.csrf(browser)
    with sqlite3.connect(site.database, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        site.clock.advance(90)  # so that the use of the sign-in would be noted
        assert browser.get("/users").status_code == 200
        assert browser.post("/jobs/news/pause", data={"csrf_token": csrf}).status_code == 503
        text = browser.get("/map").text
        assert "The history database takes nothing in since" in text
        other.execute("ROLLBACK")
    other.close()
    eventually(lambda: site.parts.store.fault() is None)
    assert browser.post("/jobs/news/pause", data={"csrf_token": csrf}).status_code == 302


@pytest.fixture
def postgres_site(make_site: Callable[..., Site], own_postgres: PostgresServer) -> tuple[Site, PostgresServer]:
    """A console whose history is in PostgreSQL."""
    url = own_postgres.url(own_postgres.new_schema())
    return make_site(database_url=url), own_postgres


def test_postgres_that_stops_and_comes_back(postgres_site: tuple[Site, PostgresServer]) -> None:
    """Looking on in between; after a restart without an outage seen, the next request works."""
    site, server = postgres_site
    fleet_of(site)
    browser = site.client("operator")
    browser.get("/map")
    server.stop()
    check_that_one_may_only_look(site, browser)
    server.start()
    eventually(lambda: site.parts.store.fault() is None)
    assert site.post(browser, "/jobs/news/pause").status_code == 302
    server.stop()
    server.start()
    assert GONE not in browser.get("/map").text
    assert site.post(browser, "/jobs/news/resume").status_code == 302
