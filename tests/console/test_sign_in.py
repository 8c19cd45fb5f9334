"""Setting up, signing in and out, and what ends a sign-in."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from console.form import local_address
from shardsched.people.audit import AuditFilter
from shardsched.people.role import Role
from tests.console.site import PASSWORD

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.console.site import Site


def test_setup_makes_the_admin_once(site: Site) -> None:
    """Who has the code of the log becomes admin and is signed in; after that nobody can."""
    browser = site.app.test_client()
    assert browser.get("/users").headers["Location"] == "/setup"
    code = site.parts.setup_code.text
    answer = site.post(browser, "/setup", code=f" {code} ".lower(), name="Li.Wei", password=PASSWORD)
    assert answer.headers["Location"] == "/"
    assert "Li.Wei" in browser.get("/profile").text
    assert [(user.name, user.role) for user in site.people.users.page()[0]] == [("Li.Wei", Role.ADMIN)]
    late = site.app.test_client()
    assert site.post(late, "/setup", code=code, name="eve", password=PASSWORD).headers["Location"] == "/login"
    assert site.parts.setup_code.text is None


@pytest.mark.parametrize(
    ("code", "name", "password", "fault"),
    [
        ("AAAAA-BBBBB-CCCCC-DDDDD", "ann", PASSWORD, "not the code"),
        ("", "ann", PASSWORD, "not the code"),
        ("right", "<b>", PASSWORD, "2 to 64 letters"),
        ("right", "ann", "Tr0ub4dor&3", "At least 12"),
        ("right", "ann", "passwordpassword", "Easily guessed"),
        ("right", "annemarie.smith", "annemarie.smith1", "mostly the user"),
        ("right", "ann", "x" * 129, "At most 128"),
    ],
)
def test_setup_refuses_with_the_reason_at_the_field(
    site: Site, code: str, name: str, password: str, fault: str
) -> None:
    """A wrong code, a bad name and a weak password make nobody."""
    given = site.parts.setup_code.text if code == "right" else code
    answer = site.post(site.app.test_client(), "/setup", code=given, name=name, password=password)
    assert answer.status_code == 422
    assert fault in answer.text
    assert site.people.users.is_empty()


def test_setup_at_the_same_moment_makes_one_admin(site: Site) -> None:
    """Whoever has the code twice is admin once."""
    code, gate, places = site.parts.setup_code.text, threading.Barrier(3), list[str]()

    def set_up(name: str) -> None:
        browser = site.app.test_client()
        csrf = site.csrf(browser)
        gate.wait(10)
        form = {"csrf_token": csrf, "code": code, "name": name, "password": PASSWORD}
        places.append(browser.post("/setup", data=form).headers.get("Location", "refused"))

    threads = [threading.Thread(target=set_up, args=(f"user-{number}",)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(places).count("/") == 1
    assert site.people.users.page()[1] == 1


def test_setup_code_is_over_after_an_hour(site: Site) -> None:
    """A code in an old log opens nothing."""
    code = site.parts.setup_code.text
    site.clock.advance(3601)
    answer = site.post(site.app.test_client(), "/setup", code=code, name="ann", password=PASSWORD)
    assert answer.status_code == 422


def test_setup_code_cannot_be_guessed(site: Site) -> None:
    """After five wrong ones nobody may try for a while, wherever they come from."""
    browser = site.app.test_client()
    codes = [site.post(browser, "/setup", code="X", name="ann", password=PASSWORD).status_code for _ in range(6)]
    assert codes == [422] * 5 + [429]


def test_password_file_makes_the_admin(make_site: Callable[..., Site], tmp_path: Path) -> None:
    """Where a file has the password, nobody needs the log."""
    path = tmp_path / "password"
    path.write_text(PASSWORD + "\n")
    site = make_site(admin_password_file=path)
    browser = site.app.test_client()
    assert site.post(browser, "/login", name="ADMIN", password=PASSWORD).status_code == 302
    assert "admin" in browser.get("/users").text


def test_sign_in_tells_nothing_about_users(site: Site) -> None:
    """A wrong name and a wrong password look the same, and both are kept."""
    site.user("viewer")
    wrong = [
        site.post(site.app.test_client(), "/login", name=name, password=password)
        for name, password in (("viewer-person", "wrong"), ("nobody", PASSWORD))
    ]
    texts = {answer.text.partition("<h1>")[2].partition('name="csrf_token"')[0] for answer in wrong}
    assert len(texts) == 1
    assert "The name or the password is wrong" in texts.pop()
    failed = site.people.audit.page(AuditFilter(action="session.failed"))
    assert {entry.object for entry in failed} == {"viewer-person", "nobody"}


def test_sign_in_is_limited_by_failures_only(site: Site) -> None:
    """Five wrong passwords from an address make it wait; right ones never do."""
    site.user("viewer")
    for _ in range(8):
        site.client("viewer")
    browser = site.app.test_client()
    codes = [site.post(browser, "/login", name="viewer-person", password="no").status_code for _ in range(6)]
    assert codes == [422] * 5 + [429]


def test_sign_in_leads_back_to_where_one_was_going(site: Site) -> None:
    """And never to another site."""
    site.user("admin")
    browser = site.app.test_client()
    assert browser.get("/audit?actor=ann").headers["Location"] == "/login?next=/audit?actor%3Dann"
    answer = site.post(browser, "/login", name="admin-person", password=PASSWORD, next="/audit?actor=ann")
    assert answer.headers["Location"] == "/audit?actor=ann"


@pytest.mark.parametrize(
    "given",
    [
        "https://evil.example/",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "javascript:x",
        "",
        None,
        "/a\nb",
    ],
)
def test_address_of_another_site_is_not_taken(given: str | None) -> None:
    """Nobody is sent elsewhere by a link to the sign-in."""
    assert local_address(given) == "/"


@pytest.mark.parametrize(("idle_s", "count"), [(12 * 3600 + 60, 1), (11 * 3600, 16)])
def test_sign_in_ends_by_itself(site: Site, idle_s: int, count: int) -> None:
    """After 12 hours unused, and after seven days however much it is used."""
    browser = site.client("viewer")
    for _ in range(count - 1):
        site.clock.advance(idle_s)
        browser.get("/profile")
    site.clock.advance(idle_s)
    assert browser.get("/profile").headers.get("Location", "").startswith("/login")


def test_sign_in_lasts_while_it_is_used(site: Site) -> None:
    """Nobody is thrown out in the middle of work."""
    browser = site.client("viewer")
    for _ in range(12):
        site.clock.advance(11 * 3600)
        assert browser.get("/profile").status_code == 200


def test_new_password_ends_other_sign_ins(site: Site) -> None:
    """Whoever got hold of the old one is out; the browser that changed it stays in."""
    mine, other = site.client("viewer"), site.client("viewer")
    answer = site.post(mine, "/profile/password", old=PASSWORD, password="four green ducks type slowly")
    assert answer.status_code == 302
    assert mine.get("/profile").status_code == 200
    assert other.get("/profile").status_code == 302


def test_new_role_counts_at_once(site: Site) -> None:
    """A demoted operator's open browser can do nothing more; they sign in again as what they are."""
    boss, other = site.client("admin"), site.client("operator")
    user = site.people.users.named("operator-person")
    assert user is not None
    site.post(boss, f"/users/{user.id}", role="viewer", version=user.version)
    assert other.get("/profile").status_code == 302


def test_sign_out_ends_the_cookie_too(site: Site) -> None:
    """A cookie that somebody copied before is worth nothing afterwards."""
    browser = site.client("viewer")
    stolen = browser.get_cookie("shardsched")
    assert stolen is not None
    site.post(browser, "/logout")
    thief = site.app.test_client()
    thief.set_cookie("shardsched", stolen.value)
    assert thief.get("/profile").status_code == 302


def test_sign_out_everywhere_revokes_tokens(site: Site) -> None:
    """One button for who fears that somebody is in."""
    headers, mine, other = site.token("viewer"), site.client("viewer"), site.client("viewer")
    assert site.app.test_client().get("/api/v1/me", headers=headers).status_code == 200
    site.post(mine, "/profile/end-all")
    assert mine.get("/profile").status_code == other.get("/profile").status_code == 302
    assert site.app.test_client().get("/api/v1/me", headers=headers).status_code == 401


def test_cookie_is_for_this_site_only(make_site: Callable[..., Site]) -> None:
    """No script reads it, no other site sends it; with HTTPS it belongs to this host alone and goes no other way."""
    plain = make_site()
    cookie = plain.client("viewer").get_cookie("shardsched")
    assert cookie is not None
    assert (cookie.http_only, cookie.same_site, cookie.secure) == (True, "Lax", False)
    safe = make_site(is_https=True)
    browser = safe.app.test_client()
    safe.user("viewer")
    browser.get("/login", base_url="https://localhost")
    assert (found := browser.get_cookie("__Host-shardsched")) is not None
    assert (found.secure, found.path, found.domain) == (True, "/", "localhost")


def test_dangerous_things_ask_for_the_password_again(site: Site) -> None:
    """Who finds an open browser makes no users with it."""
    browser = site.client("admin")
    assert browser.get("/users/new").status_code == 200
    site.clock.advance(11 * 60)
    answer = browser.get("/users/new")
    assert answer.headers["Location"] == "/login/proof?next=/users/new"
    assert site.post(browser, "/login/proof", password="wrong", next="/users/new").status_code == 422
    proved = site.post(browser, "/login/proof", password=PASSWORD, next="/users/new")
    assert proved.headers["Location"] == "/users/new"
    assert browser.get("/users/new").status_code == 200


def test_clock_that_is_put_back_proves_nobody(site: Site) -> None:
    """A password given in a wrong future is not good until then."""
    browser = site.client("admin")
    site.clock.step_wall(-3600)
    assert browser.get("/users/new").headers["Location"] == "/login/proof?next=/users/new"


def test_write_without_proof_is_refused_and_told(site: Site) -> None:
    """A form that was open for too long is sent in vain, and its sender gives the password."""
    browser = site.client("admin")
    csrf = site.csrf(browser)
    site.clock.advance(11 * 60)
    form = {"csrf_token": csrf, "name": "eve", "role": "admin", "password": PASSWORD}
    answer = browser.post("/users/new", data=form, headers={"Referer": "http://localhost/users/new"})
    assert "/login/proof" in answer.headers["Location"]
    assert site.people.users.named("eve") is None
