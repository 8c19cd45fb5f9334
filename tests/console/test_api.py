"""The API: its errors, versions, keys that act once, cursors, and its own description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from openapi_spec_validator import validate

from console.api.base import idempotent
from console.api.user import blueprint
from console.app import create_app
from console.role import role
from console.setting import ConsoleSettings
from shardsched.people.audit import AuditEntry, AuditFilter, Result
from shardsched.people.role import Role
from tests.console.site import CHEAP, KEY, PASSWORD

if TYPE_CHECKING:
    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

    from tests.console.site import Site

USERS = "/api/v1/users"
ANN = {"name": "ann", "role": "viewer", "password": PASSWORD}


@pytest.fixture
def program(site: Site) -> FlaskClient:
    """A program with an admin's token."""
    client = site.app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = site.token("admin")["Authorization"]
    return client


def problem(answer: TestResponse) -> dict[str, Any]:
    """The problem in an answer, which says the same as its status."""
    assert answer.mimetype == "application/problem+json"
    document = answer.json
    assert isinstance(document, dict)
    assert document["status"] == answer.status_code
    assert document["request_id"] == answer.headers["X-Request-ID"]
    assert document["type"] == f"/problems/{document['code']}"
    return document


def test_description_is_valid_openapi(program: FlaskClient) -> None:
    """Programs that read it understand it, and it has what is there."""
    document = program.get("/api/v1/openapi.json").json
    assert isinstance(document, dict)
    validate(document)
    assert document["openapi"] == "3.1.0"
    assert {"/api/v1/me", "/api/v1/users/{user_id}", "/api/v1/audit", "/api/v1/cron/preview"} <= set(document["paths"])
    error = document["components"]["responses"]["DEFAULT_ERROR"]
    assert list(error["content"]) == ["application/problem+json"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", f"{USERS}/4711", None, 404, "not-found"),
        ("GET", "/api/v1/nothing", None, 404, "not-found"),
        ("DELETE", USERS, None, 405, "method-not-allowed"),
        ("POST", USERS, {"name": "ann"}, 422, "invalid"),
        ("POST", USERS, ANN | {"role": "king"}, 422, "invalid"),
        ("POST", USERS, ANN | {"password": "short"}, 422, "invalid"),
        ("POST", USERS, ANN | {"name": "admin-person"}, 409, "user-exists"),
        ("POST", USERS, "{", 400, "malformed"),
        ("GET", "/api/v1/audit?cursor=nonsense", None, 400, "malformed"),
        ("GET", "/api/v1/audit?limit=0", None, 422, "invalid"),
        ("POST", "/api/v1/cron/preview", {"cron": "* * * * 9"}, 422, "invalid"),
        ("POST", "/api/v1/cron/preview", {"cron": "0 0 30 2 *"}, 422, "invalid"),
        ("POST", "/api/v1/tokens/x/revoke", None, 404, "not-found"),
    ],
)
def test_error_is_a_problem(program: FlaskClient, method: str, path: str, body: Any, status: int, code: str) -> None:
    """Whatever goes wrong has a status, a code that stays, and a text."""
    sent = (
        {"data": body, "content_type": "application/json"} if isinstance(body, str) else {"json": body} if body else {}
    )
    answer = program.open(path, method=method, **sent)
    found = problem(answer)
    assert (found["status"], found["code"]) == (status, code)
    assert found["title"]
    assert found["detail"]


def test_fault_points_to_its_field(program: FlaskClient) -> None:
    """A form can show it in its place."""
    missing = problem(program.post(USERS, json={"name": "a", "role": "viewer"}))
    assert {fault["pointer"] for fault in missing["errors"]} == {"/name", "/password"}
    weak = problem(program.post(USERS, json=ANN | {"password": "passwordpassword"}))
    assert weak["errors"] == [{"pointer": "/password", "code": "guessable", "detail": weak["detail"]}]
    cron = problem(program.post("/api/v1/cron/preview", json={"cron": "99 * * * *"}))
    assert "minute" in cron["detail"]


def test_unsigned_request_is_told_how(site: Site) -> None:
    """401 with the scheme, never a page to sign in at."""
    site.user("admin")
    for headers in ({}, {"Authorization": "Bearer sck_00000000_" + "x" * 43}, {"Authorization": "Basic eDp5"}):
        answer = site.app.test_client().get("/api/v1/me", headers=headers)
        assert problem(answer)["code"] == "not-signed-in"
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_token_never_reads_cookies(site: Site) -> None:
    """A bad token in a browser that is signed in is refused, and a good one counts for itself."""
    browser = site.client("admin")
    assert browser.get("/api/v1/me", headers={"Authorization": "Bearer nonsense"}).status_code == 401
    assert browser.get(USERS, headers=site.token("viewer")).status_code == 403


def test_cookie_write_to_the_api_needs_the_forgery_token(site: Site) -> None:
    """The API's page in the console sends it; another site cannot."""
    browser = site.client("admin")
    assert problem(browser.post(USERS, json=ANN))["code"] == "malformed"
    answer = browser.post(USERS, json=ANN, headers={"X-CSRFToken": site.csrf(browser)})
    assert answer.status_code == 201


def test_change_needs_the_version_it_was_decided_on(program: FlaskClient) -> None:
    """428 without, 412 with an old one, 304 while nothing changed; compression does not break the tag."""
    path = program.post(USERS, json=ANN).headers["Location"]
    tag = program.get(path, headers={"Accept-Encoding": "gzip"}).headers["ETag"]
    assert problem(program.patch(path, json={"role": "operator"}))["code"] == "if-match-required"
    changed = program.patch(path, json={"role": "operator"}, headers={"If-Match": tag})
    assert changed.json is not None
    assert changed.json["role"] == "operator"
    assert problem(program.patch(path, json={"role": "admin"}, headers={"If-Match": tag}))["code"] == "stale-write"
    assert program.get(path, headers={"If-None-Match": changed.headers["ETag"]}).status_code == 304
    coded = changed.headers["ETag"].rstrip('"') + ':gzip"'
    assert program.delete(path, headers={"If-Match": coded}).status_code == 204
    assert program.get(path).status_code == 404


def test_last_admin_stays_by_api_too(site: Site, program: FlaskClient) -> None:
    """The rule is not in the page."""
    path = f"{USERS}/{site.user('admin').id}"
    tag = program.get(path).headers["ETag"]
    assert problem(program.delete(path, headers={"If-Match": tag}))["code"] == "last-admin"
    assert problem(program.patch(path, json={"role": "viewer"}, headers={"If-Match": tag}))["code"] == "last-admin"


def test_users_come_by_pages(site: Site, program: FlaskClient) -> None:
    """With the counts in a header."""
    for number in range(9):
        site.people.users.create(f"user-{number}", Role.VIEWER, "-")
    answer = program.get(f"{USERS}?page=2&page_size=4")
    assert answer.json is not None
    assert [user["name"] for user in answer.json["items"]] == ["user-3", "user-4", "user-5", "user-6"]
    assert '"total": 10' in answer.headers["X-Pagination"]
    assert "password" not in answer.text


def test_repeated_request_acts_once(site: Site, program: FlaskClient) -> None:
    """A program that lost the answer sends the same again and gets it."""
    headers = {"Idempotency-Key": "7f1d"}
    first, again = program.post(USERS, json=ANN, headers=headers), program.post(USERS, json=ANN, headers=headers)
    assert (first.status_code, again.status_code) == (201, 201)
    assert (again.json, again.headers["Location"]) == (first.json, first.headers["Location"])
    assert again.headers["Idempotency-Replayed"] == "true"
    other = program.post(USERS, json=ANN | {"name": "bob"}, headers=headers)
    assert problem(other)["code"] == "invalid"
    assert len(site.people.audit.page(AuditFilter(action="user.create"))) == 1
    assert all(PASSWORD not in text for text in _stored(site))


def test_two_consoles_on_one_database_are_one(site: Site, program: FlaskClient) -> None:
    """A sign-in and a key that one of them knows are known to the other, as they are after a restart."""
    settings = ConsoleSettings(namespace="fleet", registry="memory://", secret_key=KEY)
    app = create_app(settings, site._connect, site.people, site.history, clock=site.clock, passwords=CHEAP)
    headers = {"Idempotency-Key": "k", **site.token("admin")}
    answers = [one.test_client().post(USERS, json=ANN, headers=headers) for one in (site.app, app)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[1].headers["Idempotency-Replayed"] == "true"
    browser, cookie = app.test_client(), site.client("viewer").get_cookie("shardsched")
    assert cookie is not None
    browser.set_cookie("shardsched", cookie.value)
    assert browser.get("/profile").status_code == 200
    parts = app.extensions["console"]
    parts.loads.close()
    parts.fleet.close()


def test_key_of_another_is_another_key(site: Site, program: FlaskClient) -> None:
    """Two programs that count alike do not get each other's answers."""
    program.post(USERS, json=ANN, headers={"Idempotency-Key": "1"})
    second = site.app.test_client().post(USERS, json=ANN, headers={"Idempotency-Key": "1", **site.token("admin")})
    assert second.status_code == 409


def test_refused_request_frees_its_key(program: FlaskClient) -> None:
    """What did nothing may be corrected and sent again under the same key."""
    headers = {"Idempotency-Key": "k"}
    assert program.post(USERS, json=ANN | {"password": "short"}, headers=headers).status_code == 422
    assert program.post(USERS, json=ANN, headers=headers).status_code == 201


def test_request_of_unknown_outcome_keeps_its_key(site: Site, program: FlaskClient) -> None:
    """Asked again while the first may have happened, nothing is done a second time."""
    keys = site.people.idempotency
    assert keys.begin("k", "digest") is None
    earlier = keys.begin("k", "digest")
    assert earlier is not None
    assert earlier.status is None


def test_request_that_failed_unexpectedly_keeps_its_key(site: Site, program: FlaskClient) -> None:
    """Nobody knows how far it came: whoever repeats it is told to look, and a job is not run twice."""
    asked: list[int] = []

    @idempotent(blueprint)
    @role("viewer")
    def broken() -> str:
        asked.append(1)
        raise ZeroDivisionError

    site.app.add_url_rule("/api/v1/broken", view_func=broken, methods=["POST"])
    answers = [program.post("/api/v1/broken", headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [500, 409]
    assert asked == [1]


def test_audit_comes_by_cursor(site: Site, program: FlaskClient) -> None:
    """Each entry once, also while others are written."""
    for number in range(7):
        site.people.audit.begin(AuditEntry(actor="robot", action="user.create", object=str(number), result=Result.DONE))
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = program.get("/api/v1/audit", query_string={"actor": "robot", "limit": 3, "cursor": cursor}).json
        assert page is not None
        seen += [entry["object"] for entry in page["items"]]
        site.people.audit.begin(AuditEntry(actor="robot", action="user.create", object="late", result=Result.DONE))
        cursor = page["next"]
    assert seen == ["6", "5", "4", "3", "2", "1", "0"]


def test_preview_says_when_and_what(program: FlaskClient) -> None:
    """In the job's zone, by the scheduler's own engine, in the caller's language."""
    body = {"cron": "0 30 8 ? * MON-FRI", "timezone": "Asia/Shanghai", "count": 2}
    answer = program.post("/api/v1/cron/preview", json=body).json
    assert answer is not None
    assert (answer["dialect"], answer["text"]) == ("quartz", "At 08:30, Monday through Friday")
    assert answer["fires"] == ["2026-01-01T08:30:00+08:00", "2026-01-02T08:30:00+08:00"]
    chinese = program.post("/api/v1/cron/preview", json=body, headers={"Accept-Language": "zh-CN"}).json
    assert chinese is not None
    assert "星期一到星期五" in chinese["text"]


def test_api_is_limited_by_who_asks(site: Site, program: FlaskClient) -> None:
    """61 writes a minute are too many; another token goes on."""
    codes = [program.post("/api/v1/cron/preview", json={"cron": "* * * * *"}).status_code for _ in range(61)]
    assert codes == [200] * 60 + [429]
    other = site.app.test_client().get("/api/v1/me", headers=site.token("viewer"))
    assert other.status_code == 200


def test_body_is_bounded(program: FlaskClient) -> None:
    """Nobody fills the memory."""
    answer = program.post(USERS, data=b"x" * (1024 * 1024 + 1), content_type="application/json")
    assert problem(answer)["code"] == "too-large"


def test_password_change_by_api(site: Site) -> None:
    """With the old one only."""
    headers = site.token("viewer")
    client = site.app.test_client()
    wrong = client.post("/api/v1/me/password", json={"old": "no", "new": PASSWORD}, headers=headers)
    assert problem(wrong)["errors"][0]["pointer"] == "/old"
    right = {"old": PASSWORD, "new": "four green ducks type slowly"}
    assert client.post("/api/v1/me/password", json=right, headers=headers).status_code == 204


def _stored(site: Site) -> list[str]:
    """All texts of the database, as bytes on the disk would show them."""
    site.people.close()
    place = site.people.place.removeprefix("SQLite file ")
    with open(place, "rb") as file:  # noqa: PTH123
        return [file.read().decode("latin-1")]
