"""Users and tokens by page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.people.audit import AuditEntry, AuditFilter, Result
from shardsched.people.role import Role
from tests.console.site import PASSWORD

if TYPE_CHECKING:
    from tests.console.site import Site


def test_user_is_made_changed_and_deleted(site: Site) -> None:
    """And each of it stands in the audit, without passwords."""
    browser = site.client("admin")
    site.post(browser, "/users/new", name="ann", role="viewer", password=PASSWORD)
    user = site.people.users.named("ann")
    assert user is not None
    site.post(browser, f"/users/{user.id}", role="operator", version=user.version, password="")
    changed = site.people.users.find(user.id)
    assert changed is not None
    assert (changed.role, changed.password_hash) == (Role.OPERATOR, user.password_hash)
    assert site.post(browser, f"/users/{user.id}/delete", confirm="somebody").status_code == 422
    assert site.post(browser, f"/users/{user.id}/delete", confirm="ann").status_code == 302
    assert site.people.users.named("ann") is None
    entries = site.people.audit.page(AuditFilter(object="ann"))
    assert [(entry.action, entry.actor, entry.result) for entry in entries] == [
        ("user.delete", "admin-person", Result.DONE),
        ("user.update", "admin-person", Result.DONE),
        ("user.create", "admin-person", Result.DONE),
    ]
    assert (entries[1].before, entries[1].after) == (
        {"name": "ann", "role": "viewer"},
        {"name": "ann", "role": "operator"},
    )


def test_last_admin_stays(site: Site) -> None:
    """Nobody locks everybody out, by demoting or deleting."""
    browser = site.client("admin")
    user = site.user("admin")
    for path, form in ((f"/users/{user.id}", {"role": "viewer"}), (f"/users/{user.id}/delete", {"confirm": user.name})):
        answer = site.post(browser, path, **form)
        assert answer.status_code == 409
        assert "only admin" in answer.text
    assert site.people.audit.page(AuditFilter(action="user"))[0].result is Result.REFUSED


def test_stale_edit_is_refused(site: Site) -> None:
    """Of two admins with the same page open, the second is told what the first did."""
    first, second = site.client("admin"), site.client("admin", "other-admin")
    user = site.user("viewer")
    site.post(first, f"/users/{user.id}", role="operator", version=user.version)
    answer = site.post(second, f"/users/{user.id}", role="admin", version=user.version)
    assert answer.status_code == 409
    assert "changed by somebody else" in answer.text
    found = site.people.users.find(user.id)
    assert found is not None
    assert found.role is Role.OPERATOR


def test_users_are_shown_by_pages(site: Site) -> None:
    """Each user once, whatever the page."""
    browser = site.client("admin")
    for number in range(120):
        site.people.users.create(f"user-{number:03}", Role.VIEWER, "-")
    seen: list[str] = []
    for page in (1, 2, 3):
        text = browser.get(f"/users?page={page}").text
        seen += [f"user-{number:03}" for number in range(120) if f"user-{number:03}<" in text]
    assert seen == [f"user-{number:03}" for number in range(120)]
    assert "1\N{EN DASH}50 of 121" in browser.get("/users?page=x").text


def test_name_that_is_html_is_shown_as_text(site: Site) -> None:
    """Names of tokens are free texts."""
    browser = site.client("viewer")
    hostile = "<img src=x onerror=alert(1)>"
    answer = site.post(browser, "/profile/tokens", name=hostile, role="viewer", days=1, scope="")
    assert answer.status_code == 200
    text = browser.get("/profile").text
    assert "&lt;img src=x" in text
    assert hostile not in text


def test_token_is_shown_once(site: Site) -> None:
    """It works, and no later page has it."""
    browser = site.client("operator")
    answer = site.post(browser, "/profile/tokens", name="ci", role="operator", days=30, scope="news-*")
    secret = answer.text.split('id="secret">')[1].split("<")[0]
    me = site.app.test_client().get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"}).json
    assert me == {"name": "operator-person", "role": "operator", "scope": "news-*", "language": "", "zone": ""} | {
        "token": secret.split("_")[1]
    }
    assert secret not in browser.get("/profile").text
    assert all(secret not in str(row) for row in site.people.audit.page(AuditFilter()))


def test_token_is_never_more_than_its_owner(site: Site) -> None:
    """Neither when it is made nor when its owner is demoted."""
    browser = site.client("operator")
    answer = site.post(browser, "/profile/tokens", name="ci", role="admin", days=30, scope="")
    assert answer.status_code in {403, 422}
    headers = site.token("operator")
    site.people.users.update(site.user("operator").id, {"role": Role.VIEWER})
    me = site.app.test_client().get("/api/v1/me", headers=headers).json
    assert me is not None
    assert me["role"] == "viewer"


def test_password_given_by_an_admin_ends_tokens(site: Site) -> None:
    """Whoever had got into the account is out; what its owner changes themselves leaves their programs running."""
    headers, boss = site.token("viewer"), site.client("admin")
    user = site.user("viewer")
    site.post(site.client("viewer"), "/profile/password", old=PASSWORD, password="four green ducks type slowly")
    assert site.app.test_client().get("/api/v1/me", headers=headers).status_code == 200
    site.post(boss, f"/users/{user.id}", role="viewer", password=PASSWORD)
    assert site.app.test_client().get("/api/v1/me", headers=headers).status_code == 401


def test_preferences_are_kept_and_used(site: Site) -> None:
    """Language, zone and theme of the profile win over those of the browser."""
    browser = site.client("viewer")
    site.post(browser, "/profile/preferences", language="zh_Hans", zone="Asia/Shanghai", theme="dark")
    text = browser.get("/profile", headers={"Accept-Language": "en"}).text
    assert 'lang="zh-Hans"' in text
    assert 'data-bs-theme="dark"' in text
    assert 'data-keys="off"' in text
    assert "2026-01-01 08:00:00" in text
    assert site.post(browser, "/profile/preferences", language="", zone="Mars/Base", theme="dark").status_code == 422


def test_language_is_that_of_the_browser_unless_chosen(site: Site) -> None:
    """Whoever is not signed in is spoken to as their browser asks, or as they chose in the top bar."""
    browser = site.app.test_client()
    assert "初始化控制台" in browser.get("/setup", headers={"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}).text
    assert "Set up the console" in browser.get("/setup", headers={"Accept-Language": "fr"}).text
    answer = site.post(browser, "/preference", language="zh_Hans", next="/setup")
    assert answer.headers["Location"] == "/setup"
    assert "初始化控制台" in browser.get("/setup").text
    assert site.post(browser, "/preference", language="xx").status_code == 400


def test_audit_is_filtered_and_paged(site: Site) -> None:
    """Every entry once, whatever the page; filters stay in the address."""
    browser = site.client("admin")
    for number in range(130):
        site.people.audit.begin(_entry(number))
    seen: list[str] = []
    path = "/audit?actor=robot"
    while path:
        text = browser.get(path).text
        seen += [f"object-{number:03}" for number in range(129, -1, -1) if f"object-{number:03}<" in text]
        older = text.partition('class="btn" href="/audit?actor=robot&amp;before=')[2].partition('"')[0]
        path = f"/audit?actor=robot&before={older}" if older else ""
    assert seen == [f"object-{number:03}" for number in range(129, -1, -1)]
    part = browser.get("/audit?actor=robot", headers={"HX-Request": "true"})
    assert "<html" not in part.text
    same = browser.get("/audit?actor=robot", headers={"HX-Request": "true", "HX-PTag": part.headers["HX-PTag"]})
    assert (same.status_code, same.data) == (304, b"")


def test_audit_export_is_safe_for_spreadsheets(site: Site) -> None:
    """A cell that somebody else wrote is no formula."""
    browser = site.client("admin")
    site.app.test_client().get("/setup")
    site.post(site.app.test_client(), "/login", name='=HYPERLINK("http://evil")', password="x")
    site.post(site.app.test_client(), "/login", name="\uff1d1+1", password="x")
    text = browser.get("/audit/export.csv").text
    assert "'=HYPERLINK" in text
    assert ",'\uff1d1+1" in text
    assert ",=HYPERLINK" not in text


def _entry(number: int) -> AuditEntry:
    return AuditEntry(
        actor="robot", action="user.create", kind="user", object=f"object-{number:03}", result=Result.DONE
    )
